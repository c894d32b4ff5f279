//! Rows of ClickHouse's `otel_traces`, in each format it writes them in.

use dwindle::ingest::{IngestError, Refusal};
use dwindle::span::Outcome;
use dwindle::units::Nanos;

use super::support::{Folder, fixture, problems, read, spans, try_read};

/// The trace of most fixtures.
const TRACE: &str = "5b8efff798038103d269b633813fc60c";

/// 2026-08-06 23:53:45 UTC.
const SECOND: &str = "1786060425";

/// What the fixtures of all columns hold.
fn all_columns() -> [String; 2] {
    [
        format!("{TRACE}/a1 shop POST /checkout Server {SECOND}569257300+250000001 error links=1"),
        format!("{TRACE}/b2<a1 shop pay Client {SECOND}570000000+200000000"),
    ]
}

/// Checks a fixture that holds [`all_columns`].
fn tells_all_columns(name: &str, format: &str) {
    let read = read(&[&fixture(name)]);
    assert_eq!(spans(&read), all_columns(), "{name}");
    assert_eq!(problems(&read), Vec::<String>::new(), "{name}");
    assert_eq!(read.files[0].format.as_deref(), Some(format), "{name}");
    let partition = read.partitions.iter().find(|partition| !partition.rows.is_empty()).unwrap();
    let root = partition.rows.iter().find(|span| span.span_id.0 == 0xa1).unwrap();
    assert_eq!(root.http_status, Some(504), "{name}");
    assert_eq!(root.outcome, Outcome::DeadlineExceeded, "{name}");
    assert_eq!(partition.strings.get(root.clock_domain), "host.name=h1", "{name}");
    let call = partition.rows.iter().find(|span| span.span_id.0 == 0xb2).unwrap();
    assert_eq!(call.grant.unwrap().value, Nanos::from_millis(750), "{name}");
}

#[test]
fn rows_in_json_tell_all_columns() {
    tells_all_columns("clickhouse/rows-new-names.jsonl", "ClickHouse otel_traces JSON lines");
}

#[test]
fn rows_in_one_answer_tell_all_columns() {
    tells_all_columns("clickhouse/answer.json", "ClickHouse otel_traces JSON");
}

#[test]
fn rows_in_csv_tell_all_columns() {
    tells_all_columns("clickhouse/with-names.csv", "ClickHouse otel_traces CSV");
}

#[test]
fn rows_in_tsv_tell_all_columns() {
    tells_all_columns("clickhouse/with-names.tsv", "ClickHouse otel_traces TSV");
}

#[test]
fn rows_in_tsv_may_stand_below_names_and_types() {
    tells_all_columns(
        "clickhouse/with-names-and-types-old-names.tsv",
        "ClickHouse otel_traces TSV",
    );
}

#[test]
fn rows_of_text_may_end_in_both_signs_and_begin_with_a_mark() {
    let folder = Folder::new();
    for name in ["clickhouse/with-names.tsv", "clickhouse/with-names.csv"] {
        let text = std::fs::read_to_string(fixture(name)).unwrap();
        let text = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        let read = read(&[&folder.write(name, text)]);
        assert_eq!(spans(&read), all_columns(), "{name}");
        assert_eq!(problems(&read), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn rows_of_text_are_found_in_every_chunk() {
    let text = std::fs::read_to_string(fixture("clickhouse/with-names.csv")).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    let folder = Folder::new();
    let path = folder.write("many.csv", format!("{header}\n{}", rows.repeat(12_000)));
    let read = read(&[&path]);
    assert!(read.files[0].bytes > 8 << 20, "more than two chunks");
    assert_eq!(read.files[0].spans_admitted, 24_000);
    assert_eq!(problems(&read), Vec::<String>::new());
}

#[test]
fn rows_cut_off_or_damaged_anywhere_are_refused_or_told() {
    let folder = Folder::new();
    for name in ["with-names.csv", "with-names-and-types-old-names.tsv", "rows-new-names.jsonl"] {
        let whole = std::fs::read(fixture(&format!("clickhouse/{name}"))).unwrap();
        for at in (0..whole.len()).step_by(5) {
            let mut damaged = whole.clone();
            damaged[at] = b"\"'\\{}[],:\t\n\xff"[at % 12];
            for bytes in [&damaged, &whole[..at]] {
                // Whatever comes of it, `try_read` checks that the counts add up.
                let _outcome = try_read(&[&folder.write(name, bytes)]);
            }
        }
    }
}

#[test]
fn bad_rows_of_text_are_told_and_the_others_read() {
    let read = read(&[&fixture("clickhouse/bad-rows-among-good.csv")]);
    assert_eq!(
        spans(&read),
        [
            format!("1/1 shop good Server {SECOND}000000000+5"),
            format!("1/4 shop no literal Server {SECOND}000000000+5"),
            format!("1/5 shop lines in text Server {SECOND}000000000+5"),
            format!("1/6 shop good Server {SECOND}000000000+5"),
            format!("1/7 shop JSON for a map Server {SECOND}000000000+5"),
        ]
    );
    assert_eq!(
        problems(&read),
        [
            "record-cut-off 2 @217:4:3",
            "record-damaged 1 @251:5:4",
            "field-wrong-type 2 @324:6:5",
            "start-invalid 1 @165:3:2",
        ]
    );
}

#[test]
fn kinds_and_status_codes_may_have_their_old_names() {
    let read = read(&[&fixture("clickhouse/rows-old-names.jsonl")]);
    assert_eq!(
        spans(&read),
        [
            format!("{TRACE}/a1 shop in Server {SECOND}569257300+5 error"),
            format!("{TRACE}/b2<a1 shop out Producer {SECOND}569257300+4"),
        ]
    );
    assert_eq!(problems(&read), Vec::<String>::new());
}

#[test]
fn times_may_be_numbers_of_any_unit() {
    let read = read(&[&fixture("clickhouse/times-as-numbers.jsonl")]);
    assert_eq!(
        spans(&read),
        [
            format!("1/1 shop s Server {SECOND}000000000+1"),
            format!("1/2 shop s with a fraction Server {SECOND}569257301+1"),
            format!("1/3 shop ms Server {SECOND}569000000+1"),
            format!("1/4 shop us Server {SECOND}569257000+1"),
            format!("1/5 shop ns Server {SECOND}569257301+1"),
        ]
    );
    assert_eq!(problems(&read), Vec::<String>::new());
}

#[test]
fn durations_may_be_negative_or_wrapped_round() {
    let read = read(&[&fixture("clickhouse/durations.jsonl")]);
    let names = ["zero", "negative", "negative, wrapped round", "end not set", "none"];
    let expected =
        (1..).zip(names).map(|(id, name)| format!("1/{id} shop {name} Server {SECOND}000000000+0"));
    assert_eq!(spans(&read), expected.collect::<Vec<_>>());
    assert_eq!(read.files[0].spans_rejected, 1);
    assert_eq!(problems(&read), ["end-absent 2 @503:4:3", "end-invalid 1 @838:6:5"]);
}

#[test]
fn a_column_that_is_needed_and_absent_is_told_by_name() {
    let refused = try_read(&[&fixture("clickhouse/column-absent.jsonl")]).unwrap_err();
    let IngestError::Refused { why, .. } = refused else { panic!("{refused}") };
    assert_eq!(why, Refusal::ColumnAbsent("ParentSpanId"));
    let folder = Folder::new();
    let logs = folder.write("logs.tsv", "Timestamp\tTraceId\tSpanId\tSeverityText\tBody\n");
    let refused = try_read(&[&logs]).unwrap_err();
    let IngestError::Refused { why, .. } = refused else { panic!("{refused}") };
    assert_eq!(why, Refusal::ColumnAbsent("ParentSpanId"));
}

#[test]
fn bad_rows_are_told_and_the_others_read() {
    let read = read(&[&fixture("clickhouse/bad-rows-among-good.jsonl")]);
    assert_eq!(
        spans(&read),
        [
            format!("1/1 shop good Server {SECOND}000000000+5"),
            format!("1/4 shop of another type Internal {SECOND}000000000+5"),
            format!("1/5 shop maps within maps Server {SECOND}000000000+5"),
        ]
    );
    let mut statuses = read.partitions.iter().flat_map(|partition| &partition.rows);
    assert_eq!(statuses.find_map(|span| span.http_status), Some(503));
    assert_eq!(
        problems(&read),
        [
            "record-cut-off 1 @1006:7:6",
            "record-not-span 1 @718:5:4",
            "field-wrong-type 3 @456:4:3",
            "trace-id-absent 1 @300:3:2",
            "start-invalid 1 @154:2:1",
        ]
    );
}
