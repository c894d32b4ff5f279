//! Tables as JSON rows, and what differs between them.

use std::collections::BTreeMap;

use dwindle::span::Interner;
use dwindle::tables::format::json_row;
use dwindle::tables::{Row, Tables};
use serde_json::Value;

/// Rows by table name.
pub type Json = BTreeMap<&'static str, Vec<Value>>;

fn append<R: Row>(json: &mut Json, rows: &[R], strings: &Interner) {
    let batch = R::TABLE.batch(&R::gather(rows), strings).unwrap();
    assert_eq!(batch.num_rows(), rows.len(), "{}: not all rows made a batch", R::TABLE.name);
    let rows = (0..batch.num_rows()).map(|row| json_row(&batch, row));
    json.entry(R::TABLE.name).or_default().extend(rows);
}

/// The rows of all partitions, in order.
pub fn json_tables(partitions: impl Iterator<Item = Tables>) -> Json {
    let mut json = Json::new();
    for tables in partitions {
        append(&mut json, &tables.requests, &tables.strings);
        append(&mut json, &tables.hops, &tables.strings);
        append(&mut json, &tables.attempts, &tables.strings);
        append(&mut json, &tables.segments, &tables.strings);
        append(&mut json, &tables.findings, &tables.strings);
    }
    json
}

/// Rows by what names them, so that a difference is told at its row.
fn by_key(table: &str, rows: &[Value]) -> BTreeMap<String, Value> {
    let keys: &[&str] = match table {
        "requests" => &["root_span_id"],
        "hops" => &["root_span_id", "hop_id"],
        "attempts" => &["root_span_id", "span_id"],
        "segments" => &["root_span_id", "service", "operation", "category"],
        "findings" => &["root_span_id", "code", "span_id"],
        other => panic!("unknown table {other}"),
    };
    let key = |row: &Value| {
        let parts = keys.iter().map(|key| row[key].to_string());
        format!("{} {}", row["trace_id"], parts.collect::<Vec<_>>().join(" "))
    };
    let keyed: BTreeMap<String, Value> = rows.iter().map(|row| (key(row), row.clone())).collect();
    assert_eq!(keyed.len(), rows.len(), "{table}: keys are not unique");
    keyed
}

/// What of the expected columns and rows of a table is not so, one line each.
pub fn differences(table: &str, expected: &[Value], found: &[Value]) -> Vec<String> {
    let (expected, found) = (by_key(table, expected), by_key(table, found));
    let mut told = Vec::new();
    for (key, row) in &expected {
        let Some(found) = found.get(key) else {
            told.push(format!("{table} {key}: missing"));
            continue;
        };
        for (column, value) in row.as_object().unwrap() {
            if found.get(column) != Some(value) {
                let is = found.get(column).map_or("absent".to_owned(), Value::to_string);
                told.push(format!("{table} {key} {column}: expected {value}, is {is}"));
            }
        }
    }
    let extra = found.keys().filter(|key| !expected.contains_key(*key));
    told.extend(extra.map(|key| format!("{table} {key}: extra")));
    told
}
