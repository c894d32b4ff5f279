//! `dwindle calibrate` as its users meet it.

use std::collections::BTreeSet;
use std::fs;

use dwindle::contract::ContractFile;
use dwindle::units::Nanos;
use serde_json::Value;

use super::fleet::{FLEET, kept};
use crate::support::command::{Ran, run, scratch};
use crate::support::harmless;

const SHOP: &str = "fixtures/shop";

fn done(args: &[&str]) -> Ran {
    let ran = run(args);
    assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
    ran
}

/// What `calibrate` prints.
fn calibrated(args: &[&str]) -> String {
    done(&[&["calibrate", "--quiet"], args].concat()).out
}

#[test]
fn a_fleet_that_declares_nothing_is_told_its_limits() {
    let ran = done(&["calibrate", FLEET]);
    insta::assert_snapshot!("fleet", ran.out);
    insta::assert_snapshot!("fleet-found", ran.err);
}

/// What was planted: stock gets 250 ms whatever is left, orders a second, price what is left of that;
/// who asks for a list gives up after two seconds.
#[test]
fn what_was_planted_is_what_holds() {
    let file = ContractFile::parse("fleet", &calibrated(&[FLEET])).unwrap();
    let timeout = |callee: &str| {
        let is_it = |glob: &dwindle::contract::Glob| glob.as_literal().as_deref() == Some(callee);
        let call = file.calls.iter().find(|call| call.callee.as_ref().is_some_and(is_it)).unwrap();
        call.timeout
    };
    assert_eq!(timeout("stock"), Some(Nanos::from_millis(250)));
    assert_eq!(timeout("orders"), Some(Nanos::from_seconds(1)));
    assert_eq!(timeout("price"), None);
    assert_eq!(timeout("catalog"), None);
    let deadline =
        |name: &str| file.contracts.iter().find(|contract| contract.name == name).unwrap().deadline;
    assert_eq!(deadline("web GET /list"), Some(Nanos::from_seconds(2)));
    // They end because orders was cut off.
    assert_eq!(deadline("web GET /orders/{id}"), None);
}

#[test]
fn a_folder_of_tables_gives_what_its_traces_give() {
    for input in [FLEET, SHOP] {
        for format in ["parquet", "ndjson"] {
            let dir = scratch(&format!("calibrate-tables-{format}"));
            let tables = dir.to_str().unwrap();
            done(&["analyze", input, "--out", tables, "--format", format, "--quiet"]);
            assert_eq!(calibrated(&[tables]), calibrated(&[input]), "{input} {format}");
        }
    }
}

#[test]
fn threads_and_the_order_of_files_change_no_byte() {
    let dir = scratch("calibrate-order");
    let text = kept();
    let lines: Vec<&str> = text.lines().rev().collect();
    let mut files = Vec::new();
    for (number, part) in lines.chunks(97).enumerate() {
        let file = dir.join(format!("{number}.jsonl"));
        fs::write(&file, part.join("\n")).unwrap();
        files.push(file.to_str().unwrap().to_owned());
    }
    let whole = calibrated(&[FLEET, "--threads", "1"]);
    let forth: Vec<&str> = files.iter().map(String::as_str).collect();
    let back: Vec<&str> = forth.iter().rev().copied().collect();
    assert_eq!(calibrated(&[&["--threads", "4"], &forth[..]].concat()), whole);
    assert_eq!(calibrated(&back), whole);
}

#[test]
fn out_writes_what_is_otherwise_printed_and_replaces_only_by_force() {
    let dir = scratch("calibrate-out");
    let file = dir.join("contract.toml");
    let out = file.to_str().unwrap();
    let printed = calibrated(&[FLEET]);
    let ran = done(&["calibrate", FLEET, "-o", out]);
    assert_eq!(ran.out, "");
    assert!(ran.err.contains(&format!("-> {out}")), "{}", ran.err);
    assert_eq!(fs::read_to_string(&file).unwrap(), printed);
    // Somebody corrects it.
    fs::write(&file, "corrected").unwrap();
    let refused = run(&["calibrate", FLEET, "-o", out]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("already there") && refused.err.contains("--force"));
    assert_eq!(fs::read_to_string(&file).unwrap(), "corrected");
    done(&["calibrate", FLEET, "-o", out, "--force"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), printed);
    let names: Vec<_> =
        fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["contract.toml"], "something else was left behind");
    let nowhere = dir.join("no/such/folder.toml");
    let failed = run(&["calibrate", FLEET, "-o", nowhere.to_str().unwrap()]);
    assert_eq!(failed.code, 2);
    assert!(failed.err.contains("cannot be written"), "{}", failed.err);
}

#[test]
fn quiet_says_nothing_and_otherwise_two_lines_tell_what_was_found() {
    assert_eq!(done(&["calibrate", FLEET, "--quiet"]).err, "");
    assert_eq!(done(&["calibrate", FLEET]).err.lines().count(), 2);
}

#[test]
fn quantiles_can_be_chosen() {
    let allowances = |flags: &[&str]| {
        let text = calibrated(&[&[FLEET], flags].concat());
        let file = ContractFile::parse("fleet", &text).unwrap();
        let reserves = file.contracts.iter().map(|it| it.return_reserve).max().unwrap();
        (file.calls.iter().filter_map(|it| it.attempt_allowance).max().unwrap(), reserves)
    };
    let (p95, reserve) = allowances(&[]);
    let (p50, same) = allowances(&["--quantile", "p50"]);
    assert!(p50 < p95);
    assert_eq!(same, reserve);
    assert_eq!(allowances(&["--reserve-quantile", "p50"]).0, p95);
    assert!(allowances(&["--reserve-quantile", "p50"]).1 < reserve);
    for wrong in ["p5", "95", "p96"] {
        let refused = run(&["calibrate", FLEET, "--quantile", wrong]);
        assert_eq!(refused.code, 2);
        assert!(refused.err.contains("expected p50, p90, p95, p99 or p99.9"), "{}", refused.err);
    }
}

#[test]
fn only_requests_that_are_chosen_count() {
    let lists = calibrated(&[FLEET, "--class", "web GET /list"]);
    let file = ContractFile::parse("lists", &lists).unwrap();
    assert_eq!(file.contracts.len(), 1);
    assert!(lists.contains("catalog.Catalog/List") && !lists.contains("stock.Stock/Reserve"));
}

#[test]
fn calls_into_one_service_are_no_requests() {
    let dir = scratch("calibrate-scope");
    let tables = dir.to_str().unwrap();
    done(&["analyze", SHOP, "--scope", "service=payments", "--out", tables, "--quiet"]);
    let refused = run(&["calibrate", tables]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("--scope"), "{}", refused.err);
}

/// A report as JSON, without the tables and notes that say where policies come from.
fn report(args: &[&str]) -> Value {
    let out = done(&[&["report", "--format", "json", "--quiet"], args].concat()).out;
    serde_json::from_str(&out).unwrap()
}

/// What a report judges: the tables of hops, attempts and findings of each class.
fn judged(report: &Value) -> Vec<&Value> {
    let tables = report["sections"].as_array().unwrap().iter();
    let tables = tables.flat_map(|section| section["tables"].as_array().unwrap());
    let is_judged = |table: &&Value| {
        let id = table["id"].as_str().unwrap();
        ["hops", "attempts", "findings", "grants"].iter().any(|part| id.contains(part))
    };
    tables.filter(is_judged).collect()
}

/// `report` calibrates in memory: in two steps it says the same, but for reserves, which are what
/// people want to keep.
#[test]
fn a_report_by_the_contract_is_the_report_without_one() {
    for input in [FLEET, SHOP] {
        let dir = scratch("calibrate-two-steps");
        let file = dir.join("contract.toml");
        let text = calibrated(&[input]);
        let kept = text.lines().filter(|line| !line.starts_with("return_reserve"));
        fs::write(&file, kept.collect::<Vec<_>>().join("\n")).unwrap();
        let by_contract = report(&[input, "--contract", file.to_str().unwrap()]);
        let by_itself = report(&[input]);
        let (one, other) = (judged(&by_itself), judged(&by_contract));
        assert!(!one.is_empty());
        assert_eq!(one, other, "{input}");
    }
}

#[test]
fn names_that_attack_are_nothing_but_text() {
    let text = calibrated(&["fixtures/hostile/traces.jsonl"]);
    harmless::plain(&text);
    let file = ContractFile::parse("hostile", &text).unwrap();
    assert!(file.contracts.len() > 20);
}

/// The keys of a document, at every depth.
fn keys(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                found.insert(key.clone());
                keys(value, found);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| keys(value, found)),
        _ => {}
    }
}

#[test]
fn the_form_for_programs_is_what_is_documented() {
    let text = fs::read_to_string("docs/output.md").unwrap();
    let (_, section) = text.split_once("## JSON of `calibrate`").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let mut found = BTreeSet::new();
    for input in [FLEET, SHOP] {
        keys(&harmless::json(&calibrated(&[input, "--format", "json"]))[0], &mut found);
    }
    let named: BTreeSet<String> =
        section.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    let missing: Vec<&String> = found.difference(&named).collect();
    assert_eq!(missing, Vec::<&String>::new());
    // What stands there as a value.
    let values = [
        "docs/inference.md",
        "fixed",
        "propagated",
        "min of both",
        "not enough evidence",
        "origin",
        "caller_called",
    ];
    let unprinted = named.difference(&found).filter(|name| !values.contains(&name.as_str()));
    assert_eq!(unprinted.collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn both_forms_say_the_same_of_what_holds() {
    let file = ContractFile::parse("fleet", &calibrated(&[FLEET])).unwrap();
    let json: Value = serde_json::from_str(&calibrated(&[FLEET, "--format", "json"])).unwrap();
    let of_json = |list: &str, key: &str| -> Vec<i64> {
        json[list].as_array().unwrap().iter().filter_map(|one| one[key].as_i64()).collect()
    };
    let timeouts: Vec<i64> =
        file.calls.iter().filter_map(|call| call.timeout).map(Nanos::as_nanos).collect();
    assert_eq!(of_json("calls", "timeout_ns"), timeouts);
    let deadlines: Vec<i64> =
        file.contracts.iter().filter_map(|one| one.deadline).map(Nanos::as_nanos).collect();
    assert_eq!(of_json("classes", "deadline_ns"), deadlines);
}
