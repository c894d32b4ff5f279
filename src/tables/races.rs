//! Calls that were hedged and answered, and who lost there.

use rustc_hash::FxHashSet;

use super::{AttemptKind, AttemptRow};
use crate::span::{Outcome, SpanId, TraceId};

/// The calls whose hedge, or what it was sent beside, was answered.
#[derive(Clone, Debug, Default)]
pub struct Races {
    /// By trace and call.
    won: FxHashSet<(TraceId, SpanId)>,
}

impl Races {
    /// Those among some attempts, which hold all of each call.
    pub fn of(attempts: &[AttemptRow]) -> Self {
        let hedges = attempts.iter().filter(|row| row.kind == AttemptKind::Hedge);
        let hedged: FxHashSet<(TraceId, SpanId)> = hedges.map(call).collect();
        let answered = attempts.iter().filter(|row| row.outcome == Outcome::Ok).map(call);
        Self { won: answered.filter(|call| hedged.contains(call)).collect() }
    }

    /// Whether an attempt was cut off because another of its call had been answered. Where nobody was, each
    /// was cut off for itself.
    pub fn is_lost(&self, row: &AttemptRow) -> bool {
        row.outcome == Outcome::Cancelled && self.won.contains(&call(row))
    }
}

fn call(row: &AttemptRow) -> (TraceId, SpanId) {
    (row.trace_id, row.call_id)
}
