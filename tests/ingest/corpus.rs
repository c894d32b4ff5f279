//! Files that real projects published, counted by an independent reader.

use std::collections::HashSet;
use std::path::PathBuf;

use dwindle::ingest::{FileInspection, inspect};
use dwindle::units::UnixNanos;
use serde_json::Value;

use super::support::{conventions, read, tables};
use crate::support::tables::differences;

/// Checks that two files of the corpus tell alike what the other holds: the same rows in all tables.
fn tell_alike(one: &str, other: &str) {
    let Some(corpus) = corpus() else { return };
    let path = |file: &str| corpus.join(file).display().to_string();
    let [mut one, mut other] = [one, other].map(|file| tables(&read(&[&path(file)])));
    assert!(!other["requests"].is_empty() && !other["hops"].is_empty());
    // The other file may hold some of the traces.
    let traces: HashSet<String> =
        other["requests"].iter().map(|row| row["trace_id"].to_string()).collect();
    for rows in one.values_mut() {
        rows.retain(|row| traces.contains(&row["trace_id"].to_string()));
    }
    for table in ["requests", "hops", "segments", "attempts", "findings"] {
        let [expected, found] = [&mut one, &mut other].map(|tables| tables.remove(table).unwrap());
        assert_eq!(differences(table, &expected, &found), Vec::<String>::new());
    }
}

#[test]
fn clickhouse_tells_the_timeout_trace_as_otlp_does() {
    tell_alike("otlp-json/jaeger-error_timeout_masked.json", "clickhouse/oteldemo-timeout.jsonl");
}

#[test]
fn clickhouse_tells_the_hotrod_trace_as_otlp_does() {
    tell_alike("otlp-json/jaeger-ui-v3-hotrod-getTrace.json", "clickhouse/hotrod-oldnames.tsv");
}

#[test]
fn clickhouse_tells_twelve_traces_of_the_demo_as_otlp_does() {
    tell_alike("otlp-jsonl/oteltui-oteldemo-mixed.jsonl", "clickhouse/oteldemo-12-traces.csv");
}

#[test]
fn messages_written_one_after_another_tell_the_demo_as_its_lines_do() {
    tell_alike("otlp-jsonl/oteltui-oteldemo-mixed.jsonl", "otlp-proto/concat-oteldemo.pb");
}

#[test]
fn protobuf_tells_a_trace_as_its_json_with_base64_does() {
    tell_alike("otlp-json/otlp2parquet-trace-base64.json", "otlp-proto/otlp2parquet-trace.pb");
}

/// The folder of published files; `None`, and told, where it is not there.
#[expect(clippy::print_stderr, reason = "a skipped test has to say so")]
pub fn corpus() -> Option<PathBuf> {
    let shared = std::env::var_os("DWINDLE_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let corpus = shared.join("corpus");
    if corpus.is_dir() {
        return Some(corpus);
    }
    eprintln!("skipped: {} is not there", corpus.display());
    None
}

/// The counts of `facts.json`, as we count.
fn counts(file: &FileInspection) -> Value {
    serde_json::json!({
        "spans": file.facts.spans_read,
        "traces": file.counts.traces,
        "roots": file.counts.roots,
        "orphans": file.counts.orphans,
        "duplicate_span_ids": file.counts.duplicate_span_ids,
        "services": file.counts.services,
        "no_service": file.counts.no_service,
        "min_start_ns": file.counts.min_start.map(UnixNanos::as_nanos),
        "max_end_ns": file.counts.max_end.map(UnixNanos::as_nanos),
        "error_spans": file.counts.error_spans,
    })
}

/// The corpus files of a folder with the facts about them.
fn files_of(corpus: &std::path::Path, folder: &str) -> Vec<(String, Value)> {
    let text = std::fs::read_to_string(corpus.join("facts.json")).unwrap();
    let facts: Value = serde_json::from_str(&text).unwrap();
    let facts = facts.get("files").unwrap_or(&facts).as_object().unwrap();
    let of_folder = facts.iter().filter(|(file, _)| file.starts_with(folder));
    of_folder.map(|(file, facts)| (file.clone(), facts.clone())).collect()
}

/// The paths of the corpus files of a folder; none where the corpus is not there.
pub fn files(folder: &str) -> Vec<String> {
    let Some(corpus) = corpus() else { return Vec::new() };
    let path = |(file, _): (String, Value)| corpus.join(file).display().to_string();
    files_of(&corpus, folder).into_iter().map(path).collect()
}

fn equals_facts(folder: &str) {
    let Some(corpus) = corpus() else { return };
    let files = files_of(&corpus, folder);
    assert!(!files.is_empty());
    for (file, facts) in files {
        let input = corpus.join(&file).display().to_string();
        let inspected = inspect(&[input], conventions(), &()).unwrap();
        let counted = counts(&inspected.files[0]);
        for (name, count) in counted.as_object().unwrap() {
            let expected = facts.get(name).cloned().unwrap_or(Value::from(0));
            assert_eq!(*count, expected, "{file}: {name}");
        }
    }
}

#[test]
fn published_answers_of_tempo_count_equal_and_its_search_is_refused_by_name() {
    let Some(corpus) = corpus() else { return };
    for (file, facts) in files_of(&corpus, "tempo/") {
        let input = corpus.join(&file).display().to_string();
        match inspect(&[input], conventions(), &()) {
            Ok(inspected) => {
                for (name, count) in counts(&inspected.files[0]).as_object().unwrap() {
                    let expected = facts.get(name).cloned().unwrap_or(Value::from(0));
                    assert_eq!(*count, expected, "{file}: {name}");
                }
            }
            Err(error) => {
                assert!(file.contains("search"), "{file}: {error}");
                assert!(error.to_string().contains("GET /api/v2/traces/"), "{error}");
            }
        }
    }
}

#[test]
fn published_files_of_other_formats_are_refused_by_name() {
    let Some(corpus) = corpus() else { return };
    for (file, name) in [("xray", "X-Ray"), ("flat-spans", "span JSON")] {
        let of_name = files_of(&corpus, "other/").into_iter().find(|(path, _)| path.contains(file));
        let input = corpus.join(of_name.unwrap().0).display().to_string();
        let error = inspect(&[input], conventions(), &()).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
}

#[test]
fn published_otlp_json_counts_equal_the_independent_readers() {
    equals_facts("otlp-json/");
}

#[test]
fn published_otlp_json_lines_count_equal_the_independent_readers() {
    equals_facts("otlp-jsonl/");
}

#[test]
fn published_otlp_protobuf_counts_equal_the_independent_readers() {
    equals_facts("otlp-proto/");
}

#[test]
fn published_clickhouse_counts_equal_the_independent_readers() {
    equals_facts("clickhouse/");
}

#[test]
fn published_zipkin_counts_equal_the_independent_readers() {
    equals_facts("zipkin/");
}

#[test]
fn published_zipkin_v1_counts_equal_the_independent_readers() {
    equals_facts("zipkin-v1/");
}

#[test]
fn published_jaeger_counts_equal_the_independent_readers() {
    equals_facts("jaeger/");
}
