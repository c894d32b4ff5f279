//! A service that knows trace ids of 64 bits alone passes on the right half of one of 128, and from
//! there on the trace has another id. Zipkin's server joins such traces if told to
//! (`strict-trace-id` false); its answers then hold both ids.
//!
//! Here the two become one trace again, under the whole id, where they are known to be one: no third
//! trace has that half, and a span of one names a parent that is only in the other, or received a
//! call that was sent in the other. This is done once whole traces are together; both ids lie in one
//! partition, since these go by the right half.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::span::{Span, SpanId, Spans, TraceId};

/// What of a span ties it to others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tie {
    /// Its trace.
    pub trace_id: TraceId,
    /// Its id.
    pub span_id: SpanId,
    /// Its parent.
    pub parent_span_id: Option<SpanId>,
    sends: bool,
    may_share_id: bool,
}

impl From<&Span> for Tie {
    fn from(span: &Span) -> Self {
        Self {
            trace_id: span.trace_id,
            span_id: span.span_id,
            parent_span_id: span.parent_span_id,
            sends: span.kind.sends(),
            may_share_id: span.flags.may_share_id,
        }
    }
}

/// Gives the spans of all traces in a partition that lost the left half of their id the whole one.
pub(super) fn join(spans: &mut Spans) {
    if !spans.rows.iter().any(|span| is_half(span.trace_id)) {
        return;
    }
    let ties: Vec<Tie> = spans.rows.iter().map(Tie::from).collect();
    let joined = whole_ids(&ties);
    let whole: FxHashSet<TraceId> = joined.values().copied().collect();
    for span in &mut spans.rows {
        if let Some(&id) = joined.get(&span.trace_id) {
            span.trace_id = id;
        }
        span.flags.trace_joined = whole.contains(&span.trace_id);
    }
}

/// Whether an id has no left half.
fn is_half(id: TraceId) -> bool {
    id == id.right_half()
}

/// For each trace that lost the left half of its id the whole one.
pub(super) fn whole_ids(ties: &[Tie]) -> FxHashMap<TraceId, TraceId> {
    let mut whole = candidates(ties);
    if !whole.is_empty() {
        let joined = joined(ties, &whole);
        whole.retain(|half, _| joined.contains(half));
    }
    whole
}

/// For each id of 64 bits the one of 128 with that half, where there is one and no more.
fn candidates(ties: &[Tie]) -> FxHashMap<TraceId, TraceId> {
    if !ties.iter().any(|tie| is_half(tie.trace_id)) {
        return FxHashMap::default();
    }
    let ids: FxHashSet<TraceId> = ties.iter().map(|tie| tie.trace_id).collect();
    let mut whole: FxHashMap<TraceId, Option<TraceId>> =
        ids.iter().copied().filter(|&id| is_half(id)).map(|id| (id, None)).collect();
    let mut ambiguous = Vec::new();
    for &id in ids.iter().filter(|&&id| !is_half(id)) {
        if let Some(known) = whole.get_mut(&id.right_half())
            && known.replace(id).is_some()
        {
            ambiguous.push(id.right_half());
        }
    }
    for id in ambiguous {
        whole.remove(&id);
    }
    whole.into_iter().filter_map(|(half, whole)| Some((half, whole?))).collect()
}

/// Those ids of 64 bits whose trace hangs together with that of the whole id.
fn joined(ties: &[Tie], whole: &FxHashMap<TraceId, TraceId>) -> FxHashSet<TraceId> {
    // Whether a span has the id, and whether it sends.
    let mut known: FxHashMap<(TraceId, SpanId), bool> = FxHashMap::default();
    for tie in ties.iter().filter(|tie| whole.contains_key(&tie.trace_id.right_half())) {
        *known.entry((tie.trace_id, tie.span_id)).or_default() |= tie.sends;
    }
    let hangs_together = |tie: &&Tie| {
        let own = tie.trace_id.right_half();
        let Some(&whole) = whole.get(&own) else { return false };
        let other = if tie.trace_id == own { whole } else { own };
        let names_parent_there = tie.parent_span_id.is_some_and(|parent| {
            !known.contains_key(&(tie.trace_id, parent)) && known.contains_key(&(other, parent))
        });
        let is_sent_there = known.get(&(other, tie.span_id)) == Some(&true);
        names_parent_there || tie.may_share_id && is_sent_there
    };
    ties.iter().filter(hangs_together).map(|tie| tie.trace_id.right_half()).collect()
}
