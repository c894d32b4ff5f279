//! The hops of one trace as a tree.

use rustc_hash::FxHashMap;

use super::reached::Reached;
use crate::distributions::Names;
use crate::span::SpanId;
use crate::tables::{HopRow, Verdict};

/// The hops of a trace, by number.
pub(super) struct Tree<'a> {
    hops: Vec<&'a HopRow>,
    /// The hop that has a span as its half. An attempt's span is the client half of a hop, and so is
    /// that of a side effect.
    by_span: FxHashMap<SpanId, usize>,
    /// The nearest hop above each that still saw a deadline.
    seen_above: Vec<Option<usize>>,
    /// The services that were called below each.
    reached: Vec<Reached>,
}

impl<'a> Tree<'a> {
    pub(super) fn new(mut hops: Vec<&'a HopRow>, names: &mut Names<'_>) -> Self {
        // Those above come before those below.
        hops.sort_by_key(|hop| hop.depth);
        let mut by_span = FxHashMap::default();
        for (place, hop) in hops.iter().enumerate() {
            by_span.insert(hop.hop_id, place);
        }
        for (place, hop) in hops.iter().enumerate() {
            for half in [hop.client_span_id, hop.server_span_id].into_iter().flatten() {
                by_span.entry(half).or_insert(place);
            }
        }
        let above = |(place, hop): (usize, &&HopRow)| {
            let above = hop.caller_hop_id.and_then(|above| by_span.get(&above).copied());
            above.filter(|&above| above < place)
        };
        let above: Vec<Option<usize>> = hops.iter().enumerate().map(above).collect();
        let seen_above = seen_above(&hops, &above);
        let reached = reached(&hops, &above, names);
        Self { hops, by_span, seen_above, reached }
    }

    pub(super) fn place(&self, span: SpanId) -> Option<usize> {
        self.by_span.get(&span).copied()
    }

    pub(super) fn hop(&self, place: usize) -> Option<&'a HopRow> {
        self.hops.get(place).copied()
    }

    /// The nearest hop above that still saw a deadline.
    pub(super) fn deadline_seen_above(&self, place: usize) -> Option<&'a HopRow> {
        self.hop(self.seen_above.get(place).copied().flatten()?)
    }

    /// The services that were called below a hop.
    pub(super) fn reached(&self, place: usize) -> Option<&Reached> {
        self.reached.get(place)
    }
}

/// From those above to those below.
fn seen_above(hops: &[&HopRow], above: &[Option<usize>]) -> Vec<Option<usize>> {
    let mut seen_above: Vec<Option<usize>> = Vec::with_capacity(hops.len());
    for &above in above {
        let seen = above.and_then(|above| {
            let saw = hops.get(above).is_some_and(|hop| saw_deadline(hop));
            if saw { Some(above) } else { seen_above.get(above).copied().flatten() }
        });
        seen_above.push(seen);
    }
    seen_above
}

/// From those below to those above: what lies below a hop is looked at once, however many findings
/// stand above it.
fn reached(hops: &[&HopRow], above: &[Option<usize>], names: &mut Names<'_>) -> Vec<Reached> {
    let mut reached = vec![Reached::default(); hops.len()];
    for (place, hop) in hops.iter().enumerate().rev() {
        let below = reached.get(place).cloned().unwrap_or_default();
        let above = above.get(place).copied().flatten();
        if let Some(above) = above.and_then(|above| reached.get_mut(above)) {
            let own = hop.callee_service.map(|callee| names.get(callee));
            above.extend(below.names.into_iter().chain(own), below.has_more);
        }
    }
    reached
}

/// Whether a hop's callee was told of a deadline that the request has: by its contract or its root,
/// or by a grant that is no more than what was left, way in aside.
fn saw_deadline(hop: &HopRow) -> bool {
    match hop.verdict {
        Verdict::Origin => hop.available_ns.is_some(),
        Verdict::Undeclared | Verdict::Inherited | Verdict::Reset | Verdict::Overgrant => false,
        Verdict::Expired => hop.granted_ns.is_some(),
        Verdict::NoCallerDeadline
        | Verdict::Stretched
        | Verdict::ReserveInvading
        | Verdict::Propagated
        | Verdict::Tightened => true,
    }
}
