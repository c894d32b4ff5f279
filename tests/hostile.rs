//! Names that attack: every form of every verb takes them for nothing but text.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use crate::support::command::{run, scratch};
use crate::support::harmless;

const TRACES: &str = "fixtures/hostile/traces.jsonl";
const CONTRACT: &str = "fixtures/hostile/contract.toml";
const WIDTHS: [&str; 6] = ["40", "80", "100", "120", "200", "300"];

fn printed(args: &[&str]) -> String {
    let ran = run(&[args, &["--quiet"]].concat());
    assert!([0, 1].contains(&ran.code), "{args:?}: {}", ran.err);
    harmless::plain(&ran.err);
    ran.out
}

fn on_terminals(args: &[&str]) {
    for width in WIDTHS {
        let text = printed(&[args, &["--width", width]].concat());
        harmless::terminal(&text);
        let room: usize = width.parse().unwrap();
        for line in text.lines() {
            assert!(line.width() <= room, "{args:?} {}: {line}", line.width());
        }
    }
    harmless::terminal(&printed(&[args, &["--width", "120", "--color", "always"]].concat()));
}

fn trace_ids() -> impl Iterator<Item = String> {
    let count = harmless::hostile_names().len();
    (0..count).map(|index| format!("{:032x}", 0x5000 + index))
}

#[test]
fn pages_for_people_obey_no_name() {
    for verb in ["report", "findings"] {
        on_terminals(&[verb, TRACES]);
        harmless::markdown(&printed(&[verb, TRACES, "--format", "markdown"]));
    }
    harmless::markdown(&printed(&["findings", TRACES, "--format", "markdown", "--top", "9999"]));
    let check = ["check", TRACES, "--contract", CONTRACT];
    on_terminals(&check);
    harmless::markdown(&printed(&[&check[..], &["--format", "markdown"]].concat()));
    on_terminals(&["inspect", TRACES]);
    for id in trace_ids().step_by(7) {
        on_terminals(&["explain", TRACES, "--trace", &id]);
    }
    for id in trace_ids() {
        let explain = ["explain", TRACES, "--trace", &id, "--all", "--format", "markdown"];
        harmless::markdown(&printed(&explain));
    }
}

#[test]
fn forms_for_programs_are_whole_and_keep_the_names() {
    let names = harmless::hostile_names();
    let classes = |document: &Value| -> BTreeSet<String> {
        let sections = document["sections"].as_array().unwrap().iter();
        sections.filter_map(|section| section["class"].as_str().map(str::to_owned)).collect()
    };
    let report = harmless::json(&printed(&["report", TRACES, "--format", "json"]));
    let classes = classes(&report[0]);
    for name in names.iter().filter(|name| !name.is_empty()) {
        assert!(classes.iter().any(|class| class.starts_with(name.as_str())), "{name:?} is lost");
    }
    harmless::json(&printed(&["findings", TRACES, "--format", "json"]));
    harmless::json(&printed(&["inspect", TRACES, "--format", "ndjson"]));
    harmless::csv(&printed(&["report", TRACES, "--format", "csv"]));
    harmless::csv(&printed(&["findings", TRACES, "--format", "csv"]));
    for id in trace_ids().step_by(5) {
        harmless::json(&printed(&["explain", TRACES, "--trace", &id, "--format", "json"]));
        harmless::json(&printed(&["extract", TRACES, "--trace", &id]));
        let neutral = printed(&["extract", TRACES, "--trace", &id, "--anonymise"]);
        harmless::json(&neutral);
        let is_telling = |name: &&String| name.len() > 8 && neutral.contains(name.as_str());
        assert_eq!(names.iter().find(is_telling), None);
    }
}

#[test]
fn forms_for_forges_hold_no_command_but_our_own() {
    let form =
        |format: &str| printed(&["check", TRACES, "--contract", CONTRACT, "--format", format]);
    harmless::json(&form("json"));
    harmless::json(&form("sarif"));
    harmless::xml(&form("junit"));
    let github = form("github");
    let begins = format!("file={}", CONTRACT.replace(':', "%3A"));
    for line in github.lines() {
        let ours =
            ["::error ", "::warning ", "::notice "].iter().find_map(|it| line.strip_prefix(it));
        assert!(
            ours.is_some_and(|rest| rest.starts_with(&begins))
                || line.starts_with("dwindle check: "),
            "{line}"
        );
        harmless::plain(line.trim_start_matches("::"));
    }
}

#[test]
fn pages_hold_no_element_but_our_own() {
    for arguments in [&["report", TRACES][..], &["findings", TRACES, "--top", "9999"]] {
        harmless::html(&printed(&[arguments, &["--format", "html"]].concat()));
    }
}

/// Both sides are the same, so that every line is there and none is marked.
#[test]
fn comparisons_and_answers_obey_no_name_in_any_form() {
    let diff = ["diff", TRACES, TRACES];
    let form = |verb: &[&str], format: &str| printed(&[verb, &["--format", format]].concat());
    on_terminals(&diff);
    harmless::markdown(&form(&diff, "markdown"));
    harmless::csv(&form(&diff, "csv"));
    harmless::json(&form(&diff, "json"));
    harmless::html(&form(&diff, "html"));
    for query in ["class_summary", "budget_by_boundary", "slowest_requests"] {
        let query = ["query", TRACES, query];
        on_terminals(&query);
        harmless::markdown(&form(&query, "markdown"));
        harmless::csv(&form(&query, "csv"));
        harmless::json(&form(&query, "json"));
    }
}

#[test]
fn plans_from_measurements_obey_no_name_in_any_form() {
    for what in ["retries", "chain"] {
        let plan = ["plan", what, "--from", TRACES];
        let form = |format: &str| printed(&[&plan[..], &["--format", format]].concat());
        on_terminals(&plan);
        harmless::markdown(&form("markdown"));
        harmless::csv(&form("csv"));
        harmless::json(&form("json"));
        harmless::html(&form("html"));
    }
    let told = printed(&["plan", "chain", "--from", TRACES, "--format", "json"]);
    let told: Value = serde_json::from_str(&told).unwrap();
    let classes =
        told["lines"].as_array().unwrap().iter().filter_map(|line| line["class"].as_str());
    let mut scenarios = 0;
    for class in classes.collect::<BTreeSet<_>>() {
        // Not all of it could be an argument.
        let class = class.replace(|c: char| !c.is_alphanumeric(), "?");
        let model = ["plan", "model", "--from", TRACES, "--print-scenario", "--class", &class];
        let ran = run(&[&model[..], &["--quiet", "--contract", CONTRACT]].concat());
        harmless::plain(&ran.out);
        scenarios += usize::from(ran.code == 0);
    }
    assert!(scenarios > 10, "{scenarios}");
    harmless::plain(&run(&["plan", "model", "--from", TRACES, "--quiet"]).err);
}

#[test]
fn replays_obey_no_name_in_any_form() {
    let replay = ["plan", "replay", TRACES, "--policy", "fixtures/shop.policy.toml"];
    let form = |format: &str| printed(&[&replay[..], &["--format", format]].concat());
    on_terminals(&replay);
    harmless::markdown(&form("markdown"));
    harmless::csv(&form("csv"));
    harmless::json(&form("json"));
    harmless::html(&form("html"));
}

/// Files are named by people too.
#[test]
fn a_file_may_be_named_as_it_likes() {
    let name = "=cmd|`x`<script>\u{1b}[31m\u{202e}::error::.jsonl";
    let file = scratch("hostile-file").join(name);
    let lines = fs::read_to_string(TRACES).unwrap();
    fs::write(&file, lines.lines().rev().take(3).collect::<Vec<_>>().join("\n")).unwrap();
    let file = file.to_str().unwrap();
    on_terminals(&["report", file]);
    on_terminals(&["inspect", file]);
    harmless::markdown(&printed(&["report", file, "--format", "markdown"]));
    harmless::csv(&printed(&["report", file, "--format", "csv"]));
    harmless::html(&printed(&["report", file, "--format", "html"]));
    harmless::json(&printed(&["inspect", file, "--format", "ndjson"]));
    let absent = run(&["report", &format!("{file}.absent")]);
    assert_eq!(absent.code, 2);
    harmless::plain(&absent.err);
}

/// CSV that a spreadsheet may open is read back to the same names.
#[test]
fn tables_as_csv_run_nothing_and_come_back() {
    let dir = scratch("hostile-tables");
    let tables = |format: &str| {
        let out = dir.join(format).to_str().unwrap().to_owned();
        let analyze = ["analyze", TRACES, "--out", &out, "--format", format];
        assert_eq!(run(&[&analyze[..], &["--quiet"]].concat()).code, 0);
        out
    };
    let (csv, parquet) = (tables("csv"), tables("parquet"));
    let mut formulas = 0;
    for file in fs::read_dir(&csv).unwrap().map(|entry| entry.unwrap().path()) {
        if file.extension().is_some_and(|extension| extension == "csv") {
            let text = fs::read_to_string(&file).unwrap();
            harmless::csv(&text);
            formulas += text.matches("'=cmd|").count();
        }
    }
    assert!(formulas > 10);
    let report = |folder: &str| {
        let text = printed(&["report", folder, "--format", "json"]);
        text.replace(folder, "FOLDER")
    };
    assert_eq!(report(&csv), report(&parquet));
}

/// The check of pages can fail.
#[test]
fn a_page_that_obeys_a_name_is_seen() {
    let page = |text: &str| format!("<!doctype html><p>{text}</p><script>sort()</script>");
    harmless::html(&page("&lt;script&gt;alert(1)&lt;/script&gt;"));
    for name in
        ["<script>alert(1)</script>", "\u{202e}x", "\u{1b}[31m", "\" onmouseover=\"alert(4)"]
    {
        assert!(std::panic::catch_unwind(|| harmless::html(&page(name))).is_err(), "{name:?}");
    }
}
