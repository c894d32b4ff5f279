//! Tables as JSON rows.

use std::collections::BTreeMap;

use dwindle::span::Interner;
use dwindle::tables::format::json_row;
use dwindle::tables::{Row, Tables};
use serde_json::Value;

/// Rows by table name.
pub type Json = BTreeMap<&'static str, Vec<Value>>;

fn append<R: Row>(json: &mut Json, rows: &[R], strings: &Interner) {
    let batch = R::to_batch(rows, strings);
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
