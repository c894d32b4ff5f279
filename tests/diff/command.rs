//! `dwindle diff`, run as people run it.

use std::fs;

use crate::support::command::{Ran, run, scratch};

const SHOP: &str = "fixtures/shop";

/// The command without progress.
fn diff(args: &[&str]) -> Ran {
    run(&[&["diff", "--quiet"], args].concat())
}

fn json(args: &[&str]) -> serde_json::Value {
    let ran = diff(&[args, &["--format", "json"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

#[test]
fn an_input_differs_from_itself_in_nothing() {
    let ran = diff(&[SHOP, SHOP, "--width", "100"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("Nothing differs"), "{}", ran.out);
    let told = json(&[SHOP, SHOP]);
    assert!(told["lines"].as_array().unwrap().len() > 100);
    for line in told["lines"].as_array().unwrap() {
        assert!(["no-evidence", "too-few", "not-judged"].contains(&line["mark"].as_str().unwrap()));
        assert_eq!(line["base"], line["head"]);
    }
}

/// Scenario: the shop, and the shop without its edge; then the other way round.
/// Guarantee: which is which is told rightly: what is new in one is gone in the other.
#[test]
fn sides_are_not_mistaken_for_one_another() {
    let one = json(&["fixtures/matrix/06-retry-at-two-adjacent-layers/fails", SHOP]);
    let other = json(&[SHOP, "fixtures/matrix/06-retry-at-two-adjacent-layers/fails"]);
    let presence = |told: &serde_json::Value, presence: &str| {
        let lines = told["lines"].as_array().unwrap();
        lines.iter().filter(|line| line["presence"] == presence).count()
    };
    assert_eq!((presence(&one, "new"), presence(&one, "gone")), (5, 1));
    assert_eq!((presence(&other, "new"), presence(&other, "gone")), (1, 5));
}

#[test]
fn the_order_of_files_and_the_number_of_threads_change_nothing() {
    let folder = scratch("diff-order");
    for (place, part) in ["money", "edge", "core"].iter().enumerate() {
        let from = format!("{SHOP}/{part}.jsonl.zst");
        fs::copy(from, folder.join(format!("{place}.zst"))).unwrap();
    }
    let copy = folder.to_str().unwrap();
    let other = "fixtures/matrix/06-retry-at-two-adjacent-layers/fails";
    for format in ["csv", "terminal"] {
        let one = diff(&[SHOP, other, "--format", format, "--threads", "1"]).out;
        let two = diff(&[copy, other, "--format", format, "--threads", "2"]).out;
        assert_eq!(one.replace(SHOP, ""), two.replace(copy, ""));
    }
}

#[test]
fn folders_are_compared_as_their_traces_are_and_other_contracts_are_refused() {
    let folder = scratch("diff-folders");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (plain, bounded) = (path("plain"), path("bounded"));
    let analyze = |out: &str, more: &[&str]| {
        let ran = run(&[&["analyze", SHOP, "--out", out, "--quiet"], more].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
    };
    analyze(&plain, &[]);
    analyze(&bounded, &["--deadline", "orders process=5s"]);
    let of_folders = diff(&[&plain, SHOP, "--format", "csv"]);
    assert_eq!(of_folders.out, diff(&[SHOP, SHOP, "--format", "csv"]).out);
    let refused = diff(&[&plain, &bounded]);
    assert_eq!((refused.code, refused.out.as_str()), (2, ""));
    assert!(refused.err.contains("different contracts"), "{}", refused.err);
}

#[test]
fn two_inputs_are_wanted() {
    assert_eq!(diff(&[SHOP]).code, 2);
    assert_eq!(diff(&[SHOP, SHOP, SHOP]).code, 2);
    let twice = diff(&["-", "-"]);
    assert_eq!(twice.code, 2);
    assert!(twice.err.contains("one side only"), "{}", twice.err);
}
