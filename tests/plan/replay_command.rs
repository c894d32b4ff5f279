//! `dwindle plan replay` as its users meet it.

use std::fs;

use serde_json::Value;

use crate::support::command::{Ran, run, scratch};

/// A policy in a file.
fn policy(name: &str, text: &str) -> String {
    let file = scratch(name).join("policy.toml");
    fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

fn replay(input: &[&str], policy: &str, more: &[&str]) -> Ran {
    let ran = run(&[&["plan", "replay"], input, &["--policy", policy, "--quiet"], more].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran
}

fn json(input: &[&str], policy: &str) -> Value {
    serde_json::from_str(&replay(input, policy, &["--format", "json"]).out).unwrap()
}

/// What differs from what was measured.
fn changes(told: &Value) -> Vec<String> {
    let measures = told["classes"].as_array().unwrap().iter().flat_map(|class| {
        class["measures"].as_array().unwrap().iter().map(move |measure| (&class["class"], measure))
    });
    let is_other = |(_, it): &(&Value, &Value)| {
        it["measured"] != it["replayed_lo"] || it["measured"] != it["replayed_hi"]
    };
    measures.filter(is_other).map(|(class, it)| format!("{class} {it}")).collect()
}

#[test]
fn a_policy_that_says_nothing_gives_back_the_shop_and_all_cases() {
    let nothing = policy("replay-nothing", "");
    let cases: Vec<String> = fs::read_dir("fixtures/cases")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| path.to_str().unwrap().to_owned())
        .filter(|path| !path.ends_with(".expected.json"))
        .collect();
    let cases: Vec<&str> = cases.iter().map(String::as_str).collect();
    for input in [&["fixtures/shop"][..], &cases] {
        let told = json(input, &nothing);
        assert_eq!(told["exact"], told["requests"]);
        assert!(told["requests"].as_u64().unwrap() > 40, "{}", told["requests"]);
        assert_eq!(changes(&told), Vec::<String>::new());
    }
}

#[test]
fn people_read_what_changes_and_why_not_all_is_known() {
    for width in ["80", "120"] {
        let told = replay(&["fixtures/shop"], "fixtures/shop.policy.toml", &["--width", width]);
        let page = told.out.split_once('\n').unwrap().1.to_owned();
        insta::assert_snapshot!(format!("replay-{width}"), page);
    }
}

#[test]
fn programs_read_the_same_for_any_number_of_threads() {
    let with = |threads: &str| {
        let more = ["--format", "csv", "--threads", threads];
        replay(&["fixtures/shop"], "fixtures/shop.policy.toml", &more).out
    };
    let one = with("1");
    assert_eq!(one, with("3"));
    let head = "class,measure,statistic,callee,unit,n,measured,replayed_lo,replayed_hi,\
                replayed_seen,interval_lo,interval_hi,schema_version";
    assert_eq!(one.lines().next(), Some(head));
    let document = fs::read_to_string("docs/output.md").unwrap();
    for column in head.split(',') {
        assert!(document.contains(&format!("`{column}`")), "docs/output.md does not tell {column}");
    }
    let reasons = fs::read_to_string("docs/planning.md").unwrap();
    for reason in dwindle::plan::replay::Reason::ALL {
        assert!(reasons.contains(&format!("| `{}` |", reason.name())), "{reason:?}");
    }
}

#[test]
fn requests_are_chosen_by_class() {
    let all = json(&["fixtures/shop"], "fixtures/shop.policy.toml");
    let more = ["--class", "fulfilment *", "--format", "json"];
    let told = replay(&["fixtures/shop"], "fixtures/shop.policy.toml", &more).out;
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["classes"].as_array().unwrap().len(), 1);
    let is_chosen = |class: &&Value| class["class"] == told["classes"][0]["class"];
    let chosen = all["classes"].as_array().unwrap().iter().find(is_chosen);
    assert_eq!(chosen, Some(&told["classes"][0]));
}

#[test]
fn what_cannot_be_replayed_is_refused() {
    let refused = |input: &str, policy: &str| {
        let ran = run(&["plan", "replay", input, "--policy", policy]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
        ran.err
    };
    let budget = policy("replay-budget", "[[call]]\nretry_budget = 0.3\n");
    assert!(refused("fixtures/shop", &budget).contains("retry_budget"));
    let slip = policy("replay-slip", "[[call]]\ntimeout = \"1x\"\n");
    let message = refused("fixtures/shop", &slip);
    assert!(message.contains("policy.toml:2") && message.contains("timeout"), "{message}");
    let folder = scratch("replay-folder").join("tables");
    let folder = folder.to_str().unwrap();
    assert_eq!(run(&["analyze", "fixtures/shop", "--out", folder, "--quiet"]).code, 0);
    let message = refused(folder, "fixtures/shop.policy.toml");
    assert!(message.contains("plan replay reads traces"), "{message}");
}

/// A slip in a name would look like a policy that changes nothing.
#[test]
fn a_call_of_the_policy_that_holds_for_none_is_told() {
    let calls = "[[call]]\ncallee = \"catalog\"\ntimeout = \"1s\"\n\n\
                 [[call]]\ncallee = \"catalogue\"\ntimeout = \"1s\"\n";
    let file = policy("replay-holds-for-none", calls);
    let ran = run(&["plan", "replay", "fixtures/shop", "--policy", &file, "--quiet"]);
    assert_eq!(ran.code, 0);
    assert!(ran.err.contains("[[call]] 2 holds for no call"), "{}", ran.err);
    assert!(!ran.err.contains("[[call]] 1"), "{}", ran.err);
}
