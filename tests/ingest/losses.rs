//! One rich trace told in every format that is read, and what each loses of what OTLP tells.

use std::collections::BTreeSet;

use dwindle::ingest::Ingested;
use dwindle::span::Span;
use prost::Message;
use serde_json::Value;

use super::support::{Folder, fixture, problems, read, tables};
use super::{parquet, reference};
use crate::support::tables::differences;

/// What is below a microsecond, and what depends on it: one span of the trace does not begin and
/// end on whole ones.
const NANOSECONDS: &[&str] = &[
    "hops b9: available_ns duration_ns elapsed_at_send_ns remaining_at_send_ns",
    "requests a1: local_execution_ns return_reserve_used_ns",
    "segments gateway POST /checkout local: duration_ns",
    "segments gateway orders publish downstream: duration_ns",
    "spans b9: start",
];

/// Which services share a host, and so a clock.
const HOSTS: &[&str] = &[
    "spans a1: clock",
    "spans b2: clock",
    "spans b3: clock",
    "spans b7: clock",
    "spans b9: clock",
    "spans c4: clock",
    "spans c6: clock",
    "spans c8: clock",
    "spans d5: clock",
];

/// That a client left without a word: in Zipkin silence means success, and so an answer that tells
/// of clocks.
const SILENCE: &[&str] = &[
    "attempts b7: outcome",
    "findings cancel-ignored b7: missing",
    "hops a1: late_work_max_ns residual_work_ns",
    "hops b7: clock_hi_ns clock_lo_ns late_work_max_ns outcome residual_work_ns",
    "requests a1: late_work_max_ns residual_work_after_cancel_ns",
    "spans b7: wordless",
];

/// Links, which are counted.
const LINKS: &[&str] = &["spans c4: links"];

fn of(format: &str) -> Ingested {
    read(&[&fixture(&format!("rich/{format}"))])
}

/// The facts of a span that stand in no table of their own.
fn facts(read: &Ingested) -> Vec<(String, [String; 5])> {
    let mut told = Vec::new();
    for partition in &read.partitions {
        let text = |sym| partition.strings.get(sym).to_owned();
        let of = |span: &Span| {
            [
                span.start.as_nanos().to_string(),
                span.links.to_string(),
                text(span.clock_domain),
                span.target.map(|target| target.bits().to_string()).unwrap_or_default(),
                span.flags.is_wordless.to_string(),
            ]
        };
        told.extend(partition.rows.iter().map(|span| (span.span_id.to_string(), of(span))));
    }
    told.sort();
    told
}

/// The names of [`facts`].
const FACTS: [&str; 5] = ["start", "links", "clock", "target", "wordless"];

/// What differs from OTLP: `TABLE ROW: COLUMN` or `spans ID: FACT`, without the trace and the
/// request.
fn lost(read: &Ingested) -> BTreeSet<String> {
    let otlp = of("otlp.json");
    let (expected, found) = (tables(&otlp), tables(read));
    let mut lost = BTreeSet::new();
    for table in ["requests", "hops", "segments", "attempts", "findings"] {
        for difference in differences(table, &expected[table], &found[table]) {
            let (told, _) = difference.split_once(": expected").unwrap_or((&difference, ""));
            let told = told.replace('"', "").replace("5b8efff798038103d269b633813fc60c ", "");
            let request = "00000000000000a1 ";
            let told = if table == "requests" { told } else { told.replacen(request, "", 1) };
            let told = told.replace("00000000000000", "").replace(": missing", " missing");
            let (row, column) = told.rsplit_once(' ').unwrap();
            lost.insert(format!("{row}: {column}"));
        }
    }
    for ((id, expected), (same_id, found)) in facts(&otlp).into_iter().zip(facts(read)) {
        assert_eq!(id, same_id);
        let id = id.trim_start_matches('0');
        for ((fact, expected), found) in FACTS.iter().zip(expected).zip(found) {
            if expected != found {
                lost.insert(format!("spans {id}: {fact}"));
            }
        }
    }
    lost
}

/// All of some losses, a line for each column.
fn each(losses: &[&[&str]]) -> BTreeSet<String> {
    let rows = losses.iter().copied().flatten().map(|line| line.split_once(": ").unwrap());
    rows.flat_map(|(row, columns)| columns.split(' ').map(move |column| format!("{row}: {column}")))
        .collect()
}

#[test]
fn each_format_loses_what_it_has_no_place_for_and_nothing_else() {
    let zipkin: &[&[&str]] = &[NANOSECONDS, HOSTS, SILENCE, LINKS];
    let losses: [(&str, &[&[&str]]); 11] = [
        ("otlp.json", &[]),
        ("tempo-batches.json", &[]),
        ("tempo-trace.json", &[]),
        ("jaeger-v3.json", &[]),
        ("jaeger.json", &[NANOSECONDS]),
        ("zipkin.json", zipkin),
        ("zipkin-v1.json", zipkin),
        ("clickhouse.jsonl", &[]),
        ("clickhouse.csv", &[]),
        ("clickhouse.tsv", &[]),
        ("span.jsonl", &[]),
    ];
    for (format, losses) in losses {
        let read = of(format);
        assert_eq!(lost(&read), each(losses), "{format}");
        assert_eq!(problems(&read), Vec::<String>::new(), "{format}");
    }
}

#[test]
fn the_same_trace_in_protobuf_loses_nothing() {
    let text = std::fs::read_to_string(fixture("rich/otlp.json")).unwrap();
    let message = reference::traces_of_json(&serde_json::from_str(&text).unwrap());
    let read = read(&[&Folder::new().write("rich.pb", message.encode_to_vec())]);
    assert_eq!(read.files[0].format.as_deref(), Some("OTLP protobuf"));
    assert_eq!(lost(&read), each(&[]));
}

#[test]
fn the_same_trace_in_parquet_loses_nothing() {
    let text = std::fs::read_to_string(fixture("rich/clickhouse.jsonl")).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let folder = Folder::new();
    let path = folder.path("rich.parquet");
    parquet::write_json_rows(&path, &rows);
    let read = read(&[&path]);
    assert_eq!(read.files[0].format.as_deref(), Some("ClickHouse otel_traces Parquet"));
    assert_eq!(lost(&read), each(&[]));
}
