//! What attempts need, by those that succeeded, and how often they succeed with how much left.

use std::cmp::Reverse;

use super::{telling, with_quiet};
use crate::calibrate::{Calibration, CallLimit, Decile, Measured};
use crate::report::model::{Block, Cell, Column, Row, Table};
use crate::report::{Options, words};
use crate::stats::Proportion;

/// How to read the table.
const HOW_TO_READ: &str = "p95: so long took at most 95 % of the n attempts that succeeded, whoever \
     made them. Begun short: with less left than that. With less than what stands under pays from almost \
     none succeeds.";

/// Tables of what attempts need and of what came of them.
pub(super) fn blocks(calibration: &Calibration, options: &Options) -> Vec<Block> {
    let is_known = |call: &&CallLimit| call.allowance.is_some() || !call.funding.deciles.is_empty();
    let mut calls: Vec<&CallLimit> = calibration.calls.iter().filter(is_known).collect();
    // Those first that began with too little, in the order of names where as many did.
    calls.sort_by_key(|call| Reverse((call.funding.with_less_than_allowance.whole, call.attempts)));
    let needs = needs_table().limited(calls.iter().map(|call| needs_row(call)), options.rows);
    let needs = needs.map(telling);
    let note = needs.is_some().then(|| Block::Note(HOW_TO_READ.to_owned()));
    let by_left: Vec<Row> = calls.iter().flat_map(|call| decile_rows(call)).collect();
    // Ten lines a call are for those who have a page to look at.
    let (loud, quiet) =
        if options.has_pictures { (by_left, Vec::new()) } else { (Vec::new(), by_left) };
    let by_left = with_quiet(decile_table(), loud, quiet, options.rows);
    note.into_iter().chain(needs.into_iter().chain(by_left).map(Block::Table)).collect()
}

fn needs_table() -> Table {
    Table {
        id: "needs",
        title: "What attempts need: how long those took that succeeded, and how often they do"
            .to_owned(),
        head: "call",
        columns: vec![
            Column::new("n", "measured", ""),
            Column::new("callers", "callers", "").ranked(Column::MACHINES),
            Column::new("p95", "duration_ns", "p95").brief(),
            Column::new("p5", "duration_ns", "p5").ranked(4).brief(),
            Column::new("succeed", "succeeded", ""),
            Column::new("begun short", "with_less_than_p95", ""),
            Column::new("and succeed", "succeeded_with_less_than_p95", ""),
            Column::new("begun below p5", "with_less_than_p5", "").ranked(6),
            Column::new("and succeed", "succeeded_with_less_than_p5", "").ranked(6),
            Column::new("lowest tenth", "succeeded_lowest", "").ranked(3),
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
    let deciles = &call.funding.deciles;
    let share = |of: Proportion| match of.whole {
        0 => Cell::Absent,
        whole => Cell::Share(of.part, whole),
    };
    let began = all(deciles);
    let lowest = deciles.first().map(|decile| decile.succeeded).unwrap_or_default();
    let (n, callers) = call.succeeded;
    let (short, hopeless) =
        (call.funding.with_less_than_allowance, call.funding.with_less_than_break_even);
    let of_all = |less: Proportion| share(Proportion { part: less.whole, whole: began.whole });
    Row {
        label: words::call(&call.call),
        keys: words::call_keys(Some(&call.call)),
        cells: vec![
            Cell::Count(n as u64),
            Cell::Count(callers as u64),
            quantile(call.allowance),
            quantile(call.break_even),
            share(began),
            of_all(short),
            share(short),
            of_all(hopeless),
            share(hopeless),
            share(lowest),
            Cell::time(call.funding.break_even),
        ],
        ..Row::default()
    }
}

/// All attempts that had a deadline.
fn all(deciles: &[Decile]) -> Proportion {
    deciles.iter().fold(Proportion::default(), |all, decile| Proportion {
        part: all.part.saturating_add(decile.succeeded.part),
        whole: all.whole.saturating_add(decile.succeeded.whole),
    })
}

fn decile_table() -> Table {
    Table {
        id: "success_by_left",
        title: "How often attempts succeed, by what was left when they began".to_owned(),
        head: "call",
        columns: vec![
            Column::new("left", "left_ns", "range"),
            Column::new("attempts", "attempts", ""),
            Column::new("succeed", "succeeded", ""),
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
            Cell::Count(decile.succeeded.whole),
            Cell::Share(decile.succeeded.part, decile.succeeded.whole),
        ],
        ..Row::default()
    };
    (1..).zip(&call.funding.deciles).map(row).collect()
}
