//! `dwindle inspect` as people and programs run it.

use serde_json::{Value, json};

use super::support::Folder;
use crate::support::command::{Ran, run, run_with_input};

fn fixture(name: &str) -> String {
    format!("{}/fixtures/otlp/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn objects(ran: &Ran) -> Vec<Value> {
    ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn one_object_a_file_tells_all_counts_by_name() {
    let path = fixture("malformed-lines.jsonl");
    let ran = run(&["inspect", &path, "--format", "ndjson"]);
    assert_eq!(ran.code, 0);
    let mut object = objects(&ran).remove(0);
    let fields = object.as_object_mut().unwrap();
    let problems = fields.remove("problems").unwrap();
    assert_eq!(problems[1]["code"], "record-damaged");
    assert_eq!((&problems[1]["line"], &problems[1]["count"]), (&json!(2), &json!(2)));
    assert!(!fields.remove("missing").unwrap().as_array().unwrap().is_empty());
    assert_eq!(
        object,
        json!({
            "schema_version": 1,
            "path": path,
            "format": "OTLP JSON lines",
            "compression": "none",
            "bytes": 983,
            "spans": 2,
            "spans_admitted": 2,
            "spans_rejected": 0,
            "other_signal_records": 0,
            "traces": 1,
            "roots": 1,
            "orphans": 0,
            "duplicate_span_ids": 0,
            "services": ["shop"],
            "no_service": 0,
            "min_start_ns": 1_700_000_000_000_000_001_u64,
            "max_end_ns": 1_700_000_000_250_000_002_u64,
            "error_spans": 0,
            "convention_keys": [],
        })
    );
}

#[test]
fn standard_input_may_be_compressed() {
    let plain = std::fs::read(fixture("snake-case.json")).unwrap();
    let packed = zstd::encode_all(&plain[..], 1).unwrap();
    let ran = run_with_input(&["inspect", "-", "--format", "ndjson"], &packed);
    let object = objects(&ran).remove(0);
    assert_eq!((&object["path"], &object["spans"]), (&json!("-"), &json!(2)));
    assert_eq!(object["compression"], "zstd");
    let keys: Vec<&Value> = object["convention_keys"].as_array().unwrap().iter().collect();
    assert!(keys.iter().any(|key| key["key"] == "deadline.remaining_ms" && key["count"] == 1));
}

#[test]
fn the_text_keeps_its_width_and_says_what_is_missing() {
    for width in ["60", "80", "100", "120"] {
        let inputs = [&fixture("bad-spans-among-good.json"), &fixture("snake-case.json")];
        let text = run(&["inspect", inputs[0], inputs[1], "--width", width]).out;
        let width: usize = width.parse().unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        for part in ["trace-id-invalid", "deadline.remaining_ms", "What is missing", "14 rejected"]
        {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}

#[test]
fn a_file_of_no_format_is_exit_2_with_the_formats_there_are() {
    let folder = Folder::new();
    let path = folder.write("notes.json", "[\"nothing of ours\"]");
    let Ran { code, out, err } = run(&["inspect", &path]);
    assert_eq!(code, 2);
    assert!(err.contains(&path) && err.contains("expected OTLP traces"), "{err}");
    assert!(out.is_empty());
}
