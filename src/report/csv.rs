//! A report as one tidy table, a value a line: exact, times in nanoseconds. docs/output.md tells the
//! columns. No two lines agree in section, class, scope, measure and statistic.

use super::json::{Number, number};
use super::model::{Block, Cell, Column, Key, Report, Row, Table};
use crate::tables::spreadsheet::harmless;

const HEADS: [&str; 12] = [
    "section",
    "class",
    "scope",
    "measure",
    "statistic",
    "value",
    "unit",
    "n",
    "lo",
    "hi",
    "quantile",
    "schema_version",
];

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
                        let _ = writer.write_record(record);
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
) -> impl Iterator<Item = [String; HEADS.len()]> + 'a {
    let of_row = row.keys.iter().find(|(name, _)| *name == "class");
    let class = class.or(of_row.and_then(|(_, class)| class.as_deref())).unwrap_or_default();
    let scope = scope(&row.keys);
    let cells = table.columns.iter().zip(&row.cells);
    cells.filter_map(move |(column, cell)| record([table.id, class, &scope], row, column, cell))
}

fn record(
    [section, class, scope]: [&str; 3],
    row: &Row,
    column: &Column,
    cell: &Cell,
) -> Option<[String; HEADS.len()]> {
    let Number { value, unit, n, lo, hi, quantile } = number(cell)?;
    let measure = if column.measure.is_empty() { row.measure } else { column.measure };
    let text = |text: &str| harmless(text).into_owned();
    let exact = |number: Option<i128>| number.map(|number| number.to_string()).unwrap_or_default();
    Some([
        text(section),
        text(class),
        text(scope),
        text(measure),
        text(&column.statistic),
        exact(value),
        text(unit),
        exact(n),
        exact(lo),
        exact(hi),
        quantile.filter(|quantile| *quantile != column.statistic).unwrap_or_default(),
        super::SCHEMA_VERSION.to_string(),
    ])
}

/// What tells a row from others of its table. A key without a value is left out; in values `\` stands
/// before what would end them.
fn scope(keys: &[Key]) -> String {
    let told = |(name, value): &Key| match (*name, value) {
        ("measure" | "class", _) | (_, None) => None,
        (name, Some(value)) => {
            Some(format!("{name}={}", value.replace('\\', r"\\").replace(';', r"\;")))
        }
    };
    keys.iter().filter_map(told).collect::<Vec<_>>().join("; ")
}
