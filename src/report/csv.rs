//! A report as one tidy table, a value a line: exact, times in nanoseconds.
//!
//! Columns: `section` (the table's id), `class` (request class, or empty), `scope` (what the row is
//! about, as `key=value` joined by `; `), `measure`, `statistic`, `value`, `unit` (`ns`, `unix_ns`,
//! `count`), `n` (of how many), `lo` and `hi` (the 95 % interval). Empty is unknown.

use super::json::{Number, number};
use super::model::{Block, Report, Row, Table};

const HEADS: [&str; 10] =
    ["section", "class", "scope", "measure", "statistic", "value", "unit", "n", "lo", "hi"];

/// Writes a report.
pub(super) fn render(report: &Report) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory does not fail; if it did the text would end early.
    let _ = writer.write_record(HEADS);
    for section in &report.sections {
        for block in &section.blocks {
            if let Block::Table(table) = block {
                for row in &table.rows {
                    for record in records(section.class.as_deref(), table, row) {
                        let _ = writer.write_record(record.map(|field| harmless(&field)));
                    }
                }
            }
        }
    }
    writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

fn records<'a>(
    class: Option<&'a str>,
    table: &'a Table,
    row: &'a Row,
) -> impl Iterator<Item = [String; 10]> + 'a {
    let key_of = |name: &str| row.keys.iter().find(|(key, _)| *key == name);
    let class = class.or(key_of("class").map(|(_, class)| class.as_str()));
    let keys = row.keys.iter().filter(|(key, _)| !["measure", "class"].contains(key));
    let scope: Vec<String> = keys.map(|(key, value)| format!("{key}={value}")).collect();
    table.columns.iter().zip(&row.cells).filter_map(move |(column, cell)| {
        let Number { value, unit, n, lo, hi, quantile } = number(cell)?;
        let measure = if column.measure.is_empty() { row.measure } else { column.measure };
        let exact =
            |number: Option<i128>| number.map(|number| number.to_string()).unwrap_or_default();
        Some([
            table.id.to_owned(),
            class.unwrap_or("").to_owned(),
            scope.join("; "),
            measure.to_owned(),
            quantile.unwrap_or_else(|| column.statistic.clone()),
            exact(value),
            unit.to_owned(),
            exact(n),
            exact(lo),
            exact(hi),
        ])
    })
}

/// A field that no spreadsheet takes for a formula. Numbers, negative ones too, stay as they are.
pub(super) fn harmless(field: &str) -> String {
    let is_formula =
        field.starts_with(['=', '+', '-', '@', '\t', '\r']) && field.parse::<i128>().is_err();
    if is_formula { format!("'{field}") } else { field.to_owned() }
}
