//! Files of which it is known what they are, and why they are not read.

use super::outline::Outline;

/// Why a file that was recognised is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A table of spans that lacks a column.
    #[error(
        "rows of ClickHouse without the column {0}, which is needed; \
         export all columns: SELECT * FROM otel_traces"
    )]
    ColumnAbsent(&'static str),
    /// Rows of spans in which no value has the name of its column; or no rows.
    #[error(
        "rows of ClickHouse without the names of their columns (as TabSeparated, CSV and JSONCompact \
         are), or none at all: export spans with FORMAT JSONEachRow, CSVWithNames, TSVWithNames or \
         Parquet"
    )]
    ColumnsUnnamed,
    /// A table that we wrote, or a part of one.
    #[error(
        "a table that dwindle wrote, which holds no spans: name the traces that it was made from, \
         or the folder that it lies in, with manifest.json, to `dwindle report`"
    )]
    OwnTable,
    /// Spans as a cluster kept them.
    #[error(
        "spans that `dwindle cluster --keep-spans` kept: give them to `dwindle cluster --table`, or name \
         the traces that they were read from"
    )]
    KeptSpans,
    /// An answer of Tempo's search.
    #[error(
        "an answer of Tempo's search, which holds matched spans without their parents: \
         get each trace whole by GET /api/v2/traces/TRACE_ID"
    )]
    TempoSearch,
    /// A segment of AWS X-Ray, or an answer with some.
    #[error(
        "AWS X-Ray segments: send them through an OpenTelemetry collector (awsxray receiver, file \
         exporter) and read what it writes"
    )]
    XRay,
    /// Documents of a search engine.
    #[error(
        "span documents of OpenSearch or Elasticsearch: get the traces from their API as OTLP or \
         Jaeger JSON, or write the documents as span JSON (docs/span-json.md)"
    )]
    SearchDocuments,
    /// Spans, one a record, in nobody's format.
    #[error(
        "flat spans of no format that is known: name their fields as span JSON does \
         (docs/span-json.md)"
    )]
    FlatSpans,
    /// A file compressed as is not read, or an archive.
    #[error("{name}, which is not read: unpack it first ({command})")]
    Packed {
        /// What it is.
        name: &'static str,
        /// What unpacks it.
        command: &'static str,
    },
    /// Text of two bytes a letter.
    #[error("UTF-16 text: convert it to UTF-8 (iconv -f UTF-16 -t UTF-8 FILE)")]
    Utf16,
    /// A Parquet file that is not held in memory.
    #[error("a Parquet file larger than --max-record, which it has to fit into: give it more")]
    ParquetTooLarge,
    /// A Parquet file whose end tells nothing.
    #[error("a Parquet file of which the end is missing or damaged: copy or write it again")]
    ParquetDamaged,
    /// A Parquet file whose texts begin with how many there are.
    #[error(
        "a Parquet file with texts in a delta encoding, which is not read: \
         write it with plain or dictionary encoding, as ClickHouse does"
    )]
    ParquetDeltaTexts,
}

impl Refusal {
    /// Why a JSON value that looks so, and that no reader claims, is not read; `None` where it is
    /// not known what it is.
    pub(crate) fn of_json(outline: &Outline<'_>) -> Option<Self> {
        let has_all = |keys: &[&str]| keys.iter().all(|key| outline.has(key));
        let in_traces = |key: &str| outline.member("traces").is_some_and(|one| one.has(key));
        let in_answer = |key: &str| outline.member("Traces").is_some_and(|one| one.has(key));
        let is_of_lists = |key: &str| {
            outline.member(key).is_some_and(|rows| rows.in_array && rows.members.is_empty())
        };
        if in_traces("spanSet") || in_traces("spanSets") || in_traces("rootServiceName") {
            Some(Self::TempoSearch)
        } else if has_all(&["trace_id", "id", "start_time"]) || in_answer("Segments") {
            Some(Self::XRay)
        } else if has_all(&["meta", "data", "rows"]) && is_of_lists("data") {
            Some(Self::ColumnsUnnamed)
        } else if has_all(&["hits", "took"]) || has_all(&["traceId", "traceGroup"]) {
            Some(Self::SearchDocuments)
        } else if has_all(&["trace_id", "span_id"]) {
            Some(Self::FlatSpans)
        } else {
            None
        }
    }
}
