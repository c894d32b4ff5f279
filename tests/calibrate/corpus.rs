//! What a careful person reads in published traces that hold timeouts. Each was read span by span
//! first; the comment says what was seen there.

use crate::ingest::corpus::corpus;
use crate::support::command::run;

/// What is told of a corpus file, comments and all, in one line each; `None` where it is not there.
fn told(file: &str) -> Option<String> {
    let path = corpus()?.join(file).display().to_string();
    let ran = run(&["calibrate", &path, "--quiet"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{file}");
    let file = dwindle::contract::ContractFile::parse(file, &ran.out).unwrap();
    // One trace is no evidence of anything.
    assert!(file.calls.is_empty(), "{}", ran.out);
    assert!(file.contracts.iter().all(|contract| contract.deadline.is_none()), "{}", ran.out);
    Some(ran.out.replace("\n# ", " "))
}

fn assert_told(text: &str, sentences: &[&str]) {
    for sentence in sentences {
        assert!(text.contains(sentence), "{sentence:?} is not in\n{text}");
    }
}

/// The load generator's `user_checkout_multi` (15,080.702 ms, no error) puts something into a cart and
/// then posts to /api/checkout. Envoy (`frontend-proxy`) takes that at 78.8 ms and sends it on at
/// 78.897 ms by the span `router frontend egress`, which ends 15,000.906 ms later without a status of its
/// own (`http.status_code` 0, `response_flags` `-`). Envoy's server span ends 0.4 ms after it with 504 and
/// the flag UT, "upstream request timeout": so it is the egress that was cut off, 0.9 ms after 15 s,
/// Envoy's default for routes. The frontend, which it had called, ends 0.29 ms after the egress with
/// 200: it never learned that nobody waited. The load generator got a 504, but its span has no error.
///
/// So: one attempt was cut off, just above 15 s; its callee ended well and nobody heard; the request
/// completed all the same; and above that hop nothing gave up within 15.08 s. One attempt is no limit.
fn says_what_was_masked(file: &str) {
    let Some(text) = told(file) else { return };
    assert_told(
        &text,
        &[
            "\"frontend-proxy\" → \"frontend\", \"router frontend egress\": 1 of 3 attempts was cut off, \
             after 15.0009s: just above 15s; one says little. Its callee went on and ended well, which \
             nobody heard.",
            "The one request was not cut off and took 15.08s. 1 request completed although a call was \
             cut off and not tried again (\"frontend-proxy\" → \"frontend\", \"router frontend egress\").",
            // Nor was any other call, which the same trace shows.
            "\"load-generator\" → \"frontend-proxy\", \"user_add_to_cart\": The one attempt was not cut \
             off and took 45.76ms.",
        ],
    );
    assert_eq!(text.matches("cut off, after").count(), 1, "{text}");
}

#[test]
fn the_masked_timeout_of_the_proxy_is_one_attempt_just_above_15_s() {
    says_what_was_masked("otlp-json/jaeger-error_timeout_masked.json");
}

#[test]
fn clickhouse_says_the_same_of_the_masked_timeout() {
    says_what_was_masked("clickhouse/oteldemo-timeout.jsonl");
}

/// `HotROD`'s driver asks redis for ten drivers, one after another: thirteen `GetDriver`, of which three
/// fail with the event "redis timeout" and are asked for again as further calls. They took 32.55, 38.66
/// and 32.75 ms; the ten that succeeded 6.5 to 15.4 ms. A timer would have cut all off after the same
/// time, so that a redis client that gave up after 30 ms is unlikely: they lie 6 ms apart, and none
/// just above a round number. In fact `HotROD` makes its redis up, and sleeps a random time before it
/// says "timeout". Three say little in any case, and nothing above gave up.
fn says_that_hotrod_has_no_timer(file: &str) {
    let Some(text) = told(file) else { return };
    assert_told(
        &text,
        &[
            "\"redis-manual\" → unknown, \"GetDriver\": 3 of 13 attempts were cut off, after 32.5528ms, \
             32.753ms and 38.6613ms: at no one value; 3 say little. Known of 10 attempts that \
             succeeded: of fewer than 20 nobody tells.",
            "\"frontend\" → \"route\", \"HTTP GET\": None of 10 attempts was cut off; the longest took \
             68.22ms.",
            "The one request was not cut off and took 702.6ms.",
        ],
    );
}

#[test]
fn the_redis_timeouts_of_hotrod_are_no_timer() {
    says_that_hotrod_has_no_timer("otlp-json/jaeger-ui-v3-hotrod-getTrace.json");
}

#[test]
fn clickhouse_says_the_same_of_hotrod() {
    says_that_hotrod_has_no_timer("clickhouse/hotrod-oldnames.tsv");
}

/// Fluent Bit's example: `checkout` calls a database, which ends after exactly 800 ms with the status
/// message "db timeout". Written by hand, so that no timer was late; still one attempt only.
#[test]
fn a_database_timeout_written_by_hand_is_one_attempt_at_800_ms() {
    let Some(text) = told("otlp-json/fluentbit-snake_case.json") else { return };
    assert_told(&text, &["1 attempt was", "after 800ms: just above 800ms; one says little."]);
}

/// The demo while it starts: carts cannot be reached, and calls to `cartservice` fail with UNAVAILABLE,
/// most of them within 2 ms, one after 3,668 ms and one after 5,004.8 ms; the proxy's calls above fail
/// with them. Just above 5 s, but they failed: nobody gave up waiting, so that nothing here is a timeout,
/// and the longest is what is known. Streams of feature flags (37 and 48 s) end well: no limit below.
#[test]
fn what_failed_after_five_seconds_in_the_demo_was_not_cut_off() {
    for file in ["otlp-jsonl/oteltui-oteldemo-mixed.jsonl", "otlp-proto/concat-oteldemo.pb"] {
        let Some(path) = corpus().map(|corpus| corpus.join(file).display().to_string()) else {
            return;
        };
        let ran = run(&["calibrate", &path, "--quiet"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let text = ran.out.replace("\n# ", " ");
        assert!(!text.contains("were cut off") && !text.contains("attempt was cut off,"), "{text}");
        assert!(!text.contains("timeout = ") && !text.contains("deadline = "), "{text}");
        assert_told(&text, &["was cut off; the longest took 5.005s."]);
    }
}
