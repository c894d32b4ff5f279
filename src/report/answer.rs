//! What a query gave, as people read it.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, SchemaRef};

use super::model::{Block, Cell, Column, Kind, Report, Row, Section, Table};
use super::text;
use crate::tables::unit;
use crate::units::{Nanos, UnixNanos};

/// How many rows people get.
const ROWS: usize = 1_000;
/// A name this wide may be shortened.
const NAME: usize = 24;
/// Between columns.
const GAP: usize = 2;

/// The rows of an answer, of which the first are kept.
pub struct Answer {
    title: String,
    columns: Vec<Column>,
    fields: Vec<(String, DataType)>,
    rows: Vec<Vec<Cell>>,
    all: usize,
}

impl Answer {
    /// An answer without rows yet.
    pub fn new(title: &str, schema: &SchemaRef) -> Self {
        let fields = schema.fields().iter();
        let fields: Vec<_> =
            fields.map(|field| (field.name().clone(), field.data_type().clone())).collect();
        let columns = schema.fields().iter().map(|field| column(field)).collect();
        Self { title: title.to_owned(), columns, fields, rows: Vec::new(), all: 0 }
    }

    /// Takes in rows.
    pub fn add(&mut self, batch: &RecordBatch) {
        self.all += batch.num_rows();
        let room = ROWS.saturating_sub(self.rows.len());
        self.rows.extend((0..batch.num_rows().min(room)).map(|row| {
            let columns = self.fields.iter().zip(batch.columns());
            columns.map(|((name, _), column)| cell(name, column, row)).collect()
        }));
    }

    /// As a page: one table, or, where that is wider than `width`, a list of columns for each row.
    pub fn page(self, version: &str, width: Option<usize>) -> Report {
        let is_wide = width.is_some_and(|width| self.least_width() > width);
        let has_times =
            self.columns.iter().zip(&self.fields).any(|(_, (name, _))| unit(name) == Some("ns"));
        let times = if has_times { ". Times in ms" } else { "" };
        let left_out = self.all - self.rows.len();
        let count = text::counted(self.all as u64, "row");
        let count = match left_out {
            0 => format!("{count}{times}."),
            _ => format!(
                "{count}, of which the first {}{times}; --format csv, json and parquet hold all.",
                text::count(self.rows.len() as u64)
            ),
        };
        let mut blocks = vec![Block::Note(count)];
        if is_wide {
            blocks.extend(self.each_row().map(Block::Table));
        } else {
            blocks.extend(self.all_rows().map(Block::Table));
        }
        let section = Section { title: self.title, class: None, blocks };
        Report { version: version.to_owned(), sections: vec![section], ..Report::default() }
    }

    fn all_rows(&self) -> Option<Table> {
        let rows = self.rows.iter().enumerate().map(|(place, cells)| Row {
            label: (place + 1).to_string(),
            cells: cells.clone(),
            ..Row::default()
        });
        let table = Table {
            id: "rows",
            title: self.title.clone(),
            head: "#",
            columns: self.columns.clone(),
            ..Table::default()
        };
        table.with_all(rows.collect())
    }

    fn each_row(&self) -> impl Iterator<Item = Table> {
        self.rows.iter().enumerate().filter_map(|(place, cells)| {
            let rows = self.columns.iter().zip(cells).map(|(column, cell)| Row {
                label: column.title.clone(),
                cells: vec![Cell::Text(cell.words("", false))],
                ..Row::default()
            });
            let table = Table {
                id: "row",
                title: format!(
                    "row {} of {}",
                    text::count(place as u64 + 1),
                    text::count(self.all as u64)
                ),
                head: "column",
                columns: vec![Column::name("value")],
                ..Table::default()
            };
            table.with_all(rows.collect())
        })
    }

    /// How wide the table is with names as short as they may be.
    fn least_width(&self) -> usize {
        let widths = self.columns.iter().enumerate().map(|(place, column)| {
            let cells = self.rows.iter().filter_map(|row| row.get(place));
            let cells = cells.map(|cell| text::width(&text::visible(&cell.words("", false))));
            let widest =
                cells.chain([text::width(&text::visible(&column.title))]).max().unwrap_or(0);
            GAP + if column.kind == Kind::Name { widest.min(NAME) } else { widest }
        });
        self.rows.len().to_string().len() + widths.sum::<usize>()
    }
}

/// The heading is the column's name, without the unit where people read another one.
fn column(field: &Field) -> Column {
    let name = field.name();
    let title = match unit(name) {
        Some("unix_ns") => name.strip_suffix("_unix_ns"),
        Some(_) => name.strip_suffix("_ns"),
        None => None,
    };
    let title = title.filter(|_| field.data_type().is_numeric()).unwrap_or(name).replace('_', " ");
    match field.data_type() {
        number if number.is_numeric() => Column::new(&title, "", ""),
        _ => Column::name(&title),
    }
}

fn cell(name: &str, column: &ArrayRef, row: usize) -> Cell {
    if column.is_null(row) {
        return Cell::Absent;
    }
    match column.data_type() {
        DataType::Int64 => {
            let number = column.as_primitive::<Int64Type>().value(row);
            match unit(name) {
                Some("unix_ns") => Cell::Instant(UnixNanos::from_nanos(number)),
                Some(_) => Cell::Time(Nanos::from_nanos(number)),
                None => Cell::Text(signed(number < 0, &text::count(number.unsigned_abs()))),
            }
        }
        DataType::Float64 => {
            let number = column.as_primitive::<Float64Type>().value(row);
            Cell::Text(float(number, unit(name) == Some("ns")))
        }
        DataType::Boolean => {
            Cell::Text(if column.as_boolean().value(row) { "yes" } else { "no" }.to_owned())
        }
        DataType::Utf8 => Cell::Text(column.as_string::<i32>().value(row).to_owned()),
        DataType::List(_) => {
            let items = column.as_list::<i32>().value(row);
            let items: Vec<&str> = items.as_string::<i32>().iter().flatten().collect();
            Cell::Text(if items.is_empty() { "none".to_owned() } else { items.join(", ") })
        }
        _ => Cell::Absent,
    }
}

fn signed(is_negative: bool, digits: &str) -> String {
    format!("{}{digits}", if is_negative { "-" } else { "" })
}

/// A number with three significant digits, in ms where it is of nanoseconds.
fn float(number: f64, is_time: bool) -> String {
    /// Nine decimals of a number as large as this still fit.
    const LARGEST: f64 = 1e18;
    let number = if is_time { number / 1e6 } else { number };
    if !number.is_finite() || number.abs() > LARGEST {
        return number.to_string();
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is in range")]
    let scaled = (number * 1e9).round() as i128;
    signed(scaled < 0, &text::rate(scaled.unsigned_abs(), 1_000_000_000))
}
