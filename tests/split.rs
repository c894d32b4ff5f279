//! `--by`: classes told apart by an attribute that the user names.

use std::collections::BTreeSet;

use dwindle::conventions::{Conventions, SplitKeys};
use dwindle::ingest::ingest_stream;
use serde_json::{Value, json};

use crate::support::command::{run, scratch};

fn splitting_by(keys: &[&str]) -> Conventions {
    let keys = SplitKeys::new(keys.iter().map(|&key| key.to_owned())).unwrap();
    Conventions::embedded().unwrap().splitting_by(keys)
}

/// What the spans of some text are told apart by.
fn splits(text: &str, keys: &[&str]) -> BTreeSet<String> {
    let read = ingest_stream("input", text.as_bytes(), &splitting_by(keys), &()).unwrap();
    let of = |partition: &dwindle::span::Spans| {
        let text = |sym| partition.strings.get(sym).to_owned();
        partition
            .rows
            .iter()
            .map(|span| span.split.map_or("-".to_owned(), text))
            .collect::<Vec<_>>()
    };
    read.partitions.iter().flat_map(of).collect()
}

const TRACE: &str = "5b8efff798038103d269b633813fc60c";

fn otlp(attributes: &Value) -> String {
    let span = json!({"traceId": TRACE, "spanId": "00f067aa0ba902b7", "name": "GET /", "kind": 2,
        "startTimeUnixNano": "1772445600000000000", "endTimeUnixNano": "1772445600100000000"});
    json!({"resourceSpans": [{"resource": {"attributes": attributes},
        "scopeSpans": [{"spans": [span]}]}]})
    .to_string()
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

#[test]
fn every_format_that_has_resource_attributes_is_split_by_them() {
    let jaeger = json!({"data": [{"traceID": TRACE, "spans": [{"traceID": TRACE,
        "spanID": "00f067aa0ba902b7", "operationName": "GET /", "references": [],
        "startTime": 1_772_445_600_000_000_u64, "duration": 100_000, "tags": [], "logs": [],
        "processID": "p1"}],
        "processes": {"p1": {"serviceName": "shop", "tags":
            [{"key": "service.version", "type": "string", "value": "1.4.2"}]}}}]});
    let zipkin = json!([{"traceId": TRACE, "id": "00f067aa0ba902b7", "name": "get /",
        "kind": "SERVER", "timestamp": 1_772_445_600_000_000_u64, "duration": 100_000,
        "localEndpoint": {"serviceName": "shop"}, "tags": {"service.version": "1.4.2"}}]);
    let zipkin_v1 = json!([{"traceId": TRACE, "id": "00f067aa0ba902b7", "name": "get /",
        "annotations": [
            {"timestamp": 1_772_445_600_000_000_u64, "value": "sr",
             "endpoint": {"serviceName": "shop"}},
            {"timestamp": 1_772_445_600_100_000_u64, "value": "ss",
             "endpoint": {"serviceName": "shop"}}],
        "binaryAnnotations": [{"key": "service.version", "value": "1.4.2",
            "endpoint": {"serviceName": "shop"}}]}]);
    let clickhouse = json!({"Timestamp": "2026-03-02 10:00:00.000000000", "TraceId": TRACE,
        "SpanId": "00f067aa0ba902b7", "ParentSpanId": "", "SpanName": "GET /",
        "SpanKind": "Server", "ServiceName": "shop", "Duration": 100_000_000,
        "ResourceAttributes": {"service.version": "1.4.2"}, "SpanAttributes": {},
        "StatusCode": "Unset", "StatusMessage": ""});
    let lines = json!({"trace_id": TRACE, "span_id": "00f067aa0ba902b7", "service": "shop",
        "name": "GET /", "start_unix_ns": 1_772_445_600_000_000_000_i64,
        "end_unix_ns": 1_772_445_600_100_000_000_i64,
        "resource": {"service.version": "1.4.2"}});
    let attributes = json!([text("service.name", "shop"), text("service.version", "1.4.2")]);
    let inputs = [
        ("OTLP", otlp(&attributes)),
        ("Jaeger", jaeger.to_string()),
        ("Zipkin", zipkin.to_string()),
        ("Zipkin v1", zipkin_v1.to_string()),
        ("ClickHouse", clickhouse.to_string()),
        ("span JSON lines", lines.to_string()),
    ];
    let expected = BTreeSet::from(["service.version=1.4.2".to_owned()]);
    for (format, input) in inputs {
        assert_eq!(splits(&input, &["service.version"]), expected, "{format}");
    }
}

#[test]
fn what_is_absent_or_long_is_told_so_and_nothing_is_kept_unasked() {
    let long = "x".repeat(1_000);
    let input = otlp(&json!([text("service.name", "shop"), text("build", &long)]));
    let told = splits(&input, &["service.version", "build"]);
    let cut = "x".repeat(64);
    assert_eq!(told, BTreeSet::from([format!("service.version not set, build={cut}…")]));
    assert_eq!(splits(&input, &[]), BTreeSet::from(["-".to_owned()]));
    let keys = ["a", "b", "c", "d", "e"].map(str::to_owned);
    assert!(SplitKeys::new(keys).is_none(), "too many");
}

#[test]
fn classes_are_told_by_value_and_a_folder_made_so_is_reported_so() {
    let dir = scratch("split");
    let traces = dir.join("traces.jsonl");
    let of = |number: usize, version: &str| {
        let attributes = json!([text("service.name", "shop"), text("service.version", version)]);
        otlp(&attributes).replace(TRACE, &format!("{:032x}", number + 1))
    };
    let lines: Vec<String> = ["1.4.1", "1.4.2", "1.4.2"]
        .iter()
        .enumerate()
        .map(|(number, version)| of(number, version))
        .collect();
    std::fs::write(&traces, lines.join("\n")).unwrap();
    let traces = traces.to_str().unwrap();
    let split = ["--by", "service.version", "--deadline", "1s"];
    let report = run(&[&["report", traces, "--format", "json"][..], &split].concat());
    assert_eq!(report.code, 0, "{}", report.err);
    let json: Value = serde_json::from_str(&report.out).unwrap();
    let classes: Vec<&str> = json["sections"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|section| section["class"].as_str())
        .collect();
    assert_eq!(
        classes,
        ["shop GET / · service.version=1.4.2", "shop GET / · service.version=1.4.1"]
    );

    let out = dir.join("tables");
    let out = out.to_str().unwrap();
    let analyzed = run(&[&["analyze", traces, "--quiet", "--out", out][..], &split].concat());
    assert_eq!(analyzed.code, 0, "{}", analyzed.err);
    assert_eq!(run(&["report", out, "--format", "json"]).out, report.out);
    assert_eq!(run(&["report", out, "--by", "service.version"]).code, 2);
}
