//! Every table and column, declared once: name, type, unit, bad side, what null means, and a
//! sentence. Writers, readers, `dwindle schema` and the reports derive from it.

mod cell;
mod chunk;
mod distribution;
mod encoding;
pub mod folder;
pub mod foreign;
pub mod format;
mod gathered;
mod in_parts;
mod kept;
mod outline;
mod pages;
mod parquet_file;
mod races;
pub mod result_file;
mod rows;
mod schema;
pub mod spans;
pub mod spreadsheet;
mod stay;
mod stored;
mod thrift;

pub use cell::Cell;
pub use distribution::{DistributionRow, Scope};
pub use gathered::Gathered;
pub use kept::Kept;
pub use outline::{CandidateRow, ExemplarRow, OutlineSpan, OwnStretch};
pub use races::Races;
pub use rows::{
    AttemptKind, AttemptRow, Blame, BlindSpot, BlindSpots, Category, Certainty, DeadlineSource,
    Evidence, FindingCode, FindingRow, Funding, HopRow, ProblemRow, RequestRow, SegmentRow,
    Severity, TerminalOutcome, Verdict,
};
pub use schema::{BadSide, Column, Measure, ReadError, Row, SCHEMA_VERSION, TABLES, Table, unit};
pub use stay::{ExpiredWork, Stay, StayRow};
pub use stored::{Batches, StoredTable};

use rustc_hash::FxHashMap;

use crate::span::{Interner, SpanId, Sym, TraceId};

/// The rows that one partition of whole traces gives, with the strings they share.
#[derive(Debug, Default)]
pub struct Tables {
    /// The strings behind every [`crate::span::Sym`] of the rows.
    pub strings: Interner,
    /// One row a request.
    pub requests: Vec<RequestRow>,
    /// One row a hop.
    pub hops: Vec<HopRow>,
    /// One row an attempt.
    pub attempts: Vec<AttemptRow>,
    /// Where the time on the consumption path went.
    pub segments: Vec<SegmentRow>,
    /// What is wrong.
    pub findings: Vec<FindingRow>,
    /// No table: what findings over several traces are made of.
    pub stays: Vec<Stay>,
    /// The spans of traces that are drawn or explained; of others there are none.
    pub outline: Vec<OutlineSpan>,
}

impl Tables {
    /// The rows of one trace, with strings of their own.
    #[must_use]
    pub fn of_trace(&self, id: TraceId) -> Self {
        let mut strings = Interner::default();
        let mut new = |sym| strings.intern(self.strings.get(sym));
        let mut tables = Self {
            requests: picked(&self.requests, |row| row.trace_id, id, &mut new),
            hops: picked(&self.hops, |row| row.trace_id, id, &mut new),
            attempts: picked(&self.attempts, |row| row.trace_id, id, &mut new),
            segments: picked(&self.segments, |row| row.trace_id, id, &mut new),
            findings: picked(&self.findings, |row| row.trace_id, id, &mut new),
            outline: of_trace(&self.outline, |span| span.trace_id, id).to_vec(),
            ..Self::default()
        };
        for span in &mut tables.outline {
            (span.service, span.operation) = (new(span.service), new(span.operation));
        }
        Self { strings, ..tables }
    }

    /// Keeps the rows of some traces. Of what findings over several are made nothing stays.
    pub fn retain(&mut self, is_wanted: impl Fn(TraceId) -> bool) {
        self.retain_requests(|trace, _| is_wanted(trace));
        self.outline.retain(|span| is_wanted(span.trace_id));
    }

    /// Keeps the rows of some requests, each told by its trace and its root span. Of what findings
    /// over several traces are made nothing stays.
    pub fn retain_requests(&mut self, is_wanted: impl Fn(TraceId, SpanId) -> bool) {
        self.requests.retain(|row| is_wanted(row.trace_id, row.root_span_id));
        self.hops.retain(|row| is_wanted(row.trace_id, row.root_span_id));
        self.attempts.retain(|row| is_wanted(row.trace_id, row.root_span_id));
        self.segments.retain(|row| is_wanted(row.trace_id, row.root_span_id));
        self.findings.retain(|row| is_wanted(row.trace_id, row.root_span_id));
        self.stays.clear();
    }
}

/// The rows of a trace, of rows in the order of the traces.
pub fn of_trace<T>(rows: &[T], trace: impl Fn(&T) -> TraceId, id: TraceId) -> &[T] {
    let first = rows.partition_point(|row| trace(row) < id);
    let rest = rows.get(first..).unwrap_or_default();
    rest.get(..rest.partition_point(|row| trace(row) == id)).unwrap_or_default()
}

/// The rows of each request, which stand together.
pub(crate) fn by_request<T>(
    rows: &[T],
    request: impl Fn(&T) -> (TraceId, SpanId),
) -> FxHashMap<(TraceId, SpanId), &[T]> {
    let runs = rows.chunk_by(|one, other| request(one) == request(other));
    runs.filter_map(|run| Some((request(run.first()?), run))).collect()
}

fn picked<R: Row + Clone>(
    rows: &[R],
    trace: impl Fn(&R) -> TraceId,
    id: TraceId,
    new: &mut dyn FnMut(Sym) -> Sym,
) -> Vec<R> {
    let mut rows = of_trace(rows, trace, id).to_vec();
    for row in &mut rows {
        row.renumber(new);
    }
    rows
}
