//! Which findings fail: certain ones that are new and not suppressed; and what the exit code says.

use std::collections::BTreeSet;
use std::fs;

use dwindle::check::{CASES, Evidence, FailOn, Outcome, Rulings, Standing};
use dwindle::date::Date;
use dwindle::tables::{Certainty, FindingCode};
use serde_json::Value;

use super::{CONTRACT, check, checked, file, named, passing_on, resetting};
use crate::support::command::{run, run_with_input, scratch};
use crate::support::made_tables::{Shape, partition};

#[test]
fn a_finding_fails_the_check_and_its_absence_passes_it() {
    let (code, document) = checked("fails", CONTRACT, &resetting(), &[]);
    assert_eq!((code, &document["verdict"]), (1, &Value::from("fail")));
    assert_eq!(named(&document, "deadline passed on")["outcome"], "fail");
    let (code, document) = checked("passes", CONTRACT, &passing_on(), &[]);
    assert_eq!((code, &document["verdict"]), (0, &Value::from("pass")));
    assert_eq!(named(&document, "deadline passed on")["outcome"], "pass");
    assert!(document["findings"].as_array().unwrap().is_empty());
}

#[test]
fn what_the_traces_cannot_tell_fails_on_demand_only_and_says_what_to_record() {
    let (code, document) = checked("untold", CONTRACT, &passing_on(), &[]);
    let queue = named(&document, "held in queue");
    assert_eq!((code, &queue["outcome"]), (0, &Value::from("no-evidence")));
    assert_eq!(queue["missing"], Value::from(vec!["queue"]));
    assert!(queue["reason"].as_str().unwrap().contains("x-request-start"));
    let cancel = named(&document, "cancel during CPU work");
    assert!(cancel["reason"].as_str().unwrap().contains("no caller left"));
    let (code, document) =
        checked("untold", CONTRACT, &passing_on(), &["--fail-on", "no-evidence"]);
    assert_eq!((code, &named(&document, "held in queue")["fails"]), (1, &Value::Bool(true)));
    // Without any grant nobody can see a reset.
    let spans = passing_on().replace("deadline.remaining_ms", "some.key");
    let (_, document) = checked("untold", CONTRACT, &spans, &[]);
    let grants = named(&document, "deadline passed on");
    assert!(grants["reason"].as_str().unwrap().contains("capture the grpc-timeout"));
}

#[test]
fn findings_of_a_baseline_do_not_fail_and_new_ones_do() {
    let dir = scratch("check-baseline-file");
    let baseline = dir.join("baseline.json");
    let ran = check("baseline", CONTRACT, &resetting(), &["--format", "json"]);
    fs::write(&baseline, &ran.out).unwrap();
    let with = ["--baseline", baseline.to_str().unwrap()];
    let (code, document) = checked("baseline", CONTRACT, &resetting(), &with);
    assert_eq!((code, &document["findings"][0]["standing"]), (0, &Value::from("known")));
    let elsewhere = resetting().replace("pay.Charge", "pay.Refund");
    let (code, document) = checked("baseline", CONTRACT, &elsewhere, &with);
    assert_eq!((code, &document["findings"][0]["standing"]), (1, &Value::from("fails")));
    for (text, expected) in [("{}", "dwindle check --format json"), ("no", "expected what")] {
        fs::write(&baseline, text).unwrap();
        let contract = file("baseline", CONTRACT);
        let args =
            ["check", "fixtures/cases/untidy.json", "--contract", contract.to_str().unwrap()];
        let ran = run(&[&args, with.as_slice()].concat());
        assert!(ran.code == 2 && ran.err.contains("--baseline") && ran.err.contains(expected));
    }
}

/// The id of the finding that resetting traces have.
fn id() -> String {
    let (_, document) = checked("id", CONTRACT, &resetting(), &[]);
    document["findings"][0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_suppression_holds_until_its_day_is_over_and_then_says_so() {
    let text = format!("[[suppress]]\nid = {:?}\nreason = \"soon\"\nuntil = 2027-01-31\n", id());
    let contract = format!("{CONTRACT}\n{text}");
    let as_of = |day: &str| checked("suppressed", &contract, &resetting(), &["--as-of", day]);
    let (code, document) = as_of("2027-01-31");
    assert_eq!((code, &document["findings"][0]["standing"]), (0, &Value::from("suppressed")));
    assert_eq!(document["suppressions"][0]["state"], "used");
    let (code, document) = as_of("2027-02-01");
    assert_eq!((code, &document["findings"][0]["standing"]), (1, &Value::from("fails")));
    assert_eq!(document["suppressions"][0]["state"], "expired");
    let ran = check("suppressed", &contract, &resetting(), &["--as-of", "2027-02-01"]);
    assert!(ran.out.contains("ended on 2027-01-31"), "{}", ran.out);

    let apart = file("suppressions", &text);
    let with = ["--suppressions", apart.to_str().unwrap(), "--as-of", "2027-01-01"];
    assert_eq!(check("apart", CONTRACT, &resetting(), &with).code, 0);
    let (_, document) = checked("unused", CONTRACT, &passing_on(), &with);
    assert_eq!(document["suppressions"][0]["state"], "unused");
}

#[test]
fn a_limit_is_suppressed_by_its_id_and_a_case_only_finding_by_finding() {
    let contract = format!("{CONTRACT}limits = [\"elapsed.max <= 1ms\"]\n");
    let suppressing = |spans: &str, name: &str| {
        let (_, document) = checked("suppressed-check", &contract, spans, &[]);
        let id = named(&document, name)["id"].as_str().unwrap().to_owned();
        let suppress = format!("[[suppress]]\nid = {id:?}\nreason = \"r\"\nuntil = 2027-01-31\n");
        let contract = format!("{contract}\n{suppress}");
        checked("suppressed-check", &contract, spans, &["--as-of", "2027-01-01"])
    };
    let (code, document) = suppressing(&passing_on(), "elapsed.max <= 1ms");
    assert_eq!((code, &document["suppressions"][0]["state"]), (0, &Value::from("used")));
    let (code, document) = suppressing(&resetting(), "deadline passed on");
    assert_eq!((code, &document["suppressions"][0]["state"]), (1, &Value::from("unused")));
}

#[test]
fn a_finding_that_holds_for_some_clock_offsets_only_fails_on_demand() {
    let mut tables = partition(&Shape::checkout(), 40, 1);
    for row in &mut tables.findings {
        row.certainty = Certainty::Possible;
    }
    let rulings = |fail_on: Vec<FailOn>| Rulings {
        fail_on,
        baseline: BTreeSet::new(),
        suppressions: Vec::new(),
        as_of: Date::parse("2027-01-01").unwrap(),
    };
    let mut evidence = Evidence::new(&[]);
    evidence.add(&tables);
    let lenient = rulings(Vec::new());
    let verdict = evidence.judge(&lenient);
    assert!(!verdict.fails());
    assert!(verdict.classes[0].findings.iter().all(|it| it.standing == Standing::Possible));
    let strict = rulings(vec![FailOn::Possible]);
    assert!(evidence.judge(&strict).fails());
    tables.findings[0].certainty = Certainty::Certain;
    evidence.add(&tables);
    assert!(evidence.judge(&lenient).fails(), "one that is certain is enough");
}

#[test]
fn every_code_belongs_to_a_case_and_the_fourteen_are_numbered() {
    for code in FindingCode::ALL {
        assert!(CASES.iter().any(|case| case.codes.contains(code)), "{}", code.name());
    }
    let numbers: Vec<u8> = CASES.iter().filter_map(|case| case.number).collect();
    assert_eq!(numbers, (1..=14).collect::<Vec<u8>>());
    assert_eq!(Outcome::ALL.len(), 3);
}

#[test]
fn a_folder_is_judged_as_its_traces_are() {
    let contract = file("folder", CONTRACT);
    let contract = contract.to_str().unwrap();
    let traces = scratch("check-folder-traces").join("spans.jsonl");
    fs::write(&traces, resetting()).unwrap();
    let traces = traces.to_str().unwrap();
    let out = scratch("check-folder-tables");
    let out = out.to_str().unwrap();
    let analyzed = run(&["analyze", traces, "--contract", contract, "--out", out, "--quiet"]);
    assert_eq!(analyzed.code, 0, "{}", analyzed.err);
    let of = |input: &str| run(&["check", input, "--contract", contract, "--format", "json"]);
    assert_eq!((of(out).code, of(out).out), (1, of(traces).out));
    let ran = run(&["check", out, "--contract", contract, "--deadline", "1s"]);
    assert!(ran.code == 2 && ran.err.contains("--deadline counts when traces are analyzed"));
}

#[test]
fn a_day_that_is_none_is_refused() {
    let ran = run(&["check", "fixtures/cases/untidy.json", "--as-of", "soon"]);
    assert!(ran.code == 2 && ran.err.contains("2027-01-31"), "{}", ran.err);
}

#[test]
fn what_fails_goes_before_what_was_lost() {
    let spans = resetting() + "{\"trace_id\": 1}\n";
    assert_eq!(check("lost", CONTRACT, &spans, &["--strict"]).code, 1);
    let spans = passing_on() + "{\"trace_id\": 1}\n";
    assert_eq!(check("lost", CONTRACT, &spans, &["--strict"]).code, 3);
}

#[test]
fn tables_are_judged_only_by_the_contracts_that_they_were_made_by() {
    let dir = scratch("check-other-contracts");
    let tables = dir.join("tables");
    let tables = tables.to_str().unwrap();
    let spans = file("other-contracts-spans", &resetting());
    let mine = file("other-contracts-mine", CONTRACT);
    let other = file("other-contracts-other", &CONTRACT.replace("1s", "2s"));
    let [spans, mine, other] = [&spans, &mine, &other].map(|path| path.to_str().unwrap());
    let analyzed = run(&["analyze", spans, "--contract", mine, "--out", tables, "--quiet"]);
    assert_eq!(analyzed.code, 0, "{}", analyzed.err);
    assert_eq!(run(&["check", tables, "--contract", mine]).code, 1);
    let refused = run(&["check", tables, "--contract", other]);
    assert_eq!(refused.code, 2, "{}", refused.out);
    assert!(refused.err.contains("analyzed by other contracts"), "{}", refused.err);
}

#[test]
fn a_contract_that_is_about_no_request_is_told_and_fails_on_demand() {
    let typo = CONTRACT.replace("gateway", "gatewayy");
    for format in ["terminal", "markdown", "json", "junit", "sarif", "github"] {
        let ran = check("typo", &typo, &passing_on(), &["--format", format]);
        assert_eq!(ran.code, 0, "{format}");
        assert!(ran.out.contains("no root span of service"), "{format}: {}", ran.out);
    }
    let (code, document) = checked("typo", &typo, &passing_on(), &["--fail-on", "no-evidence"]);
    let told = named(&document, "contract checkout matches requests");
    assert_eq!((code, &told["fails"]), (1, &Value::Bool(true)));
}

/// The cases need no contract: what the spans declare is enough for them.
#[test]
fn without_a_contract_the_cases_are_judged_by_what_the_spans_declare() {
    let args = ["check", "-", "--quiet", "--format", "json"];
    for (spans, code) in [(resetting(), 1), (passing_on(), 0)] {
        let ran = run_with_input(&args, spans.as_bytes());
        let document: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!((ran.code, &document["contract"]), (code, &Value::Null), "{}", ran.err);
    }
    for format in ["terminal", "markdown", "junit", "sarif", "github"] {
        let ran =
            run_with_input(&["check", "-", "--quiet", "--format", format], resetting().as_bytes());
        assert_eq!(ran.code, 1, "{format}: {}", ran.err);
        assert!(!ran.out.contains("file="), "{format} names no file: {}", ran.out);
    }
}
