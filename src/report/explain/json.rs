//! An explanation as JSON: the rows of the tables as they are, the spans between them, and the
//! answers.
//!
//! ```json
//! {"schema_version": 1, "version": "…", "trace_id": "…", "requests": [{"request": {…},
//!  "hops": [{…}], "attempts": [{…}], "segments": [{…}], "findings": [{…}], "spans": [{…}],
//!  "answers": [{"id": "…", "question": "…", "points": ["…"]}], "unknown": ["…"]}]}
//! ```
//! Rows hold the columns of `dwindle schema`. A span tells its times from the origin of its
//! request, what its own time was spent on, and from when on work of it is late or residual.

use serde_json::{Value, json};

use super::answers::answers;
use super::request::Request;
use super::tree::Tree;
use super::unknown::unknown;
use crate::report::{RunFacts, SCHEMA_VERSION};
use crate::span::Interner;
use crate::tables::format::json_row;
use crate::tables::{OutlineSpan, OwnStretch, Row, Tables};
use crate::units::Nanos;

/// Writes down what is known of a trace.
pub fn explanation_json(tables: &Tables, facts: &RunFacts) -> String {
    let requests: Vec<Value> =
        Request::all(tables).iter().map(|request| of_request(request, facts)).collect();
    let trace_id = tables.requests.first().map(|row| row.trace_id.to_string());
    let document = json!({
        "schema_version": SCHEMA_VERSION,
        "version": facts.version,
        "trace_id": trace_id,
        "requests": requests,
    });
    format!("{document:#}\n")
}

fn of_request(request: &Request<'_>, facts: &RunFacts) -> Value {
    let strings = request.strings;
    let tree = Tree::of(request);
    let answers: Vec<Value> = answers(request, &tree)
        .into_iter()
        .map(|answer| json!({ "id": answer.id, "question": answer.question, "points": answer.points }))
        .collect();
    let spans: Vec<Value> = request.spans.iter().map(|span| of_span(span, strings)).collect();
    json!({
        "request": rows(&[request.row], strings).pop(),
        "hops": rows(&request.hops, strings),
        "attempts": rows(&request.attempts, strings),
        "segments": rows(&request.segments, strings),
        "findings": rows(&request.findings, strings),
        "spans": spans,
        "answers": answers,
        "unknown": unknown(request, facts),
    })
}

/// The rows, each with all columns.
fn rows<R: Row + Clone>(rows: &[&R], strings: &Interner) -> Vec<Value> {
    let rows: Vec<R> = rows.iter().map(|&row| row.clone()).collect();
    // Columns as declared always fit their schema.
    let Ok(batch) = R::TABLE.batch(&R::gather(&rows), strings) else {
        return Vec::new();
    };
    (0..batch.num_rows()).map(|row| json_row(&batch, row)).collect()
}

fn of_span(span: &OutlineSpan, strings: &Interner) -> Value {
    let nanos = |length: Option<Nanos>| length.map(Nanos::as_nanos);
    let own = |own: &OwnStretch| {
        json!({
            "from_ns": own.from.as_nanos(),
            "to_ns": own.to.as_nanos(),
            "category": own.category.name(),
            "counts": span.counts(own),
        })
    };
    json!({
        "span_id": span.span_id.to_string(),
        "parent_span_id": span.parent_span_id.map(|id| id.to_string()),
        "attached": span.is_attached,
        "kind": span.kind.name(),
        "service": strings.get(span.service),
        "operation": strings.get(span.operation),
        "outcome": span.outcome.name(),
        "start_ns": span.start.as_nanos(),
        "end_ns": span.end.as_nanos(),
        "late_from_ns": nanos(span.late_from),
        "residual_from_ns": nanos(span.residual_from),
        "own": span.own.iter().map(own).collect::<Vec<_>>(),
    })
}
