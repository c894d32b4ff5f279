//! Rows of any columns, written for machines: what a query gave.

use std::io::Write;

use arrow_array::RecordBatch;
use arrow_schema::{Field, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use serde_json::{Value, json};

use super::chunk::ROW_GROUP_ROWS;
use super::format::{FormatError, TextWriter, json_row};
use super::schema::{SCHEMA_VERSION, unit};

/// A file that is being written.
pub struct ResultFile<W: Write + Send>(Form<W>);

enum Form<W: Write + Send> {
    Csv(TextWriter<W>),
    Json { out: W, rows: usize },
    Parquet(Box<ArrowWriter<W>>),
}

impl<W: Write + Send> ResultFile<W> {
    /// Begins CSV: a header, lists joined by `|`, nulls empty.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn csv(out: W, schema: &SchemaRef) -> Result<Self, FormatError> {
        Ok(Self(Form::Csv(TextWriter::csv(out, schema)?)))
    }

    /// Begins a JSON document with the columns and a row a line.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn json(mut out: W, schema: &SchemaRef) -> Result<Self, FormatError> {
        let column = |field: &Field| {
            json!({
                "name": field.name(),
                "type": field.data_type().to_string(),
                "unit": unit(field.name()),
            })
        };
        let columns: Vec<Value> = schema.fields().iter().map(|field| column(field)).collect();
        write!(
            out,
            "{{\"schema_version\":{SCHEMA_VERSION},\"columns\":{},\"rows\":[",
            Value::Array(columns)
        )?;
        Ok(Self(Form::Json { out, rows: 0 }))
    }

    /// Begins a Parquet file.
    ///
    /// # Errors
    /// It cannot be written, or Parquet has no such columns.
    pub fn parquet(out: W, schema: &SchemaRef) -> Result<Self, FormatError> {
        let properties = WriterProperties::builder()
            .set_created_by("dwindle".to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
            .build();
        let writer = ArrowWriter::try_new(out, SchemaRef::clone(schema), Some(properties))?;
        Ok(Self(Form::Parquet(Box::new(writer))))
    }

    /// Appends rows.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), FormatError> {
        match &mut self.0 {
            Form::Csv(writer) => writer.write(batch)?,
            Form::Json { out, rows } => {
                for row in 0..batch.num_rows() {
                    let comma = if *rows == 0 { "" } else { "," };
                    write!(out, "{comma}\n{}", json_row(batch, row))?;
                    *rows += 1;
                }
            }
            Form::Parquet(writer) => writer.write(batch)?,
        }
        Ok(())
    }

    /// Ends it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(self) -> Result<(), FormatError> {
        match self.0 {
            Form::Csv(writer) => writer.finish()?,
            Form::Json { mut out, .. } => {
                writeln!(out, "\n]}}")?;
                out.flush()?;
            }
            Form::Parquet(writer) => {
                writer.close()?;
            }
        }
        Ok(())
    }
}
