//! From spans to tables: SEMANTICS sections 3 to 11, one file a section. Pure: the same spans and
//! policy give the same rows, in whatever order the spans come.

mod ancestors;
mod annotated;
mod attempt;
mod clock;
mod deadline;
mod finding;
mod hop;
mod late;
mod max_tree;
mod memory;
mod numbers;
mod outline;
mod own_time;
mod path;
mod request;
mod rows;
mod trace;
mod tree;

use annotated::Annotated;
use memory::refill;
pub use outline::TraceChoice;
use rows::Rows;

use crate::budget;
use crate::contract::Contract;
use crate::span::{Span, Spans};
use crate::tables::Tables;
use crate::units::Nanos;

/// What the user has said about the requests, and how strictly to judge.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Tried in this order; the first that matches a root span holds.
    pub contracts: Vec<Contract>,
    /// The floor of [`budget::tolerance`].
    pub tolerance: Nanos,
    /// The trace that is told span by span as well.
    pub outlined: Option<TraceChoice>,
}

impl Default for Policy {
    fn default() -> Self {
        Self { contracts: Vec::new(), tolerance: budget::TOLERANCE_FLOOR, outlined: None }
    }
}

/// The tables of a partition of whole traces, rows in the order of the tables.
pub fn reconstruct(spans: Spans, policy: &Policy) -> Tables {
    let Spans { strings, rows } = spans;
    // What decides nearly always lies together, not behind references.
    let mut by_trace: Vec<_> = rows.iter().map(|span| (span.trace_id.sort_key(), span)).collect();
    by_trace.sort_unstable_by_key(|&(trace, _)| trace);
    let mut told = Rows::new(strings, rows.len());
    let mut spans = Vec::new();
    let mut annotated = Annotated::default();
    for trace in by_trace.chunk_by(|one, other| one.0 == other.0) {
        let strings = &told.tables.strings;
        refill(&mut spans, trace.iter().map(|&(_, span)| span));
        spans.sort_unstable_by(|one: &&Span, other| {
            let key = |span: &Span| (span.start, span.span_id);
            key(one).cmp(&key(other)).then_with(|| one.content_order(other, strings))
        });
        annotated.fill(&spans, strings, policy);
        told.append(&annotated);
        if policy.outlined.is_some_and(|choice| choice.matches(annotated.trace_id())) {
            outline::append(&annotated, &mut told.tables.outline);
        }
    }
    told.tables
}
