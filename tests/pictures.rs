//! Shapes of samples beside their percentiles.

use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use crate::support::command::run_with_input;
use crate::support::made_spans::line;

/// Requests with 1,000 ms that call payment after so many milliseconds.
fn calling_after(starts_ms: impl IntoIterator<Item = u64>) -> String {
    let trace = |(trace, start): (u64, u64)| {
        let given = json!({"deadline.remaining_ms": 1_000});
        let root = (trace, 1, 0, "gateway", "POST /checkout", "server", [0, start + 10]);
        let call = (trace, 2, 1, "gateway", "pay", "client", [start, start + 5]);
        line(root, &given) + &line(call, &json!({}))
    };
    (1..).zip(starts_ms).map(trace).collect()
}

fn report(spans: &str, format: &[&str]) -> String {
    let args = [&["report", "-", "--quiet"], format].concat();
    run_with_input(&args, spans.as_bytes()).out
}

/// The head and the row of payment, of the table of what was left; what stands right of `n`.
fn drawn(spans: &str, width: usize) -> [String; 2] {
    let text = report(spans, &["--width", &width.to_string()]);
    assert!(text.lines().all(|line| line.width() <= width), "{text}");
    let mut lines = text.lines().skip_while(|line| !line.starts_with("Left at each hop")).skip(1);
    [lines.next(), lines.nth(1)].map(|line| line.unwrap_or_default().to_owned())
}

fn bars(row: &str) -> String {
    row.chars().skip_while(|c| !"▁▂▃▄▅▆▇█┊‹".contains(*c)).collect()
}

/// 300 requests call after 100 ms or so, 40 after 700.
fn two_humps() -> String {
    calling_after(
        (0..340).map(|index| if index < 300 { 80 + index % 40 } else { 680 + index % 40 }),
    )
}

#[test]
fn two_humps_are_seen_at_every_width_that_has_room() {
    for width in [80, 100, 120, 200, 300] {
        let [head, row] = drawn(&two_humps(), width);
        let bars = bars(&row);
        let humps: Vec<&str> = bars.split(' ').filter(|hump| !hump.is_empty()).collect();
        assert!(humps.len() >= 2, "{width}: {head}\n{row}");
        assert!(humps[0].chars().max() < humps[1].chars().max(), "the smaller one is lower: {row}");
    }
    let narrow = drawn(&two_humps(), 40);
    assert_eq!(bars(&narrow[1]), "", "it goes first: {narrow:?}");
}

#[test]
fn where_budgets_were_overspent_zero_is_marked() {
    let overspent = calling_after((0..400).map(|index| if index < 390 { index } else { 1_200 }));
    for width in [100, 120, 200, 300] {
        let [head, row] = drawn(&overspent, width);
        let (below, above) = row.split_once('┊').expect("a zero line");
        assert!("▁▂▃▄▅▆▇█".contains(below.trim_end().chars().last().unwrap()), "{row}");
        assert!(above.contains('█') && head.contains("-200") && head.contains("1,000"), "{head}");
    }
    let [head, row] = drawn(&two_humps(), 120);
    assert!(!row.contains('┊') && head.contains(" 0 "), "nothing lies below zero: {head}\n{row}");
}

/// One stuck request does not squeeze all others into a bar.
#[test]
fn a_scale_is_cut_where_a_few_lie_far_out() {
    let stuck = two_humps() + &calling_after([60_000]).replace("00000001\"", "000f0001\"");
    let [head, row] = drawn(&stuck, 120);
    assert!(head.contains('‹') && bars(&row).starts_with('‹'), "{head}\n{row}");
    assert!(bars(&row).split(' ').filter(|hump| !hump.is_empty()).count() >= 3, "{row}");
    let document: Value = serde_json::from_str(&report(&stuck, &["--format", "json"])).unwrap();
    let histogram = histogram(&document);
    assert_eq!((&histogram["below"], &histogram["above"]), (&json!(1), &json!(0)));
}

fn histogram(document: &Value) -> Value {
    let tables = document["sections"][1]["tables"].as_array().unwrap();
    let table = tables.iter().find(|table| table["id"] == "remaining").expect("the table");
    table["rows"][0]["remaining_at_entry_ns_histogram"].clone()
}

#[test]
fn bins_hold_every_value_once() {
    let document: Value =
        serde_json::from_str(&report(&two_humps(), &["--format", "json"])).unwrap();
    let histogram = histogram(&document);
    let number = |key: &str| histogram[key].as_i64().unwrap();
    let counts: Vec<i64> = serde_json::from_value(histogram["counts"].clone()).unwrap();
    assert_eq!(counts.iter().sum::<i64>(), 340);
    let (from, width) = (number("from_ns"), number("width_ns"));
    let from_hundred_to = |to_ms: i64| -> i64 {
        let ends = (1..).map(|bin| from + bin * width);
        counts.iter().zip(ends).filter(|(_, end)| *end <= to_ms * 1_000_000).map(|(n, _)| n).sum()
    };
    assert_eq!(from_hundred_to(600), 40, "those that called late had at most 320 ms left");
}
