//! `dwindle schema`: every table and column.

use std::fmt::Write;

use comfy_table::presets;
use comfy_table::{ContentArrangement, Table as TextTable};
use serde_json::json;

use super::exit;
use super::output::{self, Fatal};
use crate::tables::{BadSide, Column, SCHEMA_VERSION, TABLES, Table};

/// Print every table and column: type, unit, what null means.
///
/// The tables are those of `dwindle analyze`. Times are 64-bit integers of nanoseconds.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  dwindle schema --format json | jq '.tables[].name'")]
pub(super) struct Args {
    /// Only this table
    #[arg(value_parser = table_named)]
    table: Option<Table>,

    /// How to print it
    #[arg(long, value_enum, default_value = "terminal")]
    format: SchemaFormat,

    /// How wide, in columns [default: the terminal's width, else 100]
    #[arg(long, value_name = "COLUMNS")]
    width: Option<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum SchemaFormat {
    /// For people
    Terminal,
    /// For programs
    Json,
}

fn table_named(name: &str) -> Result<Table, String> {
    TABLES.iter().find(|table| table.name == name).copied().ok_or_else(|| {
        let names: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
        format!("no such table; there are {}", names.join(", "))
    })
}

/// Runs it.
pub(super) fn run(args: &Args) -> Result<u8, Fatal> {
    let tables: Vec<Table> = args.table.map_or_else(|| TABLES.to_vec(), |table| vec![table]);
    match args.format {
        SchemaFormat::Terminal => output::print(&text(&tables, output::width(args.width)))?,
        SchemaFormat::Json => output::print(&json(&tables))?,
    }
    Ok(exit::DONE)
}

fn text(tables: &[Table], width: usize) -> String {
    let mut text = format!("schema version {SCHEMA_VERSION}\n");
    for table in tables {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n{}: {}\n", table.name, table.doc.trim());
        let mut columns = TextTable::new();
        columns
            .load_style(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(u16::try_from(width).unwrap_or(u16::MAX))
            .set_header(["column", "type", "meaning"]);
        for column in (table.columns)() {
            columns.add_row([column.name.to_owned(), type_name(&column), meaning(&column)]);
        }
        for line in columns.lines() {
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    text
}

fn meaning(column: &Column) -> String {
    let mut meaning = column.doc.trim().to_owned();
    if let Some(null) = column.null {
        let _ = write!(meaning, " Null: {null}.");
    }
    meaning
}

fn type_name(column: &Column) -> String {
    use arrow_schema::DataType;
    let name = match &column.data_type {
        DataType::List(_) => "List<Utf8>".to_owned(),
        other => other.to_string(),
    };
    match column.unit() {
        Some(unit) => format!("{name} {unit}"),
        None => name,
    }
}

fn json(tables: &[Table]) -> String {
    let column = |column: &Column| {
        json!({
            "name": column.name,
            "type": type_name(column).split(' ').next(),
            "unit": column.unit(),
            "null": column.null,
            "bad_side": column.bad_side.map(BadSide::name),
            "doc": column.doc.trim(),
        })
    };
    let table = |table: &Table| {
        let columns: Vec<_> = (table.columns)().iter().map(column).collect();
        json!({ "name": table.name, "doc": table.doc.trim(), "columns": columns })
    };
    let tables: Vec<_> = tables.iter().map(table).collect();
    format!("{:#}\n", json!({ "schema_version": SCHEMA_VERSION, "tables": tables }))
}
