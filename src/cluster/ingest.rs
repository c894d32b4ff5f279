//! From a file, or rows of one, to spans as they are read, and at the end what else it told.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, RecordBatch};
use arrow_schema::SchemaRef;
use serde::{Deserialize, Serialize};

use super::stream::{self, Out};
use super::{Failure, part};
use crate::conventions::Conventions;
use crate::ingest::{FileTold, Rows, Settings, ingest_onwards};
use crate::span::{Interner, Span, Spans};
use crate::tables::spans;

/// What a file told besides its spans.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct File {
    pub(super) told: FileTold,
    /// Who chose traces once their outcome was known, and how often it says so.
    pub(super) chosen_by: BTreeMap<String, u64>,
}

impl File {
    fn new(told: FileTold, conventions: &Conventions) -> Self {
        let chosen_by = conventions.chosen_by(&told.facts().seen);
        Self { told, chosen_by }
    }
}

/// The columns that go out: spans, and what a file told, of which a row is no span's.
pub(super) fn schema() -> SchemaRef {
    part::beside(&spans::schema())
}

/// Reads a file, or a stream as if it were the file called `name`.
///
/// # Errors
/// It cannot be read, or nobody takes its spans.
pub fn ingest(
    name: &str,
    file: impl Read + Send,
    settings: Settings<'_>,
    output: impl Write + Send,
) -> Result<(), Failure> {
    let mut out = SpansOut(Out::new(output, &schema())?);
    let take = |spans: Spans| out.spans(&spans).map_err(Failure::into_io);
    let told = ingest_onwards(name, file, settings, take)?;
    out.finish(&File::new(told, settings.conventions))
}

/// Reads rows of ClickHouse's `otel_traces`, some of those of the data set called `name`.
///
/// # Errors
/// They are no such rows, or nobody takes their spans.
pub fn ingest_rows(
    name: &str,
    input: impl Read,
    settings: Settings<'_>,
    output: impl Write,
) -> Result<(), Failure> {
    let mut out = SpansOut(Out::new(output, &schema())?);
    let mut rows = Rows::new(name, settings);
    for batch in stream::batches(input)? {
        out.spans(&rows.read(&batch?)?)?;
    }
    out.finish(&File::new(rows.finish(), settings.conventions))
}

/// Where spans go.
struct SpansOut<W: Write>(Out<W>);

impl<W: Write> SpansOut<W> {
    fn spans(&mut self, spans: &Spans) -> Result<(), Failure> {
        self.write(&spans.rows, &spans.strings, None)
    }

    /// Adds what a file told, as a row that is no span's, and ends.
    fn finish(mut self, file: &File) -> Result<(), Failure> {
        let mut strings = Interner::default();
        let nothing = Span::of_no_trace(&mut strings);
        self.write(&[nothing], &strings, Some(&part::bytes(file)?))?;
        self.0.finish()
    }

    fn write(
        &mut self,
        spans: &[Span],
        strings: &Interner,
        part: Option<&[u8]>,
    ) -> Result<(), Failure> {
        spans::batches(spans, strings, |batch| {
            let parts = std::iter::repeat_n(part, batch.num_rows()).collect::<BinaryArray>();
            let mut columns = batch.columns().to_vec();
            columns.push(Arc::new(parts) as ArrayRef);
            self.0.write(&RecordBatch::try_new(schema(), columns)?)
        })
    }
}
