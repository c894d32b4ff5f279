//! SQL over the tables: the queries that come along, one's own, and the same in DuckDB.

mod answers;
mod duckdb;
mod errors;
mod folders;
mod lint;
mod reported;
mod several;

use dwindle::query::NAMED;
use serde_json::Value;

use crate::support::command::run;

/// The answer of a query in JSON.
fn answer(folder: &str, query: &[&str]) -> Value {
    let ran = run(&[&["query", folder], query, &["--format", "json"]].concat());
    assert_eq!(ran.code, 0, "{query:?}: {}", ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

/// The rows of a query that comes along.
fn rows_of(folder: &str, name: &str) -> Vec<Value> {
    answer(folder, &[name])["rows"].as_array().unwrap().clone()
}

/// The names of the columns of an answer.
fn columns(answer: &Value) -> Vec<&str> {
    let columns = answer["columns"].as_array().unwrap();
    columns.iter().map(|column| column["name"].as_str().unwrap()).collect()
}

#[test]
fn the_list_tells_every_file_of_queries_and_what_it_is_for() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("queries");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let named: Vec<String> = NAMED.iter().map(|query| format!("{}.sql", query.name)).collect();
    assert_eq!(named, files, "query::NAMED and queries/ differ");
    insta::assert_snapshot!("list", run(&["query", "--list"]).out);
    for query in NAMED {
        assert_eq!(run(&["query", "--show", query.name]).out, query.text);
    }
}
