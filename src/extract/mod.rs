//! One trace by itself, as an OTLP JSON document: as it was written, or under neutral names and with
//! nothing in it but what the tables are made from.

mod document;
mod neutral_names;

use serde_json::Value as Json;

use crate::conventions::Conventions;
use crate::ingest::{Excerpt, WrittenSpan};
use crate::span::SpanId;
use neutral_names::NeutralNames;

/// Why a trace cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExtractError {
    /// OTLP takes the first instant of 1970 for none.
    #[error(
        "span {0} starts at the very beginning of 1970, which OTLP cannot tell from no time: \
         shift the times of the trace"
    )]
    StartsAtZero(SpanId),
}

/// The document of the trace as it was written. Values that are maps or bytes are left out, and
/// links lose what they point to.
pub fn written(excerpt: &Excerpt) -> Result<Json, ExtractError> {
    document::of(&excerpt.written)
}

/// The document of spans that were made, not read.
pub(crate) fn document(spans: &[WrittenSpan]) -> Result<Json, ExtractError> {
    document::of(spans)
}

/// The document of the trace under neutral names, of which nothing is left but what `conventions`
/// read: ids, times, kinds, outcomes, grants and the shape.
pub fn anonymised(excerpt: &Excerpt, conventions: &Conventions) -> Result<Json, ExtractError> {
    let names = NeutralNames::of(excerpt, conventions);
    let mut rename = |named, name: &str| names.rename(named, name);
    let strings = &excerpt.spans.strings;
    let pairs = excerpt.spans.rows.iter().zip(&excerpt.written);
    let spans = pairs.map(|(span, written)| WrittenSpan {
        raw: conventions.neutral(&written.raw, span, strings, &mut rename),
        resource: conventions.neutral_resource(span, strings, &mut rename),
    });
    document::of(&spans.collect::<Vec<_>>())
}
