//! `fixtures/matrix`: each case fails as its page says, and holds where the policy is right.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use dwindle::tables::FindingCode;
use serde_json::Value;

use crate::support::command::{run, scratch};

/// A code, the span at which it stands, and the excess in nanoseconds.
type Found = (String, String, i64);

const PAGE: &str = "fixtures/matrix.README.md";

fn page() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE)).unwrap()
}

/// The cells of a row of a Markdown table.
fn cells(line: &str) -> Option<Vec<&str>> {
    let inner = line.strip_prefix("| ")?.strip_suffix('|')?;
    Some(inner.split('|').map(str::trim).collect())
}

/// What `text` marks as code.
fn marked(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// By case, what its section lists.
fn listed() -> BTreeMap<String, Vec<Found>> {
    let page = page();
    let section = |text: &str| {
        let (case, rest) = text.split_once('\n').unwrap();
        let rows = rest.lines().filter_map(cells);
        let mut found: Vec<Found> = rows.filter_map(|row| finding(&row)).collect();
        found.sort();
        (case.to_owned(), found)
    };
    page.split("\n## ").skip(1).map(section).collect()
}

/// The finding of a row; `None` for the head of a table.
fn finding(cells: &[&str]) -> Option<Found> {
    let &[code, span, excess, _why] = cells else { panic!("a row of four cells: {cells:?}") };
    let [code, span] = [code, span].map(|cell| marked(cell).pop());
    let excess: i64 = excess.parse().ok()?;
    Some((code?, format!("{:0>16}", span?), excess * 1_000_000))
}

fn matrix() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/matrix")
}

fn rows(folder: &Path, table: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder.join(format!("{table}.ndjson"))).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What is found in one folder of a case.
fn found(case: &str, side: &str, clock: &str) -> Vec<Found> {
    let input = format!("fixtures/matrix/{case}/{side}");
    let contract = format!("fixtures/matrix/{case}/contract.toml");
    let out = scratch(&format!("matrix-{case}-{side}-{clock}"));
    let mut args = vec!["analyze", &input, "--out", out.to_str().unwrap(), "--format", "ndjson"];
    args.extend(["--clock", clock, "--quiet"]);
    if matrix().join(case).join("contract.toml").exists() {
        args.extend(["--contract", &contract]);
    }
    let ran = run(&args);
    assert!(ran.code == 0 && ran.err.is_empty(), "{input}: {}", ran.err);
    assert!(rows(&out, "problems").is_empty(), "{input} has problems");
    let finding = |row: Value| {
        let text = |key: &str| row[key].as_str().unwrap().to_owned();
        // A clock that was set has no one offset: nothing that it tells is certain.
        let certainty = if case.starts_with("12-") { "possible" } else { "certain" };
        assert_eq!(row["certainty"], certainty, "{input}: {row}");
        (text("code"), text("span_id"), row["excess_ns"].as_i64().unwrap())
    };
    let mut found: Vec<Found> = rows(&out, "findings").into_iter().map(finding).collect();
    found.sort();
    found
}

/// Findings, a line each.
fn told(findings: &[Found]) -> String {
    let line = |(code, span, excess): &Found| format!("\n  {code} {span} {excess}");
    findings.iter().map(line).collect()
}

/// Says every case and side where something else is found than its section lists.
fn assert_found(clock: &str) {
    let mut differences = Vec::new();
    for (case, listed) in listed() {
        let fails = found(&case, "fails", clock);
        if fails != listed {
            differences.push(format!("{case}/fails lists{}\nfound{}", told(&listed), told(&fails)));
        }
        let holds = found(&case, "holds", clock);
        if !holds.is_empty() {
            differences.push(format!("{case}/holds lists nothing, found{}", told(&holds)));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Each trace knows its clocks by itself.
/// Fails raises what its section lists, at these spans and by these lengths, and holds nothing.
#[test]
fn each_case_fails_as_listed_and_holds_by_the_clocks_of_its_traces() {
    assert_found("per-trace");
}

/// The traces of a folder know their clocks together.
/// The same is found.
#[test]
fn each_case_fails_as_listed_and_holds_by_pooled_clocks() {
    assert_found("pooled");
}

/// Somebody adds a case, or a section, and forgets the rest.
/// The folders, the sections and the rows of the table are the same cases, and the table names the
/// codes of each section.
#[test]
fn the_table_of_the_matrix_is_about_its_folders_and_sections() {
    let folders: BTreeSet<String> = fs::read_dir(matrix())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let sections = listed().into_iter().map(|(case, found)| {
        let codes: BTreeSet<String> = found.into_iter().map(|(code, ..)| code).collect();
        (case, codes)
    });
    let sections: BTreeMap<String, BTreeSet<String>> = sections.collect();
    let page = page();
    let table: BTreeMap<String, BTreeSet<String>> = page
        .lines()
        .filter(|line| line.starts_with("| ["))
        .filter_map(cells)
        .map(|cells| {
            let case = cells[0].trim_start_matches('[').split(']').next().unwrap();
            (case.to_owned(), marked(cells[1]).into_iter().collect())
        })
        .collect();
    assert_eq!(table, sections);
    assert_eq!(folders, sections.into_keys().collect());
}

/// A code is added that no case shows.
/// Every code that can be raised is listed.
#[test]
fn every_code_is_shown_by_a_case_of_the_matrix() {
    let shown: BTreeSet<String> = listed().into_values().flatten().map(|(code, ..)| code).collect();
    let all = FindingCode::ALL.iter().map(|code| code.name().to_owned()).collect();
    assert_eq!(shown, all);
}
