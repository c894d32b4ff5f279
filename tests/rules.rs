//! What findings mean: one page, of which every code has a whole section.

use std::path::Path;

use dwindle::rules::{PAGE, rule, rules};
use dwindle::tables::FindingCode;

use crate::support::command::run;

#[test]
fn every_finding_has_all_its_texts() {
    for rule in rules() {
        let code = rule.code.name();
        for (part, text) in [
            ("short", rule.short),
            ("when", rule.when),
            ("why", rule.why),
            ("fix", rule.fix),
            ("certainty", rule.certainty),
            ("fixture", rule.fixture),
        ] {
            assert!(!text.is_empty(), "{code} has no {part}");
        }
        assert!(rule.short.len() <= 50, "{code}: {} is too long for a table", rule.short);
        assert!(!rule.short.contains('\n'), "{code}: what it says is more than a line");
    }
}

#[test]
fn every_finding_says_how_to_fix_it_by_the_point() {
    for rule in rules() {
        assert!(rule.fix.starts_with("- "), "{}: {}", rule.code.name(), rule.fix);
        assert!(rule.fix.contains("\n- "), "{} has one point only", rule.code.name());
    }
}

#[test]
fn every_finding_names_a_fixture_that_is_there() {
    for rule in rules() {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join(rule.fixture);
        assert!(fixture.exists(), "{}: there is no {}", rule.code.name(), rule.fixture);
    }
}

#[test]
fn the_page_tells_of_nothing_that_is_no_finding() {
    let told: Vec<&str> = PAGE.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let codes: Vec<&str> = FindingCode::ALL.iter().map(|code| code.name()).collect();
    assert_eq!(told, codes);
}

#[test]
fn the_list_of_rules_fits_a_narrow_terminal() {
    for width in ["80", "120"] {
        let list = run(&["rules", "--width", width]);
        assert_eq!(list.code, 0);
        for code in FindingCode::ALL {
            assert!(list.out.contains(rule(*code).short), "{} is not told", code.name());
        }
        assert!(list.out.lines().all(|line| line.chars().count() <= width.parse().unwrap()));
    }
}

#[test]
fn a_rule_is_told_in_words() {
    let lines = |width| {
        let out = run(&["rules", "timeout-reset", "--width", width]).out;
        // The first line names the version.
        out.lines().skip(1).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!("rule-80", lines("80"));
    insta::assert_snapshot!("rule-120", lines("120"));
}

#[test]
fn a_rule_in_markdown_is_its_section_of_the_page() {
    let section = run(&["rules", "cancel-ignored", "--format", "markdown"]).out;
    assert!(PAGE.contains(section.trim_end()), "{section}");
}

#[test]
fn rules_as_json_hold_all_codes() {
    let out = run(&["rules", "--format", "json"]).out;
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    let codes: Vec<&str> = json["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| rule["code"].as_str().unwrap())
        .collect();
    assert_eq!(codes, FindingCode::ALL.iter().map(|code| code.name()).collect::<Vec<_>>());
}

#[test]
fn an_unknown_code_is_refused_with_the_nearest() {
    let refused = run(&["rules", "timeout-rest"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("timeout-reset"), "{}", refused.err);
}
