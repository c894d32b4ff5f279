//! The page for browsers: the numbers of the tables, in one small file that loads nothing.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::process::Command;

use dwindle::calibrate::Calibration;
use dwindle::distributions::Summary;
use dwindle::exemplars::Exemplars;
use dwindle::report::{self, Format, Options, RunFacts};

use crate::support::command::{run, scratch};
use crate::support::made_tables::{Shape, partition};

const MOST_BYTES: usize = 2_000_000;

fn page(arguments: &[&str]) -> String {
    let command = [&["report"], arguments, &["--format", "html"]].concat();
    run(&command).out
}

/// The values of each table's rows, by its id and the row's label, in the order of the page.
fn told(page: &str) -> Vec<(String, String, Vec<Option<i128>>)> {
    let mut rows = Vec::new();
    for table in page.split("<table data-table=\"").skip(1) {
        let (id, rest) = table.split_once('"').unwrap();
        let body = rest.split_once("<tbody>").unwrap().1.split_once("</tbody>").unwrap().0;
        for row in body.split("<tr>").skip(1) {
            let label = row.split_once("<span").unwrap().1.split_once('>').unwrap().1;
            let label = label.split_once("</span>").unwrap().0;
            let cells = row.split("<td").skip(1).map(|cell| {
                let tag = cell.split_once('>').unwrap().0;
                let value = tag.split_once("data-v=\"");
                value.map(|(_, rest)| rest.split_once('"').unwrap().0.parse().unwrap())
            });
            rows.push((id.to_owned(), label.to_owned(), cells.collect()));
        }
    }
    rows
}

#[test]
fn every_number_on_the_page_is_one_of_the_tables() {
    let json = run(&["report", "fixtures/shop", "--format", "json"]).out;
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    // What stands in rows of each table id, however often.
    let mut known: BTreeMap<String, Vec<i128>> = BTreeMap::new();
    let sections = document["sections"].as_array().unwrap();
    for table in sections.iter().flat_map(|section| section["tables"].as_array().unwrap()) {
        let numbers = known.entry(table["id"].as_str().unwrap().to_owned()).or_default();
        for row in table["rows"].as_array().unwrap() {
            let values = row.as_object().unwrap().values();
            numbers.extend(values.filter_map(|value| value["value"].as_i64().map(i128::from)));
        }
    }
    let rows = told(&page(&["fixtures/shop"]));
    assert!(rows.len() > 100, "{} rows", rows.len());
    for (id, label, cells) in rows.iter().filter(|(id, ..)| id != "origin") {
        for value in cells.iter().flatten() {
            assert!(known[id].contains(value), "{id}, {label}: {value} is in no table");
        }
    }
}

#[test]
fn the_page_of_an_analyzed_folder_is_that_of_its_traces() {
    let folder = scratch("html_folder");
    run(&["analyze", "fixtures/shop", "--out", folder.to_str().unwrap()]);
    let without_origin =
        |page: &str| page.split("How this was made</h2>").next().unwrap().to_owned();
    let of_folder = page(&[folder.to_str().unwrap()]);
    assert_eq!(
        without_origin(&of_folder),
        without_origin(&page(&["fixtures/shop", "--declared-only"]))
    );
}

#[test]
fn a_page_says_how_it_was_made() {
    let input = "fixtures/cases/retry-two-layers.json";
    let page = page(&[input, "--deadline", "2s"]);
    assert!(page.contains(&format!("Command: dwindle report {input} --deadline 2s --format html")));
    let digest = Command::new("sha256sum").arg(input).output().unwrap();
    let digest = String::from_utf8(digest.stdout).unwrap();
    assert!(page.contains(digest.split(' ').next().unwrap()));
}

#[test]
fn no_input_makes_a_page_that_is_too_large() {
    let mut summary = Summary::default();
    for class in 0..30 {
        let long = |what: &str| format!("{what} {class} {}", "wide ".repeat(2_000));
        let shape = Shape { callee: long("callee"), operation: long("does"), ..Shape::checkout() };
        summary.add(&partition(&shape.named(&long("class")), 200, class));
    }
    let options = Options { classes: 30, ..Options::for_format(Format::Html) };
    let report = report::build(
        &summary,
        &Exemplars::default(),
        &Calibration::default(),
        &RunFacts::default(),
        &options,
    );
    let page = report.render(Format::Html, 0, false);
    assert!(page.len() < MOST_BYTES, "{} bytes", page.len());
}

#[test]
fn nothing_is_loaded_and_nothing_runs_but_what_sorts() {
    let page = page(&["fixtures/shop"]);
    for forbidden in
        ["http://", "https://", "@import", "url(//", "src=", "<link", "<iframe", "onclick"]
    {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    assert_eq!(page.matches("<script>").count(), 1);
    assert!(page.contains("default-src 'none'"));
}

/// Chromium, where it is installed.
fn chromium(arguments: &[&str]) -> Option<(String, String)> {
    let profile = scratch("chromium");
    let profile = format!("--user-data-dir={}", profile.display());
    let mut command = Command::new("chromium");
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
    ]);
    command.args([
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
    ]);
    command.args(["--enable-logging=stderr", "--log-level=0", "--hide-scrollbars", &profile]);
    let Ok(output) = command.args(arguments).output() else {
        // Past the harness, which keeps what tests print to itself.
        let _ = writeln!(std::io::stderr(), "skipped: no chromium here (tests/run installs it)");
        return None;
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some((text(&output.stdout), text(&output.stderr)))
}

#[test]
fn a_browser_shows_the_page_without_complaint_and_its_tables_can_be_sorted() {
    let page = page(&["fixtures/shop"]);
    let file = scratch("html_browser").join("page.html");
    fs::write(&file, &page).unwrap();
    let address = format!("file://{}", file.display());
    let Some((document, complaints)) = chromium(&["--dump-dom", &address]) else { return };
    assert!(!complaints.contains("CONSOLE"), "{complaints}");
    // The script ran, as the page's own policy allows it to.
    let heads = document.matches("scope=\"col\"").count();
    let buttons = document.matches("<button type=\"button\">").count();
    assert!(buttons > 50 && buttons <= heads, "{buttons} buttons, {heads} heads");
    assert_eq!(told(&document), told(&page));
}
