//! The fourteen cases of `fixtures/matrix`: each `fails` fails its own, and no `holds` fails any.

use std::fs;

use dwindle::check::CASES;
use serde_json::Value;

use super::file;
use crate::support::command::run;

/// What is judged of one folder.
fn judged(folder: &str, contract: &str) -> (i32, Vec<Value>) {
    // Where a clock was set nothing is certain.
    let all = ["--fail-on", "possible", "--format", "json", "--quiet"];
    let ran = run(&[&["check", folder, "--contract", contract], all.as_slice()].concat());
    assert!(ran.code < 2, "{folder}: {}", ran.err);
    let document: Value = serde_json::from_str(&ran.out).unwrap();
    let checks = document["checks"].as_array().unwrap().clone();
    (ran.code, checks.into_iter().filter(|check| check["fails"] == true).collect())
}

#[test]
fn each_case_of_the_matrix_fails_where_it_goes_wrong_and_nowhere_else() {
    let nothing = file("no-contract", "");
    for case in CASES.iter().filter(|case| case.number.is_some()) {
        let number = case.number.unwrap();
        let name = case.name.to_lowercase().replace(' ', "-");
        let folder = format!("fixtures/matrix/{number:02}-{name}");
        let own = format!("{folder}/contract.toml");
        let has_own = fs::exists(&own).unwrap();
        let contract = if has_own { own.as_str() } else { nothing.to_str().unwrap() };
        let (code, failing) = judged(&format!("{folder}/fails"), contract);
        assert_eq!(code, 1, "{folder}");
        assert!(failing.iter().any(|check| check["number"] == number), "{folder}: {failing:#?}");
        let (code, failing) = judged(&format!("{folder}/holds"), contract);
        assert!(code == 0 && failing.is_empty(), "{folder}: {failing:#?}");
    }
}
