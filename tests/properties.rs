//! What holds for every trace.

use std::collections::BTreeMap;

use dwindle::clocks::Offsets;
use dwindle::reconstruct::{Policy, reconstruct};
use dwindle::span::Spans;
use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_assume};
use proptest::proptest;
use proptest::sample::Index;
use proptest::test_runner::Config as ProptestConfig;
use serde_json::Value;

use crate::support::naive;
use crate::support::random::{MS, Placed, admitted, any_traces, policy, shift, skewed_trace};
use crate::support::tables::{Json, differences, json_tables};

fn tables(spans: &Spans, policy: &Policy) -> Json {
    json_tables(std::iter::once(reconstruct(spans.clone(), policy, &Offsets::default())))
}

/// What differs between two sets of tables, as one text; empty where nothing does.
fn difference(expected: &Json, found: &Json) -> String {
    let of_table =
        |(table, rows): (&&'static str, &Vec<Value>)| differences(table, rows, &found[table]);
    expected.iter().flat_map(of_table).collect::<Vec<_>>().join("\n")
}

/// The number in a column; absent counts as none.
fn number(row: &Value, column: &str) -> i64 {
    row[column].as_i64().unwrap_or(0)
}

/// The sum of a column by the trace and root span of the rows.
fn sums(rows: &[Value], column: &str) -> BTreeMap<String, i64> {
    let mut sums = BTreeMap::new();
    for row in rows {
        *sums.entry(request(row)).or_insert(0) += number(row, column);
    }
    sums
}

fn request(row: &Value) -> String {
    format!("{} {}", row["trace_id"], row["root_span_id"])
}

/// From the origin to the start of a request's root.
fn elapsed_at_root(tables: &Json, request_row: &Value) -> i64 {
    let root = &request_row["root_span_id"];
    let holds_root = |hop: &&Value| {
        request(hop) == request(request_row)
            && (hop["client_span_id"] == *root || hop["server_span_id"] == *root)
    };
    let hop = tables["hops"].iter().find(holds_root).unwrap();
    let half = if hop["client_span_id"] == *root { "send" } else { "receive" };
    number(hop, &format!("elapsed_at_{half}_ns"))
}

fn segments_that_do_not_sum(tables: &Json) -> Vec<String> {
    let told = sums(&tables["segments"], "duration_ns");
    let wrong = |row: &&Value| {
        let elapsed = elapsed_at_root(tables, row) + number(row, "duration_ns");
        told.get(&request(row)).copied().unwrap_or(0) != elapsed
    };
    tables["requests"].iter().filter(wrong).map(request).collect()
}

fn requests_that_waste_more_than_was_done(tables: &Json) -> Vec<String> {
    let wasted = sums(&tables["findings"], "wasted_ns");
    let wrong = |row: &&Value| {
        let done = number(row, "late_work_ns") + number(row, "residual_work_after_cancel_ns");
        wasted.get(&request(row)).copied().unwrap_or(0) > done
    };
    tables["requests"].iter().filter(wrong).map(request).collect()
}

/// Spans, and the same in another order.
fn shuffled() -> impl Strategy<Value = (Vec<Placed>, Vec<Placed>)> {
    any_traces().prop_flat_map(|spans| (Just(spans.clone()), Just(spans).prop_shuffle()))
}

/// The clock domains in the order in which they are settled, where every interval that an offset
/// may lie in excludes zero.
fn domains_off_zero(spans: &Spans) -> Option<Vec<String>> {
    let bounds = naive::clock_bounds(spans);
    let excludes_zero = |lo: Option<i64>, hi: Option<i64>| {
        lo.is_some_and(|lo| lo > 0) || hi.is_some_and(|hi| hi < 0)
    };
    let all_exclude = bounds.iter().all(|&(_, lo, hi)| excludes_zero(lo, hi));
    all_exclude.then(|| bounds.into_iter().map(|(name, ..)| name).collect())
}

proptest! {
    // The clock property throws away most of what it is given.
    #![proptest_config(ProptestConfig { max_global_rejects: 1 << 20, ..ProptestConfig::default() })]

    #[test]
    fn the_naive_implementation_tells_the_same(spans in any_traces(), policy in policy()) {
        let spans = admitted(&spans);
        let told = difference(&naive::tables(&spans, &policy), &tables(&spans, &policy));
        prop_assert!(told.is_empty(), "{}", told);
    }

    #[test]
    fn segments_of_a_request_sum_to_its_elapsed_time(
        spans in any_traces(),
        policy in policy(),
    ) {
        let spans = admitted(&spans);
        let wrong = segments_that_do_not_sum(&tables(&spans, &policy));
        prop_assert!(wrong.is_empty(), "{:?}", wrong);
    }

    #[test]
    fn the_order_of_spans_changes_nothing(orders in shuffled(), policy in policy()) {
        let [one, other] = [&orders.0, &orders.1].map(|spans| tables(&admitted(spans), &policy));
        prop_assert_eq!(one, other);
    }

    #[test]
    fn findings_waste_no_more_than_was_done_late(spans in any_traces(), policy in policy()) {
        let spans = admitted(&spans);
        let wrong = requests_that_waste_more_than_was_done(&tables(&spans, &policy));
        prop_assert!(wrong.is_empty(), "{:?}", wrong);
    }

    #[test]
    fn the_clock_of_a_domain_known_to_be_off_changes_no_column(
        spans in skewed_trace(),
        policy in policy(),
        pick in any::<Index>(),
        amount in -1_000 * MS..1_000 * MS,
    ) {
        // The root's clock is the one that the others are told by.
        let host = spans[pick.index(spans.len())].host;
        prop_assume!(spans[0].host != host);
        let mut shifted = spans.clone();
        shift(&mut shifted, host, amount);
        let (spans, shifted) = (admitted(&spans), admitted(&shifted));
        let domains = domains_off_zero(&spans);
        // A domain is settled when first met, and what is met first hangs on the clocks as read.
        prop_assume!(domains.is_some() && domains == domains_off_zero(&shifted));
        let told = |spans| without_offsets(tables(spans, &policy));
        let told = difference(&told(&spans), &told(&shifted));
        prop_assert!(told.is_empty(), "{}", told);
    }
}

/// The tables with the width of each interval of offsets in the place of its ends.
fn without_offsets(mut tables: Json) -> Json {
    for hop in tables.get_mut("hops").unwrap() {
        let ends = [&hop["clock_lo_ns"], &hop["clock_hi_ns"]].map(Value::as_i64);
        let width = ends[0].zip(ends[1]).map(|(lo, hi)| hi - lo);
        hop["clock_lo_ns"] = Value::Null;
        hop["clock_hi_ns"] = width.map_or(Value::Null, Value::from);
    }
    tables
}
