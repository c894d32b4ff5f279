//! Limits and rules for retries: judged by their intervals.

use serde_json::{Value, json};

use super::{CONTRACT, check, checked, named};
use crate::support::made_spans::{granting, line};

/// So many traces in each of which 600 ms are left at payment.
fn fleet(traces: u64) -> String {
    (1..=traces).map(|trace| granting(trace, "deadline.remaining_ms", 600)).collect()
}

fn outcome(limit: &str, spans: &str) -> (i32, Value) {
    let contract = format!("{CONTRACT}limits = [{limit:?}]\n");
    let (code, document) = checked("limit", &contract, spans, &[]);
    let check = named(&document, limit).clone();
    (code, check)
}

#[test]
fn a_limit_passes_or_fails_where_its_whole_interval_does() {
    let spans = fleet(400);
    for (limit, expected) in [
        ("remaining_at_hop(payment).p1 >= 600ms", "pass"),
        ("remaining_at_hop(payment).p1 > 600ms", "fail"),
        ("remaining_at_hop(pay*).p50 <= 599.9ms", "fail"),
        ("elapsed.p99 <= 900ms", "pass"),
        ("elapsed.p99 < 900ms", "fail"),
        ("duration(payment).max <= 400ms", "pass"),
        ("duration(payment).max < 400ms", "fail"),
        ("overgrant_ratio <= 1%", "pass"),
        ("undeclared_ratio(fraud) <= 0.9", "fail"),
        ("undeclared_ratio(payment) <= 1%", "pass"),
        ("deadline_miss_ratio <= 0.01", "pass"),
    ] {
        let (code, check) = outcome(limit, &spans);
        assert_eq!(check["outcome"], expected, "{check}");
        assert_eq!(code, i32::from(expected == "fail"), "{limit}");
    }
}

#[test]
fn a_limit_that_too_few_requests_could_keep_cannot_be_told() {
    for limit in ["elapsed.p99 <= 1s", "overgrant_ratio <= 1%", "duration(nobody).max <= 1s"] {
        let (code, check) = outcome(limit, &fleet(20));
        assert_eq!((code, &check["outcome"]), (0, &Value::from("no-evidence")), "{check}");
    }
    // One end is enough to break it: 20 of 20 are above.
    let (_, check) = outcome("elapsed.p99 <= 800ms", &fleet(20));
    assert_eq!(check["outcome"], "fail");
    assert_eq!(check["measured"]["hi_ns"], Value::Null);
    assert_eq!(check["measured"]["value_ns"], 900_000_000);
}

/// A request of so many milliseconds with a call of payment, and what its sampler wrote.
fn sampled(trace: u64, ms: u64, state: Option<&str>, attributes: &Value) -> String {
    let root = line((trace, 1, 0, "gateway", "GET /", "server", [0, ms]), attributes);
    let call = line((trace, 2, 1, "gateway", "pay", "client", [0, ms]), &json!({}));
    let callee = line((trace, 3, 2, "payment", "pay", "server", [0, ms]), &json!({}));
    let with_state = |line: String| {
        let mut span: Value = serde_json::from_str(&line).unwrap();
        span["trace_state"] = json!(state);
        format!("{span}\n")
    };
    [root, call, callee].map(with_state).concat()
}

#[test]
fn percentiles_of_limits_are_of_the_population_where_every_request_says_what_it_stands_for() {
    // Nine fast requests of ten were dropped, no slow one.
    let fleet = |attributes: &Value| -> String {
        let fast = (1..=100).map(|trace| sampled(trace, 10, Some("ot=th:e66666"), attributes));
        let slow = (101..=200).map(|trace| sampled(trace, 900, Some("ot=th:0"), attributes));
        fast.chain(slow).collect()
    };
    let spans = fleet(&json!({}));
    for limit in ["elapsed.p50 <= 10ms", "duration(payment).p50 <= 10ms"] {
        let (_, check) = outcome(limit, &spans);
        assert_eq!(check["outcome"], "pass", "{check}");
        assert_eq!(check["reason"], "10.0 ms ≈[10.0, 10.0], n 200");
        // One that does not say, or a choice by outcome, and half of what is known is slow.
        let unknown = sampled(201, 10, None, &json!({}));
        let chosen = fleet(&json!({"tailsampling.policy": "errors"}));
        for spans in [spans.clone() + &unknown, chosen] {
            let (_, check) = outcome(limit, &spans);
            assert_eq!(check["outcome"], "no-evidence", "{check}");
        }
    }
    // 1,100² / (100·10² + 100·1²) = 119 effective requests of 200 do not bound it.
    let (_, check) = outcome("elapsed.p99 <= 1s", &spans);
    assert_eq!(
        (&check["outcome"], &check["measured"]["hi_ns"]),
        (&"no-evidence".into(), &Value::Null)
    );
}

#[test]
fn extremes_are_of_all_that_was_seen_also_of_requests_that_stand_for_none() {
    let kept = (1..=50).map(|trace| sampled(trace, 10, Some("ot=p:2;r:5"), &json!({})));
    let spans: String = kept.chain([sampled(51, 900, Some("ot=p:63;r:5"), &json!({}))]).collect();
    assert_eq!(outcome("elapsed.max <= 10ms", &spans).1["outcome"], "fail");
    assert_eq!(outcome("elapsed.p50 <= 10ms", &spans).1["measured"]["n"], 50);
}

#[test]
fn a_contract_that_matches_nothing_is_told_by_itself() {
    let contract = CONTRACT.replace("gateway", "nobody") + "limits = [\"elapsed.p50 <= 1s\"]\n";
    let (code, document) = checked("nobody", &contract, &fleet(1), &[]);
    let limit = named(&document, "elapsed.p50 <= 1s");
    assert_eq!(
        (code, &limit["class"], &limit["outcome"]),
        (0, &Value::Null, &"no-evidence".into())
    );
    let ran = check("nobody", &contract, &fleet(1), &["--width", "80"]);
    assert!(ran.out.contains("contract checkout ═"), "{}", ran.out);
}

/// A gateway that calls payment, which calls the bank twice or more often, each try failing but the
/// last.
fn retrying(trace: u64, tries: u64) -> String {
    let root = json!({"deadline.remaining_ms": 1_000});
    let mut spans = line((trace, 1, 0, "gateway", "GET /", "server", [0, 900]), &root);
    spans += &line((trace, 2, 1, "gateway", "pay", "client", [1, 890]), &json!({}));
    spans += &line((trace, 3, 2, "payment", "pay", "server", [2, 889]), &json!({}));
    for number in 0..tries {
        let status = if number + 1 < tries { 503 } else { 200 };
        let attributes = json!({"http.response.status_code": status, "server.address": "bank"});
        let times = [100 * number + 10, 100 * number + 20];
        spans += &line((trace, 10 + number, 3, "payment", "GET", "client", times), &attributes);
    }
    spans
}

#[test]
fn retries_are_judged_by_owner_by_tries_and_by_budget() {
    let judged = |retry: &str, spans: &str| {
        let contract = format!("{CONTRACT}retry = {{ {retry} }}\n");
        let (code, document) = checked("retry", &contract, spans, &[]);
        let checks = document["checks"].as_array().unwrap();
        let of_retries: Vec<Value> =
            checks.iter().filter(|check| check["sort"] == "retry").cloned().collect();
        assert_eq!(of_retries.len(), 1);
        (code, of_retries[0].clone())
    };
    let spans: String = (1..=30).map(|trace| retrying(trace, 3)).collect();
    let (code, owner) = judged("owner = \"gateway\"", &spans);
    assert_eq!((code, &owner["outcome"]), (1, &Value::from("fail")));
    let reason = owner["reason"].as_str().unwrap();
    assert!(reason.contains("60 retries by other services; traces"), "{reason}");
    assert_eq!(judged("owner = \"payment\"", &spans).1["outcome"], "pass");

    assert_eq!(judged("max_attempts = 3", &spans).1["outcome"], "pass");
    let (_, most) = judged("max_attempts = 2", &spans);
    let reason = most["reason"].as_str().unwrap();
    assert!(reason.starts_with("30 calls tried more often, up to 3 times; traces"), "{reason}");

    // 60 retries of 30 first tries at the bank, and 30 calls of payment.
    let (_, budget) = judged("budget_ratio = 0.5", &spans);
    assert_eq!((&budget["outcome"], &budget["measured"]["part"]), (&"fail".into(), &60.into()));
    assert_eq!(budget["measured"]["whole"], 60);
    assert_eq!(judged("budget_ratio = 1.1", &spans).1["outcome"], "no-evidence");
    assert_eq!(judged("budget_ratio = 2", &spans).1["outcome"], "pass");
}
