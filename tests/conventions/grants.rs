//! Which key grants time to whom (conventions B rows).

use dwindle::conventions::Conventions;
use dwindle::conventions::raw::RawSpan;
use dwindle::span::Kind::{self, Client, Consumer, Internal, Producer, Server};

use crate::support::raw_span::{Build, V, resolve, resolve_by, span};

const MS: i64 = 1_000_000;
const ALL: [Kind; 5] = [Internal, Server, Client, Producer, Consumer];
const RECEIVERS: [Kind; 3] = [Internal, Server, Consumer];
const SENDERS: [Kind; 3] = [Internal, Client, Producer];

/// One key alone on a span of every kind: where it counts, what it grants.
struct Row {
    key: &'static str,
    value: V,
    sides: &'static [Kind],
    grant_ns: i64,
    kind: &'static str,
    from_start: bool,
}

fn row(
    key: &'static str,
    value: impl Into<V>,
    sides: &'static [Kind],
    grant_ns: i64,
    kind: &'static str,
    from_start: bool,
) -> Row {
    Row { key, value: value.into(), sides, grant_ns, kind, from_start }
}

fn check(rows: Vec<Row>) {
    for row in rows {
        for kind in ALL {
            let got = resolve(&span(kind).with(row.key, row.value.clone())).grant();
            let expected = row
                .sides
                .contains(&kind)
                .then(|| (row.grant_ns, row.kind, row.key.to_owned(), row.from_start));
            assert_eq!(got, expected, "{} on {kind:?}", row.key);
        }
    }
}

#[test]
fn measured_times_count_from_the_start_and_on_the_receiving_side() {
    check(vec![
        row("deadline.remaining_ms", 120, &ALL, 120 * MS, "remaining", true),
        row("srv/request_deadline_remaining_ms", "80", &RECEIVERS, 80 * MS, "remaining", true),
        row("deadline_received_ms", 81, &RECEIVERS, 81 * MS, "remaining", true),
        row("received_deadline_ms", 82, &RECEIVERS, 82 * MS, "remaining", true),
        row("srv/request_deadline_exceeded_ms", 7, &RECEIVERS, 0, "remaining", true),
        row("rpc.request.timeout", "9.98s", &RECEIVERS, 9_980 * MS, "remaining", true),
    ]);
}

#[test]
fn captured_headers_count_on_either_side_and_from_the_arrival() {
    let grpc = [
        "rpc.request.metadata.grpc-timeout",
        "rpc.grpc.request.metadata.grpc-timeout",
        "rpc.connect_rpc.request.metadata.grpc-timeout",
        "rpc.request.metadata.grpc_timeout",
        "rpc.grpc.request.metadata.grpc_timeout",
        "rpc.connect_rpc.request.metadata.grpc_timeout",
        "grpc.timeout",
        "rpc.request.headers.grpc-timeout",
        "http.request.header.grpc-timeout",
        "http.request.headers.grpc_timeout",
    ];
    let numbers = [
        "rpc.connect_rpc.request.metadata.connect_timeout_ms",
        "rpc.request.metadata.connect-timeout-ms",
        "http.request.header.connect-timeout-ms",
        "http.request.header.connect_timeout_ms",
        "http.request.headers.connect_timeout_ms",
        "http.request.header.x-envoy-expected-rq-timeout-ms",
        "http.request.header.x_envoy_expected_rq_timeout_ms",
    ];
    check(grpc.map(|key| row(key, ["250m"], &ALL, 250 * MS, "remaining", false)).into());
    check(numbers.map(|key| row(key, ["250"], &ALL, 250 * MS, "remaining", false)).into());
}

#[test]
fn what_a_client_measured_counts_on_the_sending_side() {
    check(vec![
        row("clnt/request_deadline_remaining_ms", 30, &SENDERS, 30 * MS, "remaining", false),
        row("propagated_timeout_ms", 31, &SENDERS, 31 * MS, "remaining", false),
        row("grpc.deadline_millis", "32", &SENDERS, 32 * MS, "remaining", false),
    ]);
}

#[test]
fn instants_are_absolute_and_count_from_the_spans_own_clock() {
    // 250 ms after the start of every span here.
    let deadline = "2026-09-05T09:20:00.250Z";
    let context = "1788600000000000000 1788600000250000000";
    let rows = |keys: &[&'static str], value: &'static str| -> Vec<Row> {
        keys.iter().map(|key| row(key, value, &ALL, 250 * MS, "absolute", false)).collect()
    };
    check(rows(&["grpc.client.deadline", "rpc.request.deadline", "deadline"], deadline));
    check(rows(
        &["srv/request_deadline", "clnt/request_deadline"],
        "2026-09-05 09:20:00:250 +0000",
    ));
    check(rows(&["http.request.header.l5d-ctx-deadline"], context));
    check(rows(&["http.request.header.Finagle-Ctx-com.twitter.finagle.Deadline"], context));
    check(vec![row(
        "http.request.header.amz-sdk-request",
        "ttl=20260905T092001Z; attempt=1; max=3",
        &ALL,
        1_000 * MS,
        "absolute",
        false,
    )]);
}

#[test]
fn a_deadline_set_by_an_event_is_absolute() {
    let event = [("deadline", "2026-09-05T09:20:00.040Z"), ("source", "test")];
    let resolved = resolve(&span(Internal).event_with("Set context deadline", &event));
    assert_eq!(resolved.grant(), Some((40 * MS, "absolute", "deadline".to_owned(), false)));
    assert_eq!(resolved.seen.keys["event Set context deadline: deadline"].rule, "B7");
}

#[test]
fn configured_times_are_full() {
    let header = |name: &str| -> &'static str {
        Box::leak(format!("http.request.header.{name}").into_boxed_str())
    };
    let full = |key, value: V, grant_ns| row(key, value, &ALL, grant_ns, "full", false);
    check(vec![
        full(header("x-envoy-upstream-rq-timeout-ms"), "15000".into(), 15_000 * MS),
        full(header("x-server-timeout"), "1.5".into(), 1_500 * MS),
        full(header("x-stainless-timeout"), ["600"].into(), 600_000 * MS),
        full(header("x-request-timeout-ms"), "70".into(), 70 * MS),
        full(header("x-request-timeout"), "2s".into(), 2_000 * MS),
        full(header("x-client-timeout-ms"), "71".into(), 71 * MS),
        full(header("x-client-timeout"), "850ms".into(), 850 * MS),
        full(header("x-timeout-ms"), "72".into(), 72 * MS),
        full(header("context-ttl-ms"), "73".into(), 73 * MS),
        full("url.full", "https://k8s/api?watch=1&timeoutSeconds=34".into(), 34_000 * MS),
        full("url.query", "timeout=34s&x=1".into(), 34_000 * MS),
        full("http.url", "http://prometheus/query?timeout=1m30s#top".into(), 90_000 * MS),
        full("http.target", "/query?a=b&timeout=5ms".into(), 5 * MS),
        full("statement_timeout_ms", 74.into(), 74 * MS),
        full("max_time_ms", 75.into(), 75 * MS),
        full("celery.timelimit", ["300", "240"].into(), 240_000 * MS),
    ]);
}

#[test]
fn bounds_of_a_try_are_no_grants() {
    let rows: [(&str, &str, i64); 3] = [
        ("deadline.attempt_timeout_ms", "150", 150 * MS),
        ("http.request.header.x-envoy-upstream-rq-per-try-timeout-ms", "151", 151 * MS),
        ("http.request.header.x-stainless-read-timeout", "1.25", 1_250 * MS),
    ];
    for (key, value, allowance_ns) in rows {
        let resolved = resolve(&span(Client).with(key, value));
        assert_eq!(resolved.grant(), None, "{key}");
        assert_eq!(resolved.span.allowance.unwrap().as_nanos(), allowance_ns, "{key}");
    }
    let on_server = span(Server).with("http.request.header.x-stainless-read-timeout", "1");
    assert_eq!(resolve(&on_server).span.allowance, None);
}

#[test]
fn the_own_attribute_comes_first_then_rows_in_order_then_keys_left_to_right() {
    // In the order of the rows; each span lacks one more of the first.
    let order: [(&str, &str); 12] = [
        ("deadline.remaining_ms", "1"),
        ("received_deadline_ms", "2"),
        ("rpc.request.metadata.grpc-timeout", "3m"),
        ("rpc.grpc.request.metadata.grpc-timeout", "4m"),
        ("rpc.request.metadata.grpc_timeout", "5m"),
        ("grpc.timeout", "6m"),
        ("rpc.request.metadata.connect-timeout-ms", "7"),
        ("http.request.header.connect-timeout-ms", "8"),
        ("http.request.header.x_envoy_expected_rq_timeout_ms", "9"),
        ("rpc.request.timeout", "10ms"),
        ("rpc.request.deadline", "2026-09-05T09:20:00.011Z"),
        ("http.request.header.x-timeout-ms", "12"),
    ];
    for (first, grant_ms) in (1..).take(order.len()).enumerate() {
        // Written in the reverse order: where a key stands on the span does not count.
        let attributes = order[first..].iter().rev();
        let raw = attributes.fold(span(Server), |raw, &(key, value)| raw.with(key, value));
        let (grant_ns, _, key, _) = resolve(&raw).grant().unwrap();
        assert_eq!((key.as_str(), grant_ns), (order[first].0, grant_ms * MS));
    }
}

#[test]
fn a_value_that_does_not_parse_leaves_the_word_to_the_next_key_and_is_counted() {
    let raw = span(Server).with("grpc.timeout", "5 S").with("deadline_received_ms", "soon");
    let resolved = resolve(&raw.with("rpc.request.timeout", "40ms"));
    assert_eq!(resolved.grant().unwrap().0, 40 * MS);
    assert_eq!(resolved.unparsed("grpc.timeout"), 1);
    assert_eq!(resolved.unparsed("deadline_received_ms"), 1);
    assert_eq!(resolved.unparsed("rpc.request.timeout"), 0);
}

fn granted(raw: &RawSpan<'_>) -> Option<(i64, &'static str)> {
    resolve(raw).grant().map(|(grant_ns, kind, ..)| (grant_ns, kind))
}

#[test]
fn a_propagated_timeout_of_several_tries_is_not_anchored_at_the_span() {
    let tries = |attempts: i64| {
        let raw = span(Client).with("propagated_timeout_ms", 90).with("timeout_ms", 200);
        granted(&raw.with("attempts", attempts))
    };
    assert_eq!(tries(1), Some((90 * MS, "remaining")));
    assert_eq!(tries(2), Some((200 * MS, "full")));
}

#[test]
fn timeout_ms_counts_only_beside_another_key_of_userver() {
    let raw = || span(Client).with("timeout_ms", 200);
    assert_eq!(granted(&raw()), None);
    assert_eq!(granted(&raw().with("http.request.method", "GET")), None);
    assert_eq!(granted(&raw().with("max_attempts", 3)), Some((200 * MS, "full")));
    // The clients of gRPC write what was left, those of HTTP what was asked for.
    assert_eq!(granted(&raw().with("deadline_updated", true)), Some((200 * MS, "remaining")));
    let grpc = raw().with("rpc.system", "grpc").with("attempts", 1);
    assert_eq!(granted(&grpc), Some((200 * MS, "remaining")));
}

#[test]
fn timeout_counts_only_next_to_a_deadline() {
    let raw = || span(Internal).with("timeout", "2s");
    assert_eq!(granted(&raw()), None);
    let beside = raw().with("deadline", "2026-09-05T09:20:02Z");
    assert_eq!(granted(&beside), Some((2_000 * MS, "remaining")));
}

#[test]
fn what_is_already_past_grants_nothing_and_that_is_a_grant() {
    let raw = |key, value: V| granted(&span(Server).with(key, value));
    assert_eq!(raw("deadline.remaining_ms", (-5).into()), Some((0, "remaining")));
    assert_eq!(raw("grpc.timeout", "0n".into()), Some((0, "remaining")));
    assert_eq!(raw("deadline", "2026-09-05T09:19:59Z".into()), Some((0, "absolute")));
    assert_eq!(raw("rpc.request.timeout", "-850µs".into()), Some((0, "remaining")));
}

#[test]
fn a_negative_full_time_is_ignored_and_counted() {
    let resolved = resolve(&span(Client).with("max_time_ms", -1));
    assert_eq!(resolved.grant(), None);
    assert_eq!(resolved.unparsed("max_time_ms"), 1);
}

#[test]
fn a_queue_before_the_span_moves_the_anchor_of_what_came_with_the_request() {
    let raw = |key, value| {
        let resolved = resolve(&span(Server).with("deadline.queue_ms", 60).with(key, value));
        resolved.grant().map(|(grant_ns, _, _, from_start)| (grant_ns, from_start))
    };
    assert_eq!(raw("deadline.remaining_ms", "40"), Some((40 * MS, true)));
    assert_eq!(raw("grpc.timeout", "40m"), Some((40 * MS, false)));
    // An instant is told from the arrival too: 60 ms of the queue, 250 ms after the start.
    assert_eq!(raw("deadline", "2026-09-05T09:20:00.250Z"), Some((310 * MS, false)));
}

#[test]
fn generic_names_count_only_with_heuristics() {
    let conventions = Conventions::embedded().unwrap().heuristics(true);
    let with = |key, value: V| {
        let raw = span(Client).with(key, value);
        assert_eq!(resolve(&raw).grant(), None, "{key}");
        resolve_by(&conventions, &raw).grant().map(|(grant_ns, kind, ..)| (grant_ns, kind))
    };
    assert_eq!(with("timeout_ms", 200.into()), Some((200 * MS, "full")));
    assert_eq!(with("timeoutMs", "200".into()), Some((200 * MS, "full")));
    assert_eq!(with("timeout_seconds", 2.into()), Some((2_000 * MS, "full")));
    assert_eq!(with("timeout_s", 0.5.into()), Some((500 * MS, "full")));
    assert_eq!(with("timeout", "3s".into()), Some((3_000 * MS, "full")));
    assert_eq!(with("deadline_remaining_ms", 20.into()), Some((20 * MS, "remaining")));
    assert_eq!(with("deadline.remaining_seconds", 0.25.into()), Some((250 * MS, "remaining")));
    // A date, and nothing that says a unit.
    assert_eq!(with("deadline_ms", 1_788_600_000_250_i64.into()), None);
    assert_eq!(with("timeout", true.into()), None);
    assert_eq!(with("timeout", 30.into()), None);
}

#[test]
fn what_was_read_says_by_which_row_and_key() {
    let rule = |raw: &RawSpan<'_>| {
        let resolved = resolve(raw);
        resolved.span.grant.map(|grant| resolved.strings.get(grant.rule).to_owned()).unwrap()
    };
    let raw = || span(Client).with("timeout_ms", 200);
    assert_eq!(rule(&raw().with("deadline_updated", true)), "B6");
    assert_eq!(rule(&raw().with("max_attempts", 3)), "B8");

    let resolved = resolve(
        &span(Client)
            .name("Attempt-2")
            .with("deadline.attempt_timeout_ms", 5)
            .event("enqueued_at", -7 * MS),
    );
    let span = &resolved.span;
    let keys = [span.allowance_key, span.ordinal_key, span.queued_key];
    let keys = keys.map(|key| resolved.strings.get(key.unwrap()));
    assert_eq!(keys, ["deadline.attempt_timeout_ms", "name", "enqueued_at"]);
    let plain = resolve(&self::span(Client)).span;
    assert_eq!((plain.allowance_key, plain.ordinal_key, plain.queued_key), (None, None, None));
}
