//! How request classes fare in the course of time: by buckets of equal length that begin at round
//! instants, whatever the first request.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::distributions::{Name, Names, Sample};
use crate::span::{SpanId, TraceId};
use crate::stats::Weight;
use crate::tables::Tables;
use crate::units::{Nanos, UnixNanos};

/// Requests by class and by when they began.
#[derive(Debug)]
pub struct Timeline {
    /// How long a bucket is.
    width: Nanos,
    /// By class and number of the bucket since 1970.
    pub classes: BTreeMap<Name, BTreeMap<i64, Bucket>>,
}

/// The requests of one class that began in one bucket.
#[derive(Debug, Default)]
pub struct Bucket {
    /// How many.
    pub requests: u64,
    /// How many of them have a deadline.
    pub with_deadline: u64,
    /// How many completed by it.
    pub in_time: u64,
    /// What had passed at their roots' ends.
    pub elapsed: Sample,
    /// The least that was left at any hop, when it was sent, else received.
    pub least_left: Sample,
    /// Work after the deadline.
    pub late_work: Sample,
}

impl Timeline {
    /// Nothing yet; `width` is more than nothing.
    pub fn new(width: Nanos) -> Self {
        Self { width: width.max(Nanos::from_nanos(1)), classes: BTreeMap::new() }
    }

    /// How long a bucket is.
    pub fn width(&self) -> Nanos {
        self.width
    }

    /// When a bucket begins.
    pub fn start_of(&self, bucket: i64) -> UnixNanos {
        UnixNanos::from_nanos(bucket.saturating_mul(self.width.as_nanos()))
    }

    /// The first and the last bucket that any request began in.
    pub fn extent(&self) -> Option<(i64, i64)> {
        let ends = self.classes.values().filter_map(|buckets| {
            Some((*buckets.first_key_value()?.0, *buckets.last_key_value()?.0))
        });
        ends.reduce(|(first, last), (start, end)| (first.min(start), last.max(end)))
    }

    /// Forgets what requests weigh, where not all of a class say so, or what they say is of no use
    /// since traces were chosen by their outcome. Comes last.
    pub fn settle_weights(&mut self, are_chosen: bool) {
        for buckets in self.classes.values_mut() {
            let mut elapsed = buckets.values().map(|bucket| &bucket.elapsed);
            if are_chosen || elapsed.any(|sample| sample.mass().population().is_none()) {
                buckets.values_mut().for_each(Bucket::forget_weights);
            }
        }
    }

    /// Takes in a partition of whole traces.
    pub fn add(&mut self, tables: &Tables) {
        let mut least: FxHashMap<(TraceId, SpanId), Nanos> = FxHashMap::default();
        for hop in &tables.hops {
            let left = hop.remaining_at_send_ns.or(hop.remaining_at_receive_ns);
            let Some(left) = left else { continue };
            let least = least.entry((hop.trace_id, hop.root_span_id)).or_insert(left);
            *least = left.min(*least);
        }
        let mut names = Names::of(&tables.strings);
        for row in &tables.requests {
            let number = row.start_unix_ns.as_nanos().div_euclid(self.width.as_nanos());
            let class = self.classes.entry(names.get(row.request_class)).or_default();
            let bucket = class.entry(number).or_default();
            bucket.requests += 1;
            bucket.with_deadline += u64::from(row.budget_at_origin_ns.is_some());
            bucket.in_time += u64::from(row.completed_before_deadline == Some(true));
            let weight = row.weight.and_then(Weight::new);
            let left = least.get(&(row.trace_id, row.root_span_id)).copied();
            bucket.elapsed.push_weighted(row.elapsed_ns, weight);
            bucket.least_left.push_some(left, weight);
            bucket.late_work.push_some(row.late_work_ns, weight);
        }
    }
}

impl Bucket {
    fn forget_weights(&mut self) {
        for sample in [&mut self.elapsed, &mut self.least_left, &mut self.late_work] {
            sample.forget_weights();
        }
    }
}
