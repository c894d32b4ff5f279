//! The folder that analyze writes, and what report makes of it.

use std::fs;

use serde_json::Value;

use crate::support::command::{run, scratch};

const MANY: &str = "fixtures/cases/random-60.json";

#[test]
fn a_report_of_a_folder_is_that_of_its_traces() {
    let direct = run(&["report", MANY, "--width", "100", "--declared-only"]);
    assert_eq!(direct.code, 0);
    for format in ["parquet", "ndjson", "csv"] {
        let dir = scratch(&format!("folder-{format}"));
        let out = dir.to_str().unwrap();
        assert_eq!(run(&["analyze", MANY, "--out", out, "--format", format]).code, 0);
        let of_folder = run(&["report", out, "--width", "100"]);
        assert_eq!(of_folder.code, 0, "{}", of_folder.err);
        assert!(of_folder.out == direct.out, "{format} differs");
    }
}

#[test]
fn the_manifest_counts_what_was_read() {
    let dir = scratch("manifest");
    let out = dir.to_str().unwrap();
    assert_eq!(run(&["analyze", "fixtures/cases/untidy.json", "--out", out]).code, 0);
    let text = fs::read_to_string(dir.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(manifest["schema_version"], 3);
    assert_eq!(manifest["spans_read"], 8);
    assert_eq!(manifest["spans_admitted"], 8);
    assert_eq!(manifest["spans_rejected"], 0);
    assert_eq!(manifest["traces"], 1);
    assert_eq!(manifest["requests"], 2);
    assert_eq!(manifest["files"][0]["path"], "fixtures/cases/untidy.json");
    let left: Vec<_> = fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("partial"))
        .collect();
    assert!(left.is_empty(), "left behind: {left:?}");
}

#[test]
fn a_folder_of_another_version_is_refused() {
    let dir = scratch("version");
    let out = dir.to_str().unwrap();
    assert_eq!(run(&["analyze", "fixtures/cases/untidy.json", "--out", out]).code, 0);
    let manifest = dir.join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("\"schema_version\": 3", "\"schema_version\": 4")).unwrap();
    let ran = run(&["report", out]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("schema_version"), "{}", ran.err);
}

#[test]
fn deadlines_belong_to_analyze_and_are_refused_for_a_folder() {
    let dir = scratch("folder-deadline");
    let out = dir.to_str().unwrap();
    assert_eq!(run(&["analyze", "fixtures/cases/untidy.json", "--out", out]).code, 0);
    let ran = run(&["report", out, "--deadline", "1s"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("dwindle analyze"), "{}", ran.err);
}

#[test]
fn files_that_analyze_did_not_write_are_neither_removed_nor_replaced() {
    let dir = scratch("foreign-files");
    let out = dir.to_str().unwrap();
    for (name, text) in [("requests.csv", "mine"), ("manifest.json", "{\"my\": 1}")] {
        let path = dir.join(name);
        fs::write(&path, text).unwrap();
        let ran = run(&["analyze", MANY, "--out", out]);
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains(name) && ran.err.contains("another folder"), "{}", ran.err);
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        fs::remove_file(path).unwrap();
    }
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0, "nothing was left behind");
    assert_eq!(run(&["analyze", MANY, "--out", out, "--format", "csv"]).code, 0);
    assert_eq!(run(&["analyze", MANY, "--out", out]).code, 0, "our own tables are replaced");
    assert!(!dir.join("requests.csv").exists());
    // As a run leaves it that was killed before it was done.
    fs::rename(dir.join("manifest.json"), dir.join("manifest.json.partial")).unwrap();
    assert_eq!(run(&["analyze", MANY, "--out", out]).code, 0);
}
