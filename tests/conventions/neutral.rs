//! What is left of a span under neutral names.

use std::collections::BTreeSet;

use dwindle::conventions::raw::{RawEvent, RawSpan, Status, Value};
use dwindle::conventions::{Conventions, Named, Tally};
use dwindle::span::{Interner, Kind, Span, Sym};
use dwindle::units::UnixNanos;
use proptest::prelude::*;
use proptest::sample::select;

use crate::support::raw_span::{Build, DURATION_NS, START_NS, attribute, span};

/// In every text that is somebody's own.
const SECRET: &str = "s3cret";

/// Keys of every use, and one that nobody knows.
const KEYS: &[&str] = &[
    "deadline.remaining_ms",
    "srv/request_deadline_exceeded_ms",
    "rpc.grpc.request.metadata.grpc-timeout",
    "http.request.header.x-envoy-expected-rq-timeout-ms",
    "rpc.request.timeout",
    "timeout",
    "deadline",
    "timeout_ms",
    "TIMEOUT_MS",
    "propagated_timeout_ms",
    "attempts",
    "max_attempts",
    "retry_attempts",
    "attempt.count",
    "jaeger.version",
    "otel.scope.name",
    "node_id",
    "deadline_updated",
    "rpc.system",
    "rpc.service",
    "rpc.method",
    "grpc.code",
    "grpc_code",
    "rpc.private",
    "http.request.header.l5d-ctx-deadline",
    "http.request.header.amz-sdk-request",
    "http.request.header.x-stainless-read-timeout",
    "http.request.header.x-request-start",
    "celery.timelimit",
    "url.full",
    "http.url",
    "http.target",
    "url.path",
    "deadline.attempt_timeout_ms",
    "deadline.queue",
    "deadline.queue_ms",
    "messaging.message.receive.latency",
    "previous-rpc-attempts",
    "http.request.resend_count",
    "attempt",
    "clnt/retry_attempt",
    "sidekiq.job.retry_count",
    "rpc.grpc.status_code",
    "http.response.status_code",
    "response_flags",
    "cancelled_by_deadline",
    "servlet.timeout",
    "error.type",
    "db.response.status_code",
    "db.system",
    "db.operation.name",
    "db.statement",
    "http.request.method",
    "http.route",
    "http.request.header.idempotency-key",
    "server.address",
    "server.port",
    "peer.service",
    "messaging.system",
    "messaging.destination.name",
    "upstream_cluster",
    "component",
    "@jaeger@warnings",
    "customer.name",
    "my.code",
    "my.method",
    "my.queue",
];

/// Facts that are looked for by other keys.
const OVERLAY: &str = "
fact = [
    { fact = 'grpc_status', keys = ['my.code', 'grpc.code'] },
    { fact = 'http_method', keys = ['my.method', 'http.request.method'] },
    { fact = 'destination', keys = ['my.queue', 'messaging.destination.name'] },
    { fact = 'component', keys = ['my.component', 'component'] },
]
";

const NAMES: &[&str] = &[
    "GET",
    "s3cret checkout",
    "try_attempt",
    "Attempt-2",
    "Attempt-s3cret",
    "Attempt.s3cret",
    "Sent.s3cret",
    "Recv.s3cret",
    "pool.waiting",
    "s3cret.getConnection",
    "HTTP wait_for_connection s3cret",
];

const EVENTS: &[&str] = &[
    "enqueued_at",
    "created_at",
    "Delayed LB pick complete",
    "clnt/finagle_timeout_ms",
    "Set context deadline",
    "Starting RPC retry 1",
    "Starting RPC retry s3cret",
    "HTTP request failure",
    "exception",
    "s3cret event",
];

fn any_value() -> impl Strategy<Value = Value<'static>> {
    let text = prop_oneof![
        "[0-9]{1,4}(ms|s|m|S)?",
        "(GET|POST|post|PUT|s3cretverb)",
        "(0|1|4|8|13|200|429|0503|\\+504|503|504|UT|DC|UT,s3cret|57014|OK|CANCELLED|S3CRET)",
        "(INSERT INTO s3cret|SELECT s3cret|postgresql|mysql|proxy|true)",
        "(s3cret\\.SocketTimeoutException|s3cret timed out|context canceled s3cret|s3cret)",
        "https://s3cret/[a-b]\\?(timeout=[0-9]{1,3}s&user=s3cret|timeoutSeconds=[0-9]{1,2}|timeout=s3cret)",
        "(ttl=20260905T102000Z|ttl=s3cret); attempt=([1-3]|s3cret); max=s3cret",
        "2026-09-05T10:20:0[0-9]Z",
        "178860000[0-9]{10} 178860000[0-9]{10}",
        "t=17885999(99|98)[0-9]{3}",
        "\\[\"[0-9]{1,3}m?\"(,\"s3cret\")?\\]",
        "\\[[0-9]{1,3}, null\\]",
        "timestamps were adjusted by s3cret",
        "(Go-2.30.0|Java-s3cret|io.opentelemetry.s3cret|@opentelemetry/s3cret)",
    ];
    let text = text.prop_map(|text| Value::Text(text.into()));
    // Lists are captured headers.
    let texts = prop::collection::vec(text.clone(), 0..3).prop_map(Value::List);
    prop_oneof![
        8 => text,
        3 => (-2..2_000_i64).prop_map(Value::Int),
        1 => (-2.0..2_000.0).prop_map(Value::Double),
        1 => any::<bool>().prop_map(Value::Bool),
        1 => Just(Value::Other),
        3 => texts,
    ]
}

fn any_span() -> impl Strategy<Value = RawSpan<'static>> {
    let kind =
        select(vec![Kind::Internal, Kind::Server, Kind::Client, Kind::Producer, Kind::Consumer]);
    let status = select(vec![Status::Unset, Status::Ok, Status::Error]);
    let message = select(vec!["", "s3cret", "s3cret deadline exceeded", "request cancelled"]);
    let attributes = prop::collection::vec((select(KEYS), any_value()), 0..9);
    let offset = -DURATION_NS..2 * DURATION_NS;
    let event = (select(EVENTS), offset.clone(), option_of_attribute());
    let events = prop::collection::vec(event, 0..3);
    (kind, status, message, select(NAMES), attributes, events, offset).prop_map(
        |(kind, status, message, name, attributes, events, length)| {
            let mut raw = span(kind).name(name).status(status, message);
            raw.end = UnixNanos::from_nanos(START_NS + length);
            raw.attributes.extend(attributes.into_iter().map(|(key, value)| (key.into(), value)));
            raw.events.extend(events.into_iter().map(|(name, offset, attribute)| RawEvent {
                name: name.into(),
                time: Some(UnixNanos::from_nanos(START_NS + offset)),
                attributes: attribute.into_iter().collect(),
            }));
            raw
        },
    )
}

fn option_of_attribute()
-> impl Strategy<Value = Option<dwindle::conventions::raw::Attribute<'static>>> {
    let key = select(vec!["deadline", "exception.type", "exception.message", "customer.name"]);
    prop::option::of((key, any_value()).prop_map(|(key, value)| (key.into(), value)))
}

/// All of a span but for its names, of which only whether there are any.
fn but_for_names(span: &Span, strings: &Interner) -> String {
    let text = |sym: Option<Sym>| sym.map(|sym| strings.get(sym));
    let grant = span.grant.map(|grant| {
        let key = strings.get(grant.key);
        (grant.value, grant.kind, key, strings.get(grant.rule), grant.from_start)
    });
    format!(
        "{:?}",
        (
            (span.trace_id, span.span_id, span.parent_span_id, span.kind, span.links),
            (span.start, span.end, span.outcome, span.http_status, span.flags),
            (grant, span.allowance, span.attempt_ordinal, span.queued_before, span.waited_inside),
            (text(span.allowance_key), text(span.ordinal_key), text(span.queued_key)),
            (span.tries_inside, text(span.stack)),
            (span.target.is_some(), span.peer_service.is_some(), span.route_operation.is_some()),
        )
    )
}

/// Resolves a span, and what is left of it under neutral names: what is told of the first, then of the
/// second, and the second as it is written.
fn both(conventions: &Conventions, raw: &RawSpan<'_>) -> (String, String, String) {
    let mut strings = Interner::default();
    let mut tally = Tally::default();
    let resource = [
        attribute("service.name", "s3cret"),
        attribute("host.name", "s3cret"),
        attribute("customer.name", "s3cret"),
    ];
    let resource = conventions.resource(&resource, &mut strings);
    let span = conventions.resolve(raw, &resource, &mut strings, &mut tally);
    let mut names = BTreeSet::new();
    let mut rename = |named: Named, name: &str| {
        names.insert((named, name.to_owned()));
        format!("{named:?}-{}", names.len())
    };
    let neutral = conventions.neutral(raw, &span, &strings, &mut rename);
    let neutral_resource = conventions.neutral_resource(&span, &strings, &mut rename);
    let written = format!("{neutral:#?} {neutral_resource:?}");
    let resource = conventions.resource(&neutral_resource, &mut strings);
    let again = conventions.resolve(&neutral, &resource, &mut strings, &mut tally);
    (but_for_names(&span, &strings), but_for_names(&again, &strings), written)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn a_span_under_neutral_names_means_the_same_and_tells_no_secret(
        raw in any_span(),
        heuristics in any::<bool>(),
        overlaid in any::<bool>(),
    ) {
        let mut conventions = Conventions::embedded().unwrap().heuristics(heuristics);
        if overlaid {
            conventions = conventions.with_file("own.toml", OVERLAY).unwrap();
        }
        let (before, after, written) = both(&conventions, &raw);
        prop_assert!(!written.to_lowercase().contains(SECRET), "{}", written);
        prop_assert_eq!(after, before, "{}", written);
    }
}

#[test]
fn a_status_however_it_is_written_means_the_same_under_neutral_names() {
    let text = |text: &'static str| Value::Text(text.into());
    let statuses = [
        Value::Int(429),
        Value::Double(429.0),
        text("429"),
        text("0429"),
        text("+429"),
        text(" 429 "),
        text("504, 429"),
        text("[\"429\"]"),
        Value::List(vec![text("GET"), text("429")]),
        Value::List(vec![text("429"), text("GET")]),
    ];
    let conventions = Conventions::embedded().unwrap();
    for kind in [Kind::Client, Kind::Server, Kind::Internal] {
        for status in &statuses {
            let mut raw = span(kind);
            raw.attributes.push(("http.response.status_code".into(), status.clone()));
            let (before, after, written) = both(&conventions, &raw);
            assert_eq!(after, before, "{kind:?} {status:?} {written}");
        }
    }
}
