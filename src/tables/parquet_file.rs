//! A Parquet file as it is written: columns that fill, and row groups of a fixed number of rows, so
//! that the bytes depend on the rows alone.

use std::fs::File;
use std::sync::Arc;

use parquet::arrow::ArrowSchemaConverter;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use zstd::bulk::Compressor;

use super::chunk::{Chunk, PendingColumn, ROW_GROUP_ROWS, Renumbering};
use super::gathered::Piece;
use super::schema::{SCHEMA_VERSION, Table};
use crate::span::Interner;

/// The entry of a Parquet file that says which version of the tables it is of.
pub(super) const VERSION_KEY: &str = "dwindle.schema_version";

/// One table's file.
pub(super) struct ParquetFile {
    writer: SerializedFileWriter<File>,
    columns: Vec<PendingColumn>,
}

/// Rows of one partition for one table. No piece lies in two row groups.
pub(super) struct Part<'a> {
    /// The rows.
    pub piece: Piece,
    /// The strings of the partition.
    pub strings: &'a Interner,
}

/// What is to be done for one column.
pub(super) struct ColumnTask<'a> {
    place: usize,
    column: &'a mut PendingColumn,
    parts: &'a [Part<'a>],
    is_end: bool,
}

impl ParquetFile {
    /// Begins a file.
    pub(super) fn new(file: File, table: Table) -> Result<Self, ParquetError> {
        let version = KeyValue::new(VERSION_KEY.to_owned(), SCHEMA_VERSION.to_string());
        let properties = WriterProperties::builder()
            .set_created_by("dwindle".to_owned())
            .set_key_value_metadata(Some(vec![version]))
            .build();
        // Items of lists are called as the format and Spark call them.
        let converter = ArrowSchemaConverter::new().with_coerce_types(true);
        let schema = converter.convert(&table.arrow_schema())?;
        let columns = schema.columns().iter().cloned().map(PendingColumn::new).collect();
        let root = schema.root_schema_ptr();
        let writer = SerializedFileWriter::new(file, root, Arc::new(properties))?;
        Ok(Self { writer, columns })
    }

    /// What is to be done to take in further rows, column by column; `is_end` where they are the last.
    pub(super) fn tasks<'a>(
        &'a mut self,
        parts: &'a [Part<'a>],
        is_end: bool,
    ) -> impl Iterator<Item = ColumnTask<'a>> {
        let columns = self.columns.iter_mut().enumerate();
        columns.map(move |(place, column)| ColumnTask { place, column, parts, is_end })
    }

    /// Writes the row groups that the tasks gave, which `chunks` holds column by column.
    pub(super) fn write(
        &mut self,
        chunks: &mut impl Iterator<Item = Vec<Chunk>>,
    ) -> Result<(), ParquetError> {
        let mut columns: Vec<_> = chunks.take(self.columns.len()).map(Vec::into_iter).collect();
        let row_groups = columns.first().map_or(0, ExactSizeIterator::len);
        for _ in 0..row_groups {
            let mut row_group = self.writer.next_row_group()?;
            for chunk in columns.iter_mut().filter_map(Iterator::next) {
                row_group.append_column(&chunk.bytes, chunk.close)?;
            }
            row_group.close()?;
        }
        Ok(())
    }

    /// Ends the file.
    pub(super) fn finish(self) -> Result<(), ParquetError> {
        self.writer.close().map(drop)
    }
}

impl ColumnTask<'_> {
    /// Takes in the cells and encodes what fills a row group.
    pub(super) fn run(
        self,
        zstd: &mut Option<Compressor<'static>>,
    ) -> Result<Vec<Chunk>, ParquetError> {
        let mut chunks = Vec::new();
        let mut known = Renumbering::default();
        for of_partition in self.parts.chunk_by(|a, b| std::ptr::eq(a.strings, b.strings)) {
            of_partition.iter().take(1).for_each(|part| known.begin(part.strings));
            for Part { piece, strings } in of_partition {
                let Some(cells) = piece.columns.get(self.place) else { continue };
                self.column.append(piece.rows, cells, strings, &mut known)?;
                if self.column.rows() == ROW_GROUP_ROWS {
                    chunks.push(self.column.encode(zstd)?);
                    known.clear();
                }
            }
        }
        if self.is_end && self.column.rows() > 0 {
            chunks.push(self.column.encode(zstd)?);
        }
        Ok(chunks)
    }
}
