//! Parquet files that somebody else wrote, held in memory.

use std::panic::AssertUnwindSafe;

use arrow_array::RecordBatch;
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;

use super::format::{FormatError, VERSION_KEY};

/// What a Parquet file starts with, and ends with.
const MAGIC: &[u8] = b"PAR1";

/// Rows that are read at a time: what is compressed well must not become large at once.
const READ_ROWS: usize = 1 << 12;

/// Whether a stream that starts so is a Parquet file.
pub fn is_parquet(start: &[u8]) -> bool {
    start.starts_with(MAGIC)
}

/// A Parquet file whose end has been read, which tells what is in it.
pub struct ParquetFile(ParquetRecordBatchReaderBuilder<Bytes>);

impl ParquetFile {
    /// Reads the end of the file.
    pub fn open(bytes: &[u8]) -> Result<Self, FormatError> {
        // What types the writer had in mind does not matter: those of Parquet itself are few.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let bytes = Bytes::copy_from_slice(bytes);
        guarded(|| Ok(Self(ParquetRecordBatchReaderBuilder::try_new_with_options(bytes, options)?)))
    }

    /// Whether it is a table of ours.
    pub fn is_ours(&self) -> bool {
        let pairs = self.0.metadata().file_metadata().key_value_metadata();
        pairs.is_some_and(|pairs| pairs.iter().any(|pair| pair.key == VERSION_KEY))
    }

    /// The names of its columns.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.0.schema().fields().iter().map(|field| field.name().as_str())
    }

    /// Its rows, of the columns that `wanted` affirms.
    pub fn batches(
        self,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<impl Iterator<Item = Result<RecordBatch, FormatError>>, FormatError> {
        let names = self.columns().enumerate();
        let roots: Vec<usize> =
            names.filter(|(_, name)| wanted(name)).map(|(place, _)| place).collect();
        let mask = ProjectionMask::roots(self.0.parquet_schema(), roots);
        let builder = self.0.with_projection(mask).with_batch_size(READ_ROWS);
        let mut reader = Some(guarded(|| Ok(builder.build()?))?);
        Ok(std::iter::from_fn(move || {
            let rows = reader.as_mut()?;
            let batch = guarded(|| Ok(rows.next().transpose()?));
            if batch.is_err() {
                // What comes after a fault is not to be trusted.
                reader = None;
            }
            batch.transpose()
        }))
    }
}

/// Runs a part of the Parquet reader, which panics on some files that are damaged.
fn guarded<T>(read: impl FnOnce() -> Result<T, FormatError>) -> Result<T, FormatError> {
    std::panic::catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(ParquetError::General("damaged".to_owned()).into()))
}
