//! Parquet files that somebody else wrote, held in memory.

use std::panic::AssertUnwindSafe;

use arrow_array::RecordBatch;
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::ChunkReader;

use super::format::FormatError;
use super::pages::{Page, pages};
use super::parquet_file::VERSION_KEY;
use super::schema::{Row, TABLES, Table};
use super::spans::SpanRow;
use super::thrift::is_sound_at_end;

/// What a Parquet file starts with, and ends with.
const MAGIC: &[u8] = b"PAR1";

/// Rows that are read at a time: what is compressed well must not become large at once.
const READ_ROWS: usize = 1 << 12;

/// How many values in all columns a byte of the file may stand for: every span has an id and times
/// of its own, which take some bytes however well the rest is compressed.
const MAX_VALUES_PER_BYTE: u64 = 64;

/// The widest values of a fixed width. Ids have 8, 16 or 32 bytes; the library makes room for many
/// rows of what the file says.
const MAX_FIXED_BYTES: i32 = 1 << 12;

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
        if !is_sound_at_end(bytes) {
            return Err(damaged());
        }
        let bytes = Bytes::copy_from_slice(bytes);
        let builder = opened(bytes.clone())?;
        Ok(Self { bytes, builder })
    }

    /// Whether it is a table of ours, or a part of one that a cluster wrote, which tells no version.
    pub fn is_ours(&self) -> bool {
        let pairs = self.builder.metadata().file_metadata().key_value_metadata();
        let is_one =
            |table: &Table| self.columns().eq((table.columns)().iter().map(|column| column.name));
        pairs.is_some_and(|pairs| pairs.iter().any(|pair| pair.key == VERSION_KEY))
            || TABLES.iter().any(is_one)
    }

    /// Whether it is a part of the spans that a cluster kept, with what was told of their files.
    pub fn holds_kept_spans(&self) -> bool {
        let spans = (SpanRow::TABLE.columns)();
        let columns = self.columns().take(spans.len());
        columns.eq(spans.iter().map(|column| column.name))
    }

    /// The names of its columns.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.builder.schema().fields().iter().map(|field| field.name().as_str())
    }

    /// Whether the columns that `wanted` affirms hold texts in an encoding that is not read: it
    /// says how many there are, and a few damaged bytes would take all memory there is.
    pub fn has_delta_texts(&self, wanted: impl Fn(&str) -> bool) -> bool {
        let mask = self.mask(wanted);
        let has_some = |group: &RowGroupMetaData| {
            self.pages(group, &mask).flatten().any(|(page, _)| page.holds_delta_texts)
        };
        // What is damaged so that its pages cannot be found is told when it is read.
        guarded(|| Ok(self.groups().iter().any(has_some))).unwrap_or(false)
    }

    /// Its rows, of the columns that `wanted` affirms.
    pub fn batches(
        self,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<impl Iterator<Item = Result<RecordBatch, FormatError>>, FormatError> {
        let mask = self.mask(wanted);
        let sound = guarded(|| Ok(self.count_sound(&mask)))?;
        let fault = (sound < self.groups().len()).then(|| Err(damaged()));
        let builder = self.builder.with_row_groups((0..sound).collect());
        let batches = guarded_batches(builder.with_projection(mask).with_batch_size(READ_ROWS))?;
        Ok(batches.chain(fault))
    }

    /// How many groups of rows there are before the first in which a page of the columns in `mask`
    /// is damaged, claims more than its bytes can hold, or more values than the file can.
    fn count_sound(&self, mask: &ProjectionMask) -> usize {
        let mut values_left = MAX_VALUES_PER_BYTE.saturating_mul(self.bytes.len() as u64);
        let mut is_sound = |page: Option<(Page, Compression)>| {
            let Some((page, compression)) = page else { return false };
            let left = values_left.checked_sub(page.claimed_values);
            values_left = left.unwrap_or(0);
            left.is_some() && !page.claims_too_much(compression)
        };
        let is_narrow =
            |chunk: &ColumnChunkMetaData| chunk.column_descr().type_length() <= MAX_FIXED_BYTES;
        let groups = self.groups().iter();
        groups
            .take_while(|group| group.columns().iter().all(is_narrow))
            .take_while(|group| self.pages(group, mask).all(&mut is_sound))
            .count()
    }

    fn groups(&self) -> &[RowGroupMetaData] {
        self.builder.metadata().row_groups()
    }

    /// The pages of a group of rows in the columns of `mask`; `None` for those that are damaged.
    fn pages(
        &self,
        group: &RowGroupMetaData,
        mask: &ProjectionMask,
    ) -> impl Iterator<Item = Option<(Page, Compression)>> {
        let chunks = group.columns().iter().enumerate();
        chunks.filter(|(place, _)| mask.leaf_included(*place)).flat_map(|(_, chunk)| {
            pages(&self.bytes, chunk).map(|page| Some((page?, chunk.compression())))
        })
    }

    /// The columns that `wanted` affirms, with all that is within them.
    fn mask(&self, wanted: impl Fn(&str) -> bool) -> ProjectionMask {
        let names = self.columns().enumerate();
        let roots: Vec<usize> =
            names.filter(|(_, name)| wanted(name)).map(|(place, _)| place).collect();
        ProjectionMask::roots(self.builder.parquet_schema(), roots)
    }
}

/// A file whose end has been read.
pub(super) fn opened<R: ChunkReader + 'static>(
    file: R,
) -> Result<ParquetRecordBatchReaderBuilder<R>, FormatError> {
    // What types the writer had in mind does not matter: those of Parquet itself are few.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    guarded(|| Ok(ParquetRecordBatchReaderBuilder::try_new_with_options(file, options)?))
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
fn guarded<T>(read: impl FnOnce() -> Result<T, FormatError>) -> Result<T, FormatError> {
    std::panic::catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(damaged()))
}

fn damaged() -> FormatError {
    ParquetError::General("damaged".to_owned()).into()
}
