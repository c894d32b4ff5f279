//! The calls of one request, each with its attempts, and who called whom.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::Most;
use super::edge::{Edge, Tried};
use super::path::MOST_LAYERS;
use crate::distributions::Call;
use crate::span::{Interner, SpanId};
use crate::tables::{AttemptKind, AttemptRow, HopRow};

/// The calls of one request.
pub(super) struct Request<'t> {
    pub(super) hops: &'t [HopRow],
    pub(super) attempts: &'t [AttemptRow],
    /// Each attempt by its span.
    pub(super) by_span: FxHashMap<SpanId, &'t AttemptRow>,
    /// Each call, as often as it was tried.
    pub(super) calls: BTreeMap<SpanId, Tried>,
    /// The hop above each, and the call that it is an attempt of.
    above: FxHashMap<SpanId, (Option<SpanId>, Option<SpanId>)>,
}

impl<'t> Request<'t> {
    pub(super) fn new(hops: &'t [HopRow], attempts: &'t [AttemptRow]) -> Self {
        let by_span: FxHashMap<SpanId, &AttemptRow> =
            attempts.iter().map(|row| (row.span_id, row)).collect();
        let mut calls: BTreeMap<SpanId, Tried> = BTreeMap::new();
        for row in attempts {
            calls.entry(row.call_id).or_default().add(row);
        }
        let above = hops.iter().map(|hop| {
            let attempt = hop.client_span_id.and_then(|span| by_span.get(&span));
            (hop.hop_id, (hop.caller_hop_id, attempt.map(|row| row.call_id)))
        });
        let above = above.collect();
        Self { hops, attempts, by_span, calls, above }
    }

    /// Whether a call was tried more than once.
    fn is_retried(&self, call: SpanId) -> bool {
        self.calls.get(&call).is_some_and(|tried| tried.tries > 1)
    }

    /// Whether each call was tried once.
    pub(super) fn is_plain(&self) -> bool {
        let once = |tried: &Tried| tried.tries + tried.hedges + tried.resends <= 1;
        self.calls.values().all(once)
    }

    /// Adds each call to those of its caller and callee.
    pub(super) fn add_edges(
        &self,
        of: &FxHashMap<SpanId, Call>,
        strings: &Interner,
        edges: &mut BTreeMap<Call, Edge>,
    ) {
        let mut retried: BTreeSet<&Call> = BTreeSet::new();
        for (id, tried) in &self.calls {
            let Some(call) = of.get(id) else { continue };
            let edge = edges.entry(call.clone()).or_default();
            edge.calls += 1;
            edge.tries += tried.tries;
            edge.most = edge.most.max(Most(tried.tries));
            edge.retries += tried.retries;
            edge.hidden += tried.hidden;
            edge.hedges += tried.hedges;
            edge.resends += tried.resends;
            if tried.tries > 1 {
                edge.retried += 1;
                retried.insert(call);
            }
        }
        for call in retried {
            edges.entry(call.clone()).or_default().requests += 1;
        }
        for row in self.attempts.iter().filter(|row| row.kind == AttemptKind::Retry) {
            let key = row.ordinal_key.map(|key| strings.get(key));
            if let Some(call) = of.get(&row.call_id) {
                edges.entry(call.clone()).or_default().told.add(key);
            }
        }
        self.add_loops(of, edges);
    }

    /// Calls of one kind that one hop made, after the first.
    fn add_loops(&self, of: &FxHashMap<SpanId, Call>, edges: &mut BTreeMap<Call, Edge>) {
        let mut made: BTreeMap<(Option<SpanId>, &Call), u64> = BTreeMap::new();
        for hop in self.hops {
            let own = hop.client_span_id.and_then(|span| self.by_span.get(&span));
            // A client with several servers is a hop for each.
            let first = own.filter(|row| row.span_id == row.call_id && hop.hop_id == row.span_id);
            if let Some(call) = first.and_then(|row| of.get(&row.call_id)) {
                *made.entry((hop.caller_hop_id, call)).or_default() += 1;
            }
        }
        for ((_, call), count) in made.into_iter().filter(|(_, count)| *count > 1) {
            edges.entry(call.clone()).or_default().loops += count - 1;
        }
    }

    /// Adds the pairs of calls that were both tried again, one below the other; each once.
    pub(super) fn add_pairs(
        &self,
        of: &FxHashMap<SpanId, Call>,
        pairs: &mut BTreeMap<(Call, Call), u64>,
    ) {
        if self.calls.values().filter(|tried| tried.tries > 1).count() < 2 {
            return;
        }
        let mut found: BTreeSet<(&Call, &Call)> = BTreeSet::new();
        for hop in self.hops {
            let Some((mut above, Some(own))) = self.above.get(&hop.hop_id).copied() else {
                continue;
            };
            let Some(lower) = of.get(&own).filter(|_| self.is_retried(own)) else { continue };
            for _ in 0..MOST_LAYERS {
                let Some(&(next, call)) = above.and_then(|hop| self.above.get(&hop)) else { break };
                above = next;
                let upper = call.filter(|&call| call != own && self.is_retried(call));
                found.extend(upper.and_then(|call| of.get(&call)).map(|upper| (upper, lower)));
            }
        }
        for (upper, lower) in found {
            *pairs.entry((upper.clone(), lower.clone())).or_default() += 1;
        }
    }
}
