//! How many calls of a request follow one another.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use crate::span::SpanId;
use crate::tables::{AttemptRow, HopRow};
use crate::units::Nanos;

/// A call with all its attempts, and how many calls follow one another in it: itself, and those below
/// one attempt.
struct Step {
    start: Nanos,
    end: Nanos,
    calls: u32,
}

/// The largest number of calls that follow one another on a path of a request: one lies below the other,
/// or begins when the other has ended. Tries of a call are one call.
pub(super) fn depth(hops: &[HopRow], attempts: &[AttemptRow]) -> u32 {
    let calls: FxHashMap<SpanId, SpanId> =
        attempts.iter().map(|row| (row.span_id, row.call_id)).collect();
    let mut deepest_first: Vec<&HopRow> = hops.iter().collect();
    deepest_first.sort_unstable_by_key(|hop| Reverse(hop.depth));
    let mut below: FxHashMap<SpanId, FxHashMap<SpanId, Step>> = FxHashMap::default();
    let mut depth = 0;
    for hop in deepest_first {
        let inner = below.remove(&hop.hop_id).map_or(0, |steps| longest(steps.into_values()));
        // What holds the root is no call of the request.
        let Some(caller) = hop.caller_hop_id else {
            depth = depth.max(inner);
            continue;
        };
        let start = hop.elapsed_at_send_ns.or(hop.elapsed_at_receive_ns).unwrap_or_default();
        let own = hop.client_span_id.unwrap_or(hop.hop_id);
        let call = calls.get(&own).copied().unwrap_or(own);
        let step = Step { start, end: start + hop.duration_ns, calls: inner.saturating_add(1) };
        let steps = below.entry(caller).or_default();
        steps.entry(call).and_modify(|known| known.join(&step)).or_insert(step);
    }
    depth
}

impl Step {
    /// Takes in another attempt of the same call.
    fn join(&mut self, other: &Self) {
        self.start = self.start.min(other.start);
        self.end = self.end.max(other.end);
        self.calls = self.calls.max(other.calls);
    }
}

/// Of calls beside one another the largest number that follow one another, with those in them.
fn longest(steps: impl Iterator<Item = Step>) -> u32 {
    let mut steps: Vec<Step> = steps.collect();
    steps.sort_unstable_by_key(|step| (step.end, step.start));
    // By the end of each, how many follow one another up to there.
    let mut most: Vec<(Nanos, u32)> = Vec::with_capacity(steps.len());
    for step in steps {
        let before = most.partition_point(|(end, _)| *end <= step.start);
        let before = before.checked_sub(1).and_then(|place| most.get(place));
        let with_it = before.map_or(0, |(_, calls)| *calls).saturating_add(step.calls);
        let without = most.last().map_or(0, |(_, calls)| *calls);
        most.push((step.end, with_it.max(without)));
    }
    most.last().map_or(0, |(_, calls)| *calls)
}
