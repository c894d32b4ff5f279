//! Parquet files that somebody else wrote, held in memory.

use std::panic::AssertUnwindSafe;

use arrow_array::RecordBatch;
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;
use parquet::file::reader::ChunkReader;

use super::format::{FormatError, VERSION_KEY};
use super::pages::claims_too_much;

/// What a Parquet file starts with, and ends with.
const MAGIC: &[u8] = b"PAR1";

/// Rows that are read at a time: what is compressed well must not become large at once.
const READ_ROWS: usize = 1 << 12;

/// How many rows a byte may stand for: every span has an id of its own, which takes some bits
/// however well the file is compressed.
const MAX_ROWS_PER_BYTE: usize = 8;

/// Whether a stream that starts so is a Parquet file.
pub fn is_parquet(start: &[u8]) -> bool {
    start.starts_with(MAGIC)
}

/// A Parquet file whose end has been read, which tells what is in it.
pub struct ParquetFile {
    bytes: Bytes,
    builder: ParquetRecordBatchReaderBuilder<Bytes>,
}

impl ParquetFile {
    /// Reads the end of the file.
    pub fn open(bytes: &[u8]) -> Result<Self, FormatError> {
        // What types the writer had in mind does not matter: those of Parquet itself are few.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let bytes = Bytes::copy_from_slice(bytes);
        guarded(|| {
            let builder =
                ParquetRecordBatchReaderBuilder::try_new_with_options(bytes.clone(), options)?;
            Ok(Self { bytes, builder })
        })
    }

    /// Whether it is a table of ours.
    pub fn is_ours(&self) -> bool {
        let pairs = self.builder.metadata().file_metadata().key_value_metadata();
        pairs.is_some_and(|pairs| pairs.iter().any(|pair| pair.key == VERSION_KEY))
    }

    /// The names of its columns.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.builder.schema().fields().iter().map(|field| field.name().as_str())
    }

    /// Its rows, of the columns that `wanted` affirms.
    pub fn batches(
        self,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<impl Iterator<Item = Result<RecordBatch, FormatError>>, FormatError> {
        let names = self.columns().enumerate();
        let roots: Vec<usize> =
            names.filter(|(_, name)| wanted(name)).map(|(place, _)| place).collect();
        let mask = ProjectionMask::roots(self.builder.parquet_schema(), roots);
        if guarded(|| Ok(self.is_overfull(&mask)))? {
            return Err(damaged());
        }
        let builder = self.builder.with_projection(mask).with_batch_size(READ_ROWS);
        let batches = guarded_batches(builder)?;
        let mut rows_left = self.bytes.len().saturating_mul(MAX_ROWS_PER_BYTE);
        Ok(batches.map(move |batch| {
            let batch = batch?;
            rows_left = rows_left.checked_sub(batch.num_rows()).ok_or_else(damaged)?;
            Ok(batch)
        }))
    }

    /// Whether a page of the columns in `mask` claims more than its bytes can hold.
    fn is_overfull(&self, mask: &ProjectionMask) -> bool {
        self.builder.metadata().row_groups().iter().any(|group| {
            let mut chunks = group.columns().iter().enumerate();
            chunks.any(|(place, chunk)| {
                mask.leaf_included(place) && claims_too_much(&self.bytes, chunk)
            })
        })
    }
}

/// The batches of a file until the first fault: what comes after it is not to be trusted.
pub(super) fn guarded_batches<R: ChunkReader + 'static>(
    builder: ParquetRecordBatchReaderBuilder<R>,
) -> Result<impl Iterator<Item = Result<RecordBatch, FormatError>>, FormatError> {
    let mut reader = Some(guarded(|| Ok(builder.build()?))?);
    Ok(std::iter::from_fn(move || {
        let rows = reader.as_mut()?;
        let batch = guarded(|| Ok(rows.next().transpose()?));
        if batch.is_err() {
            reader = None;
        }
        batch.transpose()
    }))
}

/// Runs a part of the Parquet reader, which panics on some files that are damaged.
pub(super) fn guarded<T>(read: impl FnOnce() -> Result<T, FormatError>) -> Result<T, FormatError> {
    std::panic::catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(damaged()))
}

fn damaged() -> FormatError {
    ParquetError::General("damaged".to_owned()).into()
}
