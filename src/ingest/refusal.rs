//! Files of which it is known what they are, and why they are not read.

/// Why a file that was recognised is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A table of spans that lacks a column.
    #[error(
        "rows of ClickHouse without the column {0}, which is needed; \
         export all columns: SELECT * FROM otel_traces"
    )]
    ColumnAbsent(&'static str),
    /// A table that we wrote.
    #[error(
        "a table that `dwindle analyze` wrote, which holds no spans: \
         name the traces that it was made from, or see `dwindle report`"
    )]
    OwnTable,
    /// A Parquet file whose end tells nothing.
    #[error("a Parquet file of which the end is missing or damaged: copy or write it again")]
    ParquetDamaged,
}
