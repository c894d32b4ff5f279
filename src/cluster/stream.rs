//! Arrow streams between a task and its engine: batches as they come, and as they go.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, SchemaRef};

use super::Failure;

/// How much is read or written at a time.
const BUFFER_BYTES: usize = 1 << 18;

/// The batches that come in.
pub(super) fn batches(input: impl Read) -> Result<Batches<impl Read>, Failure> {
    let mut input = BufReader::with_capacity(BUFFER_BYTES, Watched { input, is_at_end: false });
    if input.fill_buf()?.is_empty() {
        return Err(Failure::Nothing);
    }
    let cut_off = |error| match error {
        ArrowError::IoError(_, error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            Failure::CutOff
        }
        other => other.into(),
    };
    Ok(Batches { reader: StreamReader::try_new(input, None).map_err(cut_off)? })
}

/// Batches as they come.
pub(super) struct Batches<R: Read> {
    reader: StreamReader<BufReader<Watched<R>>>,
}

impl<R: Read> Iterator for Batches<R> {
    type Item = Result<RecordBatch, Failure>;

    /// The library takes a stream that ends between two batches for a whole one, but only where it finds
    /// the mark of the end does it not ask for more.
    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.reader.next();
        let input = self.reader.get_mut().get_mut();
        match batch {
            Some(Ok(batch)) => Some(Ok(batch)),
            _ if std::mem::take(&mut input.is_at_end) => Some(Err(Failure::CutOff)),
            batch => batch.map(|batch| Ok(batch?)),
        }
    }
}

/// A stream that knows whether more was asked of it than there was.
pub(super) struct Watched<R> {
    input: R,
    is_at_end: bool,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.input.read(buffer)?;
        self.is_at_end |= len == 0;
        Ok(len)
    }
}

/// Tells what is no stream of rows.
///
/// # Errors
/// Nobody takes it.
pub fn tell(text: &str, mut output: impl Write) -> Result<(), Failure> {
    output.write_all(text.as_bytes())?;
    Ok(output.flush()?)
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
