//! A report as JSON: exact, times in nanoseconds. docs/output.md tells the names, and what a null
//! means.

use serde_json::{Map, Value, json};

use super::model::{Block, Cell, Column, Report, Row, Section, Shape, Table};

/// What a cell holds for machines.
pub(super) struct Number {
    /// The value; `None` where it is unknown.
    pub(super) value: Option<i128>,
    /// `ns`, `unix_ns` or `count`.
    pub(super) unit: &'static str,
    /// Of how many.
    pub(super) n: Option<i128>,
    /// The interval's lower end.
    pub(super) lo: Option<i128>,
    /// The interval's upper end.
    pub(super) hi: Option<i128>,
    /// The percentile's name.
    pub(super) quantile: Option<String>,
}

/// The number in a cell; `None` for words and pictures.
pub(super) fn number(cell: &Cell) -> Option<Number> {
    let nanos = |length: crate::units::Nanos| i128::from(length.as_nanos());
    let plain = |value: i128, unit, n| Number {
        value: Some(value),
        unit,
        n,
        lo: None,
        hi: None,
        quantile: None,
    };
    Some(match cell {
        Cell::Text(_) | Cell::Shape(_) => return None,
        Cell::Absent => Number { value: None, ..plain(0, "", None) },
        Cell::Count(count) => plain(i128::from(*count), "count", None),
        Cell::Sample { n, effective } => {
            plain(i128::from(*n), "count", effective.and_then(|n| i128::try_from(n).ok()))
        }
        Cell::Share(part, whole) | Cell::Ratio(part, whole) => {
            plain(i128::from(*part), "count", Some(i128::from(*whole)))
        }
        Cell::TimeShare(part, whole) | Cell::Multiple(part, whole) => {
            plain(*part, "ns", Some(*whole))
        }
        Cell::Time(length) => plain(nanos(*length), "ns", None),
        Cell::TotalTime(sum) | Cell::ExactTime(sum) => plain(*sum, "ns", None),
        Cell::Estimated { value, lo, hi, n } => Number {
            value: Some(nanos(*value)),
            lo: Some(nanos(*lo)),
            hi: Some(nanos(*hi)),
            ..plain(0, "ns", Some(i128::from(*n)))
        },
        Cell::TimeRange(least, largest) => Number {
            value: (least == largest).then(|| nanos(*least)),
            lo: Some(nanos(*least)),
            hi: Some(nanos(*largest)),
            ..plain(0, "ns", None)
        },
        Cell::Instant(instant) => plain(i128::from(instant.as_nanos()), "unix_ns", None),
        Cell::Percentile { quantile, estimate, n } => Number {
            value: estimate.map(|estimate| nanos(estimate.value)),
            lo: estimate.and_then(|estimate| estimate.lo).map(nanos),
            hi: estimate.and_then(|estimate| estimate.hi).map(nanos),
            quantile: Some(quantile.to_string()),
            ..plain(0, "ns", i128::try_from(*n).ok())
        },
    })
}

/// Writes a report.
pub(super) fn render(report: &Report) -> String {
    let sections: Vec<Value> = report.sections.iter().map(section).collect();
    let document = json!({
        "schema_version": super::SCHEMA_VERSION,
        "version": report.version,
        "sections": sections,
    });
    format!("{document:#}\n")
}

fn section(section: &Section) -> Value {
    let notes: Vec<&String> = section
        .blocks
        .iter()
        .flat_map(|block| match block {
            Block::Note(note) => std::slice::from_ref(note),
            Block::List(points) => points,
            _ => &[],
        })
        .collect();
    let tables: Vec<Value> = section
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Table(table) => Some(self::table(table)),
            _ => None,
        })
        .collect();
    json!({"title": section.title, "class": section.class, "notes": notes, "tables": tables})
}

fn table(table: &Table) -> Value {
    let rows: Vec<Value> = table.rows.iter().map(|row| self::row(table, row)).collect();
    json!({"id": table.id, "rows": rows})
}

fn row(table: &Table, row: &Row) -> Value {
    let mut fields: Map<String, Value> =
        row.keys.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
    for (column, cell) in table.columns.iter().zip(&row.cells) {
        if let Cell::Shape(shape) = cell {
            fields.insert(name(column), self::shape(shape));
        } else if let Some(number) = number(cell) {
            fields.insert(name(column), value(&number, column));
        }
    }
    Value::Object(fields)
}

/// The field's name: measure and statistic.
fn name(column: &Column) -> String {
    let parts = [column.measure, &column.statistic];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_")
}

fn value(number: &Number, column: &Column) -> Value {
    if number.unit.is_empty() {
        return Value::Null;
    }
    let mut fields = Map::new();
    fields.insert("value".to_owned(), exact(number.value));
    fields.insert("unit".to_owned(), json!(number.unit));
    if number.n.is_some() {
        fields.insert("n".to_owned(), exact(number.n));
    }
    if number.quantile.is_some() || number.lo.is_some() {
        fields.insert("lo".to_owned(), exact(number.lo));
        fields.insert("hi".to_owned(), exact(number.hi));
    }
    if let Some(quantile) =
        number.quantile.as_ref().filter(|quantile| **quantile != column.statistic)
    {
        fields.insert("quantile".to_owned(), json!(quantile));
    }
    Value::Object(fields)
}

fn shape(shape: &Shape) -> Value {
    json!({
        "from_ns": shape.from.as_nanos(),
        "width_ns": shape.width.as_nanos(),
        "counts": shape.counts,
        "below": shape.below.unwrap_or(0),
        "above": shape.above.unwrap_or(0),
    })
}

/// A whole number. Sums beyond 64 bits, some 292 years, are given as text.
pub(super) fn exact(number: Option<i128>) -> Value {
    match number.map(|number| (i64::try_from(number), number)) {
        None => Value::Null,
        Some((Ok(number), _)) => json!(number),
        Some((Err(_), number)) => json!(number.to_string()),
    }
}
