//! What plans from measurements leave out, and what their pages tell of it.

use std::fs;

use serde_json::Value;

use super::measured::{SHOP, lines, only, plan, told};
use crate::support::command::{run, scratch};

/// Scenario: 112 searches were hedged, and the hedge answered: the first attempt was cut.
/// Guarantee: what lost is neither a try of its own nor of unknown length, and the first try takes until the
/// hedge answers: nothing takes twice the threshold. The page and the file tell how many are left out.
#[test]
fn a_hedge_is_no_try_and_what_lost_is_left_out() {
    let search = ["model", "--from", SHOP, "--class", "storefront GET /search"];
    let printed = plan(&[search.as_slice(), &["--print-scenario"]].concat()).out;
    let scenario: toml::Value = toml::from_str(&printed).unwrap();
    for configuration in scenario["configuration"].as_array().unwrap() {
        assert_eq!(configuration["max_attempts"].as_integer(), Some(1));
    }
    assert!(!printed.contains("3000ms"), "{printed}");
    let joined = |text: &str| text.replace("\n# ", " ").replace('\n', " ");
    for text in [printed, plan(&search).out] {
        let text = joined(&text);
        assert!(text.contains("112 attempts that lost are left out"), "{text}");
        assert!(text.contains("602 are run"), "{text}");
    }
    let tries = lines(&["chain", "--from", SHOP, "--class", "storefront GET /search"]);
    let tries: Vec<_> = told(&tries, "policy", "tries").iter().map(|it| &it["value"]).collect();
    assert_eq!(tries, [1]);
}

/// Guarantee: a page of a measured scenario tells what was read, with digests.
#[test]
fn a_page_of_a_measured_scenario_tells_what_it_rests_on() {
    let cart = ["model", "--from", SHOP, "--class", "storefront POST /cart", "--format", "html"];
    let page = plan(&cart).out;
    assert!(page.contains("How this was made"), "{page}");
    assert!(page.contains("each length is drawn by itself"), "{page}");
}

/// Scenario: a request whose service makes three calls, each when the other has ended.
/// Guarantee: its depth is three.
#[test]
fn calls_one_after_another_are_deep() {
    let span = |id: u8, parent: &str, kind: u8, from: u64, to: u64| {
        format!(
            r#"{{"traceId":"{:032x}","spanId":"{id:016x}","parentSpanId":"{parent}","name":"op {id}","kind":{kind},"startTimeUnixNano":"{}","endTimeUnixNano":"{}"}}"#,
            7,
            1_700_000_000_000_000_000 + from * 1_000_000,
            1_700_000_000_000_000_000 + to * 1_000_000
        )
    };
    let root = format!("{:016x}", 1);
    let spans = [
        span(1, "", 2, 0, 400),
        span(2, &root, 3, 10, 100),
        span(3, &root, 3, 100, 200),
        span(4, &root, 3, 201, 300),
        // Beside the third.
        span(5, &root, 3, 150, 390),
    ];
    let document = format!(
        r#"{{"resourceSpans":[{{"resource":{{"attributes":[{{"key":"service.name","value":{{"stringValue":"a"}}}}]}},"scopeSpans":[{{"spans":[{}]}}]}}]}}"#,
        spans.join(",")
    );
    let file = scratch("plan-measured-sequence").join("traces.json");
    fs::write(&file, document).unwrap();
    let told_of = lines(&["chain", "--from", file.to_str().unwrap(), "--end-to-end", "1s"]);
    assert_eq!(only(&told_of, "policy", "depth", "1")["value"], 3);
}

/// Guarantee: an allowance is told to its last digit: rounded up it would not fit.
#[test]
fn an_allowance_that_fits_is_told_exactly() {
    let page = plan(&["retries", "--from", SHOP, "--class", "storefront POST /checkout"]).out;
    assert!(page.contains("571.602713"), "{page}");
    let defaults = "Not measured, but the default of a flag: the waits of storefront → payments";
    assert!(page.contains(defaults), "{page}");
    let many = plan(&["retries", "--from", SHOP, "--max-attempts", "12"]).out;
    assert!(many.contains("Of 12 attempts at most, 10 are told."), "{many}");
}

/// Guarantee: a table without even a header is no table without rows.
#[test]
fn an_empty_csv_table_is_refused() {
    let dir = scratch("plan-measured-empty");
    let out = dir.to_str().unwrap();
    let ran = run(&["analyze", SHOP, "--out", out, "--format", "csv", "--quiet"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    fs::write(dir.join("attempts.csv"), "").unwrap();
    let ran = plan(&["retries", "--from", out]);
    assert_ne!(ran.code, 0);
    assert!(ran.err.contains("attempts.csv") && ran.err.contains("columns"), "{}", ran.err);
}

/// Attempts that never reached their server do not name it: their call is that of the attempt that did.
#[test]
fn a_call_is_one_line_though_an_attempt_never_arrived() {
    let told = crate::plan::plan(&[
        "retries",
        "--from",
        "fixtures/cases/t16-grpc-sent-attempt-with-retry.json",
        "--format",
        "json",
    ]);
    let told: Value = serde_json::from_str(&told.out).unwrap();
    let lines = told["lines"].as_array().unwrap();
    let retried: Vec<_> = lines.iter().filter(|line| line["measure"] == "calls_retried").collect();
    assert!(!retried.is_empty());
    for line in retried {
        assert!(line["part"].as_u64() <= line["n"].as_u64(), "{line}");
        assert!(line["n"].as_u64() > Some(0), "{line}");
    }
}

/// Every request of this class has just this deadline, and hops below are given less.
#[test]
fn a_deadline_that_requests_have_anyway_changes_no_share() {
    let class = ["retries", "--from", "fixtures/shop", "--class", "storefront GET /items*"];
    let shares = |args: &[&str]| {
        let told = crate::plan::plan(&[&class[..], args, &["--format", "json"]].concat());
        let told: Value = serde_json::from_str(&told.out).unwrap();
        let lines = told["lines"].as_array().unwrap().clone();
        lines.into_iter().filter(|line| line["measure"] == "requests_that_fit").collect::<Vec<_>>()
    };
    let own = shares(&[]);
    assert!(!own.is_empty());
    assert_eq!(shares(&["--deadline", "800ms"]), own);
}
