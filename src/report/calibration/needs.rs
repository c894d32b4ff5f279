//! What attempts need, by those that succeeded, and how often they pay with how much left.

use std::cmp::Reverse;

use super::{of_sample, telling, with_quiet};
use crate::calibrate::{Calibration, CallLimit, Decile, Measured};
use crate::report::model::{Block, Cell, Column, Row, Table};
use crate::report::{Options, words};
use crate::stats::Proportion;

/// How to read the table.
const HOW_TO_READ: &str = "p95: so long took at most 95 % of the n attempts that succeeded, whoever \
     made them; it is to be kept for one. Pay: those that had a deadline, succeeded and took no longer than \
     was left. Begun short: with less left than the p5, for which alone measured needs blame an attempt; \
     with less than what stands under pays from almost none pays.";

/// Tables of what attempts need and of what came of them.
pub(super) fn blocks(calibration: &Calibration, options: &Options) -> Vec<Block> {
    let is_known = |call: &&CallLimit| call.allowance.is_some() || !call.funding.deciles.is_empty();
    let mut calls: Vec<&CallLimit> = calibration.calls.iter().filter(is_known).collect();
    // Those first that began with too little, in the order of names where as many did.
    let begun = |less: Option<Proportion>| less.map_or(0, |less| less.whole);
    calls.sort_by_key(|call| {
        let funding = &call.funding;
        let short = begun(funding.with_less_than_break_even);
        Reverse((short, begun(funding.with_less_than_allowance), call.attempts))
    });
    let needs = needs_table().limited(calls.iter().map(|call| needs_row(call)), options.rows);
    let needs = needs.map(telling);
    let mut note = HOW_TO_READ.to_owned();
    let kept = calls.iter().filter_map(|call| kept_of_more(call)).max();
    note.extend(kept.map(|kept| {
        of_sample(
            "Where there were more attempts, percentiles and shares by \
         what was left",
            kept,
        )
    }));
    let note = needs.is_some().then_some(Block::Note(note));
    let by_left: Vec<Row> = calls.iter().flat_map(|call| decile_rows(call)).collect();
    // Ten lines a call are for those who have a page to look at.
    let (loud, quiet) =
        if options.has_pictures { (by_left, Vec::new()) } else { (Vec::new(), by_left) };
    let by_left = with_quiet(decile_table(), loud, quiet, options.rows);
    note.into_iter().chain(needs.into_iter().chain(by_left).map(Block::Table)).collect()
}

/// How many attempts of a call are kept, where there were more.
fn kept_of_more(call: &CallLimit) -> Option<u64> {
    let (all, _) = call.succeeded;
    let measured = call.allowance.map(|allowance| (allowance.n as u64, all));
    let began = (call.funding.kept(), call.funding.all.whole);
    let sampled = measured.into_iter().chain([began]).filter(|(kept, all)| kept < all);
    sampled.map(|(kept, _)| kept).max()
}

fn needs_table() -> Table {
    Table {
        id: "needs",
        title: "What attempts need: how long those took that succeeded, and how often they pay"
            .to_owned(),
        head: "call",
        columns: vec![
            Column::new("n", "measured", ""),
            Column::new("callers", "callers", "").ranked(Column::MACHINES),
            Column::new("p95", "duration_ns", "p95").brief(),
            Column::new("p5", "duration_ns", "p5").brief(),
            Column::new("pay", "paid", ""),
            Column::new("kept", "kept", "").ranked(Column::MACHINES),
            Column::new("begun short", "with_less_than_p5", ""),
            Column::new("and pay", "paid_with_less_than_p5", ""),
            Column::new("begun below p95", "with_less_than_p95", "").ranked(6),
            Column::new("and pay", "paid_with_less_than_p95", "").ranked(6),
            Column::new("lowest tenth", "paid_lowest", "").ranked(3),
            Column::new("pays from", "pays_from_ns", "").ranked(2),
        ],
        ..Table::default()
    }
}

fn needs_row(call: &CallLimit) -> Row {
    let quantile = |measured: Option<Measured>| {
        measured.map_or(Cell::Absent, |Measured { quantile, estimate, n }| Cell::Percentile {
            quantile,
            estimate: Some(estimate),
            n,
        })
    };
    let funding = &call.funding;
    let share = |of: Proportion| match of.whole {
        0 => Cell::Absent,
        whole => Cell::Share(of.part, whole),
    };
    let share_of = |of: Option<Proportion>| of.map_or(Cell::Absent, share);
    let kept = funding.kept();
    let begun = |less: Option<Proportion>| {
        share_of(less.map(|less| Proportion { part: less.whole, whole: kept }))
    };
    let (n, callers) = call.succeeded;
    let (short, below_most) = (funding.with_less_than_break_even, funding.with_less_than_allowance);
    Row {
        label: words::call(&call.call),
        keys: words::call_keys(Some(&call.call)),
        cells: vec![
            Cell::Count(n),
            Cell::Count(callers as u64),
            quantile(call.allowance),
            quantile(call.break_even),
            share(funding.all),
            if funding.all.whole == 0 { Cell::Absent } else { Cell::Count(kept) },
            begun(short),
            share_of(short),
            begun(below_most),
            share_of(below_most),
            share_of(funding.deciles.first().map(|decile| decile.paid)),
            Cell::time(funding.break_even),
        ],
        ..Row::default()
    }
}

fn decile_table() -> Table {
    Table {
        id: "paid_by_left",
        title: "How often attempts pay, by what was left when they began".to_owned(),
        head: "call",
        columns: vec![
            Column::new("left", "left_ns", "range"),
            Column::new("attempts", "attempts", ""),
            Column::new("pay", "paid", ""),
        ],
        ..Table::default()
    }
}

fn decile_rows(call: &CallLimit) -> Vec<Row> {
    let row = |(number, decile): (usize, &Decile)| Row {
        label: words::call(&call.call),
        keys: [words::call_keys(Some(&call.call)), vec![("decile", Some(number.to_string()))]]
            .concat(),
        cells: vec![
            Cell::TimeRange(decile.from, decile.to),
            Cell::Count(decile.paid.whole),
            Cell::Share(decile.paid.part, decile.paid.whole),
        ],
        ..Row::default()
    };
    (1..).zip(&call.funding.deciles).map(row).collect()
}
