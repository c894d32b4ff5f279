//! Which hops were bounded by something that durations alone tell.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::span::{GrantKind, SpanId, TraceId};
use crate::tables::{DeadlineSource, HopRow, Tables};

/// What durations alone tell of the requests and hops of a partition.
#[derive(Debug, Default)]
pub(super) struct Inferred {
    /// The requests whose deadline is inferred.
    requests: FxHashSet<(TraceId, SpanId)>,
    /// The hops below one whose timeout is inferred.
    below: FxHashSet<(TraceId, SpanId)>,
}

impl Inferred {
    pub(super) fn of(tables: &Tables) -> Self {
        let is_inferred = |source| source == DeadlineSource::Inferred;
        let requests = tables.requests.iter().filter(|row| is_inferred(row.deadline_source));
        let requests = requests.map(|row| (row.trace_id, row.root_span_id)).collect();
        Self { requests, below: below_inferred(&tables.hops) }
    }

    /// Whether what the caller of a hop had left may rest on something inferred.
    pub(super) fn bounds(&self, hop: &HopRow) -> bool {
        self.requests.contains(&(hop.trace_id, hop.root_span_id))
            || self.below.contains(&(hop.trace_id, hop.hop_id))
    }
}

/// All hops below those whose timeout is inferred.
fn below_inferred(hops: &[HopRow]) -> FxHashSet<(TraceId, SpanId)> {
    let id = |hop: &HopRow| (hop.trace_id, hop.hop_id);
    let inferred = hops.iter().filter(|hop| hop.grant_kind == Some(GrantKind::Inferred));
    let mut above: Vec<(TraceId, SpanId)> = inferred.map(id).collect();
    let mut reached = FxHashSet::default();
    if above.is_empty() {
        return reached;
    }
    let mut callees: FxHashMap<(TraceId, SpanId), Vec<&HopRow>> = FxHashMap::default();
    for hop in hops {
        if let Some(caller) = hop.caller_hop_id {
            callees.entry((hop.trace_id, caller)).or_default().push(hop);
        }
    }
    while let Some(hop) = above.pop() {
        for callee in callees.get(&hop).into_iter().flatten() {
            // Tables that others wrote may go in circles.
            if reached.insert(id(callee)) {
                above.push(id(callee));
            }
        }
    }
    reached
}
