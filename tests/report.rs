//! Reports: what they tell, and how it looks.

use std::collections::BTreeMap;

use dwindle::calibrate::Calibration;
use dwindle::distributions::{Call, FindingSummary, HopSummary, Measure, Merge, Place, Summary};
use dwindle::exemplars::Exemplars;
use dwindle::report::{self, Format, Options, Problem, RunFacts};
use dwindle::tables::{FindingCode, Severity, Verdict};
use dwindle::units::{Nanos, UnixNanos};
use unicode_width::UnicodeWidthStr;

use crate::support::case_tables;
use crate::support::harmless;
use crate::support::made_tables::{Shape, partition};

const WIDTHS: [usize; 7] = [40, 57, 80, 100, 120, 160, 240];

fn facts() -> RunFacts {
    RunFacts {
        version: "0.0.0 (test)".to_owned(),
        inputs: vec!["traces.json".to_owned()],
        contracts: String::new(),
        files: 1,
        spans_read: 12_034,
        spans_admitted: 12_030,
        spans_rejected: 4,
        traces: 3_000,
        window: Some((
            UnixNanos::from_nanos(1_700_000_000_000_000_000),
            UnixNanos::from_nanos(1_700_000_060_500_000_000),
        )),
        wordless_clients: 12,
        clients: 3_750,
        span_links: 7,
        chosen_by: Vec::new(),
        problems: vec![Problem {
            severity: Severity::Loss,
            code: "bad-span-id".to_owned(),
            count: 4,
            file: "traces.json".to_owned(),
            byte: Some(1_234),
            line: Some(3),
            record: Some(2),
            message: "span id is not 16 hexadecimal digits".to_owned(),
            help: "fix the exporter: ids are 8 bytes, as hexadecimal or base64".to_owned(),
        }],
        ..RunFacts::default()
    }
}

fn summary<'a>(parts: impl IntoIterator<Item = (&'a Shape, u64)>) -> Summary {
    let mut summary = Summary::default();
    for (seed, (shape, requests)) in (1..).zip(parts) {
        summary.add(&partition(shape, requests, seed));
    }
    summary
}

fn shop() -> Summary {
    let items = Shape::checkout().named("gateway GET /items/{id}");
    let nightly = Shape::checkout().without_deadline().named("nightly report");
    summary([(&Shape::checkout(), 2_400), (&items, 500), (&nightly, 100)])
}

fn hostile() -> Summary {
    let shape = Shape {
        class: "=cmd|' /C calc'!A0\u{202e}|`rm`\n\u{1b}[31m<b>\t[x](http://y) \u{8ba2}\u{5355}"
            .to_owned(),
        root: "@SUM(A1)\u{2066}|`a`".to_owned(),
        callee: "-pay\r\nment\u{7}".to_owned(),
        operation: format!("+{}", "long/path/".repeat(40)),
        deadline: Some(Nanos::from_seconds(1)),
    };
    summary([(&shape, 500)])
}

fn all_cases() -> Summary {
    let mut summary = Summary::default();
    for name in case_tables::names() {
        summary.add(&case_tables::load(&name));
    }
    summary
}

fn render(summary: &Summary, format: Format, width: usize) -> String {
    report::build(
        summary,
        &Exemplars::default(),
        &Calibration::default(),
        &facts(),
        &Options::for_format(format),
    )
    .render(format, width, false)
}

#[test]
fn the_terminal_report_at_80_columns() {
    insta::assert_snapshot!(render(&shop(), Format::Terminal, 80));
}

#[test]
fn the_terminal_report_at_100_columns() {
    insta::assert_snapshot!(render(&shop(), Format::Terminal, 100));
}

#[test]
fn the_terminal_report_at_120_columns() {
    insta::assert_snapshot!(render(&shop(), Format::Terminal, 120));
}

#[test]
fn the_markdown_report() {
    insta::assert_snapshot!(render(&shop(), Format::Markdown, 0));
}

#[test]
fn the_csv_report() {
    insta::assert_snapshot!(render(&shop(), Format::Csv, 0));
}

#[test]
fn the_json_report() {
    let checkout = summary([(&Shape::checkout(), 400)]);
    insta::assert_snapshot!(render(&checkout, Format::Json, 0));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for summary in [shop(), hostile(), all_cases(), Summary::default()] {
        for width in WIDTHS {
            let text = render(&summary, Format::Terminal, width);
            for line in text.lines() {
                assert!(line.width() <= width, "{} > {width}: {line}", line.width());
            }
        }
    }
}

#[test]
fn hostile_names_reach_no_terminal() {
    let text = render(&hostile(), Format::Terminal, 120);
    let is_harmful = |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{2066}".contains(c);
    assert!(!text.contains(is_harmful));
    insta::assert_snapshot!(text.lines().take(20).collect::<Vec<_>>().join("\n"));
}

#[test]
fn hostile_names_break_no_markdown() {
    let text = render(&hostile(), Format::Markdown, 0);
    assert!(!text.contains("<b>") && !text.replace("\\]", "").contains("](http"));
    harmless::markdown(&text);
}

#[test]
fn hostile_names_are_no_formulas_in_csv() {
    let text = render(&hostile(), Format::Csv, 0);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let mut classes = 0;
    for record in reader.records() {
        let record = record.expect("as many fields as heads");
        for field in &record {
            assert!(field.parse::<i64>().is_ok() || !field.starts_with(['=', '+', '-', '@']));
        }
        classes += usize::from(record[1].starts_with("'=cmd"));
    }
    assert!(classes > 10);
}

#[test]
fn without_any_deadline_the_report_leads_with_what_needs_none_and_says_how_to_set_one() {
    let shape = Shape::checkout().without_deadline();
    let text = render(&summary([(&shape, 500)]), Format::Terminal, 80);
    assert!(text.contains("--deadline 1s") && text.contains("--deadline 'GET /items/*=800ms'"));
    assert_eq!(text.matches("no_deadline").count(), 1, "once, among the blind spots");
    assert!(!text.contains("of budget") && text.contains("of elapsed"));
    insta::assert_snapshot!(text.lines().take(45).collect::<Vec<_>>().join("\n"));
}

#[test]
fn two_thousand_classes_fold_into_the_busiest_twenty_and_one_line() {
    let mut summary = Summary::default();
    for index in 0..2_000 {
        let shape = Shape::checkout().named(&format!("gateway GET /items/{index:04}"));
        summary.add(&partition(&shape, if index < 25 { 12 } else { 1 }, index));
    }
    let text = render(&summary, Format::Terminal, 80);
    assert!(text.contains("(1,980 more)") && text.contains("globs in a contract"));
    assert_eq!(text.lines().filter(|line| line.starts_with("gateway GET /items/")).count(), 20);
    insta::assert_snapshot!(text.lines().take(34).collect::<Vec<_>>().join("\n"));
    let csv = render(&summary, Format::Csv, 0);
    assert!(csv.contains("gateway GET /items/1999"), "machines get all of them");
}

#[test]
fn an_empty_input_is_told_and_is_no_failure() {
    let facts = RunFacts { version: "0.0.0 (test)".to_owned(), ..RunFacts::default() };
    let options = Options::for_format(Format::Terminal);
    let report = report::build(
        &Summary::default(),
        &Exemplars::default(),
        &Calibration::default(),
        &facts,
        &options,
    );
    insta::assert_snapshot!(report.render(Format::Terminal, 80, false));
    for format in Format::ALL {
        assert!(!report.render(*format, 80, false).is_empty());
    }
}

#[test]
fn a_problem_is_told_of_each_file_and_what_to_do_about_it_once() {
    let problem = facts().problems.remove(0);
    let elsewhere = Problem { file: "more.json".to_owned(), ..problem.clone() };
    let other = Problem { message: "span id is absent".to_owned(), ..problem.clone() };
    let facts = RunFacts { files: 2, problems: vec![problem, elsewhere, other], ..facts() };
    let report = report::build(
        &shop(),
        &Exemplars::default(),
        &Calibration::default(),
        &facts,
        &Options::for_format(Format::Terminal),
    );
    let text = report.render(Format::Terminal, 120, false);
    let lines_of = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
    assert_eq!((lines_of("bad-span-id"), lines_of("- bad-span-id")), (3, 2), "{text}");
    assert!(text.lines().any(|line| line.contains("more.json") && line.contains("1,234")));
}

#[test]
fn counts_of_problems_that_no_count_can_hold_together_are_told() {
    let problem = Problem { count: u64::MAX / 2, ..facts().problems.remove(0) };
    let facts = RunFacts { problems: vec![problem; 3], ..facts() };
    for format in Format::ALL {
        let options = Options::for_format(*format);
        assert!(
            !report::build(
                &shop(),
                &Exemplars::default(),
                &Calibration::default(),
                &facts,
                &options
            )
            .render(*format, 80, false)
            .is_empty()
        );
    }
}

#[test]
fn colour_adds_nothing_but_weight() {
    let report = report::build(
        &shop(),
        &Exemplars::default(),
        &Calibration::default(),
        &facts(),
        &Options::for_format(Format::Terminal),
    );
    let colored = report.render(Format::Terminal, 80, true);
    assert!(colored.contains("\u{1b}[1m"));
    let bare = colored.replace("\u{1b}[1m", "").replace("\u{1b}[0m", "");
    assert_eq!(bare, report.render(Format::Terminal, 80, false));
}

#[test]
fn the_order_of_partitions_and_merging_changes_no_byte() {
    let parts: Vec<_> = (0..6).map(|seed| partition(&Shape::checkout(), 50 + seed, seed)).collect();
    let mut forward = Summary::default();
    for part in &parts {
        forward.add(part);
    }
    let mut backward = Summary::default();
    for part in parts.iter().rev() {
        backward.add(part);
    }
    let mut halves = [Summary::default(), Summary::default()];
    for (index, part) in parts.iter().enumerate() {
        halves[index % 2].add(part);
    }
    let [mut merged, other] = halves;
    merged.merge_from(other);
    for format in Format::ALL {
        let expected = render(&forward, *format, 100);
        assert_eq!(render(&backward, *format, 100), expected);
        assert_eq!(render(&merged, *format, 100), expected);
    }
}

#[test]
fn a_percentile_of_too_few_values_is_not_the_maximum() {
    let text = render(&summary([(&Shape::checkout(), 71)]), Format::Terminal, 160);
    let elapsed = text.lines().find(|line| line.starts_with("elapsed")).expect("elapsed");
    assert!(elapsed.contains("n<368") && !elapsed.contains("n<36 "), "{elapsed}");
    let few = render(&summary([(&Shape::checkout(), 5)]), Format::Terminal, 160);
    let elapsed = few.lines().find(|line| line.starts_with("elapsed")).expect("elapsed");
    assert!(elapsed.contains("n<6"), "{elapsed}");
}

#[test]
fn json_keeps_every_nanosecond() {
    let one = summary([(&Shape::checkout(), 1)]);
    let document: serde_json::Value =
        serde_json::from_str(&render(&one, Format::Json, 0)).expect("JSON");
    assert_eq!(document["schema_version"], 1);
    let tables = document["sections"][1]["tables"].as_array().expect("tables");
    let time = tables.iter().find(|table| table["id"] == "time").expect("time");
    assert_eq!(time["rows"][0]["measure"], "elapsed_ns");
    let part = partition(&Shape::checkout(), 1, 1);
    let elapsed: i64 = part.segments.iter().map(|row| row.duration_ns.as_nanos()).sum();
    assert_eq!(time["rows"][0]["max"]["value"], elapsed);
    assert_eq!(time["rows"][0]["p99"]["value"], serde_json::Value::Null);
    assert_eq!(time["rows"][0]["p99"]["n"], 1);
}

/// The records of one section of the CSV form, as maps from heads.
fn section_of(summary: &Summary, section: &str) -> Vec<BTreeMap<String, String>> {
    let text = render(summary, Format::Csv, 0);
    let reader = csv::Reader::from_reader(text.as_bytes());
    let records = reader.into_deserialize::<BTreeMap<String, String>>();
    let records = records.map(|record| record.expect("a record"));
    records.filter(|record| record["section"] == section).collect()
}

fn case(name: &str) -> Summary {
    let mut summary = Summary::default();
    summary.add(&case_tables::load(name));
    summary
}

#[test]
fn attempts_are_told_by_ordinal_with_what_was_left_when_each_began() {
    let attempts = section_of(&case("retry-third-unfundable"), "attempts");
    let told = |ordinal: u32, measure: &str, statistic: &str| {
        let of_ordinal = format!("ordinal={ordinal}");
        let found = attempts.iter().find(|record| {
            record["scope"].ends_with(&of_ordinal)
                && record["measure"] == measure
                && record["statistic"] == statistic
        });
        found.expect(&of_ordinal)["value"].clone()
    };
    let left = [1, 2, 3].map(|ordinal| told(ordinal, "remaining_at_start_ns", "min"));
    assert_eq!(left, ["770000000", "520000000", "170000000"]);
    assert_eq!([1, 2, 3].map(|ordinal| told(ordinal, "unfunded", "")), ["0", "0", "1"]);
}

#[test]
fn what_the_budget_was_spent_on_sums_to_what_had_passed() {
    for name in case_tables::names() {
        let summary = case(&name);
        let spent = section_of(&summary, "spent");
        for (class, of_class) in &summary.classes {
            let shares = spent.iter().filter(|record| {
                record["class"].trim_start_matches('\'') == &**class
                    && record["measure"].starts_with("share_of_")
            });
            let sum: i128 = shares.map(|record| record["value"].parse::<i128>().expect("ns")).sum();
            assert_eq!(sum, of_class.measure(Measure::Elapsed).sum(), "{name}: {class}");
        }
    }
}

#[test]
fn hops_that_reset_are_ranked_by_what_they_wasted() {
    let busier = Shape { callee: "fraud".to_owned(), ..Shape::checkout() };
    let summary = summary([(&Shape::checkout(), 200), (&busier, 2_000)]);
    let overgrants = section_of(&summary, "overgrants");
    let wasted = overgrants.iter().filter(|record| record["measure"] == "wasted_ns");
    let ranked: Vec<(i64, bool)> = wasted
        .map(|record| {
            let wasted = record["value"].parse().expect("ns");
            (wasted, record["scope"].contains("callee=fraud"))
        })
        .collect();
    assert!(matches!(ranked[..], [(most, true), (least, false)] if most > least), "{ranked:?}");
}

/// A call of a database at some depth.
fn database(depth: i32) -> Place {
    let call = Call { caller: None, callee: Some("db".into()), operation: "SELECT".into() };
    Place { depth, call }
}

/// What the overview tells of the tightest hop of checkouts: which percentile, and its value.
fn tightest(requests: u64, at_a_rare_hop: &[i64]) -> (String, String) {
    let mut summary = summary([(&Shape::checkout(), requests)]);
    let class = summary.classes.get_mut("checkout").expect("the class");
    let mut rare = HopSummary { hops: at_a_rare_hop.len() as u64, ..HopSummary::default() };
    for left in at_a_rare_hop {
        rare.remaining_at_entry.push(Nanos::from_nanos(*left));
    }
    class.hops.insert(database(1), rare);
    let overview = section_of(&summary, "summary");
    let left = overview.iter().find(|record| record["measure"] == "remaining_at_worst_hop_ns");
    let left = left.expect("what was left");
    assert_eq!(left["statistic"], "p1");
    let quantile = if left["quantile"].is_empty() { "p1" } else { &left["quantile"] };
    (quantile.to_owned(), left["value"].clone())
}

#[test]
fn the_tightest_hop_is_one_whose_sample_bounds_what_is_told_of_it() {
    let alone = tightest(400, &[]);
    assert_eq!(alone.0, "p1");
    assert_eq!(tightest(400, &[-145; 12]), alone, "a rare hop's minimum is no first percentile");
    assert_eq!(tightest(400, &[-145; 368]), ("p1".to_owned(), "-145".to_owned()));

    let few = tightest(71, &[]);
    assert_eq!(few.0, "p5");
    assert_eq!(tightest(71, &[-145; 12]), few, "of no hop is it known: the busiest is told");
    assert_eq!(tightest(4, &[]), ("p50".to_owned(), String::new()));
}

#[test]
fn verdicts_that_find_no_room_are_told_together() {
    let mut summary = summary([(&Shape::checkout(), 40)]);
    let class = summary.classes.get_mut("checkout").expect("the class");
    for (_, hop) in class.hops.iter_mut().filter(|(place, _)| place.depth > 0) {
        hop.verdicts = (1..).zip(Verdict::ALL).map(|(count, verdict)| (*verdict, count)).collect();
        hop.hops = hop.verdicts.values().sum();
    }
    for width in WIDTHS {
        let text = render(&summary, Format::Terminal, width);
        let mut grants = text.lines().skip_while(|line| !line.starts_with("Time given"));
        let row = grants.nth(3).expect("a row");
        let counts = row.split_whitespace().filter_map(|word| word.parse::<usize>().ok());
        let counts: Vec<usize> = counts.collect();
        assert_eq!(counts[0], counts[1..].iter().sum::<usize>(), "{width}: {row}");
    }
}

#[test]
fn requests_without_a_deadline_among_others_with_one_are_not_passed_over() {
    let without = Shape::checkout().without_deadline();
    let summary = summary([(&Shape::checkout(), 4), (&without, 96)]);
    let text = render(&summary, Format::Terminal, 100);
    for told in ["bounded", "4.0 %", "4 with a deadline, 1,000 ms", "Not every request of these"] {
        assert!(text.contains(told), "{told}: {text}");
    }
    assert!(!render(&shop(), Format::Terminal, 100).contains("bounded"));
}

#[test]
fn a_call_at_two_depths_of_one_class_wastes_in_one_class() {
    let mut summary = summary([(&Shape::checkout(), 10)]);
    let class = summary.classes.get_mut("checkout").expect("the class");
    class.findings.clear();
    for depth in [1, 2] {
        let found = FindingSummary { findings: 1, ..FindingSummary::default() };
        class.findings.insert((FindingCode::CancelIgnored, Some(database(depth))), found);
    }
    let worst = section_of(&summary, "worst");
    let classes: Vec<&str> = worst
        .iter()
        .filter(|record| record["measure"] == "classes")
        .map(|record| record["value"].as_str())
        .collect();
    assert_eq!(classes, ["1"]);
}

#[test]
fn callees_stand_below_their_callers_in_the_order_in_which_they_are_entered() {
    let summary = case("every-hop-resets");
    let text = render(&summary, Format::Terminal, 120);
    let tree: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.starts_with("Left at each hop"))
        .skip(3)
        .take_while(|line| !line.is_empty())
        .map(|line| {
            let indent = line.len() - line.trim_start().len();
            let label = line[indent..].find("  ").expect("a number after the label");
            &line[..indent + label]
        })
        .collect();
    insta::assert_debug_snapshot!(tree);
}

#[test]
fn a_hop_without_any_budget_is_absent_and_not_zero() {
    let text = render(&all_cases(), Format::Csv, 0);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    for record in reader.records().map(|record| record.expect("a record")) {
        let is_least_left = &record[0] == "summary" && &record[3] == "remaining_at_worst_hop_ns";
        if is_least_left && &record[7] == "0" {
            assert_eq!(&record[5], "");
        }
    }
}

#[test]
fn times_have_three_significant_digits_in_milliseconds() {
    let shown = |nanos: i64| {
        let window = Some((UnixNanos::from_nanos(0), UnixNanos::from_nanos(nanos)));
        let facts = RunFacts { window, ..facts() };
        let options = Options::for_format(Format::Terminal);
        let text = report::build(
            &shop(),
            &Exemplars::default(),
            &Calibration::default(),
            &facts,
            &options,
        )
        .render(Format::Terminal, 80, false);
        let line = text.lines().find(|line| line.starts_with("observation window, ms"));
        line.expect("a window").split_whitespace().last().expect("a value").to_owned()
    };
    let pairs = [
        (1, "0.000001"),
        (1_234, "0.00123"),
        (999_950, "1.00"),
        (1_230_000, "1.23"),
        (12_345_678, "12.3"),
        (99_950_000, "100"),
        (123_400_000, "123"),
        (1_234_000_000, "1,230"),
        (9_995_000_000, "10,000"),
        (123_456_789_000_000, "123,000,000"),
        (0, "0"),
    ];
    for (nanos, expected) in pairs {
        assert_eq!(shown(nanos), expected, "{nanos} ns");
    }
}
