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

/// The right half of an id, as an id.
pub(super) const fn half(trace: TraceId) -> TraceId {
    TraceId(trace.0 & u64::MAX as u128)
}

/// Gives the spans of all traces in a partition that lost the left half of their id the whole one.
pub(super) fn join(spans: &mut Spans) {
    let whole = whole_ids(&spans.rows);
    if whole.is_empty() {
        return;
    }
    let joined = joined(&spans.rows, &whole);
    for span in &mut spans.rows {
        if let Some(&id) = whole.get(&span.trace_id).filter(|_| joined.contains(&span.trace_id)) {
            span.trace_id = id;
        }
    }
}

/// For each id of 64 bits the one of 128 with that half, where there is one and no more.
fn whole_ids(rows: &[Span]) -> FxHashMap<TraceId, TraceId> {
    let is_half = |id: &TraceId| *id == half(*id);
    if !rows.iter().any(|span| is_half(&span.trace_id)) {
        return FxHashMap::default();
    }
    let ids: FxHashSet<TraceId> = rows.iter().map(|span| span.trace_id).collect();
    let mut whole: FxHashMap<TraceId, Option<TraceId>> =
        ids.iter().copied().filter(is_half).map(|id| (id, None)).collect();
    let mut ambiguous = Vec::new();
    for &id in ids.iter().filter(|id| !is_half(id)) {
        if let Some(known) = whole.get_mut(&half(id))
            && known.replace(id).is_some()
        {
            ambiguous.push(half(id));
        }
    }
    for id in ambiguous {
        whole.remove(&id);
    }
    whole.into_iter().filter_map(|(half, whole)| Some((half, whole?))).collect()
}

/// Those ids of 64 bits whose trace hangs together with that of the whole id.
fn joined(rows: &[Span], whole: &FxHashMap<TraceId, TraceId>) -> FxHashSet<TraceId> {
    // Whether a span has the id, and whether it sends.
    let mut known: FxHashMap<(TraceId, SpanId), bool> = FxHashMap::default();
    for span in rows.iter().filter(|span| whole.contains_key(&half(span.trace_id))) {
        *known.entry((span.trace_id, span.span_id)).or_default() |= span.kind.sends();
    }
    let hangs_together = |span: &&Span| {
        let own = half(span.trace_id);
        let Some(&whole) = whole.get(&own) else { return false };
        let other = if span.trace_id == own { whole } else { own };
        let names_parent_there = span.parent_span_id.is_some_and(|parent| {
            !known.contains_key(&(span.trace_id, parent)) && known.contains_key(&(other, parent))
        });
        let is_sent_there = known.get(&(other, span.span_id)) == Some(&true);
        names_parent_there || span.flags.may_share_id && is_sent_there
    };
    rows.iter().filter(hangs_together).map(|span| half(span.trace_id)).collect()
}
