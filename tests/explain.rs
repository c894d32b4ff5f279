//! One trace explained: what is drawn and said is what the tables hold.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

use dwindle::clocks::Offsets;
use dwindle::conventions::Conventions;
use dwindle::ingest::{ingest, parse_trace_id};
use dwindle::reconstruct::{Outlined, Policy, TraceChoice, reconstruct};
use dwindle::report::model::{Block, Waterfall};
use dwindle::report::{Format, RunFacts, explanation};
use dwindle::tables::{Category, HopRow, OutlineSpan, OwnStretch, RequestRow, Tables};
use dwindle::units::Nanos;
use proptest::prelude::{prop_assert, prop_assert_eq};
use proptest::proptest;
use proptest::test_runner::Config as ProptestConfig;
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use crate::support::command::{Ran, run, run_with_input, scratch};
use crate::support::random::{admitted, any_traces, policy};

/// Out of the shop: the catalog's pool is exhausted until after the deadline.
const QUEUED: &str = "0286fc26397cb1229ec18565ebae4129";
/// The fraud check is asked again, blindly.
const RETRIED: &str = "07298375582188c48c5bb131c10f60d4";

fn explain(input: &str, trace: &str, more: &[&str]) -> Ran {
    let args = ["explain", input, "--trace", trace, "--quiet"];
    run(&[&args[..], more].concat())
}

/// What is printed, without the line that names the version.
fn told(input: &str, trace: &str, more: &[&str]) -> String {
    let ran = explain(input, trace, more);
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.out.lines().skip(1).collect::<Vec<_>>().join("\n")
}

/// The traces of some input with their tables, each outlined.
fn outlined(path: &str) -> Vec<Tables> {
    let spans = ingest(&[path.to_owned()], &Conventions::embedded().unwrap(), &()).unwrap();
    let mut all = Vec::new();
    for partition in spans.partitions {
        let mut ids: Vec<_> = partition.rows.iter().map(|span| span.trace_id).collect();
        ids.sort();
        ids.dedup();
        for id in ids {
            let outlined = Outlined::Chosen(TraceChoice::new(&id.to_string(), Some(id)).unwrap());
            let policy = Policy { outlined, ..Policy::default() };
            let mut tables = reconstruct(partition.clone(), &policy, &Offsets::default());
            assert!(tables.outline.iter().all(|span| span.trace_id == id));
            tables.retain(|other| other == id);
            all.push(tables);
        }
    }
    all
}

/// The length of own time of spans that counts, and lies after an instant.
fn wasted(spans: &[&OutlineSpan], sends: bool, from: fn(&OutlineSpan) -> Option<Nanos>) -> Nanos {
    let after = |own: &OwnStretch, from: Nanos| (own.to - own.from.max(from)).at_least_zero();
    let of_span = |span: &&OutlineSpan| {
        let Some(from) = from(span) else { return Nanos::ZERO };
        let counted = span.own.iter().filter(|own| span.counts(own) && span.kind.sends() == sends);
        counted.map(|own| after(own, from)).sum()
    };
    spans.iter().map(of_span).sum()
}

fn spans_of<'t>(tables: &'t Tables, request: &RequestRow) -> Vec<&'t OutlineSpan> {
    let spans = tables.outline.iter();
    spans.filter(|span| span.root_span_id == request.root_span_id).collect()
}

#[test]
fn what_is_drawn_late_or_residual_sums_to_what_the_tables_say() {
    let mut seen = 0;
    for name in crate::support::case_tables::names() {
        for tables in outlined(&format!("fixtures/cases/{name}.json")) {
            for request in &tables.requests {
                let spans = spans_of(&tables, request);
                assert_eq!(i32::try_from(spans.len()).unwrap(), request.spans, "{name}");
                let late = |sends| wasted(&spans, sends, |span| span.late_from);
                let residual = |sends| wasted(&spans, sends, |span| span.residual_from);
                if request.budget_at_origin_ns.is_some() {
                    assert_eq!(Some(late(false)), request.late_work_ns, "{name}");
                    assert_eq!(Some(late(true)), request.late_wait_ns, "{name}");
                }
                assert_eq!(residual(false), request.residual_work_after_cancel_ns, "{name}");
                assert_eq!(residual(true), request.residual_wait_ns, "{name}");
                seen += i32::from(residual(false) > Nanos::ZERO);
            }
        }
    }
    assert!(seen > 0, "no case has residual work");
}

#[test]
fn of_traces_that_nobody_asked_for_no_span_is_kept() {
    let spans = ingest(
        &["fixtures/cases/every-hop-resets.json".to_owned()],
        &Conventions::embedded().unwrap(),
        &(),
    );
    for partition in spans.unwrap().partitions {
        assert!(reconstruct(partition, &Policy::default(), &Offsets::default()).outline.is_empty());
    }
}

#[test]
fn a_trace_is_explained_at_80_columns() {
    insta::assert_snapshot!("queued-80", told("fixtures/shop", QUEUED, &["--width", "80"]));
    insta::assert_snapshot!("retried-80", told("fixtures/shop", RETRIED, &["--width", "80"]));
}

#[test]
fn a_trace_is_explained_at_120_columns() {
    insta::assert_snapshot!("queued-120", told("fixtures/shop", QUEUED, &["--width", "120"]));
    insta::assert_snapshot!("retried-120", told("fixtures/shop", RETRIED, &["--width", "120"]));
}

#[test]
fn a_trace_is_explained_in_markdown() {
    insta::assert_snapshot!("queued-md", told("fixtures/shop", QUEUED, &["--format", "markdown"]));
}

#[test]
fn two_layers_of_retries_and_a_cancelled_call_are_told() {
    let case = |name: &str| {
        let id = trace_of(&format!("fixtures/cases/{name}.json"));
        told(&format!("fixtures/cases/{name}.json"), &id, &["--width", "100"])
    };
    insta::assert_snapshot!("retry-two-layers", case("retry-two-layers"));
    insta::assert_snapshot!("work-after-cancel", case("work-after-cancel"));
    insta::assert_snapshot!("no-deadline", case("t39-no-deadline-at-root-grants-below"));
}

/// The id of the first trace of a file.
fn trace_of(path: &str) -> String {
    outlined(path).first().unwrap().requests.first().unwrap().trace_id.to_string()
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for name in crate::support::case_tables::names() {
        let path = format!("fixtures/cases/{name}.json");
        let id = trace_of(&path);
        for width in [40, 80, 100, 120, 200] {
            let out = told(&path, &id, &["--width", &width.to_string()]);
            let widest = out.lines().map(UnicodeWidthStr::width).max().unwrap();
            assert!(widest <= width, "{name} at {width} has a line of {widest}:\n{out}");
        }
    }
}

#[test]
fn colour_adds_nothing() {
    let plain = told("fixtures/shop", QUEUED, &["--width", "100", "--color", "never"]);
    let coloured = told("fixtures/shop", QUEUED, &["--width", "100", "--color", "always"]);
    assert_ne!(plain, coloured);
    let mut stripped = coloured;
    for code in ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m"] {
        stripped = stripped.replace(code, "");
    }
    let trimmed = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert_eq!(trimmed(&plain), trimmed(&stripped));
}

#[test]
fn json_holds_the_rows_of_the_tables_as_they_are() {
    let dir = scratch("explain-tables");
    let out = dir.to_str().unwrap();
    let analyzed = run(&["analyze", "fixtures/shop", "--out", out, "--format", "ndjson", "-q"]);
    assert_eq!(analyzed.code, 0, "{}", analyzed.err);
    let ran = explain("fixtures/shop", RETRIED, &["--format", "json", "--declared-only"]);
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    let mut told: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for request in json["requests"].as_array().unwrap() {
        told.entry("requests").or_default().push(request["request"].clone());
        for table in ["hops", "attempts", "segments", "findings"] {
            let rows = request[table].as_array().unwrap().iter().cloned();
            told.entry(table).or_default().extend(rows);
        }
    }
    for (table, rows) in told {
        let text = fs::read_to_string(dir.join(format!("{table}.ndjson"))).unwrap();
        let all = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let expected: Vec<Value> = all.filter(|row| row["trace_id"] == RETRIED).collect();
        assert!(!expected.is_empty(), "{table} has no row of the trace");
        assert_eq!(rows, expected, "{table}");
    }
}

#[test]
fn a_trace_may_be_named_in_capitals_by_its_first_digits_or_in_base64() {
    let whole = told("fixtures/shop", QUEUED, &[]);
    assert_eq!(whole, told("fixtures/shop", &QUEUED.to_uppercase(), &[]));
    assert_eq!(whole, told("fixtures/shop", &QUEUED[..8], &[]));
    assert_eq!(whole, told("fixtures/shop", &QUEUED[..16], &[]));
    assert_eq!(whole, told("fixtures/shop", &QUEUED[16..], &[]));
    assert_eq!(whole, told("fixtures/shop", "Aob8Jjl8sSKewYVl665BKQ==", &[]));
}

#[test]
fn an_unknown_trace_is_an_error_that_names_the_nearest() {
    let slip = format!("f{}", &QUEUED[1..]);
    let ran = explain("fixtures/shop", &slip, &[]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    let expected = format!(
        "dwindle: error: no trace {slip} among the 2800 read; the nearest ids are {QUEUED}, "
    );
    assert!(ran.err.starts_with(&expected), "{}", ran.err);
}

#[test]
fn digits_with_which_several_traces_begin_are_not_enough() {
    let ids = ["00000001aaaaaaaaaaaaaaaaaaaaaaaa", "00000001bbbbbbbbbbbbbbbbbbbbbbbb"];
    let lines: String =
        ids.iter().map(|id| span(id, "00000000000000a1", "", "GET /", 0, 5)).collect();
    let ran = run_with_input(&["explain", "-", "--trace", "00000001"], lines.as_bytes());
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("2 traces of the 2 read begin with 00000001"), "{}", ran.err);
    assert!(ids.iter().all(|id| ran.err.contains(id)), "{}", ran.err);
}

#[test]
fn what_is_no_trace_id_is_refused() {
    for text in ["", "0286fc2", "not-an-id", "0286fc26397cb1229ec18565ebae41290"] {
        let ran = explain("fixtures/shop", text, &[]);
        if text == "0286fc2" {
            // A whole id that is short.
            assert!(ran.err.contains("no trace 0286fc2 among"), "{}", ran.err);
        } else {
            assert!(ran.err.contains("expected hexadecimal digits"), "{text}: {}", ran.err);
        }
        assert_eq!(ran.code, 2);
    }
}

#[test]
fn a_folder_of_tables_is_refused() {
    let dir = scratch("explain-folder");
    let out = dir.to_str().unwrap();
    run(&["analyze", "fixtures/cases/untidy.json", "--out", out, "-q"]);
    let ran = explain(out, QUEUED, &[]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("explain reads traces"), "{}", ran.err);
}

/// A line of span JSON; times in milliseconds.
fn span(trace: &str, id: &str, parent: &str, name: &str, start: u64, end: u64) -> String {
    let base = 1_700_000_000_000_000_000_u64;
    let (start, end) = (base + start * 1_000_000, base + end * 1_000_000);
    let parent =
        if parent.is_empty() { String::new() } else { format!("\"parent_span_id\":\"{parent}\",") };
    format!(
        "{{\"trace_id\":\"{trace}\",\"span_id\":\"{id}\",{parent}\"name\":\"{name}\",\
         \"service\":\"shop\",\"kind\":\"client\",\"start_unix_ns\":{start},\"end_unix_ns\":{end}}}\n"
    )
}

const ONE: &str = "0123456789abcdef0123456789abcdef";

/// A root with many children, some of which stand out.
fn fan(children: u64) -> String {
    let mut lines = span(ONE, "00000000000000a1", "", "root", 0, children + 100);
    for child in 0..children {
        let name = if child % 2 == 0 { "read" } else { "write" };
        let id = format!("{:016x}", 0x1000 + child);
        let end = if child == 7 { child + 90 } else { child + 1 };
        lines += &span(ONE, &id, "00000000000000a1", name, child, end);
    }
    lines
}

/// Each the child of the one before.
fn chain(spans: u64) -> String {
    let mut lines = String::new();
    for depth in 0..spans {
        let parent =
            if depth == 0 { String::new() } else { format!("{:016x}", 0x1000 + depth - 1) };
        let (id, name) = (format!("{:016x}", 0x1000 + depth), format!("step-{depth}"));
        lines += &span(ONE, &id, &parent, &name, 0, 2 * spans - depth);
    }
    lines
}

#[test]
fn siblings_that_are_alike_and_unremarkable_are_told_together() {
    let text = fan(40);
    let ran = run_with_input(&["explain", "-", "--trace", ONE, "--width", "100"], text.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let rows = |out: &str, what: &str| out.lines().filter(|line| line.contains(what)).count();
    assert!(ran.out.contains("20 × "), "{}", ran.out);
    assert!(ran.out.contains("19 × "), "the long one stands alone:\n{}", ran.out);
    let all = run_with_input(
        &["explain", "-", "--trace", ONE, "--width", "100", "--all"],
        text.as_bytes(),
    );
    assert!(!all.out.contains("20 × "));
    assert!(rows(&all.out, "→ read") >= 20, "{}", all.out);
}

#[test]
fn ten_thousand_spans_stay_readable() {
    for (shape, text) in [("fan", fan(10_000)), ("chain", chain(10_000))] {
        let args = ["explain", "-", "--trace", ONE, "--width", "80"];
        let ran = run_with_input(&args, text.as_bytes());
        assert_eq!(ran.code, 0, "{}", ran.err);
        let lines = ran.out.lines().count();
        assert!(lines < 600, "{shape} takes {lines} lines");
        let widest = ran.out.lines().map(UnicodeWidthStr::width).max().unwrap();
        assert!(widest <= 80, "{shape} is {widest} wide");
    }
}

#[test]
fn hostile_names_reach_no_terminal() {
    let name = "a\\u001b[31m\\u202eb```\\n|c";
    let text = span(ONE, "00000000000000a1", "", name, 0, 5);
    for format in ["terminal", "markdown"] {
        let args = ["explain", "-", "--trace", ONE, "--format", format];
        let ran = run_with_input(&args, text.as_bytes());
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(!ran.out.contains(['\u{1b}', '\u{202e}']), "{format}: {}", ran.out);
        let fences = ran.out.lines().filter(|line| line.contains("```")).count();
        assert_eq!(fences, if format == "markdown" { 2 } else { fences }, "{}", ran.out);
    }
}

#[test]
fn own_time_on_the_outline_is_disjoint_and_within_its_span() {
    for name in crate::support::case_tables::names() {
        for tables in outlined(&format!("fixtures/cases/{name}.json")) {
            for span in &tables.outline {
                let mut at = None;
                for own in &span.own {
                    assert!(own.from < own.to, "{name}: {span:?}");
                    assert!(at.is_none_or(|at| at <= own.from), "{name}: {span:?}");
                    let is_before_root = own.category == Category::Queue && own.to <= span.start;
                    assert!(is_before_root || own.from >= span.start, "{name}: {span:?}");
                    assert!(own.to <= span.end, "{name}: {span:?}");
                    at = Some(own.to);
                }
            }
        }
    }
}

#[test]
fn every_number_of_an_answer_is_told_to_the_same_digits_as_the_tables() {
    let ran = explain("fixtures/shop", QUEUED, &["--format", "json"]);
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    let request = &json["requests"][0];
    let mut text = String::new();
    for answer in request["answers"].as_array().unwrap() {
        for point in answer["points"].as_array().unwrap() {
            writeln!(text, "{}", point.as_str().unwrap()).unwrap();
        }
    }
    // budget, late work, residual work, cancellation, queue: as the table `requests` has them.
    assert_eq!(request["request"]["late_work_ns"], 38_439_000);
    assert_eq!(request["request"]["cancellation_observed_ns"], 800_200_000);
    for number in ["800 ms", "777 ms", "774 ms", "38.4 ms", "36.6 ms", "797 ms", "-2.00 ms"] {
        assert!(text.contains(number), "{number} is not told:\n{text}");
    }
    assert!(parse_trace_id(json["trace_id"].as_str().unwrap()).is_some());
}

/// The waterfalls of an explanation, and how many hops and other spans each request has.
fn waterfalls(tables: &Tables, all: bool) -> Vec<Waterfall> {
    let sections = explanation(tables, &RunFacts::default(), all).sections;
    let blocks = sections.into_iter().flat_map(|section| section.blocks);
    let waterfall = |block| match block {
        Block::Waterfall(waterfall) => Some(waterfall),
        _ => None,
    };
    blocks.filter_map(waterfall).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn every_hop_and_every_other_span_of_any_trace_has_a_row(spans in any_traces(), policy in policy()) {
        let spans = admitted(&spans);
        let Some(id) = spans.rows.first().map(|span| span.trace_id) else { return Ok(()) };
        let outlined = Outlined::Chosen(TraceChoice::new(&id.to_string(), Some(id)).unwrap());
        let mut tables = reconstruct(spans, &Policy { outlined, ..policy }, &Offsets::default());
        tables.retain(|other| other == id);
        let halves = |hop: &HopRow| [hop.client_span_id, hop.server_span_id];
        let paired: BTreeSet<_> = tables.hops.iter().flat_map(halves).flatten().collect();
        let others = tables.outline.iter().filter(|span| !paired.contains(&span.span_id)).count();
        let told = waterfalls(&tables, true);
        let rows: usize = told.iter().map(|waterfall| waterfall.rows.len()).sum();
        prop_assert_eq!(rows, tables.hops.len() + others);
        let findings: usize = told
            .iter()
            .flat_map(|waterfall| &waterfall.rows)
            .map(|row| row.findings.len())
            .sum();
        prop_assert_eq!(findings, tables.findings.len());
        for width in [40, 80, 120] {
            let report = explanation(&tables, &RunFacts::default(), false);
            let text = report.render(Format::Terminal, width, false);
            let widest = text.lines().map(UnicodeWidthStr::width).max().unwrap_or(0);
            prop_assert!(widest <= width, "a line of {} at {}:\n{}", widest, width, text);
        }
    }
}
