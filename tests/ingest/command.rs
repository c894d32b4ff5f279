//! `dwindle inspect` as people and programs run it.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use super::support::Folder;

fn fixture(name: &str) -> String {
    format!("{}/fixtures/otlp/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Runs `dwindle inspect` with `input` on standard input.
fn inspect(args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_dwindle"))
        .arg("inspect")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

fn objects(output: &Output) -> Vec<Value> {
    let text = std::str::from_utf8(&output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn one_object_a_file_tells_all_counts_by_name() {
    let path = fixture("malformed-lines.jsonl");
    let output = inspect(&[&path, "--format", "ndjson"], b"");
    assert!(output.status.success());
    let mut object = objects(&output).remove(0);
    let fields = object.as_object_mut().unwrap();
    let problems = fields.remove("problems").unwrap();
    assert_eq!(problems[1]["code"], "record-damaged");
    assert_eq!((&problems[1]["line"], &problems[1]["count"]), (&json!(2), &json!(2)));
    assert!(!fields.remove("missing").unwrap().as_array().unwrap().is_empty());
    assert_eq!(
        object,
        json!({
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
    let output = inspect(&["-", "--format", "ndjson"], &zstd::encode_all(&plain[..], 1).unwrap());
    let object = objects(&output).remove(0);
    assert_eq!((&object["path"], &object["spans"]), (&json!("-"), &json!(2)));
    assert_eq!(object["compression"], "zstd");
    let keys: Vec<&Value> = object["convention_keys"].as_array().unwrap().iter().collect();
    assert!(keys.iter().any(|key| key["key"] == "deadline.remaining_ms" && key["count"] == 1));
}

#[test]
fn the_text_keeps_its_width_and_says_what_is_missing() {
    for width in ["60", "80", "100", "120"] {
        let inputs = [&fixture("bad-spans-among-good.json"), &fixture("snake-case.json")];
        let output = inspect(&[inputs[0], inputs[1], "--width", width], b"");
        let text = String::from_utf8(output.stdout).unwrap();
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
    let output = inspect(&[&path], b"");
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains(&path) && message.contains("expected OTLP traces"), "{message}");
    assert!(output.stdout.is_empty());
}
