//! Whatever an exporter writes, the resolver answers.

use dwindle::conventions::raw::Value;
use dwindle::span::Kind;
use dwindle::units::{Nanos, UnixNanos};
use proptest::prelude::*;

use crate::support::raw_span::{Build, resolve, span};

/// A key of every grammar and use.
const KEYS: &[&str] = &[
    "deadline.remaining_ms",
    "srv/request_deadline_exceeded_ms",
    "grpc.timeout",
    "rpc.request.timeout",
    "rpc.request.deadline",
    "http.request.header.l5d-ctx-deadline",
    "http.request.header.amz-sdk-request",
    "http.request.header.x-server-timeout",
    "http.request.header.x-request-start",
    "celery.timelimit",
    "url.full",
    "deadline.attempt_timeout_ms",
    "deadline.queue_ms",
    "sidekiq.job.retry_count",
    "rpc.grpc.status_code",
    "http.response.status_code",
    "response_flags",
    "error.type",
    "db.response.status_code",
    "db.statement",
    "server.address",
];

fn any_value() -> impl Strategy<Value = Value<'static>> {
    let text = prop_oneof![
        any::<String>(),
        "-?[0-9]{0,30}(\\.[0-9]{0,12})?(e[0-9]{1,3})?[HMSmunsh]{0,2}",
        "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{0,12})?(Z|[+-][0-9]{2}:?[0-9]{2})",
        "[0-9]{1,20} [0-9]{1,20}",
        "\\[\"?[0-9]{1,20}\"?(,null)?\\]",
        "(ttl|attempt|timeout|timeoutSeconds|t)=[0-9]{1,20}s?",
    ];
    let single = prop_oneof![
        text.prop_map(|text| Value::Text(text.into())),
        any::<i64>().prop_map(Value::Int),
        any::<f64>().prop_map(Value::Double),
        any::<bool>().prop_map(Value::Bool),
        Just(Value::Other),
    ];
    single.prop_recursive(2, 8, 3, |inner| prop::collection::vec(inner, 0..3).prop_map(Value::List))
}

proptest! {
    #[test]
    fn every_value_gives_times_that_can_be_added_up(
        value in any_value(),
        start in any::<i64>(),
        is_client in any::<bool>(),
    ) {
        for key in KEYS {
            let kind = if is_client { Kind::Client } else { Kind::Server };
            let mut raw = span(kind).with(key, value.clone());
            raw.start = UnixNanos::from_nanos(start);
            let resolved = resolve(&raw);
            let limit = Nanos::from_nanos(i64::MAX / 4);
            let times = [resolved.span.grant.map(|grant| grant.value), resolved.span.allowance];
            for time in times.into_iter().flatten().chain([resolved.span.queued_before]) {
                prop_assert!((Nanos::ZERO..=limit).contains(&time), "{key} {time:?}");
            }
            prop_assert!(resolved.span.attempt_ordinal.is_none_or(|ordinal| 1 <= ordinal));
            prop_assert!(resolved.unparsed(key) <= 1 + u64::from(*key == "http.request.header.amz-sdk-request"));
        }
    }
}

#[test]
fn a_key_that_comes_again_and_again_is_read_in_one_go() {
    let mut raw = span(Kind::Client);
    for _ in 0..100_000 {
        raw = raw.with("timeout_ms", "soon");
    }
    assert_eq!(resolve(&raw).span.grant, None);
    // Beside this each of them is asked for, and each fails, which is one failure of a key.
    let resolved = resolve(&raw.with("max_attempts", 3));
    assert_eq!(resolved.span.grant, None);
    assert_eq!(resolved.unparsed("timeout_ms"), 1);
}
