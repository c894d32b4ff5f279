//! What was wrong with the files, as the table.

use std::io::Write;

use super::stream::Out;
use super::{Failure, Surveyed};
use crate::tables::{ProblemRow, Row};

/// So many rows go out at a time.
const BATCH_ROWS: usize = 1 << 14;

/// Tells the rows of `problems`.
///
/// # Errors
/// Nobody takes them.
pub fn problems(surveyed: &Surveyed, output: impl Write) -> Result<(), Failure> {
    let ingested = &surveyed.ingested;
    let mut out = Out::new(output, &ProblemRow::TABLE.arrow_schema())?;
    for rows in ingested.problems.chunks(BATCH_ROWS) {
        out.write(&ProblemRow::TABLE.batch(&ProblemRow::gather(rows), &ingested.problem_strings)?)?;
    }
    out.finish()
}
