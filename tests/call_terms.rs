//! What a contract says of calls: how long callers wait for an attempt, and what one needs.

use std::fs;

use serde_json::{Value, json};

use crate::support::command::{run, run_with_input, scratch};
use crate::support::made_spans::line;

/// A gateway with 1,000 ms calls payment at 300 ms, which calls fraud at 350 ms; nobody says what it
/// gave.
fn undeclared() -> String {
    [
        line(
            (1, 1, 0, "gateway", "POST /checkout", "server", [0, 990]),
            &json!({"deadline.remaining_ms": 1_000}),
        ),
        line((1, 2, 1, "gateway", "pay", "client", [300, 980]), &json!({"rpc.system": "grpc"})),
        line((1, 3, 2, "payment", "pay.Charge", "server", [301, 979]), &json!({})),
        line((1, 4, 3, "payment", "ask", "client", [350, 900]), &json!({"rpc.system": "grpc"})),
        line((1, 5, 4, "fraud", "fraud.Ask", "server", [351, 899]), &json!({})),
    ]
    .concat()
}

/// The rows of a table of the traces by a contract, and the findings in words.
fn rows(name: &str, contract: &str, spans: &str, table: &str) -> Vec<Value> {
    let dir = scratch(name);
    let (file, out) = (dir.join("contract.toml"), dir.join("out"));
    fs::write(&file, contract).unwrap();
    let [file, out_dir] = [&file, &out].map(|path| path.to_str().unwrap());
    let args = ["analyze", "-", "--quiet", "--contract", file, "--out", out_dir];
    let ran = run_with_input(&[&args[..], &["--format", "ndjson"]].concat(), spans.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let text = fs::read_to_string(out.join(format!("{table}.ndjson"))).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn hop<'r>(rows: &'r [Value], callee: &str) -> &'r Value {
    rows.iter().find(|row| row["callee_service"] == callee).unwrap()
}

/// At 300 ms 700 are left: a second is the full timeout again. Payment then knows of that second.
#[test]
fn a_timeout_that_holds_whatever_is_left_is_a_grant_that_restarts_the_clock() {
    let contract = "[[call]]\ncaller = \"gateway\"\ntimeout = \"1s\"\n";
    let hops = rows("terms-fixed", contract, &undeclared(), "hops");
    let payment = hop(&hops, "payment");
    assert_eq!(payment["granted_ns"], 1_000_000_000_i64);
    assert_eq!(
        (&payment["grant_kind"], &payment["grant_key"]),
        (&json!("full"), &json!("contract"))
    );
    assert_eq!(
        (&payment["verdict"], &payment["overgrant_ns"]),
        (&json!("reset"), &json!(300_000_000))
    );
    assert_eq!(hop(&hops, "fraud")["granted_ns"], Value::Null, "another caller");
    let findings = rows("terms-fixed-findings", contract, &undeclared(), "findings");
    assert_eq!(findings[0]["code"], "timeout-reset");
    assert_eq!(findings[0]["evidence"], "configured");
}

#[test]
fn what_was_calibrated_is_told_as_inferred() {
    let contract = "[[call]]\ncaller = \"gateway\"\ntimeout = \"1s\"\ncalibrated = true\n";
    let hops = rows("terms-inferred", contract, &undeclared(), "hops");
    let payment = hop(&hops, "payment");
    assert_eq!(
        (&payment["grant_kind"], &payment["grant_rule"]),
        (&json!("inferred"), &json!("B12"))
    );
    let findings = rows("terms-inferred-findings", contract, &undeclared(), "findings");
    assert_eq!(findings[0]["evidence"], "inferred");
}

/// At 300 ms 700 are left, and payment is given those; of a timeout of 200 ms it is given these.
#[test]
fn a_timeout_that_propagates_is_no_longer_than_what_is_left() {
    for (timeout, granted, verdict) in [("1s", 700, "propagated"), ("200ms", 200, "tightened")] {
        let contract =
            format!("[[call]]\ncallee = \"payment\"\ntimeout = \"{timeout}\"\npropagates = true\n");
        let hops = rows(&format!("terms-{timeout}"), &contract, &undeclared(), "hops");
        let payment = hop(&hops, "payment");
        assert_eq!(payment["granted_ns"], granted * 1_000_000, "{timeout}");
        assert_eq!(payment["verdict"], verdict, "{timeout}");
        // At 350 ms: 650 ms of the whole, or 150 of the 200.
        let left = if granted == 700 { 650 } else { 150 };
        assert_eq!(hop(&hops, "fraud")["remaining_at_send_ns"], left * 1_000_000, "{timeout}");
    }
}

#[test]
fn what_spans_declare_goes_before_what_a_contract_knows_of_their_calls() {
    let declared = undeclared().replacen(
        "\"attributes\":{}",
        "\"attributes\":{\"deadline.remaining_ms\":600}",
        1,
    );
    let contract = "[[call]]\ntimeout = \"1s\"\n";
    let hops = rows("terms-declared", contract, &declared, "hops");
    assert_eq!(hop(&hops, "payment")["granted_ns"], 600_000_000);
    assert_eq!(hop(&hops, "fraud")["granted_ns"], 1_000_000_000);
}

/// At 350 ms 650 are left: less than most attempts need, which take 700 ms. Those that were measured blame
/// only where less was left than almost all need.
#[test]
fn what_was_measured_blames_only_below_the_break_even() {
    for (break_even_ms, funding) in [(600, "funded"), (660, "unfundable")] {
        let contract = format!(
            "[[call]]\ncallee = \"fraud\"\nattempt_allowance = \"700ms\"\n\
             break_even = \"{break_even_ms}ms\"\ncalibrated = true\n"
        );
        let name = format!("terms-break-even-{break_even_ms}");
        let attempts = rows(&name, &contract, &undeclared(), "attempts");
        let ask = attempts.iter().find(|row| row["callee_service"] == "fraud").unwrap();
        assert_eq!(ask["allowance_ns"], break_even_ms * 1_000_000);
        assert_eq!((&ask["allowance_key"], &ask["funding"]), (&json!("measured"), &json!(funding)));
        let findings = rows(&format!("{name}-findings"), &contract, &undeclared(), "findings");
        assert_eq!(findings.len(), usize::from(funding == "unfundable"), "{findings:?}");
        for finding in findings {
            assert_eq!(finding["certainty"], "certain");
            assert_eq!(finding["evidence"], "inferred");
            assert_eq!(finding["excess_ns"], 10_000_000);
        }
        // Once somebody has looked it up, the allowance is what counts.
        let given = contract.replace("calibrated = true\n", "");
        let attempts = rows(&format!("{name}-given"), &given, &undeclared(), "attempts");
        let ask = attempts.iter().find(|row| row["callee_service"] == "fraud").unwrap();
        assert_eq!(ask["allowance_ns"], 700_000_000);
    }
}

/// An allowance that a person gave for a call goes before that of the class, which goes before what was
/// measured.
#[test]
fn of_several_allowances_the_one_that_was_given_for_the_call_counts() {
    let class = "[[contract]]\nname = \"all\"\nretry = { attempt_allowance = \"400ms\" }\n";
    let call = "[[call]]\ncallee = \"fraud\"\nattempt_allowance = \"500ms\"\n";
    for (name, contract, allowance_ms, key) in [
        ("given", format!("{class}{call}"), 500, "contract"),
        ("measured", format!("{class}{call}calibrated = true\n"), 400, "contract"),
        ("only", format!("{call}calibrated = true\n"), 500, "measured"),
    ] {
        let attempts = rows(&format!("terms-{name}"), &contract, &undeclared(), "attempts");
        let ask = attempts.iter().find(|row| row["callee_service"] == "fraud").unwrap();
        assert_eq!(ask["allowance_ns"], allowance_ms * 1_000_000, "{name}");
        assert_eq!(ask["allowance_key"], key, "{name}");
    }
}

/// Deadlines that were calibrated are for requests that declare none.
#[test]
fn a_calibrated_deadline_never_goes_before_one_that_is_declared() {
    let contract = "[[contract]]\nname = \"all\"\ndeadline = \"2s\"\ncalibrated = true\n";
    let requests = rows("terms-own-deadline", contract, &undeclared(), "requests");
    assert_eq!(requests[0]["deadline_source"], "declared");
    assert_eq!(requests[0]["budget_at_origin_ns"], 1_000_000_000);
    let silent = undeclared().replace("\"deadline.remaining_ms\":1000", "");
    let requests = rows("terms-no-deadline", contract, &silent, "requests");
    assert_eq!(requests[0]["deadline_source"], "inferred");
    assert_eq!(requests[0]["budget_at_origin_ns"], 2_000_000_000);
}

/// Of whom nobody knows whom it calls only what holds for all that it may call is known.
#[test]
fn a_call_to_nobody_known_has_a_timeout_only_where_there_is_no_doubt() {
    let lone = line((1, 1, 0, "gateway", "GET /", "server", [0, 900]), &json!({}))
        + &line((1, 2, 1, "gateway", "pay", "client", [1, 800]), &json!({"rpc.system": "grpc"}));
    let granted = |name: &str, contract: &str| {
        let hops = rows(name, contract, &lone, "hops");
        hops.iter().find(|row| row["depth"] == 1).unwrap()["granted_ns"].clone()
    };
    let callee = "[[call]]\ncallee = \"payment\"\ntimeout = \"1s\"\n";
    let one = format!("{callee}caller = \"gateway\"\n");
    let two = format!("{one}[[call]]\ncallee = \"fraud\"\noperation = \"pay\"\ntimeout = \"2s\"\n");
    assert_eq!(granted("terms-callee-alone", callee), Value::Null);
    assert_eq!(granted("terms-one-callee", &one), 1_000_000_000);
    assert_eq!(granted("terms-two-callees", &two), Value::Null);
}

#[test]
fn what_cannot_be_meant_is_refused_with_its_line() {
    let cases = [
        ("[[call]]\ncaller = \"a\"", "1", "needs a timeout or an attempt_allowance"),
        ("[[call]]\ntimeout = \"0s\"", "2", "more than nothing"),
        ("[[call]]\nattempt_allowance = \"0s\"", "2", "more than nothing"),
        ("[[call]]\nattempt_allowance = \"1s\"\npropagates = true", "3", "a timeout beside it"),
        ("[[call]]\nattempt_allowance = \"1s\"\nbreak_even = \"2s\"", "3", "no smaller"),
        ("[[call]]\ntimeout = 5", "2", "a duration in quotes"),
        ("[[call]]\ntimeout = \"1s\"\nwaits = true", "3", "unknown field"),
    ];
    let dir = scratch("terms-refused");
    for (place, (text, at, expected)) in cases.iter().enumerate() {
        let file = dir.join(format!("{place}.toml"));
        fs::write(&file, text).unwrap();
        let ran = run(&["report", "fixtures/shop", "--contract", file.to_str().unwrap()]);
        assert_eq!(ran.code, 2, "{text}");
        assert!(ran.err.contains(&format!("{place}.toml:{at}:")), "{text}: {}", ran.err);
        assert!(ran.err.contains(expected), "{text}: {}", ran.err);
    }
}
