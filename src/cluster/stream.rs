//! Arrow streams between a task and its engine: batches as they come, and as they go.

use std::io::{BufReader, BufWriter, Read, Write};

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::SchemaRef;

use super::Failure;

/// How much is read or written at a time.
const BUFFER_BYTES: usize = 1 << 18;

/// The batches that come in; none where nothing comes, since an engine starts no task for no rows.
pub(super) fn batches(
    input: impl Read,
) -> Result<impl Iterator<Item = Result<RecordBatch, Failure>>, Failure> {
    let reader = StreamReader::try_new(BufReader::with_capacity(BUFFER_BYTES, input), None)?;
    Ok(reader.map(|batch| Ok(batch?)))
}

/// What goes out.
pub(super) struct Out<W: Write> {
    writer: StreamWriter<BufWriter<W>>,
}

impl<W: Write> Out<W> {
    /// Begins a stream of such rows.
    pub(super) fn new(out: W, schema: &SchemaRef) -> Result<Self, Failure> {
        let out = BufWriter::with_capacity(BUFFER_BYTES, out);
        Ok(Self { writer: StreamWriter::try_new(out, schema)? })
    }

    /// Adds rows.
    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<(), Failure> {
        Ok(self.writer.write(batch)?)
    }

    /// Ends the stream: all is written.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        self.writer.finish()?;
        Ok(self.writer.into_inner()?.flush()?)
    }
}
