//! Evidence about deadlines, attempts, queues and outcomes in the formats that have no place of
//! their own for it: numbers and captured headers as text, logs and annotations as events. The same
//! evidence says the same in each.

use dwindle::ingest::Ingested;
use dwindle::span::{Span, Sym};
use serde_json::Value;

use super::support::{fixture, problems, read, tables};

/// What the evidence of each span says, in the order of ids.
fn told(read: &Ingested) -> Vec<String> {
    let mut lines = Vec::new();
    for partition in &read.partitions {
        let text = |sym: Sym| partition.strings.get(sym).replace('\u{1f}', " ");
        lines.extend(partition.rows.iter().map(|span| (span.span_id, line(span, text))));
    }
    lines.sort();
    lines.into_iter().map(|(_, line)| line).collect()
}

/// What the evidence of a span says; lengths in milliseconds.
fn line(span: &Span, text: impl Fn(Sym) -> String + Copy) -> String {
    let ms = |nanos: dwindle::units::Nanos| nanos.as_nanos() / 1_000_000;
    let key = |key: Option<Sym>| key.map_or_else(String::new, text);
    let mut parts = vec![format!("{}: {}", text(span.operation), span.outcome.name())];
    if let Some(grant) = span.grant {
        let (value, kind) = (ms(grant.value), grant.kind.name());
        let anchor = if grant.from_start { " from start" } else { "" };
        parts.push(format!("{} {kind} {value}{anchor} by {}", text(grant.rule), text(grant.key)));
    }
    if let Some(allowance) = span.allowance {
        parts.push(format!("at most {} by {}", ms(allowance), key(span.allowance_key)));
    }
    if let Some(ordinal) = span.attempt_ordinal {
        parts.push(format!("try {ordinal} by {}", key(span.ordinal_key)));
    }
    if 0 < span.queued_before.as_nanos() {
        parts.push(format!("queued {} by {}", ms(span.queued_before), key(span.queued_key)));
    }
    if 0 < span.waited_inside.as_nanos() {
        parts.push(format!("waited {}", ms(span.waited_inside)));
    }
    parts.extend(span.http_status.map(|status| format!("HTTP {status}")));
    parts.extend(span.peer_service.map(|peer| format!("to {}", text(peer))));
    parts.extend(span.flags.is_proxy.then(|| "proxy".to_owned()));
    parts.join(", ")
}

/// The columns of hops and attempts that tell evidence.
fn columns(read: &Ingested) -> Vec<String> {
    let tables = tables(read);
    let of = |table: &str, columns: &[&str]| -> Vec<String> {
        let row = |row: &Value| {
            let cells = columns.iter().map(|&column| format!("{column}={}", row[column]));
            format!("{table} {}", cells.collect::<Vec<_>>().join(" "))
        };
        tables[table].iter().map(row).collect()
    };
    let hops =
        ["hop_id", "granted_ns", "grant_key", "grant_kind", "verdict", "queue_ns", "outcome"];
    let attempts = ["span_id", "ordinal", "kind", "allowance_ns", "outcome"];
    [of("hops", &hops), of("attempts", &attempts)].concat()
}

fn of(format: &str) -> Ingested {
    read(&[&fixture(&format!("evidence/{format}"))])
}

#[test]
fn in_otlp_evidence_says_what_its_conventions_say() {
    let read = of("otlp.json");
    let expected = [
        "POST: deadline_exceeded, B2 remaining 900 by grpc.timeout, HTTP 504, proxy",
        "router front egress: rejected, try 2 by retry.count, HTTP 503, proxy",
        "headers: ok, B4 remaining 800 by {H}x-envoy-expected-rq-timeout-ms, \
             try 2 by {H}x-envoy-attempt-count, queued 15 by {H}x-request-start",
        "metadata: deadline_exceeded, B2 remaining 500 by {M}grpc-timeout, \
             at most 250 by {H}x_envoy_upstream_rq_per_try_timeout_ms",
        "several values: ok, B8 full 1500 by {H}x-server-timeout, try 1 by retry.count",
        "delayed: ok, waited 7",
        "context deadline: ok, B7 absolute 350 by deadline",
        "exception: deadline_exceeded",
        "finagle: deadline_exceeded, B7 absolute 250 by clnt/request_deadline, \
             try 3 by clnt/retry_attempt",
        "userver: ok, B6 remaining 120 by propagated_timeout_ms",
        "acquired: ok",
        "finagle: ok, B1 remaining 240 from start by srv/request_deadline_remaining_ms",
        "job: ok, B8 full 60000 by celery.timelimit, try 2 by celery.retries, \
             queued 70 by created_at",
        "record: ok, queued 25 by kafka.record.queue_time_ms",
    ];
    let expected = expected.map(|line| {
        line.replace("{H}", "http.request.header.").replace("{M}", "rpc.grpc.request.metadata.")
    });
    assert_eq!(told(&read), expected);
    assert!(read.seen.keys.contains_key("event connection-acquire.start"), "noted, not counted");
    assert_eq!(problems(&read), Vec::<String>::new());
}

/// Checks that a format tells what OTLP tells, and that nothing is wrong with it.
fn tells_what_otlp_tells(format: &str) {
    let [read, otlp] = [format, "otlp.json"].map(of);
    assert_eq!(told(&read), told(&otlp));
    assert_eq!(columns(&read), columns(&otlp));
    assert_eq!(read.seen, otlp.seen, "the keys met");
    assert_eq!(problems(&read), Vec::<String>::new());
}

#[test]
fn tags_and_logs_of_jaeger_say_what_otlp_says() {
    tells_what_otlp_tells("jaeger.json");
}

#[test]
fn tags_and_annotations_of_zipkin_say_what_otlp_says() {
    tells_what_otlp_tells("zipkin.json");
}

#[test]
fn annotations_of_zipkins_first_version_say_what_otlp_says() {
    tells_what_otlp_tells("zipkin-v1.json");
}

#[test]
fn maps_and_nested_events_of_clickhouse_say_what_otlp_says() {
    tells_what_otlp_tells("clickhouse.jsonl");
}

#[test]
fn attributes_and_events_of_span_json_say_what_otlp_says() {
    tells_what_otlp_tells("span.jsonl");
}
