//! What each request of a partition weighs, for the rows of its hops, attempts and segments.

use rustc_hash::FxHashMap;

use crate::span::{SpanId, TraceId};
use crate::stats::Weight;
use crate::tables::{RequestRow, Stay, Tables};

/// The requests whose weight is known.
#[derive(Debug, Default)]
pub(crate) struct Weights(FxHashMap<(TraceId, SpanId), Weight>);

impl Weights {
    /// Those of the requests of some tables, and of those that findings over several traces are about.
    pub(crate) fn of(tables: &Tables) -> Self {
        let known = |row: &RequestRow| {
            Some(((row.trace_id, row.root_span_id), row.weight.and_then(Weight::new)?))
        };
        let late = |stay: &Stay| {
            let hop = tables.hops.get(stay.hop)?;
            Some(((hop.trace_id, hop.root_span_id), stay.weight?))
        };
        let requests = tables.requests.iter().filter_map(known);
        Self(requests.chain(tables.stays.iter().filter_map(late)).collect())
    }

    /// What a request weighs, if that is known.
    pub(crate) fn of_request(&self, trace: TraceId, root: SpanId) -> Option<Weight> {
        if self.0.is_empty() { None } else { self.0.get(&(trace, root)).copied() }
    }
}
