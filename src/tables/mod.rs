//! Every table and column, declared once: name, type, unit, bad side, what null means, and a
//! sentence. Writers, readers, `dwindle schema` and the reports derive from it.

mod cell;
mod chunk;
mod encoding;
pub mod folder;
pub mod foreign;
pub mod format;
mod gathered;
mod kept;
mod outline;
mod pages;
mod parquet_file;
pub mod result_file;
mod rows;
mod schema;
pub mod spans;
mod stay;
mod stored;
mod thrift;

pub use cell::Cell;
pub use gathered::Gathered;
pub use kept::Kept;
pub use outline::{OutlineSpan, OwnStretch};
pub use rows::{
    AttemptKind, AttemptRow, Blame, BlindSpot, BlindSpots, Category, Certainty, DeadlineSource,
    Evidence, FindingCode, FindingRow, Funding, HopRow, ProblemRow, RequestRow, SegmentRow,
    Severity, TerminalOutcome, Verdict,
};
pub use schema::{BadSide, Column, Measure, ReadError, Row, SCHEMA_VERSION, TABLES, Table, unit};
pub use stay::{ExpiredWork, Stay};
pub use stored::{Batches, StoredTable};

use crate::span::{Interner, TraceId};

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
    /// No table: the spans of a trace that is to be explained; of others there are none.
    pub outline: Vec<OutlineSpan>,
}

impl Tables {
    /// Keeps the rows of some traces. Of what findings over several are made nothing stays.
    pub fn retain(&mut self, is_wanted: impl Fn(TraceId) -> bool) {
        self.requests.retain(|row| is_wanted(row.trace_id));
        self.hops.retain(|row| is_wanted(row.trace_id));
        self.attempts.retain(|row| is_wanted(row.trace_id));
        self.segments.retain(|row| is_wanted(row.trace_id));
        self.findings.retain(|row| is_wanted(row.trace_id));
        self.outline.retain(|span| is_wanted(span.trace_id));
        self.stays.clear();
    }
}
