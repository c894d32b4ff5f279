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
mod numbers;
mod own_time;
mod path;
mod request;
mod rows;
mod trace;
mod tree;

use annotated::Annotated;
use rows::Rows;

use crate::budget;
use crate::contract::Contract;
use crate::span::{Interner, Span, Spans};
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
pub fn reconstruct(spans: Spans, policy: &Policy) -> Tables {
    let Spans { strings, rows } = spans;
    let sorted = in_order(&rows, &strings);
    let mut told = Rows::new(strings);
    for trace in sorted.chunk_by(|one, other| one.trace_id == other.trace_id) {
        let annotated = Annotated::of(trace, &told.tables.strings, policy);
        told.append(&annotated);
    }
    told.tables
}

/// The spans by trace, and within one by (start, id, content).
fn in_order<'a>(spans: &'a [Span], strings: &Interner) -> Vec<&'a Span> {
    // What decides nearly always lies together, not behind references.
    let key = |span: &Span| (span.trace_id.sort_key(), span.start, span.span_id);
    let mut sorted: Vec<_> = spans.iter().map(|span| (key(span), span)).collect();
    sorted.sort_unstable_by(|(key, span), (other_key, other)| {
        key.cmp(other_key).then_with(|| span.content_order(other, strings))
    });
    sorted.into_iter().map(|(_, span)| span).collect()
}
