//! Zipkin: each way in which it is written, from the smallest file that shows it.

use dwindle::ingest::Ingested;
use dwindle::span::{Kind, Span, Spans};

use super::support::{
    Folder, everything, fixture, problems, read, read_fixture_of, row, rows, spans, tables,
    try_read,
};
use crate::support::raw_span::{Build, resolve, span};

/// Start of most spans in the fixtures, in nanoseconds.
const START_NS: i64 = 1_700_000_000_000_000_000;

fn read_fixture(name: &str) -> Ingested {
    read_fixture_of("zipkin", name)
}

/// The spans by name: `kind service name+duration < parent's kind name`, sorted.
fn tree(read: &Ingested) -> Vec<String> {
    let mut lines = Vec::new();
    for Spans { strings, rows } in &read.partitions {
        let name = |span: &Span| format!("{:?} {}", span.kind, strings.get(span.operation));
        for span in rows {
            let parent = span.parent_span_id.map_or_else(String::new, |id| {
                let is_it = |other: &&Span| (other.trace_id, other.span_id) == (span.trace_id, id);
                let found: Vec<String> = rows.iter().filter(is_it).map(name).collect();
                format!(" < {}", if found.is_empty() { "absent".into() } else { found.join("|") })
            });
            lines.push(format!("{} {}{parent}", strings.get(span.service), name(span)));
        }
    }
    lines.sort();
    lines
}

/// What `say` tells of each span, by span id.
fn each(read: &Ingested, say: impl Fn(&Span, &Spans) -> String) -> Vec<String> {
    let mut lines: Vec<_> = read
        .partitions
        .iter()
        .flat_map(|spans| spans.rows.iter().map(|span| (span.span_id, say(span, spans))))
        .collect();
    lines.sort();
    lines.into_iter().map(|(_, line)| line).collect()
}

#[test]
fn the_halves_of_a_call_become_a_client_and_a_server_and_each_keeps_what_is_its_own() {
    let read = read_fixture("shared-id.json");
    assert_eq!(
        tree(&read),
        [
            "back Internal work < Server serve",
            "back Server serve < Client call",
            "front Client call < Server root",
            "front Internal encode < Client call",
            "front Server root",
        ]
    );
    assert_eq!(problems(&read), Vec::<String>::new());
}

#[test]
fn halves_find_one_another_across_files_in_any_order() {
    let [sent, received, below] = ["half-sent.json", "half-received.json", "half-below.json"]
        .map(|name| fixture(&format!("zipkin/{name}")));
    let expected = everything(&read(&[&sent, &received, &below]));
    assert_eq!(
        tree(&read(&[&sent, &received, &below])),
        [
            "back Internal work < Server serve",
            "back Server serve < Client call",
            "front Client call"
        ]
    );
    for inputs in
        [[&below, &received, &sent], [&received, &sent, &below], [&below, &sent, &received]]
    {
        assert_eq!(everything(&read(&inputs.map(String::as_str))), expected);
    }
}

#[test]
fn the_own_id_of_a_receiver_is_the_same_in_every_run_and_version() {
    let read = read_fixture("shared-id.json");
    let servers = each(&read, |span, _| format!("{} {:?}", span.span_id, span.kind));
    assert!(servers.contains(&"9f34fc1e9f41b898 Server".to_owned()), "{servers:?}");
}

#[test]
fn a_receiver_without_its_sender_keeps_its_id_and_its_parent() {
    let start = START_NS + 20_000_000;
    assert_eq!(
        spans(&read_fixture("shared-root.json")),
        [
            format!("7b/2 back serve Server {start}+60000000"),
            format!("7b/3<2 back work Internal {}+10000000", START_NS + 30_000_000),
            format!("7b/5<4 back orphan Server {}+10000000", START_NS + 30_000_000),
        ]
    );
}

#[test]
fn a_service_that_neither_half_has_is_another_name_of_the_receivers() {
    assert_eq!(
        tree(&read_fixture("third-name.json")),
        [
            "back Internal work < Server serve",
            "back/proxy Server serve < Client call",
            "unknown Client call",
        ]
    );
}

#[test]
fn several_receivers_of_one_call_stay_apart_and_a_repeated_one_stays_one() {
    let read = read_fixture("two-receivers.json");
    assert_eq!(
        tree(&read),
        [
            "back Internal work on first < Server first try",
            "back Internal work on second < Server second try",
            "back Internal work on third < Server third try|Server third try",
            "back Server first try < Client call",
            "back Server second try < Client call",
            "back Server third try < Client call",
            "back Server third try < Client call",
            "front Client call",
            "other Internal work of nobody < Client call",
        ]
    );
}

#[test]
fn records_that_all_have_one_id_are_a_call_and_work_that_is_told_once() {
    let read = read_fixture("one-id.json");
    assert_eq!(
        tree(&read),
        [
            "back Internal more work < absent",
            "back Internal work < absent",
            "back Server serve < Client call|Internal work|Internal more work",
            "front Client call < absent",
        ]
    );
    assert_eq!(
        rows(&tables(&read)),
        [
            "requests: 2 front call 90000000 completed [duplicate_spans,missing_root,no_deadline]",
            "hops: 2 4256c1a4352171f7 front back ok",
        ]
    );
}

#[test]
fn a_trace_that_lost_half_its_id_is_whole_again_where_its_spans_hang_together() {
    let read = read_fixture("ids-of-both-lengths.json");
    assert_eq!(
        tree(&read),
        [
            "back Internal work < Server serve",
            "back Server of either",
            "back Server serve < Client call",
            "front Client call < Server root",
            "front Client one of two",
            "front Client other of two",
            "front Server also of its own",
            "front Server of its own",
            "front Server root",
        ]
    );
    let tables = tables(&read);
    let columns = ["trace_id", "root_operation", "spans", "blind_spots"];
    let mut told: Vec<String> =
        tables["requests"].iter().map(|request| row(request, &columns)).collect();
    told.sort();
    assert_eq!(
        told,
        [
            "1111111111111111000000000000cccc one of two 1 [no_deadline]",
            "2222222222222222000000000000cccc other of two 1 [no_deadline]",
            "463ac35c9f6413ad48485a3953bb6124 root 4 [no_deadline,trace_joined]",
            "aaaaaaaaaaaaaaaa0000000000000bbb of its own 1 [no_deadline]",
            "bbb also of its own 1 [no_deadline]",
            "cccc of either 1 [no_deadline]",
        ]
    );
    assert_eq!(read.files[0].spans_read, 9, "and every record counts once");
}

/// When each hop was sent and received.
fn transits(name: &str) -> Vec<String> {
    let columns = ["callee_service", "elapsed_at_send_ns", "elapsed_at_receive_ns", "transit_ns"];
    tables(&read_fixture(name))["hops"].iter().map(|hop| row(hop, &columns)).collect()
}

#[test]
fn a_receiver_whose_clock_is_behind_its_sender_is_moved_between_its_ends() {
    assert_eq!(transits("skew.json"), ["front - 0 -", "back 10000000 20500000 10500000"]);
}

#[test]
fn halves_of_whole_milliseconds_beside_microseconds_are_one_hop() {
    assert_eq!(
        transits("whole-milliseconds.json"),
        ["front - 0 -", "back 10750000 11312500 562500"]
    );
}

#[test]
fn a_message_is_a_request_of_its_own_and_a_receiver_without_sender_an_orphan() {
    assert_eq!(
        rows(&tables(&read_fixture("messages.json"))),
        [
            "requests: 1 front root 100000000 completed [no_deadline,orphans]",
            "requests: 3 back take 1000000 completed [no_deadline,orphans]",
            "hops: - 1 - front ok",
            "hops: 2 - front broker ok",
            "hops: - 6 front other ok",
            "hops: - 3 - back ok",
        ]
    );
}

#[test]
fn the_halves_of_one_service_are_told_apart_by_their_hosts() {
    assert_eq!(
        tree(&read_fixture("same-service.json")),
        [
            "shop Client call",
            "shop Internal encode < Client call",
            "shop Internal work < Server serve",
            "shop Internal work somewhere < Server serve",
            "shop Server serve < Client call",
        ]
    );
}

#[test]
fn spans_stand_in_lists_of_traces() {
    let read = read_fixture("traces.json");
    let at = format!("{START_NS}+250000");
    assert_eq!(
        spans(&read),
        [
            format!("7b/1 shop op Server {at}"),
            format!("7b/2<1 shop op Client {at}"),
            format!("7c/1 shop op Server {at}"),
        ]
    );
    assert_eq!(read.files[0].format.as_deref(), Some("Zipkin JSON"));
}

#[test]
fn spans_and_lists_of_them_stand_on_lines_of_which_one_is_broken() {
    let read = read_fixture("lines.jsonl");
    let at = format!("{START_NS}+250000");
    assert_eq!(
        spans(&read),
        [
            format!("7b/1 shop op Producer {at}"),
            format!("7b/2<1 shop op Consumer {at}"),
            format!("7c/1  op Internal {at}"),
        ]
    );
    assert_eq!(problems(&read), ["record-cut-off 1 @328:4:3"]);
    assert_eq!(read.files[0].format.as_deref(), Some("Zipkin JSON lines"));
}

#[test]
fn lists_and_spans_stand_in_a_row() {
    let read = read_fixture("in-a-row.json");
    let ids = each(&read, |span, _| span.span_id.0.to_string());
    assert_eq!(ids, ["1", "2", "3"]);
    assert_eq!(problems(&read), Vec::<String>::new());
}

#[test]
fn microseconds_are_whole_or_not_numbers_or_texts() {
    let read = read_fixture("times.json");
    let times = each(&read, |span, _| {
        format!("{}+{}", span.start.as_nanos() - START_NS, span.duration().as_nanos())
    });
    assert_eq!(times, ["125+250500", "0+250000", "0+250000", "0+0", "0+0"]);
    assert_eq!(problems(&read), ["end-absent 1 @249:5:0"]);
}

#[test]
fn every_reason_to_reject_a_span_is_told_and_its_neighbours_are_kept() {
    let read = read_fixture("bad-spans.json");
    assert_eq!(each(&read, |span, _| span.span_id.0.to_string()), ["1", "8"]);
    let codes: Vec<String> =
        problems(&read).iter().map(|line| line.split(" @").next().unwrap().to_owned()).collect();
    assert_eq!(
        codes,
        [
            "field-wrong-type 2",
            "trace-id-absent 1",
            "span-id-absent 1",
            "parent-id-invalid 1",
            "start-absent 1",
            "start-invalid 2",
            "end-invalid 1",
            "span-damaged 1",
        ]
    );
}

#[test]
fn the_address_of_a_host_tells_its_clock_unless_every_host_has_it() {
    let read = read_fixture("endpoints.json");
    let clocks = each(&read, |span, spans| spans.strings.get(span.clock_domain).to_owned());
    assert_eq!(
        clocks,
        ["host.name=192.0.2.1", "host.name=192.0.2.1", "shop", "host.name=2001:db8::1", ""]
    );
}

#[test]
fn a_remote_endpoint_names_who_is_called_unless_a_tag_does() {
    let read = read_fixture("endpoints.json");
    let peers = each(&read, |span, spans| {
        format!("{:?} {:?}", span.peer_service.map(|sym| spans.strings.get(sym)), span.target)
    });
    let target = |attributes: &[(&'static str, &'static str)]| {
        let called =
            attributes.iter().fold(span(Kind::Client), |raw, &(key, value)| raw.with(key, value));
        resolve(&called).span.target
    };
    let told = |peer: Option<&str>, attributes: &[(&'static str, &'static str)]| {
        format!("{peer:?} {:?}", target(attributes))
    };
    assert_eq!(
        peers,
        [
            told(Some("stock"), &[("peer.service", "stock")]),
            told(Some("tagged"), &[("peer.service", "tagged")]),
            told(None, &[("network.peer.address", "2001:db8::9"), ("server.port", "81")]),
            told(None, &[]),
            told(None, &[]),
        ]
    );
}

#[test]
fn tags_are_evidence_and_the_presence_of_error_is_an_error() {
    let read = read_fixture("tags.json");
    let told = each(&read, |span, spans| {
        let grant = span.grant.map(|grant| {
            format!(" {}={}", spans.strings.get(grant.key), grant.value.as_nanos() / 1_000_000)
        });
        format!(
            "{} {:?} {} {}{}",
            span.outcome.name(),
            span.http_status,
            if span.flags.has_error_status { "error" } else { "-" },
            if span.flags.is_wordless { "wordless" } else { "-" },
            grant.unwrap_or_default()
        )
    });
    assert_eq!(
        told,
        [
            "rejected Some(503) - -",
            "deadline_exceeded None error -",
            "error None error -",
            "ok None - - http.request.header.x-envoy-expected-rq-timeout-ms=5000",
            "ok None - -",
            "cancelled None error -",
            "deadline_exceeded Some(504) error - clnt/request_deadline_remaining_ms=120",
            "ok None - -",
            "ok None - wordless",
        ]
    );
}

#[test]
fn annotations_are_events_with_the_attributes_that_opentelemetry_writes_into_them() {
    let read = read_fixture("annotations.json");
    let told = each(&read, |span, _| {
        let micros = |nanos: dwindle::units::Nanos| nanos.as_nanos() / 1_000;
        format!(
            "{} {} {}",
            span.outcome.name(),
            micros(span.queued_before),
            micros(span.waited_inside)
        )
    });
    assert_eq!(
        told,
        ["ok 10000 0", "ok 0 100", "deadline_exceeded 0 0", "deadline_exceeded 0 0", "ok 0 0"]
    );
    assert!(read.seen.keys.contains_key("event connection-acquire.start"));
}

#[test]
fn a_call_that_is_its_own_parent_stays_so() {
    let folder = Folder::new();
    let half = |kind: &str, service: &str| {
        format!(
            "{{\"traceId\":\"7b\",\"id\":\"2\",\"parentId\":\"2\",\"kind\":\"{kind}\",\"name\":\"op\",\
             \"timestamp\":1700000000000000,\"localEndpoint\":{{\"serviceName\":\"{service}\"}}}}\n"
        )
    };
    let path = folder.write("loop.json", half("CLIENT", "shop") + &half("SERVER", "shop"));
    let expected = ["shop Client op < Client op", "shop Server op < Client op"];
    assert_eq!(tree(&read(&[&path])), expected);
}

#[test]
fn wherever_a_file_is_cut_off_every_span_is_admitted_or_rejected() {
    let folder = Folder::new();
    for file in std::fs::read_dir(fixture("zipkin")).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        for len in (1..bytes.len()).step_by(17) {
            let path = folder.write("cut.json", &bytes[..len]);
            drop(try_read(&[&path]));
        }
    }
}

#[test]
fn a_record_of_version_1_with_both_halves_is_one_record_and_two_spans() {
    let read = read_fixture("v1-both-halves.json");
    assert_eq!(
        tree(&read),
        [
            "back Internal work < Server call",
            "back Server call < Client call",
            "front Client call < Server root",
            "front Server root",
        ]
    );
    let mut told = each(&read, |span, spans| {
        format!(
            "{} {:?} {} {}+{} {}",
            spans.strings.get(span.service),
            span.kind,
            span.outcome.name(),
            (span.start.as_nanos() - START_NS) / 1_000_000,
            span.duration().as_nanos() / 1_000_000,
            span.peer_service.map_or("-", |peer| spans.strings.get(peer)),
        )
    });
    told.sort();
    assert_eq!(
        told,
        [
            "back Internal ok 30+10 -",
            "back Server deadline_exceeded 20+60 -",
            "front Client deadline_exceeded 10+80 back",
            "front Server ok 0+100 -",
        ]
    );
    assert_eq!(read.files[0].spans_read, 3);
    assert_eq!(read.files[0].format.as_deref(), Some("Zipkin v1 JSON"));
}

#[test]
fn halves_of_version_1_in_records_of_their_own_find_one_another() {
    assert_eq!(
        tree(&read_fixture("v1-halves-apart.json")),
        ["back Server serve < Client call", "front Client call"]
    );
}

#[test]
fn version_1_tells_less_than_a_whole_half_too() {
    let read = read_fixture("v1-half-told.json");
    let told = each(&read, |span, spans| {
        format!(
            "{} {:?} {}+{} {}",
            spans.strings.get(span.service),
            span.kind,
            spans.strings.get(span.operation),
            span.duration().as_nanos(),
            span.outcome.name()
        )
    });
    assert_eq!(
        told,
        [
            "front Client never answered+0 ok",
            "front Server called+5000 ok",
            "front Producer sent+5000 ok",
            "back Consumer taken+5000 error",
        ]
    );
    assert_eq!(problems(&read), ["end-absent 1 @4:2:0"]);
}
