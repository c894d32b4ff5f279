//! How values are written, and the traps in them (conventions §1, §7).

use dwindle::conventions::raw::Value;
use dwindle::span::Kind::Server;

use crate::support::raw_span::{Build, V, resolve, span};

const MS: i64 = 1_000_000;
const SECOND: i64 = 1_000 * MS;

/// The grant in ns that `key` gives on a server span, and that a failure is counted.
fn granted(key: &'static str, value: impl Into<V>) -> Option<i64> {
    let resolved = resolve(&span(Server).with(key, value));
    let grant = resolved.grant().map(|(grant_ns, ..)| grant_ns);
    assert_eq!(resolved.unparsed(key), u64::from(grant.is_none()), "{key}");
    grant
}

#[test]
fn grpc_timeouts_tell_milliseconds_from_minutes() {
    let grpc = |text: &'static str| granted("grpc.timeout", text);
    assert_eq!(grpc("2H"), Some(7_200 * SECOND));
    assert_eq!(grpc("2M"), Some(120 * SECOND));
    assert_eq!(grpc("2S"), Some(2 * SECOND));
    assert_eq!(grpc("2m"), Some(2 * MS));
    assert_eq!(grpc("4999876u"), Some(4_999_876_000));
    assert_eq!(grpc("1n"), Some(1));
    // Not by the letter, but seen: more digits, a small s.
    assert_eq!(grpc("5000000000n"), Some(5 * SECOND));
    assert_eq!(grpc("10s"), Some(10 * SECOND));
    for bad in ["", "m", "10", "-1m", "1.5S", "1 S", "10ms", "00000000000000000001n", "µ"] {
        assert_eq!(grpc(bad), None, "{bad}");
    }
}

#[test]
fn go_durations_have_either_micro_sign() {
    let go = |text: &'static str| granted("rpc.request.timeout", text);
    assert_eq!(go("1m30.5s"), Some(90_500 * MS));
    assert_eq!(go("850µs"), Some(850_000));
    assert_eq!(go("850μs"), Some(850_000));
    assert_eq!(go("850us"), Some(850_000));
    assert_eq!(go("0"), Some(0));
    assert_eq!(go("0s"), Some(0));
    for bad in ["PT10S", "10", "9.98", "fast", "1x"] {
        assert_eq!(go(bad), None, "{bad}");
    }
}

#[test]
fn the_timeout_of_temporal_held_an_instant_before_2025() {
    let raw = span(Server).with("rpc.request.timeout", "2026-09-05T09:20:00.125Z");
    let (grant_ns, kind, _, from_start) = resolve(&raw).grant().unwrap();
    assert_eq!((grant_ns, kind, from_start), (125 * MS, "absolute", true));
}

#[test]
fn instants_may_have_a_zone_and_nanoseconds() {
    let at = |text: &'static str| granted("rpc.request.deadline", text);
    assert_eq!(at("2026-09-05T09:20:01Z"), Some(SECOND));
    assert_eq!(at("2026-09-05T11:20:01+02:00"), Some(SECOND));
    assert_eq!(at("2026-09-05t03:50:01.5-05:30"), Some(1_500 * MS));
    assert_eq!(at("2026-09-05 09:20:00.000000001Z"), Some(1));
    assert_eq!(at("2026-09-05T09:20:00.0000000019Z"), Some(1));
    assert_eq!(at("2028-02-29T00:00:00Z"), Some(46_795_200 * SECOND));
    for bad in [
        "2027-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-09-05T24:00:00Z",
        "2026-09-05",
        "2026-09-05T09:20:00",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "tomorrow",
        "2026-09-05T09:20:00.Z",
        "2026-09-05T09:20:00Zulu",
    ] {
        assert_eq!(at(bad), None, "{bad}");
    }
}

#[test]
fn numbers_may_be_texts_doubles_lists_and_lists_in_texts() {
    let ms = |value: V| granted("http.request.header.connect-timeout-ms", value);
    assert_eq!(ms(5_000.into()), Some(5 * SECOND));
    assert_eq!(ms(" 5000 ".into()), Some(5 * SECOND));
    assert_eq!(ms("0.25".into()), Some(250_000));
    assert_eq!(ms("+1e3".into()), Some(SECOND));
    assert_eq!(ms(["5000"].into()), Some(5 * SECOND));
    assert_eq!(ms(r#"["5000"]"#.into()), Some(5 * SECOND));
    assert_eq!(ms("[5000.5]".into()), Some(5_000_500_000));
    assert_eq!(ms(Value::List(vec![Value::Int(5_000)]).into()), Some(5 * SECOND));
    for bad in ["", "5s", "0x10", "5_000", "--5", ".", "[5000", "[[1]]", "[true]"] {
        assert_eq!(ms(bad.into()), None, "{bad}");
    }
    assert_eq!(ms(true.into()), None);
    assert_eq!(ms(Value::Other.into()), None);
    assert_eq!(ms(Value::List(Vec::new()).into()), None);
    assert_eq!(ms(Value::List(vec![Value::List(vec![Value::Int(1)])]).into()), None);
}

#[test]
fn of_several_values_the_smallest_counts() {
    assert_eq!(granted("http.request.header.connect-timeout-ms", ["70", "60"]), Some(60 * MS));
    assert_eq!(granted("http.request.header.connect-timeout-ms", "70, 60"), Some(60 * MS));
    assert_eq!(granted("grpc.timeout", ["1S", "900m", "?"]), Some(900 * MS));
    let contexts = ["1 1788600000300000000", "1 1788600000200000000"];
    assert_eq!(granted("http.request.header.l5d-ctx-deadline", contexts), Some(200 * MS));
}

#[test]
fn doubles_are_converted_exactly_and_rounded_down() {
    let ms = |number: f64| granted("deadline.remaining_ms", number);
    assert_eq!(ms(1.5), Some(1_500_000));
    // The double next to 0.3 is 0.299999999999999988…
    assert_eq!(ms(0.3), Some(299_999));
    assert_eq!(ms(1e-9), Some(0));
    assert_eq!(ms(-1e-9), Some(0));
    assert_eq!(ms(5e-324), Some(0));
    assert_eq!(ms(-2.5), Some(0));
    assert_eq!(ms(9_007_199_254.0), Some(9_007_199_254 * MS));
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300] {
        assert_eq!(ms(bad), None, "{bad}");
    }
    for bad in ["NaN", "inf", "-Infinity", "1e999"] {
        assert_eq!(granted("deadline.remaining_ms", bad), None, "{bad}");
    }
}

#[test]
fn a_length_that_overflows_does_not_parse() {
    let longest = i64::MAX / 4 / MS;
    assert_eq!(granted("deadline.remaining_ms", longest), Some(longest * MS));
    assert_eq!(granted("deadline.remaining_ms", longest + 1), None);
    assert_eq!(granted("deadline.remaining_ms", i64::MIN), None);
    assert_eq!(granted("grpc.timeout", "9999999999999999999H"), None);
    assert_eq!(granted("rpc.request.timeout", "9999999h"), None);
    let digits = "9".repeat(400);
    assert_eq!(granted("deadline.remaining_ms", digits), None);
}

#[test]
fn epoch_nanoseconds_are_read_as_integers() {
    // As doubles they would be off by up to 128 ns.
    let context = "1788600000000000001 1788600000000000003";
    assert_eq!(granted("http.request.header.l5d-ctx-deadline", context), Some(3));
    assert_eq!(granted("http.request.header.l5d-ctx-deadline", "1788600000000000003"), None);
    assert_eq!(granted("http.request.header.l5d-ctx-deadline", "1 2 3"), None);
}

#[test]
fn a_limit_of_celery_may_be_nothing() {
    let key = "celery.timelimit";
    assert_eq!(granted(key, "(300, None)"), Some(300 * SECOND));
    assert_eq!(granted(key, "[null, 240]"), Some(240 * SECOND));
    let pair = Value::List(vec![Value::Double(0.5), Value::Other]);
    assert_eq!(granted(key, pair), Some(SECOND / 2));
    let none = resolve(&span(Server).with(key, "(None, None)"));
    assert_eq!((none.grant(), none.unparsed(key)), (None, 0));
}

#[test]
fn a_url_or_an_sdk_request_without_a_time_is_no_failure() {
    let raw = span(Server)
        .with("url.full", "https://shop/items?timeoutless=1")
        .with("http.request.header.amz-sdk-request", "attempt=1; max=3");
    let resolved = resolve(&raw);
    assert_eq!(resolved.grant(), None);
    assert!(resolved.seen.keys.values().all(|count| count.unparsed == 0));
    let plain = resolve(&span(Server).with("url.full", "https://shop/items"));
    assert!(plain.seen.keys.is_empty(), "{:?}", plain.seen);
    assert_eq!(granted("url.query", "timeout=soon"), None);
    assert_eq!(granted("url.query", "timeout=30"), None);
}

#[test]
fn without_a_unit_in_name_or_value_nothing_is_guessed() {
    assert_eq!(granted("http.request.header.x-request-timeout", "30"), None);
    assert_eq!(granted("http.request.header.x-client-timeout", 30), None);
}
