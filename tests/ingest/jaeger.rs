//! Jaeger JSON: each way in which it is really written, from the smallest file that shows it.

use dwindle::clocks::Offsets;
use dwindle::ingest::Ingested;
use dwindle::reconstruct::{Policy, reconstruct};
use dwindle::span::{Outcome, Span};
use dwindle::tables::BlindSpot;

use super::corpus;
use super::support::{Folder, problems, read, read_fixture_of, rows, spans, tables};

/// The trace of most fixtures.
const TRACE: &str = "5b8efff798038103d269b633813fc60c";

/// Start and duration of most spans in the fixtures.
const TIMES: &str = "1700000000000000000+250000";

fn fixture(name: &str) -> Ingested {
    read_fixture_of("jaeger", name)
}

fn filled_in(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| line.replace("{T}", TRACE).replace("{t}", TIMES)).collect()
}

/// Checks the spans of a fixture, `{T}` standing for [`TRACE`] and `{t}` for [`TIMES`], and its
/// problems.
fn reads_with(name: &str, expected: &[&str], trouble: &[&str]) {
    let read = fixture(name);
    assert_eq!(spans(&read), filled_in(expected), "{name}");
    assert_eq!(problems(&read), trouble, "{name}");
}

/// The same of a fixture in which nothing is wrong.
fn reads_as(name: &str, expected: &[&str]) {
    reads_with(name, expected, &[]);
}

/// What `tell` says of each span, in the order of ids.
fn of_spans<T>(
    read: &Ingested,
    tell: impl Fn(&Span, &dyn Fn(dwindle::span::Sym) -> String) -> T,
) -> Vec<T> {
    let mut told: Vec<_> = Vec::new();
    for partition in &read.partitions {
        let text = |sym| partition.strings.get(sym).to_owned();
        told.extend(partition.rows.iter().map(|span| (span.span_id, tell(span, &text))));
    }
    told.sort_by_key(|(id, _)| *id);
    told.into_iter().map(|(_, told)| told).collect()
}

const CALL: [&str; 3] = [
    "{T}/a1 web GET / Server {t}",
    "{T}/b2<a1 web add Client 1700000000000010000+100000",
    "{T}/c3<b2 cart add Server 1700000000000020000+50000",
];

#[test]
fn an_answer_of_the_api_holds_traces() {
    reads_as("answer.json", &CALL);
    assert_eq!(fixture("answer.json").files[0].format.as_deref(), Some("Jaeger JSON"));
}

#[test]
fn a_trace_may_stand_by_itself_with_its_processes_first() {
    reads_as("bare-trace.json", &CALL);
}

#[test]
fn traces_may_stand_in_a_list_or_in_lines() {
    let both = [CALL[0], CALL[1], CALL[2], "ab/a1 web GET / Server {t}"];
    let mut expected = both.to_vec();
    // The low half of a trace id sorts first.
    expected.rotate_right(1);
    reads_as("traces-in-list.json", &expected);
    reads_as("traces-in-lines.jsonl", &expected);
}

#[test]
fn a_process_may_stand_in_the_span_or_be_unknown() {
    reads_as(
        "process-in-span.json",
        &[
            "{T}/a1 own own Internal {t}",
            "{T}/b2<a1 web both Internal {t}",
            "{T}/c3<a1  neither Internal {t}",
            "{T}/d4<a1  unknown Internal {t}",
        ],
    );
}

#[test]
fn a_tag_of_any_case_tells_the_kind() {
    reads_as(
        "kinds.json",
        &[
            "{T}/a1 web op Server {t}",
            "{T}/b2<a1 web op Client {t}",
            "{T}/c3<a1 web op Producer {t}",
            "{T}/d4<c3 web op Consumer {t}",
            "{T}/e5<a1 web op Internal {t}",
            "{T}/f6<a1 web op Internal {t}",
        ],
    );
}

#[test]
fn errors_are_tags_that_are_true_and_texts_say_what_went_wrong() {
    let read = fixture("errors.json");
    let told = of_spans(&read, |span, _| {
        (span.outcome, span.flags.has_error_status, span.flags.is_wordless)
    });
    assert_eq!(
        told,
        [
            (Outcome::Error, true, false),
            (Outcome::Error, true, false),
            (Outcome::Ok, false, false),
            (Outcome::DeadlineExceeded, false, false),
            (Outcome::Error, false, false),
            (Outcome::Cancelled, true, false),
            (Outcome::DeadlineExceeded, true, false),
            (Outcome::Ok, false, true),
            (Outcome::Ok, false, false),
        ]
    );
    assert_eq!(problems(&read), Vec::<String>::new());
}

#[test]
fn spans_may_have_no_tags_and_errors_of_both_kinds() {
    let read = fixture("without-tags.json");
    let told = of_spans(&read, |span, _| {
        (span.start.as_nanos(), span.outcome, span.flags.has_error_status)
    });
    assert_eq!(
        told,
        [
            (0, Outcome::Ok, false),
            (1_000, Outcome::Ok, false),
            (2_000, Outcome::Error, true),
            (3_000, Outcome::DeadlineExceeded, true),
        ]
    );
    assert_eq!(problems(&read), Vec::<String>::new());
    assert_eq!(
        rows(&tables(&read)),
        ["requests: a1 web no tags 250000 completed [no_deadline]", "hops: - a1 - web ok"]
    );
}

#[test]
fn tags_mean_the_same_typed_untyped_and_as_text() {
    let read = fixture("tags.json");
    let told = of_spans(&read, |span, _| {
        let grant = span.grant.map(|grant| grant.value.as_nanos());
        (span.http_status, grant, span.flags.is_wait)
    });
    let [numbers @ .., wait, header] = &told[..] else { panic!("{told:?}") };
    assert_eq!(numbers, [(Some(504), Some(250_500_000), false); 4]);
    assert_eq!(*wait, (None, None, true));
    assert_eq!(*header, (None, Some(800_000_000), false), "captured headers are JSON text");
    assert_eq!(problems(&read), Vec::<String>::new());
}

#[test]
fn logs_are_events_named_by_their_event_or_message() {
    let read = fixture("logs.json");
    let queued = of_spans(&read, |span, _| span.queued_before.as_nanos());
    assert_eq!(queued, [4_000_000, 3_000_000, 0], "a time of zero is none");
}

#[test]
fn process_tags_tell_the_clock() {
    let read = fixture("clocks.json");
    let clocks = of_spans(&read, |span, text| text(span.clock_domain));
    assert_eq!(clocks, ["hostname=demo-1", "ip=192.0.2.1", "host.name=node-7", "web"]);
}

#[test]
fn one_reference_is_the_parent_and_the_others_are_links() {
    reads_as(
        "references.json",
        &[
            "{T}/a1 web root Internal {t}",
            "{T}/b1<a1 web child of Internal {t}",
            "{T}/b2<a1 web child of here, not there Internal {t} links=2",
            "{T}/b3<a7 web child of there only Internal {t} links=1",
            "{T}/b4<a1 web follows from here Internal {t} links=1",
            "{T}/b5 web follows from there only Internal {t} links=1",
            "{T}/b6<a1 web field Internal {t}",
            "{T}/b7<b1 web field and reference Internal {t}",
            "{T}/b8 web zero Internal {t}",
            "{T}/b9<a1 web references before the trace id Internal {t} links=1",
        ],
    );
}

#[test]
fn times_are_microseconds_and_may_count_from_zero() {
    reads_with(
        "times.json",
        &[
            "{T}/a1 web whole Internal {t}",
            "{T}/a2<a1 web fraction Internal 1700000000000000123+1234",
            "{T}/a3<a1 web text Internal {t}",
            "{T}/a4<a1 web no duration Internal 1700000000000000000+0",
            "{T}/a5<a1 web negative duration Internal 1700000000000000000+0",
            "{T}/a9<a1 web exponent Internal {t}",
            "{T}/b1<a1 web zero Internal 0+0",
        ],
        &["start-absent 1 @1809:87:0", "start-invalid 2 @2148:104:0", "end-absent 1 @1072:52:0"],
    );
    let negative = of_spans(&fixture("times.json"), |span, _| span.flags.negative_duration);
    assert_eq!(negative.iter().filter(|negative| **negative).count(), 2);
}

/// Each trace, and whether its request says that the clock was adjusted.
fn adjusted_traces(read: &Ingested) -> Vec<(u128, bool)> {
    let mut told = Vec::new();
    for partition in &read.partitions {
        for request in
            reconstruct(partition.clone(), &Policy::default(), &Offsets::default()).requests
        {
            let adjusted = request.blind_spots.contains(BlindSpot::ClockAdjusted);
            told.push((request.trace_id.0, adjusted));
        }
    }
    told.sort_unstable();
    told
}

#[test]
fn a_clock_adjusted_before_the_export_is_a_blind_spot() {
    // A warning that nothing was moved is none.
    let expected = [(1, true), (2, true), (3, false)];
    assert_eq!(adjusted_traces(&fixture("warnings.json")), expected);
    assert_eq!(adjusted_traces(&read_fixture_of("otlp", "jaeger-api-warnings.json")), expected);
}

#[test]
fn ids_are_hexadecimal_of_any_length_and_a_hash_stands_for_others() {
    let read = fixture("ids.json");
    let expected = filled_in(&[
        "abc/c3<1 web short Internal {t}",
        "{T}/a1 web upper case Internal {t}",
        "{T}/b2<a1 web trace id of the trace Internal {t}",
        "{T}/e5<78912b704e4a6f8d web below letters Internal {t}",
        "{T}/78912b704e4a6f8d<a1 web letters Internal {t}",
    ]);
    assert_eq!(spans(&read), expected);
    assert_eq!(
        problems(&read),
        ["span-id-absent 1 @1732:87:0", "span-id-invalid 1 @1984:99:0", "id-hashed 2 @984:51:0"]
    );
}

#[test]
fn answers_that_tell_errors_are_a_problem() {
    reads_with("error-answer.json", &[], &["answer-has-errors 1 @67:6:0"]);
    reads_with("partial-answer.json", &[CALL[0]], &["answer-has-errors 1 @682:40:0"]);
    reads_as("no-traces.json", &[]);
}

#[test]
fn an_answer_of_something_else_is_a_problem() {
    reads_with("services-answer.json", &[], &["record-not-jaeger 2 @15:3:0"]);
}

#[test]
fn fields_of_other_types_are_told_and_their_span_stays() {
    reads_with(
        "fields-of-other-types.json",
        &["{T}/a1 web op Internal {t}", "{T}/b2 web  Internal {t} links=1"],
        &["field-wrong-type 3 @282:13:0", "span-damaged 1 @385:20:0"],
    );
}

#[test]
fn a_trace_cut_off_before_its_processes_gives_no_span_of_an_unknown_service() {
    let folder = Folder::new();
    let text = std::fs::read("fixtures/jaeger/answer.json").unwrap();
    let at = |needle: &[u8]| text.windows(needle.len()).position(|part| part == needle).unwrap();
    for (needle, rejected) in [(&b"\"processes\""[..], 3), (b"0c3\"", 2), (b"\"add\"", 1)] {
        let read = read(&[&folder.write("cut", &text[..at(needle)])]);
        assert_eq!((read.files[0].spans_admitted, read.files[0].spans_rejected), (0, rejected));
        let codes: Vec<String> = problems(&read);
        assert!(codes[0].starts_with("record-cut-off 1"), "{codes:?}");
        assert!(codes[1].starts_with(&format!("processes-lost {rejected}")), "{codes:?}");
    }
    let text = std::fs::read("fixtures/jaeger/bare-trace.json").unwrap();
    let at = text.windows(4).rposition(|part| part == b"0c3\"").unwrap();
    let read = read(&[&folder.write("cut", &text[..at])]);
    assert_eq!(spans(&read), filled_in(&CALL[..2]), "processes that came first are known");
}

#[test]
fn a_published_trace_tells_the_same_in_otlp_and_in_jaegers_form() {
    let file = |folder: &str, name: &str| {
        corpus::files(folder).into_iter().find(|path| path.ends_with(name))
    };
    let Some(otlp) = file("otlp-json/", "jaeger-otlp2jaeger-in.json") else { return };
    let jaeger = file("jaeger/", "jaeger-otlp2jaeger-out.json").unwrap();
    assert_eq!(tables(&read(&[&jaeger])), tables(&read(&[&otlp])));
}
