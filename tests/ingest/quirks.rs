//! What is odd about real traces whatever format tells them: each quirk once in every format that
//! can have it, and the same spans, trouble and tables from all.

use super::support::{Folder, fixture, problems, read, row, rows, spans, tables};
use dwindle::ingest::Ingested;

/// The formats, by the endings of their fixtures.
const FORMATS: [&str; 5] =
    ["otlp.json", "jaeger.json", "zipkin.json", "clickhouse.jsonl", "span.jsonl"];

/// The trace of most fixtures.
const TRACE: &str = "5b8efff798038103d269b633813fc60c";

/// When most fixtures begin, in nanoseconds.
const BEGIN_NS: i64 = 1_700_000_000_000_000_000;

/// The trouble, one code a line, without the places, which are each format's own.
fn codes(read: &Ingested) -> Vec<String> {
    let code = |line: &String| line.split(" @").next().unwrap().to_owned();
    problems(read).iter().map(code).collect()
}

/// `trace/span<parent service name kind start+duration` of each span, `{T}` standing for [`TRACE`],
/// and times in milliseconds since [`BEGIN_NS`].
fn spans_in_ms(read: &Ingested) -> Vec<String> {
    let in_ms = |line: String| {
        let times = line.split(' ').find(|word| word.starts_with("17")).unwrap().to_owned();
        let (start, duration) = times.split_once('+').unwrap();
        let start = (start.parse::<i64>().unwrap() - BEGIN_NS) / 1_000_000;
        let duration = duration.parse::<i64>().unwrap() / 1_000_000;
        line.replace(&times, &format!("{start}+{duration}")).replace(TRACE, "{T}")
    };
    spans(read).into_iter().map(in_ms).collect()
}

/// Checks the spans, the trouble and the rows of a quirk in some formats, and that all their tables
/// are equal in every column.
fn reads_in(formats: &[&str], name: &str, expected: [&[&str]; 3]) {
    let mut first = None;
    for format in formats {
        let read = read(&[&fixture(&format!("quirks/{name}.{format}"))]);
        let tables = tables(&read);
        let found = [spans_in_ms(&read), codes(&read), rows(&tables)];
        assert_eq!(found, expected.map(<[&str]>::to_vec), "{name} {format}");
        assert_eq!(*first.get_or_insert_with(|| tables.clone()), tables, "{name} {format}");
    }
}

/// The same in all formats.
fn reads(name: &str, expected: [&[&str]; 3]) {
    reads_in(&FORMATS, name, expected);
}

/// A call and its two halves, the root of which the request is.
const CALL: [&str; 3] = [
    "{T}/a1 shop GET / Server 0+100",
    "{T}/b2<a1 shop call Client 10+80",
    "{T}/c3<b2 stock serve Server 20+60",
];

/// The hops of [`CALL`].
const HOPS: [&str; 2] = ["hops: - a1 - shop ok", "hops: b2 c3 shop stock ok"];

/// The request of [`CALL`], with the blind spots named.
fn request(blind_spots: &str) -> String {
    format!("requests: a1 shop GET / 100000000 completed [{blind_spots}]")
}

#[test]
fn children_that_come_before_their_parents_are_theirs() {
    reads("children-first", [&CALL, &[], &[&request("no_deadline"), HOPS[0], HOPS[1]]]);
}

#[test]
fn of_a_cycle_the_first_span_is_taken_for_the_root() {
    let spans = ["{T}/a1<c3 shop GET / Server 0+100", CALL[1], CALL[2]];
    let request = request("cycle,missing_root,no_deadline");
    reads("cycle", [&spans, &[], &[&request, HOPS[0], HOPS[1]]]);
}

#[test]
fn a_span_that_is_its_own_parent_is_taken_for_a_root() {
    let spans = ["{T}/a1<a1 shop GET / Server 0+100", CALL[1], CALL[2]];
    let request = request("cycle,missing_root,no_deadline");
    reads("self-parent", [&spans, &[], &[&request, HOPS[0], HOPS[1]]]);
}

#[test]
fn a_record_that_is_repeated_is_one_span() {
    let spans = [CALL[0], CALL[1], CALL[1], CALL[2]];
    let request = request("duplicate_spans,no_deadline");
    reads("repeated", [&spans, &[], &[&request, HOPS[0], HOPS[1]]]);
}

#[test]
fn of_two_spans_with_one_id_the_earlier_stays() {
    let spans = [CALL[0], "{T}/b2<a1 shop call Client 10+20", "{T}/b2<a1 shop call Client 50+40"];
    let request = request("duplicate_spans,no_deadline");
    reads("id-twice", [&spans, &[], &[&request, HOPS[0], "hops: b2 - shop - ok"]]);
}

#[test]
fn a_span_whose_parent_is_not_there_hangs_below_the_root() {
    let spans =
        [CALL[0], "{T}/c3<99 stock serve Server 20+60", "{T}/d4<c3 stock query Client 30+10"];
    let request = request("no_deadline,orphans");
    let hops = ["hops: - c3 shop stock ok", "hops: d4 - stock - ok"];
    reads("orphan", [&spans, &[], &[&request, HOPS[0], hops[0], hops[1]]]);
}

#[test]
fn children_may_begin_after_the_request_is_over() {
    let spans = [
        "{T}/a1 shop GET / Server 0+0",
        "{T}/b2<a1 shop publish Producer 0+0",
        "{T}/c3<a1 shop flush Internal 300+10",
    ];
    let request = "requests: a1 shop GET / 3000 completed [no_deadline]";
    reads("late-children", [&spans, &[], &[request, HOPS[0], "hops: b2 - shop - ok"]]);
}

#[test]
fn a_span_without_an_end_is_kept_and_told_and_a_blind_spot() {
    let spans = [CALL[0], "{T}/b2<a1 shop call Client 10+0"];
    let request = request("negative_duration,no_deadline");
    let rows = [&request, HOPS[0], "hops: b2 - shop - ok"];
    reads("no-end", [&spans, &["end-absent 1"], &rows]);
}

#[test]
fn spans_without_a_service_are_of_no_service() {
    let spans = [
        "{T}/a1  GET / Server 0+100",
        "{T}/b2<a1  call Client 10+80",
        "{T}/c3<b2  serve Server 20+60",
    ];
    let request = "requests: a1  GET / 100000000 completed [no_deadline]";
    reads("no-service", [&spans, &[], &[request, "hops: - a1 - - ok", "hops: b2 c3 - - ok"]]);
}

#[test]
fn ids_of_any_case_and_without_their_zeros_on_the_left_are_the_same_ids() {
    let spans = [
        "5b8efff798038103/a1 shop 64 bits Server 0+100",
        "5b8efff798038103/b2<a1 shop 128 bits Client 10+80",
        "b8efff798038103d269b633813fc60c/a1 shop 31 digits Server 0+100",
        "b8efff798038103d269b633813fc60c/b2<a1 shop 32 digits Client 10+80",
        "{T}/a1 shop upper Server 0+100",
        "{T}/b2<a1 shop mixed Client 10+80",
    ];
    let requests = ["64 bits", "31 digits", "upper"]
        .map(|name| format!("requests: a1 shop {name} 100000000 completed [no_deadline]"));
    let mut rows: Vec<&str> = requests.iter().map(String::as_str).collect();
    rows.extend([HOPS[0], "hops: b2 - shop - ok"].repeat(3));
    reads("ids-of-other-forms", [&spans, &[], &rows]);
}

#[test]
fn ids_that_are_none_are_told_by_what_is_wrong_with_them() {
    let codes = [
        "trace-id-absent 1",
        "trace-id-invalid 1",
        "span-id-absent 1",
        "span-id-invalid 1",
        "parent-id-invalid 1",
    ];
    let rows = [&*request("no_deadline"), HOPS[0]];
    // Jaeger's ids are any text.
    let formats = ["otlp.json", "zipkin.json", "clickhouse.jsonl", "span.jsonl"];
    reads_in(&formats, "ids-that-are-none", [&CALL[..1], &codes, &rows]);
}

#[test]
fn what_is_not_a_number_is_no_time_and_the_next_key_counts() {
    let codes = ["value-unparsed 2"];
    let rows = [&*request("no_deadline"), HOPS[0], "hops: b2 - shop - ok"];
    reads("not-a-number", [&CALL[..2], &codes, &rows]);
    for format in FORMATS {
        let read = read(&[&fixture(&format!("quirks/not-a-number.{format}"))]);
        let hops = &tables(&read)["hops"];
        let granted = |at: usize| row(&hops[at], &["granted_ns", "grant_key"]);
        assert_eq!(granted(0), "- -", "{format}");
        assert_eq!(granted(1), "70000000 clnt/request_deadline_remaining_ms", "{format}");
    }
}

#[test]
fn statuses_may_be_texts_and_empty_ones_say_nothing() {
    for format in FORMATS {
        let read = read(&[&fixture(&format!("quirks/statuses-as-text.{format}"))]);
        let mut told = Vec::new();
        for span in read.partitions.iter().flat_map(|partition| &partition.rows) {
            told.push((span.span_id.0, span.outcome.name(), span.http_status));
        }
        told.sort_unstable();
        let expected = [
            (0xa1, "deadline_exceeded", Some(504)),
            (0xb2, "ok", Some(0)),
            (0xc3, "ok", None),
            (0xd4, "deadline_exceeded", None),
            (0xe5, "rejected", Some(503)),
            (0xf6, "deadline_exceeded", Some(408)),
        ];
        assert_eq!(told, expected, "{format}");
        assert_eq!(codes(&read), Vec::<String>::new(), "{format}");
    }
}

#[test]
fn files_put_together_with_their_byte_order_marks_are_read_as_each_of_them() {
    let folder = Folder::new();
    for format in FORMATS {
        let paths = ["children-first", "ids-of-other-forms"]
            .map(|name| fixture(&format!("quirks/{name}.{format}")));
        let texts = paths.each_ref().map(|path| std::fs::read_to_string(path).unwrap());
        let both = texts.map(|text| format!("\u{feff}{text}")).concat();
        let read_together = read(&[&folder.write(format, both)]);
        let read_apart = read(&paths.each_ref().map(String::as_str));
        assert_eq!(spans(&read_together), spans(&read_apart), "{format}");
        assert_eq!(tables(&read_together), tables(&read_apart), "{format}");
        assert_eq!(codes(&read_together), Vec::<String>::new(), "{format}");
    }
}
