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
mod own_time;
mod path;
mod request;
mod rows;
mod trace;
mod tree;

use annotated::Annotated;

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
}

impl Default for Policy {
    fn default() -> Self {
        Self { contracts: Vec::new(), tolerance: budget::TOLERANCE_FLOOR }
    }
}

/// The tables of a partition of whole traces, rows in the order of the tables.
pub fn reconstruct(spans: &Spans, policy: &Policy) -> Tables {
    let strings = &spans.strings;
    let mut sorted: Vec<&Span> = spans.rows.iter().collect();
    sorted.sort_unstable_by(|one, other| {
        let key = |span: &Span| (span.trace_id, span.start, span.span_id);
        key(one).cmp(&key(other)).then_with(|| one.content_order(other, strings))
    });
    let mut tables = Tables { strings: strings.clone(), ..Tables::default() };
    for trace in sorted.chunk_by(|one, other| one.trace_id == other.trace_id) {
        rows::append(&Annotated::of(trace, strings, policy), &mut tables);
    }
    tables
}
