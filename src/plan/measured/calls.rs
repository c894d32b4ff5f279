//! What was measured of the calls of one caller to one callee, for one operation.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::portion::Portion;
use super::settled::{Settled, Source, median};
use super::tries::Tries;
use crate::distributions::Values;
use crate::span::{Outcome, SpanId};
use crate::tables::{AttemptKind, AttemptRow, Funding};
use crate::units::Nanos;

/// Calls of one line.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    /// From the origin to the first attempt of each call.
    pub elapsed: Values,
    /// What its caller had left then.
    pub remaining: Values,
    /// The same less the return reserve, not below zero.
    pub available: Values,
    /// How long attempts took that succeeded.
    pub succeeded: Values,
    /// How long the others took; where somebody gave up, until then.
    pub failed: Values,
    /// From the end of an attempt that failed to its retry.
    pub backoff: Values,
    /// The same by the ordinal of the retry.
    pub(super) waits: BTreeMap<i32, Values>,
    /// Each request that called, by what its calls had at worst.
    pub requests: Vec<Entered>,
    /// The trace of each call.
    pub(super) traces: Vec<u32>,
    /// How many calls were tried again.
    pub(super) retried: usize,
    /// The same by try, where a hedge is none of its own.
    pub tries: Tries,
    /// The trace of each attempt that had a deadline.
    pub(super) bounded: Vec<u32>,
    /// How many of them are known to have begun with less left than one needs, or with nothing.
    pub(super) unfunded: usize,
}

/// What the calls of one request had left when they began. Of several the worst counts: where so many
/// attempts fit for it they fit for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entered {
    /// The number of its trace.
    pub trace: u32,
    /// What had passed when the last of them began.
    pub elapsed: Nanos,
    /// The least that was left; `None` without a deadline.
    pub remaining: Option<Nanos>,
    /// The same by what callers were given, where that was less than the request's own deadline leaves.
    pub granted: Option<Nanos>,
    /// The reserve of its contract; `None` where nothing tells it.
    pub reserve: Option<Nanos>,
}

impl Calls {
    /// Adds the attempts of one request.
    pub(super) fn add(
        &mut self,
        trace: u32,
        rows: &[&AttemptRow],
        deadline: Option<Nanos>,
        reserve: Option<Nanos>,
    ) {
        let is_retry = |row: &&&AttemptRow| row.kind == AttemptKind::Retry;
        let retried: FxHashSet<SpanId> =
            rows.iter().filter(is_retry).map(|row| row.call_id).collect();
        self.retried += retried.len();
        for row in rows {
            self.add_attempt(trace, row);
        }
        let firsts = rows.iter().filter(|row| row.span_id == row.call_id);
        for row in firsts.clone() {
            self.traces.push(trace);
            self.elapsed.push(trace, row.elapsed_at_start_ns);
            for (values, value) in [
                (&mut self.remaining, row.remaining_at_start_ns),
                (&mut self.available, row.available_at_start_ns),
            ] {
                if let Some(value) = value {
                    values.push(trace, value);
                }
            }
        }
        let elapsed = firsts.clone().map(|row| row.elapsed_at_start_ns).max();
        let remaining = firsts.clone().filter_map(|row| row.remaining_at_start_ns).min();
        let granted = firsts.filter_map(|row| {
            let own = deadline.map(|deadline| deadline - row.elapsed_at_start_ns);
            row.remaining_at_start_ns.filter(|left| own.is_none_or(|own| *left < own))
        });
        let granted = granted.min();
        let entered = |elapsed| Entered { trace, elapsed, remaining, granted, reserve };
        self.requests.extend(elapsed.map(entered));
    }

    fn add_attempt(&mut self, trace: u32, row: &AttemptRow) {
        let durations =
            if row.outcome == Outcome::Ok { &mut self.succeeded } else { &mut self.failed };
        durations.push(trace, row.duration_ns);
        if let Some(waited) = row.backoff_ns.filter(|_| row.kind == AttemptKind::Retry) {
            self.backoff.push(trace, waited);
            self.waits.entry(row.ordinal).or_default().push(trace, waited);
        }
        if row.remaining_at_start_ns.is_some() {
            self.bounded.push(trace);
        }
        let is_unfunded = matches!(row.funding, Funding::Unfundable | Funding::Expired);
        self.unfunded += usize::from(is_unfunded);
    }

    /// The median wait before each retry, as far as any call was retried.
    pub(super) fn usual_waits(&self) -> Option<Settled<Vec<Nanos>>> {
        let waits = (2..).map_while(|ordinal| median(self.waits.get(&ordinal)?));
        let value: Vec<Nanos> = waits.map(|wait| wait.value).collect();
        let n = Some(self.backoff.len());
        (!value.is_empty()).then_some(Settled { value, source: Source::Measured, n })
    }

    /// How many calls there were.
    pub const fn len(&self) -> usize {
        self.traces.len()
    }

    /// Whether there were none.
    pub const fn is_empty(&self) -> bool {
        self.traces.is_empty()
    }

    /// The share of calls that were tried again.
    pub fn retried(&self) -> Portion {
        Portion::of(self.retried, &self.traces)
    }

    /// Of the attempts that had a deadline, the share that is known not to have been funded.
    pub fn unfunded(&self) -> Portion {
        Portion::of(self.unfunded, &self.bounded)
    }
}
