//! OTLP JSON: each way in which real exporters write it, from the smallest file that shows it.

use super::support::{
    Folder, fixture, problems, read, read_fixture, read_fixture_of, row, rows, spans, tables,
    try_read,
};

/// The trace of most fixtures.
const TRACE: &str = "5b8efff798038103d269b633813fc60c";

/// Start and duration of most spans in the fixtures.
const TIMES: &str = "1700000000000000001+250000001";

/// Checks the spans of a fixture, `{T}` standing for [`TRACE`] and `{t}` for [`TIMES`], and that
/// nothing is wrong with it.
fn reads_as(name: &str, expected: &[&str]) {
    let read = read_fixture(name);
    assert_eq!(spans(&read), filled_in(expected), "{name}");
    assert_eq!(problems(&read), Vec::<String>::new(), "{name}");
}

fn filled_in(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| line.replace("{T}", TRACE).replace("{t}", TIMES)).collect()
}

#[test]
fn ids_in_upper_case_are_the_same_ids() {
    reads_as("ids-upper-case.json", &["{T}/a1 shop op Server {t}", "{T}/b2<a1 shop op Client {t}"]);
}

#[test]
fn short_ids_lost_zeros_on_the_left() {
    reads_as(
        "ids-short.json",
        &["abc/a1 shop op Server {t}", "abc/b2<a1 shop op Server {t}", "abc/c3 shop op Server {t}"],
    );
}

#[test]
fn ids_in_base64_are_the_bytes_they_stand_for() {
    reads_as(
        "ids-base64.json",
        &[
            "5452414345494431/eee19b7ec3c1b176 shop op Server {t}",
            "{T}/eee19b7ec3c1b174 shop op Server {t}",
            "{T}/eee19b7ec3c1b175<eee19b7ec3c1b174 shop op Server {t}",
        ],
    );
}

#[test]
fn traces_whose_ids_end_in_zeros_stay_apart() {
    let (one, other) = ("5b8efff7980381030000000000000000", "5b8efff7980381040000000000000000");
    reads_as(
        "trace-ids-of-zeros-on-the-right.json",
        &[
            &format!("{one}/a1 shop one Server {{t}}"),
            &format!("{one}/b2<a1 shop one Client {{t}} links=2"),
            &format!("{other}/a1 shop other Server {{t}}"),
            &format!("{other}/b2<a1 shop other Client {{t}}"),
        ],
    );
    let read = read_fixture("trace-ids-of-zeros-on-the-right.json");
    assert_eq!(
        rows(&tables(&read)),
        [
            "requests: a1 shop one 250000001 completed [no_deadline]",
            "requests: a1 shop other 250000001 completed [no_deadline]",
            "hops: - a1 - shop ok",
            "hops: b2 - shop - ok",
            "hops: - a1 - shop ok",
            "hops: b2 - shop - ok",
        ]
    );
}

#[test]
fn times_just_after_1970_are_times_and_zero_is_none() {
    let read = read_fixture("times-near-1970.json");
    let expected = ["{T}/a1 shop op Server 100+1000", "{T}/b2<a1 shop op Client 200+0"];
    assert_eq!(spans(&read), filled_in(&expected));
    assert_eq!(problems(&read), ["start-absent 1 @492:4:0", "end-absent 1 @299:3:0"]);
    assert_eq!(
        rows(&tables(&read)),
        [
            "requests: a1 shop op 1000 completed [negative_duration,no_deadline]",
            "hops: - a1 - shop ok",
            "hops: b2 - shop - ok",
        ]
    );
}

#[test]
fn ids_of_another_length_keep_parents_and_children_together() {
    let read = read_fixture("ids-of-other-length.json");
    let expected =
        ["{T}/b2<405781fb8a011024 shop op Server {t}", "{T}/405781fb8a011024 shop op Server {t}"];
    assert_eq!(spans(&read), filled_in(&expected));
    assert_eq!(problems(&read), ["id-hashed 2 @135:1:0"]);
}

#[test]
fn a_parent_id_that_is_empty_null_or_zero_is_no_parent() {
    reads_as(
        "parent-empty.json",
        &["{T}/a1 shop op Server {t}", "{T}/b2 shop op Server {t}", "{T}/c3 shop op Server {t}"],
    );
}

#[test]
fn field_names_may_be_in_snake_case() {
    reads_as(
        "snake-case.json",
        &["{T}/a1 shop root Server {t}", "{T}/b2<a1 shop call Client {t} error"],
    );
}

#[test]
fn spans_of_both_scope_kinds_in_one_document_are_read() {
    reads_as(
        "both-scope-kinds.json",
        &["{T}/a1 shop op Server {t}", "{T}/b2<a1 shop op Server {t}"],
    );
}

#[test]
fn bare_numbers_beyond_2_53_lose_no_nanosecond() {
    reads_as(
        "numbers-beyond-2-53.json",
        &[
            "{T}/a1 shop op Server 1700000000000000001+2",
            "{T}/b2<a1 shop op Server 1700000000000000003+4",
        ],
    );
}

#[test]
fn enums_are_numbers_or_names_of_any_case() {
    reads_as(
        "enums-by-name.json",
        &[
            "{T}/a1 shop op Server {t} error",
            "{T}/b2<a1 shop op Client {t} error",
            "{T}/c3<a1 shop op Producer {t}",
            "{T}/d4<c3 shop op Consumer {t} error",
            "{T}/e5<a1 shop op Internal {t}",
            "{T}/f6<a1 shop op Internal {t}",
        ],
    );
}

#[test]
fn values_of_all_types_and_unknown_fields_are_no_trouble() {
    reads_as("values-of-all-types.json", &["{T}/a1 shop op Server {t} links=1"]);
    let read = read_fixture("values-of-all-types.json");
    let granted = row(&tables(&read)["hops"][0], &["granted_ns", "grant_key"]);
    assert_eq!(granted, "80000000 deadline.remaining_ms");
}

#[test]
fn a_resource_that_stands_behind_its_spans_is_theirs() {
    reads_as("resource-after-spans.json", &["{T}/a1 shop op Server {t}"]);
}

#[test]
fn spans_without_a_service_have_an_empty_one() {
    reads_as(
        "no-service.json",
        &["{T}/a1 shop op Server {t}", "{T}/b2<a1  op Server {t}", "{T}/c3<a1  op Server {t}"],
    );
}

#[test]
fn jaegers_api_puts_the_document_under_result() {
    reads_as("jaeger-api-result.json", &["{T}/a1 shop op Server {t}"]);
}

#[test]
fn a_trace_of_which_tempo_says_that_it_is_a_part_is_a_loss() {
    let read = read_fixture_of("tempo", "partial.json");
    assert_eq!(spans(&read), filled_in(&["{T}/a1 shop op Server {t}"]));
    assert_eq!(problems(&read), ["answer-has-errors 1 @370:1:0"]);
}

#[test]
fn documents_in_a_row_may_go_over_many_lines() {
    let expected = [
        "{T}/a1 shop op Server {t}",
        "{T}/b2<a1 shop op Server {t}",
        "{T}/c3<a1 shop op Server {t}",
    ];
    reads_as("documents-in-a-row.json", &expected);
    reads_as("documents-of-both-layouts.json", &expected);
}

#[test]
fn a_byte_order_mark_is_no_content() {
    reads_as("byte-order-mark.json", &["{T}/a1 shop op Server {t}"]);
}

#[test]
fn logs_and_metrics_between_spans_are_counted_and_skipped() {
    let read = read_fixture("mixed-signals.jsonl");
    assert_eq!(
        spans(&read),
        filled_in(&["{T}/a1 shop op Server {t}", "{T}/b2<a1 shop op Server {t}"])
    );
    assert_eq!(problems(&read), ["other-signal 3 @0:1:0"]);
    assert_eq!(read.files[0].other_signal_records, 3);
}

#[test]
fn a_bad_line_is_told_with_its_place_and_loses_no_other() {
    let read = read_fixture("malformed-lines.jsonl");
    assert_eq!(
        spans(&read),
        filled_in(&["{T}/a1 shop op Server {t}", "{T}/c3<a1 shop op Server {t}"])
    );
    assert_eq!(
        problems(&read),
        ["record-cut-off 1 @401:6:5", "record-damaged 2 @29:2:1", "record-not-otlp 1 @0:1:0"]
    );
}

#[test]
fn a_bad_span_is_told_with_its_reason_and_loses_no_neighbour() {
    let read = read_fixture("bad-spans-among-good.json");
    let expected =
        ["{T}/a1 shop good Server {t}", "{T}/c3<a1 shop also good Server 1700000000000000001+0"];
    assert_eq!(spans(&read), filled_in(&expected));
    assert_eq!(
        problems(&read),
        [
            "field-wrong-type 1 @3791:137:0",
            "trace-id-absent 2 @467:25:0",
            "trace-id-invalid 1 @713:33:0",
            "span-id-absent 1 @1128:48:0",
            "span-id-invalid 2 @1374:56:0",
            "parent-id-invalid 1 @1608:64:0",
            "start-absent 2 @1885:73:0",
            "start-invalid 3 @2308:88:0",
            "end-absent 1 @3508:129:0",
            "end-invalid 1 @3012:112:0",
            "span-damaged 1 @3259:120:0",
        ]
    );
    let file = &read.files[0];
    assert_eq!((file.spans_read, file.spans_admitted, file.spans_rejected), (16, 2, 14));
}

#[test]
fn text_that_is_no_text_is_mended_and_told() {
    let read = read_fixture("text-not-utf8.json");
    assert_eq!(spans(&read), filled_in(&["{T}/a1 shop caf\u{fffd} \u{fffd} Server {t}"]));
    assert_eq!(problems(&read), ["text-not-utf8 1 @221:1:0"]);
}

/// The documents of a fixture, over many lines each.
fn pretty() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/otlp/documents-in-a-row.json");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn a_last_document_cut_off_gives_the_spans_before_the_cut() {
    let folder = Folder::new();
    let text = pretty();
    let last = text.rfind("\n{").unwrap() + 1;
    let line = text[..last].lines().count() + 1;
    for end in [text.len() - 4, text.len() - 60] {
        let read = read(&[&folder.write("cut", &text[..end])]);
        assert_eq!(problems(&read), [format!("record-cut-off 1 @{last}:{line}:2")]);
        let whole = if end == text.len() - 4 { 3 } else { 2 };
        assert_eq!(spans(&read).len(), whole);
    }
}

#[test]
fn a_document_that_breaks_gives_the_spans_before_and_the_documents_after() {
    let folder = Folder::new();
    let text = pretty();
    let behind_first_span = text.find("endTimeUnixNano").unwrap();
    let bracket = behind_first_span + text[behind_first_span..].find(']').unwrap();
    for instead in ["]]", ""] {
        let broken = [&text[..bracket], instead, &text[bracket + 1..]].concat();
        let read = read(&[&folder.write("broken", &broken)]);
        assert_eq!(spans(&read).len(), 3);
        assert!(problems(&read)[0].starts_with("record-damaged "), "{:?}", problems(&read));
        assert_eq!(problems(&read).len(), 1);
    }
}

#[test]
fn files_with_byte_order_marks_put_together_are_read() {
    let folder = Folder::new();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/otlp/byte-order-mark.json");
    let bytes = [std::fs::read(path).unwrap(), b"\n".to_vec()].concat();
    let read = read(&[&folder.write("both", bytes.repeat(2))]);
    assert_eq!((spans(&read).len(), problems(&read).len()), (2, 0));
}

#[test]
fn json_nested_without_end_is_told_and_loses_no_other_line() {
    let good = pretty().lines().map(str::trim).collect::<String>();
    let good = &good[..=good.find("}{").unwrap()];
    for bomb in [
        format!("{{\"resourceSpans\":{}", "[".repeat(1_000_000)),
        good.replace("\"kind\"", &format!("\"deep\":{}0,\"kind\"", "{\"a\":".repeat(100_000))),
        good.replace(
            "\"stringValue\": \"shop\"",
            &format!("{}0", "\"arrayValue\":{\"values\":[{".repeat(100_000)),
        ),
    ] {
        let folder = Folder::new();
        let read = read(&[&folder.write("bomb", format!("{bomb}\n{good}\n"))]);
        assert_eq!(spans(&read).len(), 1);
        assert!(problems(&read)[0].starts_with("record-too-deep 1 @"), "{:?}", problems(&read));
        // Alone it is refused, or told; it never overflows.
        assert!(try_read(&[&folder.write("alone", bomb)]).is_ok());
    }
}

#[test]
fn a_list_of_documents_is_each_of_them() {
    let documents = pretty().trim().replace("}\n{", "},\n{");
    let other = r#", {"resourceLogs": []}, 7"#;
    let compact = documents.lines().map(str::trim).collect::<String>();
    for (list, format) in [(documents, "OTLP JSON"), (compact, "OTLP JSON lines")] {
        let folder = Folder::new();
        let at = list.len() + 3;
        let read = read(&[&folder.write("list", format!("[{list}{other}]"))]);
        assert_eq!(read.files[0].format.as_deref(), Some(format));
        assert_eq!(spans(&read).len(), 3);
        let told: Vec<String> = problems(&read);
        assert!(told[0].starts_with(&format!("record-not-otlp 1 @{}:", at + 22)), "{told:?}");
        assert!(told[1].starts_with(&format!("other-signal 1 @{at}:")), "{told:?}");
    }
}

/// A reader somewhere on the way that takes nanoseconds for a floating-point number leaves every
/// 256th; differences below a microsecond then mean nothing, and the request says so.
#[test]
fn times_that_went_through_floating_point_are_a_blind_spot() {
    let spots = |path: &str| tables(&read(&[path]))["requests"][0]["blind_spots"].to_string();
    let rounded = fixture("otlp/times-rounded.json");
    assert!(spots(&rounded).contains("times_rounded"));
    let folder = Folder::new();
    let text = std::fs::read_to_string(&rounded).unwrap();
    let (start, end) = ("1700000000123456768", "1700000000223456768");
    let spots_of = |other_start: &str, other_end: &str| {
        let other = text.replace(start, other_start).replace(end, other_end);
        assert_ne!(other, text);
        spots(&folder.write("other.json", other))
    };
    assert!(!spots_of("1700000000123456789", "1700000000223456789").contains("times_rounded"));
    // Whole microseconds are what many exporters write, and no sign of rounding.
    assert!(!spots_of("1700000000123456000", "1700000000223232000").contains("times_rounded"));
}

/// A span by itself, its id ending in `digit`.
fn one_span(digit: char) -> String {
    format!(
        r#"{{"traceId":"{TRACE}","spanId":"010203040506070{digit}","name":"op","kind":3,"startTimeUnixNano":"1700000000000000001","endTimeUnixNano":"1700000000250000002","attributes":[]}}"#
    )
}

#[test]
fn a_document_whose_line_ends_behind_an_inner_bracket_goes_on() {
    let (one, two) = (one_span('1'), one_span('2'));
    let folder = Folder::new();
    for (number, document) in [
        format!("{{\"resourceSpans\":[{{\"scopeSpans\":[{{\"spans\":[{one},{two}]}}]}}\n]}}"),
        format!("{{\"resourceSpans\":[{{\"scopeSpans\":[{{\"spans\":[{one}]}}]}}\n,{{\"scopeSpans\":[{{\"spans\":[{two}]}}]}}]}}"),
        format!("{{\"resourceSpans\":[{{\"scopeSpans\":[{{\"spans\":[{one}\n,{two}]}}]}}]}}"),
        format!("{{\"result\":{{\"resourceSpans\":[{{\"scopeSpans\":[{{\"spans\":[{one},{two}]}}]}}]}}\n}}"),
        format!("{{\"batches\":[{{\"scopeSpans\":[{{\"spans\":[{one},{two}]}}]}}\n  ]\n}}\n"),
    ]
    .iter()
    .enumerate()
    {
        let read = read(&[&folder.write(&format!("{number}.json"), document)]);
        assert_eq!(spans(&read).len(), 2, "{document}");
        assert_eq!(problems(&read), Vec::<String>::new(), "{document}");
    }
}

#[test]
fn a_field_name_that_is_not_utf8_is_told_where_it_stands() {
    let (one, two) = (one_span('1'), one_span('2'));
    let one = one.replace("\"attributes\":[]", "\"attributes\":[],\"?\":1");
    let text = format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{one},{two}]}}]}}]}}"#);
    let at = text.find('?').unwrap();
    let mut bytes = text.into_bytes();
    bytes[at] = 0xff;
    let folder = Folder::new();
    let read = read(&[&folder.write("key.json", bytes)]);
    assert_eq!(spans(&read).len(), 2);
    // The place is where the member begins: before the comma and the quote.
    assert_eq!(problems(&read), [format!("text-not-utf8 1 @{}:1:0", at - 2)]);
}
