//! Time in queues before and within a span (conventions Q rows).

use dwindle::span::Kind::{Client, Consumer, Internal, Server};

use crate::support::raw_span::{Build, DURATION_NS, V, resolve, span};

const MS: i64 = 1_000_000;

fn queued_ns(key: &'static str, value: impl Into<V>) -> i64 {
    resolve(&span(Server).with(key, value)).span.queued_before.as_nanos()
}

#[test]
fn explicit_queue_times_are_milliseconds() {
    for key in [
        "deadline.queue_ms",
        "http.server.request.time_in_queue",
        "sidekiq.job.delay",
        "kafka.record.queue_time_ms",
        "rabbitmq.record.queue_time_ms",
        "record.queue_time_ms",
        "messaging.message.receive.latency",
    ] {
        assert_eq!(queued_ns(key, 2.5), 2_500_000, "{key}");
    }
    let negative = resolve(&span(Server).with("sidekiq.job.delay", -1));
    assert_eq!(negative.span.queued_before.as_nanos(), 0);
    assert_eq!(negative.unparsed("sidekiq.job.delay"), 1);
}

#[test]
fn of_events_before_the_start_the_earliest_counts() {
    let raw = span(Consumer)
        .event("enqueued_at", -30 * MS)
        .event("created_at", -40 * MS)
        .event("http.proxy.request.started", MS);
    assert_eq!(resolve(&raw).span.queued_before.as_nanos(), 40 * MS);
    let within = span(Consumer).event("enqueued_at", 0).event("created_at", 5 * MS);
    assert_eq!(resolve(&within).span.queued_before.as_nanos(), 0);
}

#[test]
fn an_attribute_comes_before_an_event_and_an_event_before_a_header() {
    let header = || span(Server).with("http.request.header.x-request-start", "t=1788599999.900");
    let event = || header().event("enqueued_at", -30 * MS);
    let attribute = || event().with("record.queue_time_ms", 20);
    let own = || attribute().with("deadline.queue_ms", 10);
    let queued = |raw| resolve(&raw).span.queued_before.as_nanos() / MS;
    assert_eq!([queued(header()), queued(event())], [100, 30]);
    assert_eq!([queued(attribute()), queued(own())], [20, 10]);
}

#[test]
fn the_unit_of_a_request_start_is_told_by_its_digits() {
    let key = "http.request.header.x-request-start";
    for value in [
        "t=1788599999.980",
        "1788599999.980",
        "t=1788599999980",
        "1788599999980000",
        "t=1788599999980000000",
    ] {
        assert_eq!(queued_ns(key, value), 20 * MS, "{value}");
    }
    assert_eq!(queued_ns(key, 1_788_599_999_980_i64), 20 * MS);
    assert_eq!(queued_ns("http.request.header.x_queue_start", ["1788599999980"]), 20 * MS);
    for bad in ["178859999998", "now", "t=", ""] {
        let resolved = resolve(&span(Server).with(key, bad));
        assert_eq!(
            (resolved.span.queued_before.as_nanos(), resolved.unparsed(key)),
            (0, 1),
            "{bad}"
        );
    }
}

#[test]
fn a_request_start_in_the_future_or_over_an_hour_ago_is_dropped() {
    let key = "http.request.header.x-request-start";
    assert_eq!(queued_ns(key, "1788600000001"), 0);
    assert_eq!(queued_ns(key, "1788596400000"), 3_600_000 * MS);
    assert_eq!(queued_ns(key, "1788596399999"), 0);
}

#[test]
fn waits_inside_last_until_the_furthest_event_within_the_span() {
    let waited = |offsets: &[i64]| {
        let names = ["Delayed name resolution complete", "Delayed LB pick complete"];
        let events = offsets.iter().zip(names);
        let raw = events.fold(span(Client), |raw, (&offset, name)| raw.event(name, offset));
        resolve(&raw).span.waited_inside.as_nanos()
    };
    assert_eq!(waited(&[]), 0);
    assert_eq!(waited(&[3 * MS]), 3 * MS);
    assert_eq!(waited(&[3 * MS, 2 * MS]), 3 * MS);
    assert_eq!(waited(&[-3 * MS]), 0);
    assert_eq!(waited(&[2 * DURATION_NS]), DURATION_NS);
}

#[test]
fn wait_spans_are_told_by_name_or_attribute() {
    for name in [
        "http.proxy.queue",
        "http_server.queue",
        "http_server.proxy",
        "pool.waiting",
        "HTTP wait_for_connection shop:443",
        "pg-pool.connect",
        "http.getconn",
        "Attempt Delay",
        "kafka.deliver",
        "jms.deliver",
        "amqp.deliver",
        "HikariDataSource.getConnection",
    ] {
        assert!(resolve(&span(Internal).name(name)).span.flags.is_wait, "{name}");
    }
    for name in ["op", "http.connect", "HTTP connection_setup shop:443", "getConnection"] {
        assert!(!resolve(&span(Internal).name(name)).span.flags.is_wait, "{name}");
    }
    let told = |value: V| resolve(&span(Internal).with("deadline.queue", value)).span.flags.is_wait;
    assert!(told(true.into()) && told("true".into()));
    assert!(!told(false.into()) && !told("no".into()));
}
