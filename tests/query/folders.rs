//! Folders of tables that queries are tried on.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use dwindle::tables::{Column, TABLES};
use serde_json::Value;

use crate::support::command::{run, scratch};

/// The shop's tables in Parquet.
pub fn shop() -> &'static str {
    static SHOP: OnceLock<String> = OnceLock::new();
    SHOP.get_or_init(|| analyzed("query-shop", "fixtures/shop", "parquet"))
}

/// Tables of an input in a folder of its own.
pub fn analyzed(name: &str, input: &str, format: &str) -> String {
    let dir = scratch(name).to_str().unwrap().to_owned();
    let ran = run(&["analyze", input, "--out", &dir, "--format", format, "--quiet"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    dir
}

/// Tables that no trace gives: every third value of a column that may be null is, times are so
/// coarse that most are equal, names look like formulas; of distributions only what is told, not whose
/// it is, of which there is one row each. Of every `keep` rows there is one, in an
/// order that depends on `seed`; 0 keeps none.
pub fn messy(name: &str, keep: u64, seed: u64) -> String {
    let dir = analyzed(name, "fixtures/cases/random-60.json", "ndjson");
    for (number, table) in TABLES.iter().enumerate() {
        let path = Path::new(&dir).join(format!("{}.ndjson", table.name));
        let text = fs::read_to_string(&path).unwrap();
        let rows = text.lines().zip(0..).filter(|(_, row)| keep > 0 && row % keep == 0);
        let mut rows: Vec<(u64, String)> = rows
            .map(|(line, row)| {
                let mut line: Value = serde_json::from_str(line).unwrap();
                let tells =
                    |column: &Column| table.name != "distributions" || column.unit() == Some("ns");
                let columns = (table.columns)().into_iter().enumerate();
                for (place, column) in columns.filter(|(_, column)| tells(column)) {
                    let dice = mixed(row, (number * 100 + place) as u64);
                    let value = &mut line[column.name];
                    if column.null.is_some() && dice.is_multiple_of(3) {
                        *value = Value::Null;
                    } else if column.unit() == Some("ns") && value.is_i64() {
                        *value = (value.as_i64().unwrap() / 50_000_000 * 50_000_000).into();
                    } else if column.name == "callee_service" && dice.is_multiple_of(5) {
                        *value = "=1+\"1\",\n".into();
                    }
                }
                (mixed(row, seed), line.to_string() + "\n")
            })
            .collect();
        rows.sort();
        fs::write(&path, rows.into_iter().map(|(_, line)| line).collect::<String>()).unwrap();
    }
    dir
}

fn mixed(number: u64, seed: u64) -> u64 {
    let mixed = (number ^ seed.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 17
}
