//! Calls that were tried again, or without enough left: attempt by attempt.

use super::model::{Cell, Column, Row, Table};
use super::{Options, percentiles, words};
use crate::distributions::{AttemptSummary, Call, ClassSummary};
use crate::stats::Quantile;
use crate::tables::{AttemptKind, Funding};

pub(super) type Entry<'a> = (&'a (Call, i32), &'a AttemptSummary);

/// The attempts by call and ordinal. Calls of which all were tried once, with enough left, would
/// only repeat what is said of hops.
pub(super) fn table(class: &ClassSummary, options: &Options) -> Option<Table> {
    let is_bounded = class.with_deadline() > 0;
    let title = if is_bounded { "Attempts, and what was left when each began" } else { "Attempts" };
    let told = told(class);
    let any = |counts: fn(&AttemptSummary) -> u64| told.iter().any(|(_, it)| counts(it) > 0);
    let title = words::by_inferred(title, class.left_by_inferred());
    let is_measured = is_bounded && any(AttemptSummary::measured);
    let against = if is_measured { " · measured needs" } else { "" };
    let is_by_measure = any(|attempt| attempt.unfundable_by_measure);
    let table = Table {
        id: "attempts",
        title: title + against,
        head: "call",
        columns: columns(is_bounded, is_by_measure),
        ..Table::default()
    };
    table.limited(told.into_iter().map(|entry| row(entry, is_bounded)), options.rows)
}

/// Those that are told.
pub(super) fn told(class: &ClassSummary) -> Vec<Entry<'_>> {
    let is_notable = |((_, ordinal), attempt): &Entry<'_>| {
        *ordinal > 1
            || unfunded(attempt) > 0
            || attempt.kinds.keys().any(|kind| *kind != AttemptKind::Initial)
    };
    let notable = class.attempts.iter().filter(is_notable);
    // In the order of the keys, since those of the map are.
    let calls: Vec<&Call> = notable.map(|((call, _), _)| call).collect();
    let is_told = |((call, _), _): &Entry<'_>| calls.binary_search(&call).is_ok();
    class.attempts.iter().filter(is_told).collect()
}

fn unfunded(attempt: &AttemptSummary) -> u64 {
    funding(attempt, Funding::Expired) + funding(attempt, Funding::Unfundable)
}

fn funding(attempt: &AttemptSummary, funding: Funding) -> u64 {
    attempt.funding.get(&funding).copied().unwrap_or(0)
}

fn columns(is_bounded: bool, is_by_measure: bool) -> Vec<Column> {
    let mut columns = vec![
        Column::name("try"),
        Column::new("n", "attempts", ""),
        Column::new("failed", "failed", ""),
    ];
    if is_bounded {
        columns.extend([
            Column::new("left p50", "remaining_at_start_ns", "p50"),
            Column::new("left p1", "remaining_at_start_ns", "p1").ranked(2),
            Column::new("min", "remaining_at_start_ns", "min").ranked(1),
            Column::new("unfunded", "unfunded", ""),
            // Of those, by what was measured.
            Column::new("by measure", "unfunded_by_measure", "").ranked(if is_by_measure {
                0
            } else {
                Column::MACHINES
            }),
            Column::new("unknown", "funding_unknown", "").ranked(4),
        ]);
    }
    let rank = u8::from(is_bounded) * 5;
    columns.extend([
        Column::new("backoff p50", "backoff_ns", "p50").ranked(rank),
        Column::new("took p50", "duration_ns", "p50").ranked(rank),
    ]);
    columns
}

fn row(((call, ordinal), attempt): Entry<'_>, is_bounded: bool) -> Row {
    let kinds: Vec<&str> = attempt.kinds.keys().map(|kind| kind.name()).collect();
    let kinds = kinds.join("/");
    let mut cells = vec![
        Cell::Text(format!("{ordinal} {kinds}")),
        Cell::Count(attempt.attempts),
        Cell::Share(attempt.failed, attempt.attempts),
    ];
    if is_bounded {
        let side = percentiles::side_of_hops("remaining_at_start_ns");
        let left = attempt.remaining_at_start.sorted();
        cells.extend([
            percentiles::percentile(&left, Quantile::P50),
            percentiles::outermost(side, &left),
            Cell::time(left.min()),
            // Where nothing says what one needs, none is known to be funded.
            match unfunded(attempt) {
                0 if funding(attempt, Funding::Unknown) == attempt.attempts => Cell::Absent,
                unfunded => Cell::Count(unfunded),
            },
            Cell::Count(attempt.unfundable_by_measure),
            Cell::Count(funding(attempt, Funding::Unknown)),
        ]);
    }
    cells.extend([
        percentiles::percentile(&attempt.backoff.sorted(), Quantile::P50),
        percentiles::percentile(&attempt.duration.sorted(), Quantile::P50),
    ]);
    let sources = words::joined(attempt.allowance_sources.keys().map(|source| source.name()));
    let own_keys = vec![
        ("allowance_source", sources),
        ("kinds", Some(kinds)),
        ("ordinal", Some(ordinal.to_string())),
    ];
    Row {
        label: words::call(call),
        keys: [words::call_keys(Some(call)), own_keys].concat(),
        cells,
        ..Row::default()
    }
}
