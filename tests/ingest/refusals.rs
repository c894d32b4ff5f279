//! Files of which it is known what they are, and which are not read.

use dwindle::ingest::{IngestError, Refusal};

use super::support::{fixture, try_read};

#[test]
fn files_of_known_kinds_that_are_not_read_are_refused_by_their_name() {
    let mut refused: Vec<(String, Refusal)> = Vec::new();
    for file in std::fs::read_dir(fixture("refused")).unwrap() {
        let path = file.unwrap().path();
        let why = match try_read(&[path.to_str().unwrap()]) {
            Err(IngestError::Refused { why, .. }) => why,
            other => panic!("{}: {other:?}", path.display()),
        };
        refused.push((path.file_name().unwrap().to_str().unwrap().to_owned(), why));
    }
    refused.sort_by(|(one, _), (other, _)| one.cmp(other));
    let expected = [
        ("clickhouse-csv.csv", Refusal::ColumnsUnnamed),
        ("clickhouse-json-compact-each-row-with-names.jsonl", Refusal::ColumnsUnnamed),
        ("clickhouse-json-compact-each-row.jsonl", Refusal::ColumnsUnnamed),
        ("clickhouse-json-compact.json", Refusal::ColumnsUnnamed),
        ("clickhouse-tab-separated.tsv", Refusal::ColumnsUnnamed),
        ("flat-spans.jsonl", Refusal::FlatSpans),
        ("search-answer.json", Refusal::SearchDocuments),
        ("search-documents.jsonl", Refusal::SearchDocuments),
        ("tempo-search.json", Refusal::TempoSearch),
        ("x-ray-answer.json", Refusal::XRay),
        ("x-ray-segment.json", Refusal::XRay),
    ];
    assert_eq!(refused, expected.map(|(file, why)| (file.to_owned(), why)));
}

#[test]
fn a_refusal_says_what_to_do() {
    for (file, advice) in [
        ("clickhouse-csv.csv", "CSVWithNames"),
        ("flat-spans.jsonl", "docs/span-json.md"),
        ("search-answer.json", "OTLP"),
        ("tempo-search.json", "GET /api/v2/traces/TRACE_ID"),
        ("x-ray-segment.json", "collector"),
    ] {
        let refused = try_read(&[&fixture(&format!("refused/{file}"))]).unwrap_err().to_string();
        assert!(refused.contains(advice), "{refused}");
    }
}
