//! The plain format for spans: one JSON object each.

use dwindle::span::Outcome;
use dwindle::units::Nanos;

use super::support::{fixture, problems, read, spans};

/// Start and duration of the spans in the fixtures.
const TIMES: &str = "1700000000000000001+250000001";

#[test]
fn every_field_of_a_span_is_read() {
    let read = read(&[&fixture("span-json/all-fields.jsonl")]);
    assert_eq!(
        spans(&read),
        [
            format!(
                "5b8efff798038103d269b633813fc60c/a1 shop POST /checkout Server {TIMES} error links=1"
            ),
            format!("5b8efff798038103d269b633813fc60c/b2<a1 shop pay Client {TIMES}"),
        ]
    );
    assert_eq!(problems(&read), Vec::<String>::new());
    assert_eq!(read.files[0].format.as_deref(), Some("span JSON lines"));
    let partition = read.partitions.iter().find(|partition| !partition.rows.is_empty()).unwrap();
    let root = partition.rows.iter().find(|span| span.span_id.0 == 0xa1).unwrap();
    assert_eq!(root.http_status, Some(504));
    assert_eq!(root.outcome, Outcome::DeadlineExceeded);
    assert_eq!(partition.strings.get(root.clock_domain), "host.name=h1");
    let call = partition.rows.iter().find(|span| span.span_id.0 == 0xb2).unwrap();
    assert_eq!(call.grant.unwrap().value, Nanos::from_millis(750));
}

#[test]
fn two_ids_and_two_times_are_a_span() {
    let read = read(&[&fixture("span-json/smallest.jsonl")]);
    assert_eq!(spans(&read), [format!("1/2   Internal {TIMES}")]);
    assert_eq!(problems(&read), Vec::<String>::new());
}

#[test]
fn spans_may_stand_in_an_array_over_many_lines() {
    let read = read(&[&fixture("span-json/array.json")]);
    assert_eq!(
        spans(&read),
        [format!("1/1  one Internal {TIMES}"), format!("1/2<1 shop two Client {TIMES}")]
    );
    assert_eq!(problems(&read), Vec::<String>::new());
    assert_eq!(read.files[0].format.as_deref(), Some("span JSON"));
}

#[test]
fn bad_spans_are_told_and_the_others_read() {
    let read = read(&[&fixture("span-json/bad-spans-among-good.jsonl")]);
    assert_eq!(
        spans(&read),
        [
            format!("1/1  good Internal {TIMES}"),
            "1/3  no end Internal 1700000000000000001+0".to_owned(),
            format!("1/5  of another type Internal {TIMES}"),
        ]
    );
    assert_eq!(read.files[0].spans_rejected, 2);
    assert_eq!(
        problems(&read),
        [
            "record-cut-off 1 @611:8:7",
            "record-not-span 2 @564:6:5",
            "field-wrong-type 2 @466:5:4",
            "start-absent 1 @116:2:1",
            "start-invalid 1 @282:4:3",
            "end-absent 1 @199:3:2",
        ]
    );
}
