//! `dwindle findings`: what is told of what is wrong where, in which order, and under which ids.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use dwindle::ranking::{Group, Ranking, Subject};
use dwindle::tables::FindingCode;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use crate::support::command::{run, run_with_input, scratch};
use crate::support::made_spans::{granting, line};
use crate::support::made_tables::{Shape, partition};

const SHOP: &str = "fixtures/shop";

/// Without the line that names version and commit.
fn told(args: &[&str]) -> String {
    let ran = run(&[&["findings", "--quiet"], args].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let version = concat!(env!("CARGO_PKG_VERSION"), " (");
    ran.out.lines().filter(|line| !line.contains(version)).collect::<Vec<_>>().join("\n")
}

/// The rows of the ranking, as JSON tells them.
fn rows(args: &[&str]) -> Vec<Value> {
    let ran = run(&[&["findings", "--quiet", "--format", "json"], args].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    ranking_of(&ran.out)
}

fn ranking_of(out: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(out).unwrap();
    let tables = document["sections"][0]["tables"].as_array().unwrap();
    let ranking = tables.iter().find(|table| table["id"] == "ranking");
    ranking.map_or_else(Vec::new, |table| table["rows"].as_array().unwrap().clone())
}

fn rows_of_input(spans: &str) -> Vec<Value> {
    let args = ["findings", "-", "--quiet", "--format", "json"];
    let ran = run_with_input(&args, spans.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.err);
    ranking_of(&ran.out)
}

#[test]
fn the_findings_of_the_shop() {
    insta::assert_snapshot!("findings-80", told(&[SHOP, "--width", "80", "--top", "5"]));
    insta::assert_snapshot!("findings-120", told(&[SHOP, "--width", "120", "--top", "5"]));
    let markdown = told(&[SHOP, "--format", "markdown", "--top", "3"]);
    insta::assert_snapshot!("findings-markdown", markdown);
    insta::assert_snapshot!("findings-csv", told(&[SHOP, "--format", "csv", "--top", "2"]));
    insta::assert_snapshot!("findings-json", told(&[SHOP, "--format", "json", "--top", "2"]));
}

#[test]
fn findings_of_the_shop_are_those_that_were_planted() {
    let text = fs::read_to_string("fixtures/shop.planted.json").unwrap();
    let planted: Value = serde_json::from_str(&text).unwrap();
    let key = |row: &Value| {
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        ["code", "caller", "callee", "operation"].map(text)
    };
    let mut expected: BTreeMap<_, u64> = BTreeMap::new();
    for row in planted["findings"].as_array().unwrap() {
        *expected.entry(key(row)).or_default() += row["count"].as_u64().unwrap();
    }
    let mut found: BTreeMap<_, u64> = BTreeMap::new();
    // Who waited behind expired work was left to chance, and not planted.
    let declared = rows(&[SHOP, "--declared-only"]);
    for row in declared.iter().filter(|row| row["code"] != "graveyard-first") {
        *found.entry(key(row)).or_default() += row["findings"]["value"].as_u64().unwrap();
    }
    assert_eq!(found, expected);
}

#[test]
fn the_order_of_files_changes_no_byte_and_no_id() {
    let files = ["core", "edge", "money"].map(|name| format!("fixtures/shop/{name}.jsonl.zst"));
    let [one, two, three] = files.each_ref().map(String::as_str);
    let forward = rows(&[one, two, three]);
    assert!(forward == rows(&[three, one, two]));
    assert!(forward == rows(&[SHOP, "--threads", "1"]));
    let ids: BTreeSet<&str> = forward.iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), forward.len(), "two findings have one id");
}

#[test]
fn a_folder_gives_what_its_traces_give() {
    let out = scratch("findings-folder");
    let out = out.to_str().unwrap();
    assert_eq!(run(&["analyze", SHOP, "--out", out, "--quiet"]).code, 0);
    assert!(rows(&[out]) == rows(&[SHOP, "--declared-only"]));
}

#[test]
fn ids_depend_on_class_code_caller_callee_and_operation_alone() {
    let id = |spans: &str| rows_of_input(spans)[0]["id"].as_str().unwrap().to_owned();
    let spans = granting(1, "deadline.remaining_ms", 1_000);
    let first = id(&spans);
    assert!(first.len() == 12 && first.chars().all(|c| c.is_ascii_hexdigit()), "{first}");
    let more = granting(7, "deadline.remaining_ms", 1_000) + &spans;
    assert_eq!(id(&more), first, "traces and counts change nothing");
    assert_eq!(id(&spans.replace("17000", "16000")), first, "times change nothing");
    let renamed = [("POST /checkout", "GET /"), ("\"gateway\"", "\"edge\""), ("pay.Charge", "pay")];
    for (from, to) in renamed {
        assert_ne!(id(&spans.replace(from, to)), first, "{from} counts");
    }
    assert_ne!(id(&spans.replace("\"payment\"", "\"pay\"")), first, "the callee counts");
    assert_ne!(id(&granting(1, "deadline.remaining_ms", 700)), first, "the code counts");
}

#[test]
fn a_finding_tells_what_was_granted_where_the_deadline_was_last_seen_and_what_lies_below() {
    let rows = rows_of_input(&granting(1, "deadline.remaining_ms", 1_000));
    let row = &rows[0];
    assert_eq!(row["code"], "timeout-reset");
    assert_eq!(row["grant_keys"], "deadline.remaining_ms");
    assert_eq!(row["granted_ns_range"]["value"], 1_000_000_000);
    assert_eq!(row["excess_ns_range"]["value"], 400_000_000);
    assert_eq!(row["deadline_last_seen_at"], "gateway · POST /checkout");
    assert_eq!(row["reached"], "fraud", "not the hop's own callee");
    assert_eq!(row["traces"], format!("{:032x}", 1));
    assert_eq!(row["requests"], json!({"value": 1, "unit": "count", "n": 1}));
}

#[test]
fn a_timeout_that_is_a_well_known_default_is_called_so() {
    let defaults = |key: &str, granted_ms: u64| {
        rows_of_input(&granting(1, key, granted_ms))[0]["defaults_of"].clone()
    };
    let envoy = "http.request.header.x-envoy-expected-rq-timeout-ms";
    assert_eq!(defaults(envoy, 15_000), "Envoy routes");
    assert_eq!(defaults(envoy, 10_000), "", "OkHttp writes no header of Envoy's");
    assert_eq!(defaults(envoy, 14_000), "");
    assert_eq!(defaults("deadline.remaining_ms", 10_000), "OkHttp");
    assert_eq!(defaults("deadline.remaining_ms", 100_000), ".NET HttpClient");
    assert_eq!(defaults("deadline.remaining_ms", 2_000), "kratos clients");
    let spans = granting(1, envoy, 15_000);
    let ran = run_with_input(&["findings", "-", "--quiet", "--width", "300"], spans.as_bytes());
    assert!(ran.out.contains("15,000 ms is the default of Envoy routes: chosen by nobody"));
}

#[test]
fn where_nothing_is_found_it_is_said_and_what_could_not_be_told() {
    let spans = line((1, 1, 0, "gateway", "GET /", "server", [0, 10]), &json!({}));
    let ran = run_with_input(&["findings", "-", "--quiet", "--width", "80"], spans.as_bytes());
    assert_eq!(ran.code, 0);
    let text = ran.out.lines().skip(1).collect::<Vec<_>>().join("\n");
    assert!(text.contains("Nothing wrong was found."));
    insta::assert_snapshot!("findings-none", text);
}

#[test]
fn names_from_traces_are_only_text_in_every_form() {
    let hostile = "=x|`r`\u{1b}[31m<b>\u{202e}[a](http://y)";
    let spans = granting(1, "deadline.remaining_ms", 1_000)
        .replace("pay.Charge", json!(hostile).to_string().trim_matches('"'));
    for format in ["terminal", "markdown", "csv"] {
        let args = ["findings", "-", "--quiet", "--format", format, "--width", "80"];
        let out = run_with_input(&args, spans.as_bytes()).out;
        if format != "csv" {
            assert!(!out.contains(['\u{1b}', '\u{202e}']), "{format}");
        }
        if format == "markdown" {
            assert!(!out.contains("<b>") && !out.contains("[a]("));
        }
        if format == "terminal" {
            assert!(out.lines().all(|line| line.width() <= 80));
        }
    }
    assert!(rows_of_input(&spans)[0]["operation"].as_str() == Some(hostile));
}

/// Findings that are many and one trace that is worst.
/// Groups are as many as places, their examples are three, and the order of partitions is nothing.
#[test]
fn groups_are_as_many_as_places_and_the_same_for_every_order_of_partitions() {
    let parts: Vec<_> = (0..4).map(|seed| partition(&Shape::checkout(), 300, seed)).collect();
    let ranking = |order: &[usize]| {
        let mut ranking = Ranking::default();
        for &part in order {
            ranking.add(&parts[part]);
        }
        ranking
    };
    let (forward, backward) = (ranking(&[0, 1, 2, 3]), ranking(&[3, 2, 0, 1]));
    let shown = |ranking: &Ranking| format!("{:?}", ranking.ranked());
    assert_eq!(shown(&forward), shown(&backward));
    let all = || parts.iter().flat_map(|part| &part.findings);
    let codes: BTreeSet<FindingCode> = all().map(|row| row.code).collect();
    assert_eq!(forward.groups.len(), codes.len(), "all are at one hop");
    let (_, worst): (&Subject, &Group) = forward.ranked()[0];
    assert_eq!(worst.exemplars.len(), 3);
    let most = all().filter_map(|row| row.wasted_ns).max().unwrap();
    assert_eq!(worst.exemplars[0].wasted.0, most);
    assert!(worst.exemplars.is_sorted());
}
