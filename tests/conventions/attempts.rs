//! Which try of a call a span is, and what that makes of its kind (conventions A rows).

use dwindle::conventions::raw::RawSpan;
use dwindle::conventions::{Conventions, Tally};
use dwindle::span::Interner;
use dwindle::span::Kind::{self, Client, Consumer, Internal, Server};

use crate::support::raw_span::{Build, V, attribute, resolve, resolve_by, span};

fn ordinal(key: &'static str, value: impl Into<V>) -> Option<i32> {
    resolve(&span(Client).with(key, value)).span.attempt_ordinal
}

#[test]
fn every_key_counts_from_its_own_first_number() {
    let rows: [(&str, &str, i32); 22] = [
        ("previous-rpc-attempts", "0", 1),
        ("grpc.previous-rpc-attempts", "2", 3),
        ("http.request.resend_count", "1", 2),
        ("http.resend_count", "0", 1),
        ("http.retry_count", "2", 3),
        ("gcp.grpc.resend_count", "1", 2),
        ("retry.count", "1", 2),
        ("http.request.header.x-envoy-attempt-count", "2", 2),
        ("http.request.header.amz_sdk_request", "ttl=20260905T092001Z; attempt=2; max=3", 2),
        ("rpc.grpc.request.metadata.grpc-previous-rpc-attempts", "1", 2),
        ("http.request.headers.x_stainless_retry_count", "1", 2),
        ("http.request.header.armeria-retry-count", "1", 2),
        ("clnt/retry_attempt", "1", 2),
        ("clnt/requeue_attempt", "1", 2),
        ("messaging.gcp_pubsub.message.delivery_attempt", "2", 2),
        ("gcp.pubsub.message.delivery_attempt", "2", 2),
        ("azure.servicebus.message.delivery_count", "2", 2),
        ("bullmq.job.attempts.made", "2", 2),
        ("active_job.job.executions", "2", 2),
        ("celery.retries", "1", 2),
        ("messaging.message.retry.count", "0", 1),
        ("sidekiq.job.retry_count", "0", 2),
    ];
    for (key, value, expected) in rows {
        assert_eq!(ordinal(key, value), Some(expected), "{key}");
    }
    assert_eq!(ordinal("http.request.resend_count", 1), Some(2));
    assert_eq!(ordinal("http.request.header.x-envoy-attempt-count", ["3"]), Some(3));
}

#[test]
fn what_is_no_number_of_a_try_is_ignored_and_counted() {
    let texts = ["-1", "one", "", "1.5", "2147483647"];
    for value in texts.map(V::from).into_iter().chain([1.5.into(), true.into(), i64::MAX.into()]) {
        let resolved = resolve(&span(Client).with("http.request.resend_count", value));
        assert_eq!(resolved.span.attempt_ordinal, None);
        assert_eq!(resolved.unparsed("http.request.resend_count"), 1);
    }
    assert_eq!(ordinal("http.request.header.x-envoy-attempt-count", "0"), None);
    // Totals of one span say nothing of the span itself.
    assert_eq!(ordinal("retry_attempts", 2), None);
}

fn facts(raw: &RawSpan<'_>) -> (Kind, bool, Option<i32>) {
    let span = resolve(raw).span;
    (span.kind, span.flags.is_attempt, span.attempt_ordinal)
}

#[test]
fn attempt_spans_without_a_kind_are_clients() {
    let raw = |name| span(Internal).name(name);
    assert_eq!(facts(&raw("x").with("previous-rpc-attempts", 0)), (Client, true, Some(1)));
    assert_eq!(facts(&raw("Attempt.shop.Items.Get")), (Client, true, None));
    assert_eq!(facts(&raw("Sent.shop.Items.Get")), (Client, false, None));
    assert_eq!(facts(&raw("Recv.shop.Items.Get")), (Server, false, None));
    assert_eq!(facts(&raw("Attempt-2")), (Client, true, Some(2)));
    assert_eq!(facts(&raw("try_attempt").with("attempt", 3)), (Client, true, Some(3)));
    assert_eq!(facts(&raw("retry").with("clnt/retry_attempt", 1)), (Client, true, Some(2)));
    // Names that only look like it.
    assert_eq!(facts(&raw("Attempt-first")), (Internal, false, None));
    assert_eq!(facts(&raw("Attempt-0")), (Internal, false, None));
    assert_eq!(facts(&raw("try_attempt")), (Internal, false, None));
    assert_eq!(facts(&raw("op").with("attempt", 3)), (Internal, false, None));
    assert_eq!(facts(&raw("op").with("http.request.resend_count", 1)).0, Internal);
}

#[test]
fn a_kind_that_was_set_stays() {
    let attempt = |kind| facts(&span(kind).name("Attempt.a.B").with("previous-rpc-attempts", 1));
    assert_eq!(attempt(Client), (Client, true, Some(2)));
    assert_eq!(attempt(Server), (Server, false, Some(2)));
    assert_eq!(facts(&span(Consumer).name("Recv.a.B")).0, Consumer);
    assert_eq!(facts(&span(Client).name("Recv.a.B")).0, Client);
}

#[test]
fn a_side_condition_sees_the_kind_after_conventions() {
    let raw = span(Internal).name("Attempt.a.B").with("deadline_received_ms", 5);
    assert_eq!(resolve(&raw).grant(), None);
}

#[test]
fn events_of_retries_are_counted_and_give_no_number() {
    let raw = span(Client)
        .event("Starting RPC retry 1", 0)
        .event("Starting RPC retry 2", 5)
        .event("Starting RPC", 6)
        .event("Retried Request", 7);
    let resolved = resolve(&raw);
    assert_eq!(resolved.span.attempt_ordinal, None);
    let met = |key: &str| resolved.seen.keys.get(key).map(|met| (met.rule.clone(), met.count));
    assert_eq!(met("event Starting RPC retry *"), Some(("A10".to_owned(), 2)));
    assert_eq!(met("event Retried Request"), Some(("A10".to_owned(), 1)));
    assert_eq!(resolved.seen.keys.len(), 2);
}

#[test]
fn totals_and_events_tell_how_many_tries_a_span_holds() {
    let inside = |raw: &RawSpan<'_>| resolve(raw).span.tries_inside;
    let total = |key, value: i64| inside(&span(Client).with(key, value));
    assert_eq!(inside(&span(Client)), None);
    // Those count retries, these tries.
    assert_eq!((total("retry_attempts", 0), total("aws.retry_count", 2)), (Some(1), Some(3)));
    assert_eq!((total("attempt.count", 3), total("attempt.count", 0)), (Some(3), None));
    // Anybody's `attempts` may be anything; beside userver's other keys it is a total.
    assert_eq!(total("attempts", 3), None);
    let userver = span(Client).with("attempts", 3).with("max_attempts", 4);
    assert_eq!(inside(&userver), Some(3));
    let generic = Conventions::embedded().unwrap().heuristics(true);
    assert_eq!(resolve_by(&generic, &span(Client).with("attempts", 3)).span.tries_inside, Some(3));
    let events =
        |names: &[&'static str]| names.iter().fold(span(Client), |raw, name| raw.event(name, 0));
    // Two events of each retry are one retry.
    let gax = ["Attempt failed, scheduling next attempt", "Starting RPC retry 1"];
    assert_eq!(inside(&events(&gax)), Some(2));
    assert_eq!(inside(&events(&["Retried Request", "Retried Request"])), Some(3));
    // Where the span did not succeed its last failure is no further try.
    let failures = ["HTTP request failure", "HTTP request failure"];
    assert_eq!(inside(&events(&failures)), Some(3));
    assert_eq!(inside(&events(&failures).with("error.type", "boom")), Some(2));
    // A try of a call says which one it is, and holds no others.
    let attempt = span(Client).with("clnt/retry_attempt", 1).event("Retried Request", 0);
    assert_eq!(inside(&attempt), None);
}

#[test]
fn the_resource_or_the_span_tells_what_made_it() {
    let stack_of = |resource: &[(&'static str, &'static str)], raw: &RawSpan<'_>| {
        let conventions = Conventions::embedded().unwrap();
        let mut strings = Interner::default();
        let attributes: Vec<_> =
            resource.iter().map(|&(key, value)| attribute(key, value)).collect();
        let resource = conventions.resource(&attributes, &mut strings);
        let mut tally = Tally::default();
        let span = conventions.resolve(raw, &resource, &mut strings, &mut tally);
        span.stack.map(|stack| strings.get(stack).to_owned())
    };
    let plain = span(Client);
    let told = |key, value| stack_of(&[(key, value)], &plain);
    assert_eq!(told("service.name", "shop"), None);
    assert_eq!(told("telemetry.sdk.language", "java").as_deref(), Some("java"));
    // What is no language of a known SDK may be anything, and is not told.
    assert_eq!(told("telemetry.sdk.language", "cobol"), None);
    assert_eq!(told("jaeger.version", "Go-2.30.0").as_deref(), Some("go"));
    assert_eq!(told("jaeger.version", "Python-4.8.0").as_deref(), Some("python"));
    // Envoy's own SDK is written in C++; what counts is that it is a proxy.
    let envoy = [("telemetry.sdk.language", "cpp"), ("telemetry.sdk.name", "envoy")];
    assert_eq!(stack_of(&envoy, &plain).as_deref(), Some("envoy"));
    let proxy = span(Client).with("component", "proxy");
    assert_eq!(stack_of(&[], &proxy).as_deref(), Some("envoy"));
    assert_eq!(stack_of(&[("jaeger.version", "Go-2.30.0")], &proxy).as_deref(), Some("envoy"));
    let scope = span(Client).with("otel.library.name", "io.opentelemetry.tomcat-10.0");
    assert_eq!(stack_of(&[], &scope).as_deref(), Some("java"));
    assert_eq!(stack_of(&[], &span(Client).with("component", "net/http")), None);
}
