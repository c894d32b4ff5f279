//! The worked cases: every column of every row is equal.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use dwindle::contract::Contract;
use dwindle::conventions::Conventions;
use dwindle::ingest::ingest;
use dwindle::reconstruct::{Policy, reconstruct};
use serde_json::Value;

use crate::support::tables::{Json, json_tables};

fn cases() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases");
    let mut expected: Vec<PathBuf> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_str().unwrap().ends_with(".expected.json"))
        .collect();
    expected.sort();
    expected
}

fn analyse(traces: &Path, contract: &Path) -> Json {
    let contracts = match fs::read_to_string(contract) {
        Ok(text) => Contract::parse_file("contract", &text).unwrap(),
        Err(_) => Vec::new(),
    };
    let policy = Policy { contracts, ..Policy::default() };
    let inputs = [traces.to_str().unwrap().to_owned()];
    let ingested = ingest(&inputs, &Conventions::embedded().unwrap(), &()).unwrap();
    json_tables(ingested.partitions.iter().map(|spans| reconstruct(spans, &policy)))
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

fn differences(case: &str, table: &str, expected: &[Value], found: &[Value]) -> Vec<String> {
    let (expected, found) = (by_key(table, expected), by_key(table, found));
    let mut told = Vec::new();
    for (key, row) in &expected {
        let Some(found) = found.get(key) else {
            told.push(format!("{case} {table} {key}: missing"));
            continue;
        };
        for (column, value) in row.as_object().unwrap() {
            if found.get(column) != Some(value) {
                let is = found.get(column);
                told.push(format!("{case} {table} {key} {column}: expected {value}, is {is:?}"));
            }
        }
    }
    let extra = found.keys().filter(|key| !expected.contains_key(*key));
    told.extend(extra.map(|key| format!("{case} {table} {key}: extra")));
    told
}

#[test]
fn every_column_of_every_case_is_equal() {
    let mut told = Vec::new();
    for path in cases() {
        let name = path.to_str().unwrap().strip_suffix(".expected.json").unwrap().to_owned();
        let case = Path::new(&name).file_name().unwrap().to_str().unwrap().to_owned();
        let tables =
            analyse(Path::new(&format!("{name}.json")), Path::new(&format!("{name}.toml")));
        let expected: BTreeMap<String, Vec<Value>> =
            serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        for (table, rows) in &expected {
            told.extend(differences(&case, table, rows, &tables[table.as_str()]));
        }
    }
    let shown: Vec<&str> = told.iter().take(40).map(String::as_str).collect();
    assert!(told.is_empty(), "{} differences:\n{}", told.len(), shown.join("\n"));
}
