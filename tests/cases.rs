//! The worked cases: every column of every row is equal.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use dwindle::clocks::Offsets;
use dwindle::contract::Contract;
use dwindle::conventions::Conventions;
use dwindle::ingest::ingest;
use dwindle::reconstruct::{Policy, reconstruct};
use dwindle::span::Spans;
use serde_json::Value;

use crate::support::naive;
use crate::support::tables::{Json, differences, json_tables};

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

fn policy(contract: &Path) -> Policy {
    let contracts = match fs::read_to_string(contract) {
        Ok(text) => Contract::parse_file("contract", &text).unwrap(),
        Err(_) => Vec::new(),
    };
    Policy { contracts, ..Policy::default() }
}

/// What an implementation does not tell as the cases do.
fn differing(tables_of: impl Fn(&[Spans], &Policy) -> Json) -> Vec<String> {
    let mut told = Vec::new();
    for path in cases() {
        let name = path.to_str().unwrap().strip_suffix(".expected.json").unwrap().to_owned();
        let case = Path::new(&name).file_name().unwrap().to_str().unwrap().to_owned();
        let ingested = ingest(&[format!("{name}.json")], &Conventions::embedded().unwrap(), &());
        let policy = policy(Path::new(&format!("{name}.toml")));
        let tables = tables_of(&ingested.unwrap().partitions, &policy);
        let expected: BTreeMap<String, Vec<Value>> =
            serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        for (table, rows) in &expected {
            let differences = differences(table, rows, &tables[table.as_str()]);
            told.extend(differences.into_iter().map(|difference| format!("{case} {difference}")));
        }
    }
    told
}

fn assert_none(told: &[String]) {
    let shown: Vec<&str> = told.iter().take(40).map(String::as_str).collect();
    assert!(told.is_empty(), "{} differences:\n{}", told.len(), shown.join("\n"));
}

#[test]
fn every_column_of_every_case_is_equal() {
    assert_none(&differing(|partitions, policy| {
        json_tables(
            partitions.iter().map(|spans| reconstruct(spans.clone(), policy, &Offsets::default())),
        )
    }));
}

#[test]
fn every_column_of_every_case_is_equal_in_the_naive_implementation() {
    assert_none(&differing(|partitions, policy| {
        let mut tables = Json::new();
        for spans in partitions {
            for (table, rows) in naive::tables(spans, policy) {
                tables.entry(table).or_default().extend(rows);
            }
        }
        tables
    }));
}
