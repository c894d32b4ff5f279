//! Formats of table files: JSON lines and CSV out, and these and Parquet in. All of it goes through
//! Arrow batches.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::builder::{
    ArrayBuilder, BooleanBuilder, Float64Builder, Int32Builder, Int64Builder, ListBuilder,
    StringBuilder, make_builder,
};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use parquet::errors::ParquetError;
use serde_json::Value;

use super::foreign::{guarded_batches, opened};
use super::spreadsheet::{harmless, original};
use crate::names::names;

/// Rows that are read back at a time.
const READ_ROWS: usize = 1 << 16;

/// What joins the items of a list in CSV.
const LIST_SEPARATOR: &str = "|";

names! {
    /// A format of table files; its name is their extension.
    pub enum Format {
        /// Apache Parquet, zstd.
        Parquet = "parquet",
        /// One JSON object a line.
        Ndjson = "ndjson",
        /// Comma-separated values with a header; lists are joined by `|`, nulls are empty, and an
        /// apostrophe stands before text that a spreadsheet would run as a formula.
        Csv = "csv",
    }
}

/// Why a table file could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// The file system says no.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Not Parquet, or broken.
    #[error(transparent)]
    Parquet(#[from] ParquetError),
    /// Columns that do not fit together.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
    /// Not CSV, or broken.
    #[error(transparent)]
    Csv(#[from] csv::Error),
    /// Not a JSON object a line.
    #[error("line {line}: {error}")]
    Json {
        /// The line, from 1.
        line: usize,
        /// What the parser says.
        error: serde_json::Error,
    },
    /// A null in a column that has none.
    #[error("column {column} holds a null, which it never may")]
    Null {
        /// The column.
        column: String,
    },
    /// CSV without even the names of its columns.
    #[error("the file is empty: the names of its columns are missing")]
    NoHeader,
    /// A value of another type than its column.
    #[error("row {row}, column {column}: expected {expected}")]
    Value {
        /// The row, from 1.
        row: usize,
        /// The column.
        column: String,
        /// Its type.
        expected: DataType,
    },
}

/// For those who write to something else than a table file, as it is one of theirs.
impl From<FormatError> for io::Error {
    fn from(error: FormatError) -> Self {
        match error {
            FormatError::Io(error) => error,
            FormatError::Csv(error) if error.is_io_error() => match error.into_kind() {
                csv::ErrorKind::Io(error) => error,
                other => Self::other(format!("{other:?}")),
            },
            FormatError::Parquet(ParquetError::External(error)) => {
                error.downcast().map_or_else(Self::other, |error| *error)
            }
            other => Self::other(other),
        }
    }
}

/// Writes the rows of one table as text.
pub(super) enum TextWriter<W: Write> {
    Ndjson(BufWriter<W>),
    Csv(Box<csv::Writer<W>>),
}

impl<W: Write> TextWriter<W> {
    pub(super) fn ndjson(out: W) -> Self {
        Self::Ndjson(BufWriter::new(out))
    }

    pub(super) fn csv(out: W, schema: &SchemaRef) -> Result<Self, FormatError> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(schema.fields().iter().map(|field| field.name()))?;
        Ok(Self::Csv(Box::new(writer)))
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<(), FormatError> {
        for row in 0..batch.num_rows() {
            match self {
                Self::Ndjson(writer) => {
                    serde_json::to_writer(&mut *writer, &json_row(batch, row))
                        .map_err(io::Error::from)?;
                    writer.write_all(b"\n")?;
                }
                Self::Csv(writer) => {
                    writer.write_record(
                        batch.columns().iter().map(|column| text_cell(column, row)),
                    )?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<(), FormatError> {
        match self {
            Self::Ndjson(mut writer) => writer.flush()?,
            Self::Csv(mut writer) => writer.flush()?,
        }
        Ok(())
    }
}

/// One row as a JSON object, columns in order, nulls told.
pub fn json_row(batch: &RecordBatch, row: usize) -> Value {
    let fields = batch.schema_ref().fields().iter().zip(batch.columns());
    Value::Object(
        fields.map(|(field, column)| (field.name().clone(), json_cell(column, row))).collect(),
    )
}

fn json_cell(column: &ArrayRef, row: usize) -> Value {
    if column.is_null(row) {
        return Value::Null;
    }
    match column.data_type() {
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).into(),
        DataType::Int32 => column.as_primitive::<Int32Type>().value(row).into(),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).into(),
        DataType::Boolean => column.as_boolean().value(row).into(),
        DataType::Utf8 => column.as_string::<i32>().value(row).into(),
        DataType::List(_) => {
            let items = column.as_list::<i32>().value(row);
            (0..items.len()).map(|item| json_cell(&items, item)).collect()
        }
        _ => Value::Null,
    }
}

fn text_cell(column: &ArrayRef, row: usize) -> String {
    match json_cell(column, row) {
        Value::Null => String::new(),
        Value::String(text) => harmless(&text).into_owned(),
        Value::Array(items) => {
            let items = items.iter().map(|item| item.as_str().unwrap_or_default());
            harmless(&items.collect::<Vec<_>>().join(LIST_SEPARATOR)).into_owned()
        }
        other => other.to_string(),
    }
}

/// Reads the batches of one table and hands them on in order.
pub(super) fn read_batches<E: From<FormatError>>(
    file: File,
    format: Format,
    schema: &SchemaRef,
    mut take: impl FnMut(RecordBatch) -> Result<(), E>,
) -> Result<(), E> {
    match format {
        Format::Parquet => {
            for batch in guarded_batches(opened(file)?.with_batch_size(READ_ROWS))? {
                take(batch?)?;
            }
        }
        Format::Ndjson => {
            let mut rows = RowBuilder::new(schema);
            for (place, line) in BufReader::new(file).lines().enumerate() {
                let line = line.map_err(FormatError::from)?;
                let object: Value = serde_json::from_str(&line)
                    .map_err(|error| FormatError::Json { line: place + 1, error })?;
                rows.push(|field| object.get(field).cloned().unwrap_or_default())?;
                if let Some(batch) = rows.full()? {
                    take(batch)?;
                }
            }
            take(rows.finish()?)?;
        }
        Format::Csv => {
            let mut rows = RowBuilder::new(schema);
            let mut reader = csv::Reader::from_reader(file);
            let header = reader.headers().map_err(FormatError::from)?.clone();
            if header.is_empty() {
                return Err(FormatError::NoHeader.into());
            }
            for record in reader.records() {
                let record = record.map_err(FormatError::from)?;
                rows.push(|field| {
                    let place = header.iter().position(|name| name == field);
                    let text = place.and_then(|place| record.get(place)).unwrap_or_default();
                    Value::String(original(text).to_owned())
                })?;
                if let Some(batch) = rows.full()? {
                    take(batch)?;
                }
            }
            take(rows.finish()?)?;
        }
    }
    Ok(())
}

/// Builds batches from rows of JSON values, or of text where they come from CSV.
struct RowBuilder {
    schema: SchemaRef,
    columns: Vec<Box<dyn ArrayBuilder>>,
    rows: usize,
    done: usize,
}

impl RowBuilder {
    fn new(schema: &SchemaRef) -> Self {
        Self { schema: Arc::clone(schema), columns: builders(schema), rows: 0, done: 0 }
    }

    fn push(&mut self, value: impl Fn(&str) -> Value) -> Result<(), FormatError> {
        self.rows += 1;
        for (field, column) in self.schema.fields().iter().zip(&mut self.columns) {
            let value = value(field.name());
            append(column.as_mut(), field.data_type(), field.is_nullable(), &value).ok_or_else(
                || FormatError::Value {
                    row: self.done + self.rows,
                    column: field.name().clone(),
                    expected: field.data_type().clone(),
                },
            )?;
        }
        Ok(())
    }

    fn full(&mut self) -> Result<Option<RecordBatch>, FormatError> {
        if self.rows < READ_ROWS { Ok(None) } else { self.finish().map(Some) }
    }

    fn finish(&mut self) -> Result<RecordBatch, FormatError> {
        self.done += std::mem::take(&mut self.rows);
        let columns = self.columns.iter_mut().map(ArrayBuilder::finish).collect();
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }
}

fn builders(schema: &SchemaRef) -> Vec<Box<dyn ArrayBuilder>> {
    let builder = |data_type: &DataType| -> Box<dyn ArrayBuilder> {
        match data_type {
            // The general builder would hold its items in a box that cannot be appended to.
            DataType::List(_) => Box::new(ListBuilder::new(StringBuilder::new())),
            other => make_builder(other, 0),
        }
    };
    schema.fields().iter().map(|field| builder(field.data_type())).collect()
}

/// Appends one value; `None` where it has another type.
fn append(
    column: &mut dyn ArrayBuilder,
    data_type: &DataType,
    nullable: bool,
    value: &Value,
) -> Option<()> {
    let column = column.as_any_mut();
    // An empty cell of CSV is null where nulls may be, and an empty text elsewhere.
    let text = value.as_str();
    let null = value.is_null() || (nullable && text == Some(""));
    match data_type {
        DataType::Int64 => {
            let value = value.as_i64().or_else(|| text?.parse().ok()).filter(|_| !null);
            column.downcast_mut::<Int64Builder>()?.append_option(value);
            (null || value.is_some()).then_some(())
        }
        DataType::Int32 => {
            let number = value.as_i64().or_else(|| text?.parse().ok()).filter(|_| !null);
            let value = number.and_then(|number| i32::try_from(number).ok());
            column.downcast_mut::<Int32Builder>()?.append_option(value);
            (null || value.is_some()).then_some(())
        }
        DataType::Float64 => {
            let value = value.as_f64().or_else(|| text?.parse().ok()).filter(|_| !null);
            column.downcast_mut::<Float64Builder>()?.append_option(value);
            (null || value.is_some()).then_some(())
        }
        DataType::Boolean => {
            let value = value.as_bool().or_else(|| text?.parse().ok()).filter(|_| !null);
            column.downcast_mut::<BooleanBuilder>()?.append_option(value);
            (null || value.is_some()).then_some(())
        }
        DataType::Utf8 => {
            column.downcast_mut::<StringBuilder>()?.append_option(text.filter(|_| !null));
            (null || text.is_some()).then_some(())
        }
        DataType::List(_) => {
            let items: Vec<String> = match value {
                Value::Array(items) => items
                    .iter()
                    .map(|item| item.as_str().map(str::to_owned))
                    .collect::<Option<_>>()?,
                Value::String(text) if text.is_empty() => Vec::new(),
                Value::String(text) => text.split(LIST_SEPARATOR).map(str::to_owned).collect(),
                _ => return None,
            };
            let column = column.downcast_mut::<ListBuilder<StringBuilder>>()?;
            for item in items {
                column.values().append_value(item);
            }
            column.append(true);
            Some(())
        }
        _ => None,
    }
}
