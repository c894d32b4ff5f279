//! A table that was written before, read back column by column, as often as a query asks for it.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::folder::FolderError;
use super::foreign::{guarded, guarded_batches};
use super::format::{Format, FormatError, read_batches};
use super::schema::Table;

/// Rows that are read at a time: a few columns of these are small.
const READ_ROWS: usize = 1 << 13;

/// A table and where its rows are.
#[derive(Debug)]
pub struct StoredTable {
    table: Table,
    format: Format,
    path: PathBuf,
    /// The file itself, where it has no name.
    file: Option<File>,
}

/// Rows as they come.
pub type Batches = Box<dyn Iterator<Item = Result<RecordBatch, FolderError>> + Send>;

impl StoredTable {
    /// The file `path` of a folder.
    pub(super) fn named(table: Table, path: PathBuf, format: Format) -> Self {
        Self { table, format, path, file: None }
    }

    /// A Parquet file that has no name; `path` stands for it in errors.
    pub(super) fn unnamed(table: Table, path: PathBuf, file: File) -> Self {
        Self { table, format: Format::Parquet, path, file: Some(file) }
    }

    /// The table.
    pub fn table(&self) -> Table {
        self.table
    }

    /// Its rows, of the columns in these places. Parquet is read a few rows at a time, other formats
    /// at once.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn batches(&self, columns: &[usize]) -> Result<Batches, FolderError> {
        let path = self.path.clone();
        let failed = move |error| FolderError::Format { path: path.clone(), error };
        let all = self.table.arrow_schema();
        let wanted = all.project(columns).map(Arc::new).map_err(FormatError::from);
        let wanted = wanted.map_err(&failed)?;
        // Where only rows are counted, one column tells how many there are.
        let read = if columns.is_empty() { Arc::new(first_column(&all)) } else { wanted.clone() };
        let file = self.open().map_err(FormatError::from).map_err(&failed)?;
        let batches = match self.format {
            Format::Parquet => parquet_batches(file, &read).map_err(&failed)?,
            Format::Ndjson | Format::Csv => {
                let mut batches = Vec::new();
                read_batches(file, self.format, &read, |batch| {
                    batches.push(Ok(batch));
                    Ok::<_, FormatError>(())
                })
                .map_err(&failed)?;
                Box::new(batches.into_iter())
            }
        };
        Ok(Box::new(
            batches.map(move |batch| batch.and_then(|batch| cut(&batch, &wanted)).map_err(&failed)),
        ))
    }

    fn open(&self) -> io::Result<File> {
        self.file.as_ref().map_or_else(|| File::open(&self.path), File::try_clone)
    }
}

type RawBatches = Box<dyn Iterator<Item = Result<RecordBatch, FormatError>> + Send>;

fn first_column(schema: &SchemaRef) -> Schema {
    Schema::new(schema.fields().iter().take(1).cloned().collect::<Vec<_>>())
}

/// The columns of `wanted` that the file holds, in its own order.
fn parquet_batches(file: File, wanted: &SchemaRef) -> Result<RawBatches, FormatError> {
    let builder = guarded(|| Ok(ParquetRecordBatchReaderBuilder::try_new(file)?))?;
    let fields = builder.schema().fields().iter().enumerate();
    let is_wanted = |name: &str| wanted.column_with_name(name).is_some();
    let roots: Vec<usize> =
        fields.filter(|(_, field)| is_wanted(field.name())).map(|(place, _)| place).collect();
    let mask = ProjectionMask::roots(builder.parquet_schema(), roots);
    Ok(Box::new(guarded_batches(builder.with_projection(mask).with_batch_size(READ_ROWS))?))
}

/// The columns that `schema` names, in its order and as it declares them.
fn cut(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, FormatError> {
    let held = batch.schema();
    let columns =
        schema.fields().iter().map(|field| Ok(batch.column(held.index_of(field.name())?)));
    let columns = columns.map(<Result<&_, _>>::cloned).collect::<Result<_, FormatError>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?)
}
