//! Every form says what the exit code says, is well-formed, and takes names for nothing but text.

use std::fs;

use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use super::{CONTRACT, check, checked, passing_on, resetting};
use crate::support::command::{run, scratch};

const FORMATS: [&str; 6] = ["terminal", "markdown", "json", "junit", "sarif", "github"];

/// What a form says of whether the check fails.
fn says_it_fails(format: &str, out: &str) -> bool {
    match format {
        "terminal" | "markdown" => out.contains("Check: fail:"),
        "json" => serde_json::from_str::<Value>(out).unwrap()["verdict"] == "fail",
        "junit" => {
            let document = roxmltree::Document::parse(out).unwrap();
            document.root_element().attribute("failures") != Some("0")
        }
        "sarif" => {
            let document: Value = serde_json::from_str(out).unwrap();
            let results = document["runs"][0]["results"].as_array().unwrap();
            results.iter().any(|result| result["level"] == "error")
        }
        _ => out.lines().any(|line| line.starts_with("::error ")),
    }
}

#[test]
fn every_form_says_what_the_exit_code_says() {
    let contract = format!("{CONTRACT}limits = [\"elapsed.p50 <= 1ms\", \"elapsed.max <= 1s\"]\n");
    let broken = format!("{CONTRACT}limits = [\"elapsed.max <= 1ms\"]\n");
    let cases = [
        (CONTRACT, resetting(), &[][..], 1),
        (CONTRACT, passing_on(), &[][..], 0),
        (CONTRACT, passing_on(), &["--fail-on", "no-evidence"][..], 1),
        (contract.as_str(), passing_on(), &[][..], 0),
        (broken.as_str(), passing_on(), &[][..], 1),
    ];
    for (place, (contract, spans, more, code)) in cases.iter().enumerate() {
        for format in FORMATS {
            let ran = check("forms", contract, spans, &[&["--format", format], *more].concat());
            assert_eq!(ran.code, *code, "{place} {format}: {}", ran.err);
            assert_eq!(
                says_it_fails(format, &ran.out),
                *code == 1,
                "{place} {format}:\n{}",
                ran.out
            );
        }
    }
}

/// A finding is found, and also known or suppressed.
/// No form takes it for a failure.
#[test]
fn what_is_excused_fails_in_no_form() {
    let (_, document) = checked("excused", CONTRACT, &resetting(), &[]);
    let baseline = scratch("check-excused-baseline").join("baseline.json");
    fs::write(&baseline, document.to_string()).unwrap();
    let id = document["findings"][0]["id"].as_str().unwrap();
    let suppress = format!("[[suppress]]\nid = \"{id}\"\nreason = \"r\"\nuntil = 2027-01-31\n");
    let suppressing = format!("{CONTRACT}{suppress}");
    for format in FORMATS {
        let known = ["--baseline", baseline.to_str().unwrap(), "--format", format];
        let suppressed = ["--as-of", "2027-01-01", "--format", format];
        for ran in [
            check("known", CONTRACT, &resetting(), &known),
            check("suppressed-form", &suppressing, &resetting(), &suppressed),
        ] {
            assert_eq!(ran.code, 0, "{format}");
            assert!(!says_it_fails(format, &ran.out), "{format}:\n{}", ran.out);
        }
    }
}

#[test]
fn the_verdict_on_the_shop() {
    let told = |args: &[&str]| {
        let contract = "fixtures/shop.contract.toml";
        let args = [&["check", "fixtures/shop", "--quiet", "--contract", contract], args].concat();
        let ran = run(&args);
        assert_eq!(ran.code, 1, "{}", ran.err);
        let version = concat!(env!("CARGO_PKG_VERSION"), " (");
        ran.out.lines().filter(|line| !line.contains(version)).collect::<Vec<_>>().join("\n")
    };
    let narrow = told(&["--width", "80"]);
    assert!(narrow.lines().all(|line| line.width() <= 80));
    insta::assert_snapshot!("check-80", narrow);
    insta::assert_snapshot!("check-120", told(&["--width", "120"]));
    insta::assert_snapshot!("check-markdown", told(&["--format", "markdown"]));
    insta::assert_snapshot!("check-github", told(&["--format", "github"]));
}

#[test]
fn junit_counts_what_it_holds() {
    let out = check("junit", CONTRACT, &resetting(), &["--format", "junit"]).out;
    let document = roxmltree::Document::parse(&out).unwrap();
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "testsuites");
    let count = |node: roxmltree::Node<'_, '_>, name: &str| {
        node.descendants().filter(|child| child.has_tag_name(name)).count().to_string()
    };
    let suites = root.children().filter(|node| node.has_tag_name("testsuite"));
    for suite in suites.chain([root]) {
        for (attribute, element) in
            [("tests", "testcase"), ("failures", "failure"), ("skipped", "skipped")]
        {
            assert_eq!(suite.attribute(attribute), Some(count(suite, element).as_str()));
        }
        assert_eq!(suite.attribute("errors"), Some("0"));
    }
    let failure = root.descendants().find(|node| node.has_tag_name("failure")).unwrap();
    assert!(failure.attribute("message").unwrap().contains("timeout-reset 1 time at gateway"));
    assert_eq!(failure.parent_element().unwrap().attribute("name"), Some("deadline passed on"));
}

#[test]
fn sarif_holds_what_code_scanning_asks_for() {
    let contract = format!("# first line\n{CONTRACT}limits = [\n\"elapsed.max <= 1ms\",\n]\n");
    let (_, checked) = checked("sarif", &contract, &resetting(), &[]);
    let out = check("sarif", &contract, &resetting(), &["--format", "sarif"]).out;
    let document: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["version"], "2.1.0");
    assert!(document["$schema"].as_str().unwrap().contains("sarif-2.1.0"));
    let run = &document["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "dwindle");
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    for rule in rules {
        let has_text = |key: &str| rule[key]["text"].as_str().is_some_and(|text| !text.is_empty());
        assert!(
            ["shortDescription", "fullDescription", "help"].into_iter().all(has_text),
            "{rule}"
        );
    }
    let results = run["results"].as_array().unwrap();
    let rule_ids: Vec<&str> = results.iter().map(|it| it["ruleId"].as_str().unwrap()).collect();
    assert_eq!(rule_ids, ["limit", "timeout-reset"]);
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let place = &result["locations"][0]["physicalLocation"];
        assert!(place["artifactLocation"]["uri"].as_str().unwrap().ends_with("file.toml"));
        assert_eq!(result["partialFingerprints"].as_object().unwrap().len(), 1);
    }
    let line = |of: usize| &results[of]["locations"][0]["physicalLocation"]["region"]["startLine"];
    assert_eq!((line(0), line(1)), (&json!(7), &json!(2)), "the limit's own, and the contract's");
    let id = &results[1]["partialFingerprints"]["dwindleFindingId/v1"];
    assert_eq!(id, &checked["findings"][0]["id"]);
    let hop = &results[1]["locations"][0]["logicalLocations"][0]["fullyQualifiedName"];
    assert_eq!(hop, "gateway → payment · pay.Charge");
}

#[test]
fn github_is_told_the_file_the_line_and_the_finding() {
    let out = check("github", CONTRACT, &resetting(), &["--format", "github"]).out;
    let first = out.lines().next().unwrap();
    assert!(first.starts_with("::error file="), "{first}");
    assert!(first.contains(",line=1,title=timeout-reset at gateway → payment · pay.Charge::"));
    assert!(out.lines().last().unwrap().starts_with("dwindle check: fail: "));
}

#[test]
fn names_from_traces_are_only_text_in_every_form() {
    let hostile = "x|%0A`r`\n::error::\u{1b}[31m<b>&\"'\u{202e}[a](http://y),title=z:]]>\u{fffe}";
    let written = json!(hostile).to_string();
    let spans = resetting().replace("pay.Charge", written.trim_matches('"'));
    for format in FORMATS {
        let out = check("hostile", CONTRACT, &spans, &["--format", format, "--width", "100"]).out;
        assert!(!out.contains('\u{1b}'), "{format}");
        // JSON tells names as they are.
        assert!(format == "json" || !out.contains('\u{202e}'), "{format}");
        match format {
            "json" | "sarif" => {
                serde_json::from_str::<Value>(&out).unwrap();
            }
            "junit" => {
                roxmltree::Document::parse(&out).unwrap();
            }
            "markdown" => assert!(!out.contains("<b>") && !out.contains("[a](")),
            "github" => {
                let errors: Vec<&str> =
                    out.lines().filter(|line| line.starts_with("::error")).collect();
                assert_eq!(errors.len(), 1, "{out}");
                assert!(errors[0].contains("%250A") && errors[0].contains("%2Ctitle=z%3A"));
            }
            _ => assert!(out.lines().all(|line| line.width() <= 100)),
        }
    }
}

#[test]
fn no_line_of_a_page_is_a_workflow_command() {
    let spans = resetting().replace("gateway", "::error file=x,line=1::pwn");
    for format in ["terminal", "markdown"] {
        let out = check("commands", "", &spans, &["--format", format]).out;
        assert!(out.contains(":error file=x"), "{out}");
        assert!(out.lines().all(|line| !line.trim_start().starts_with("::")), "{out}");
    }
}

#[test]
fn spans_that_were_not_used_are_told_in_every_form() {
    let spans = resetting()
        + &resetting().lines().next().unwrap().replace("\"span_id\":\"", "\"span_id\":\"z");
    for format in FORMATS {
        let out = check("lost", CONTRACT, &spans, &["--format", format]).out;
        let told = match format {
            "json" => "\"spans_rejected\": 1",
            _ => "Input was lost: 1 span of 6",
        };
        assert!(out.contains(told), "{format}: {out}");
    }
}
