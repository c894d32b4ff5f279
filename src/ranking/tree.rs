//! The hops of one trace as a tree.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::span::{SpanId, Sym};
use crate::tables::{HopRow, Verdict};

/// The hops of a trace, by number.
pub(super) struct Tree<'a> {
    hops: Vec<&'a HopRow>,
    /// The hop that has a span as its half. An attempt's span is the client half of a hop, and so is
    /// that of a side effect.
    by_span: FxHashMap<SpanId, usize>,
    below: Vec<Vec<usize>>,
    /// The nearest hop above each that still saw a deadline.
    seen_above: Vec<Option<usize>>,
}

impl<'a> Tree<'a> {
    pub(super) fn new(mut hops: Vec<&'a HopRow>) -> Self {
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
        let mut below = vec![Vec::new(); hops.len()];
        let mut seen_above: Vec<Option<usize>> = Vec::with_capacity(hops.len());
        for (place, hop) in hops.iter().enumerate() {
            let above = hop.caller_hop_id.and_then(|above| by_span.get(&above).copied());
            let above = above.filter(|&above| above < place);
            let seen = above.and_then(|above| {
                let saw = hops.get(above).is_some_and(|hop| saw_deadline(hop));
                if saw { Some(above) } else { seen_above.get(above).copied().flatten() }
            });
            seen_above.push(seen);
            if let Some(below) = above.and_then(|above| below.get_mut(above)) {
                below.push(place);
            }
        }
        Self { hops, by_span, below, seen_above }
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

    /// The services that were called below a hop, but for hops in `known`, which it adds to.
    pub(super) fn callees_below(&self, place: usize, known: &mut FxHashSet<usize>) -> Vec<Sym> {
        let mut callees = Vec::new();
        let mut stack = vec![place];
        while let Some(above) = stack.pop() {
            for &place in self.below.get(above).into_iter().flatten() {
                if known.insert(place) {
                    callees.extend(self.hop(place).and_then(|hop| hop.callee_service));
                    stack.push(place);
                }
            }
        }
        callees
    }
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
