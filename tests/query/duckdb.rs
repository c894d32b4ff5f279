//! The queries that come along, run unchanged in DuckDB: the same rows in the same order.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use dwindle::query::NAMED;
use dwindle::tables::TABLES;
use serde_json::Value;

use super::folders::{analyzed, messy, shop};
use super::{answer, columns};
use crate::support::command::{finished, run, scratch};

/// The Python that has DuckDB, where `tests/run` has installed it.
fn python() -> Option<PathBuf> {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/duckdb/bin/python");
    let mut probe = Command::new(&python);
    let has_it = probe.args(["-c", "import duckdb"]).output().is_ok_and(|ran| ran.status.success());
    if !has_it {
        // Past the harness, which keeps what tests print to itself.
        let _ = writeln!(
            std::io::stderr(),
            "skipped, as {} has no duckdb (tests/run installs it)",
            python.display()
        );
    }
    has_it.then_some(python)
}

/// Answers of both, over `folder` and over the same tables in Parquet.
fn compare(python: &Path, folder: &str, parquet: &str) {
    let mut duckdb = Command::new(python);
    duckdb.current_dir(env!("CARGO_MANIFEST_DIR"));
    let ran = finished(duckdb.args(["tests/query/duckdb_answers.py", parquet, "queries"]));
    assert_eq!(ran.code, 0, "{}", ran.err);
    let theirs: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(theirs.len(), NAMED.len());
    for (query, theirs) in NAMED.iter().zip(&theirs) {
        assert_eq!(theirs["name"], query.name);
        assert_eq!(theirs["error"], Value::Null, "{}", query.name);
        let ours = answer(folder, &[query.name]);
        let names = columns(&ours);
        assert_eq!(names, theirs["columns"].as_array().unwrap().as_slice(), "{}", query.name);
        let (ours, theirs) = (ours["rows"].as_array().unwrap(), theirs["rows"].as_array().unwrap());
        assert_eq!(ours.len(), theirs.len(), "{}: {folder}", query.name);
        for (place, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
            for (column, theirs) in names.iter().zip(theirs.as_array().unwrap()) {
                let ours = &ours[column];
                let (name, row) = (query.name, place + 1);
                assert!(is_same(ours, theirs), "{name}, row {row}, {column}: {ours} and {theirs}");
            }
        }
    }
}

/// Whether two values are the same, floating-point numbers but for their last digits.
fn is_same(ours: &Value, theirs: &Value) -> bool {
    match (ours.as_f64(), theirs.as_f64()) {
        (Some(a), Some(b)) if ours.is_f64() => (a - b).abs() <= 1e-12 * a.abs().max(b.abs()),
        _ => ours == theirs,
    }
}

/// The tables of a folder, written as Parquet by queries.
fn as_parquet(folder: &str, name: &str) -> String {
    let dir = scratch(name);
    for table in TABLES {
        let file = dir.join(format!("{}.parquet", table.name));
        let sql = format!("SELECT * FROM {}", table.name);
        let out = file.to_str().unwrap();
        let ran = run(&["query", folder, "-e", &sql, "--format", "parquet", "--out", out]);
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    dir.to_str().unwrap().to_owned()
}

#[test]
fn duckdb_gives_the_same_of_what_analyze_writes() {
    let Some(python) = python() else { return };
    compare(&python, shop(), shop());
    let cases = analyzed("query-cases", "fixtures/cases/random-60.json", "parquet");
    compare(&python, &cases, &cases);
}

#[test]
fn duckdb_gives_the_same_of_nulls_ties_and_nothing() {
    let Some(python) = python() else { return };
    for (name, keep) in [("query-messy", 1), ("query-thinned", 3), ("query-empty", 0)] {
        let folder = messy(name, keep, 1);
        compare(&python, &folder, &as_parquet(&folder, &format!("{name}-parquet")));
    }
}
