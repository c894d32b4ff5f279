//! A table that was written before, read back column by column, as often as a query asks for it.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, FieldRef, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;

use super::folder::FolderError;
use super::foreign::{guarded_batches, opened};
use super::format::{Format, FormatError, read_batches};
use super::in_parts::parts;
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
    /// What lies at `path` in a folder.
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
    /// The files cannot be found.
    pub fn batches(&self, columns: &[usize]) -> Result<Batches, FolderError> {
        let failed = |error: FormatError| FolderError::Format { path: self.path.clone(), error };
        let all = self.table.arrow_schema();
        let wanted = all.project(columns).map(Arc::new).map_err(|error| failed(error.into()))?;
        // Where only rows are counted, one column tells how many there are.
        let read = if columns.is_empty() { Arc::new(first_column(&all)) } else { wanted.clone() };
        if let Some(file) = &self.file {
            let file = file.try_clone().map_err(|error| failed(error.into()))?;
            return Ok(told(file_batches(file, self.format, &read, &wanted), self.path.clone()));
        }
        let parts = parts(&self.path).map_err(|error| failed(error.into()))?;
        let format = self.format;
        Ok(Box::new(parts.into_iter().flat_map(move |path| {
            let file = File::open(&path).map_err(FormatError::from);
            let batches = file.and_then(|file| file_batches(file, format, &read, &wanted));
            told(batches, path)
        })))
    }
}

type RawBatches = Box<dyn Iterator<Item = Result<RecordBatch, FormatError>> + Send>;

/// The same, where faults name the file.
fn told(batches: Result<RawBatches, FormatError>, path: PathBuf) -> Batches {
    let batches = batches.unwrap_or_else(|error| Box::new(std::iter::once(Err(error))));
    let failed = move |error| FolderError::Format { path: path.clone(), error };
    Box::new(batches.map(move |batch| batch.map_err(&failed)))
}

/// The rows of a file, of which the columns `read` are read to tell those of `wanted`.
fn file_batches(
    file: File,
    format: Format,
    read: &SchemaRef,
    wanted: &SchemaRef,
) -> Result<RawBatches, FormatError> {
    let batches = match format {
        Format::Parquet => parquet_batches(file, read)?,
        Format::Ndjson | Format::Csv => {
            let mut batches = Vec::new();
            read_batches(file, format, read, |batch| {
                batches.push(Ok(batch));
                Ok::<_, FormatError>(())
            })?;
            Box::new(batches.into_iter())
        }
    };
    let wanted = Arc::clone(wanted);
    Ok(Box::new(batches.map(move |batch| declared(&batch?, &wanted))))
}

fn first_column(schema: &SchemaRef) -> Schema {
    Schema::new(schema.fields().iter().take(1).cloned().collect::<Vec<_>>())
}

/// The columns of `wanted` that the file holds, in its own order.
fn parquet_batches(file: File, wanted: &SchemaRef) -> Result<RawBatches, FormatError> {
    let builder = opened(file)?;
    let fields = builder.schema().fields().iter().enumerate();
    let is_wanted = |name: &str| wanted.column_with_name(name).is_some();
    let roots: Vec<usize> =
        fields.filter(|(_, field)| is_wanted(field.name())).map(|(place, _)| place).collect();
    let mask = ProjectionMask::roots(builder.parquet_schema(), roots);
    Ok(Box::new(guarded_batches(builder.with_projection(mask).with_batch_size(READ_ROWS))?))
}

/// The columns that `schema` names, in its order and as it declares them: others say of every column
/// that it may be null, and call the items of lists by another name.
fn declared(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, FormatError> {
    let held = batch.schema();
    let column = |field: &FieldRef| {
        let column = batch.column(held.index_of(field.name())?);
        if !field.is_nullable() && column.null_count() > 0 {
            return Err(FormatError::Null { column: field.name().clone() });
        }
        Ok::<ArrayRef, _>(match (field.data_type(), column.as_list_opt::<i32>()) {
            (DataType::List(item), Some(list)) => {
                let (_, ends, items, nulls) = list.clone().into_parts();
                Arc::new(ListArray::try_new(Arc::clone(item), ends, items, nulls)?)
            }
            _ => Arc::clone(column),
        })
    };
    let columns = schema.fields().iter().map(column).collect::<Result<_, FormatError>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?)
}
