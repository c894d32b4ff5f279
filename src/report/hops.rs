//! The calls of a class: what was left at each, how long they queued, what they were given, and
//! how they were tried again.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::class::rest_of;
use super::model::{Cell, Column, Row, Table};
use super::{Options, percentiles, words};
use crate::distributions::{AttemptSummary, Call, ClassSummary, HopSummary, Place, Sample};
use crate::stats::Quantile;
use crate::tables::{AttemptKind, Funding, Verdict};
use crate::units::Nanos;

/// What tells a place from others, for machines.
pub(super) fn keys(place: &Place) -> Vec<(&'static str, String)> {
    [call_keys(&place.call), vec![("depth", place.depth.to_string())]].concat()
}

fn call_keys(call: &Call) -> Vec<(&'static str, String)> {
    let name = |name: &Option<crate::distributions::Name>| name.as_deref().unwrap_or("").to_owned();
    vec![
        ("caller", name(&call.caller)),
        ("callee", name(&call.callee)),
        ("operation", call.operation.to_string()),
    ]
}

/// How deep a place stands in a tree, the place, and its hops.
type Ordered<'a> = (usize, &'a Place, &'a HopSummary);

/// The hops as a tree, callers above callees, in the order in which they are entered.
///
/// Rows of `hops` do not name the hop above, so that a place stands below the busiest place of
/// its caller one level up: it decides the order of rows, and no number.
fn in_path_order(class: &ClassSummary) -> Vec<Ordered<'_>> {
    type Entry<'a> = (&'a Place, &'a HopSummary);
    let mut above: BTreeMap<(i32, &str), Entry<'_>> = BTreeMap::new();
    for (place, hop) in &class.hops {
        let callee = place.call.callee.as_deref().unwrap_or("");
        let busiest = above.entry((place.depth, callee)).or_insert((place, hop));
        if hop.hops > busiest.1.hops {
            *busiest = (place, hop);
        }
    }
    let mut children: BTreeMap<Option<&Place>, Vec<(Option<Nanos>, Entry<'_>)>> = BTreeMap::new();
    for entry in &class.hops {
        let caller = entry.0.call.caller.as_deref().unwrap_or("");
        let parent = above.get(&(entry.0.depth - 1, caller)).map(|(place, _)| *place);
        let entered = entry.1.elapsed_at_entry.sorted().quantile(Quantile::P50);
        children.entry(parent).or_default().push((entered.map(|median| median.value), entry));
    }
    // Last first, as a stack wants them.
    children.values_mut().for_each(|places| {
        places.sort_by(|(at, (place, _)), (other_at, (other, _))| {
            (other_at, other).cmp(&(at, place))
        });
    });
    let mut ordered = Vec::with_capacity(class.hops.len());
    let take = |children: &mut BTreeMap<_, Vec<_>>, parent, level: usize| {
        let places = children.remove(&parent).unwrap_or_default();
        places.into_iter().map(move |(_, entry): (Option<Nanos>, Entry<'_>)| (level, entry))
    };
    let mut stack: Vec<(usize, Entry<'_>)> = take(&mut children, None, 0).collect();
    while let Some((level, (place, hop))) = stack.pop() {
        ordered.push((level, place, hop));
        stack.extend(take(&mut children, Some(place), level + 1));
    }
    ordered
}

/// What was left at each hop below the origin.
pub(super) fn remaining(class: &ClassSummary, options: &Options) -> Option<Table> {
    let told = Told {
        id: "remaining",
        title: "Left at each hop, when it was sent (else received)",
        measure: "remaining_at_entry_ns",
        column: "remaining_at_send_ns",
        sample: |hop| &hop.remaining_at_entry,
    };
    if class.with_deadline() > 0 { on_the_path(class, &told, options) } else { None }
}

/// How much had passed at each hop below the origin, where nothing is known of deadlines.
pub(super) fn entered(class: &ClassSummary, options: &Options) -> Option<Table> {
    let told = Told {
        id: "entered",
        title: "Elapsed at each hop, when it was sent (else received)",
        measure: "elapsed_at_entry_ns",
        column: "elapsed_at_send_ns",
        sample: |hop| &hop.elapsed_at_entry,
    };
    if class.with_deadline() > 0 { None } else { on_the_path(class, &told, options) }
}

/// A measure of hops that is told in the order of the path.
struct Told {
    id: &'static str,
    title: &'static str,
    measure: &'static str,
    /// The column of `hops` that it stands for.
    column: &'static str,
    sample: fn(&HopSummary) -> &Sample,
}

fn on_the_path(class: &ClassSummary, told: &Told, options: &Options) -> Option<Table> {
    let side = percentiles::side_of_hops(told.column);
    let mut places = in_path_order(class);
    places.retain(|(_, place, hop)| place.depth > 0 && !(told.sample)(hop).is_empty());
    let rest = rest_of(places.len(), options);
    let row = |(level, place, hop): (usize, &Place, &HopSummary)| Row {
        label: words::callee(&place.call),
        level: level.saturating_sub(1),
        keys: keys(place),
        cells: percentiles::cells(side, &(told.sample)(hop).sorted()),
        ..Row::default()
    };
    let largest = percentiles::largest(places.iter().map(|(_, _, hop)| (told.sample)(hop)));
    let rows: Vec<Row> = busiest(places, options.rows).into_iter().map(row).collect();
    (!rows.is_empty()).then(|| Table {
        id: told.id,
        title: told.title.to_owned(),
        head: "hop",
        columns: percentiles::columns(side, told.measure, largest),
        rows,
        rest,
        ..Table::default()
    })
}

/// Those of the most hops, in the order in which they stand.
fn busiest(mut places: Vec<Ordered<'_>>, most: usize) -> Vec<Ordered<'_>> {
    let mut counts: Vec<u64> = places.iter().map(|(_, _, hop)| hop.hops).collect();
    counts.sort_unstable_by_key(|&count| Reverse(count));
    let least = counts.get(most).copied().unwrap_or(0);
    // Of those as busy as the first that is left out, the first ones fill up.
    let mut as_busy = most - counts.iter().take(most).filter(|&&count| count > least).count();
    places.retain(|(_, _, hop)| {
        hop.hops > least || {
            let fits = as_busy > 0 && hop.hops == least;
            as_busy -= usize::from(fits);
            fits
        }
    });
    places
}

/// Where requests wait, the longest in total first.
pub(super) fn queues(class: &ClassSummary, options: &Options) -> Option<Table> {
    let mut queued: Vec<_> = class.hops.iter().filter(|(_, hop)| hop.queue.nonzero() > 0).collect();
    queued.sort_by(|(place, hop), (other_place, other)| {
        other.queue.sum().cmp(&hop.queue.sum()).then_with(|| place.cmp(other_place))
    });
    let side = percentiles::side_of_hops("queue_ns");
    let largest = percentiles::largest(queued.iter().map(|(_, hop)| &hop.queue));
    let rest = rest_of(queued.len(), options);
    let row = |(place, hop): (&Place, &HopSummary)| Row {
        label: words::call(&place.call),
        keys: keys(place),
        cells: percentiles::cells(side, &hop.queue.sorted()),
        ..Row::default()
    };
    (!queued.is_empty()).then(|| Table {
        id: "queues",
        title: "Time in queues, by hop".to_owned(),
        head: "hop",
        columns: percentiles::columns(side, "queue_ns", largest),
        rows: queued.into_iter().take(options.rows).map(row).collect(),
        rest,
        ..Table::default()
    })
}

/// What hops were given, compared with what was left: a column for each verdict that occurs.
pub(super) fn grants(class: &ClassSummary, options: &Options) -> Option<Table> {
    let granted: Vec<_> =
        in_path_order(class).into_iter().filter(|(_, _, hop)| hop.granted > 0).collect();
    let count = |hop: &HopSummary, verdict| hop.verdicts.get(&verdict).copied().unwrap_or(0);
    let occurs = |verdict: &Verdict| granted.iter().any(|(_, _, hop)| count(hop, *verdict) > 0);
    let verdicts: Vec<Verdict> = Verdict::ALL.iter().copied().filter(occurs).collect();
    let mut columns = vec![Column::new("n", "hops", ""), Column::new("granted", "granted", "")];
    columns.extend(verdicts.iter().map(|verdict| Column::new(verdict.name(), verdict.name(), "")));
    let rest = rest_of(granted.len(), options);
    let row = |&(_, place, hop): &(usize, &Place, &HopSummary)| {
        let mut cells = vec![Cell::Count(hop.hops), Cell::Share(hop.granted, hop.hops)];
        cells.extend(verdicts.iter().map(|&verdict| Cell::Count(count(hop, verdict))));
        Row { label: words::call(&place.call), keys: keys(place), cells, ..Row::default() }
    };
    (!granted.is_empty()).then(|| Table {
        id: "grants",
        title: "Time given to hops, compared with what was left".to_owned(),
        head: "hop",
        columns,
        rows: granted.iter().take(options.rows).map(row).collect(),
        rest,
        ..Table::default()
    })
}

/// Calls that were tried more than once, or without enough left: attempt by attempt.
pub(super) fn attempts(class: &ClassSummary, options: &Options) -> Option<Table> {
    let unfunded = |attempt: &AttemptSummary| {
        [Funding::Expired, Funding::Unfundable]
            .iter()
            .any(|funding| attempt.funding.contains_key(funding))
    };
    let is_told = |(_, ordinal): &(Call, i32), attempt: &AttemptSummary| {
        *ordinal > 1
            || unfunded(attempt)
            || attempt.kinds.keys().any(|kind| *kind != AttemptKind::Initial)
    };
    let told: Vec<&Call> = class
        .attempts
        .iter()
        .filter(|(key, attempt)| is_told(key, attempt))
        .map(|((call, _), _)| call)
        .collect();
    let rows: Vec<_> =
        class.attempts.iter().filter(|((call, _), _)| told.binary_search(&call).is_ok()).collect();
    let rest = rest_of(rows.len(), options);
    let bounded = class.with_deadline() > 0;
    let side = percentiles::side_of_hops("remaining_at_start_ns");
    let mut columns = vec![
        Column::name("try"),
        Column::new("n", "attempts", ""),
        Column::new("failed", "failed", ""),
    ];
    if bounded {
        columns.extend([
            Column::new("left p50", "remaining_at_start_ns", "p50"),
            Column::new("left p1", "remaining_at_start_ns", "p1").ranked(2),
            Column::new("min", "remaining_at_start_ns", "min").ranked(1),
            Column::new("unfunded", "unfunded", ""),
            Column::new("unknown", "funding_unknown", "").ranked(4),
        ]);
    }
    columns.extend([
        Column::new("backoff p50", "backoff_ns", "p50").ranked(if bounded { 5 } else { 0 }),
        Column::new("took p50", "duration_ns", "p50").ranked(if bounded { 6 } else { 0 }),
    ]);
    let row =
        |(key, attempt): (&(Call, i32), &AttemptSummary)| attempt_row(key, attempt, bounded, side);
    let rows: Vec<Row> = rows.into_iter().take(options.rows).map(row).collect();
    (!rows.is_empty()).then(|| Table {
        id: "attempts",
        title: if bounded { "Attempts, and what was left when each began" } else { "Attempts" }
            .to_owned(),
        head: "call",
        columns,
        rows,
        rest,
        ..Table::default()
    })
}

fn attempt_row(
    (call, ordinal): &(Call, i32),
    attempt: &AttemptSummary,
    bounded: bool,
    side: crate::tables::BadSide,
) -> Row {
    let kinds: Vec<&str> = attempt.kinds.keys().map(|kind| kind.name()).collect();
    let funding = |funding| attempt.funding.get(&funding).copied().unwrap_or(0);
    let mut cells = vec![
        Cell::Text(format!("{ordinal} {}", kinds.join("/"))),
        Cell::Count(attempt.attempts),
        Cell::Share(attempt.failed, attempt.attempts),
    ];
    if bounded {
        let left = attempt.remaining_at_start.sorted();
        cells.extend([
            percentiles::percentile(&left, Quantile::P50),
            percentiles::outermost(side, &left),
            Cell::time(left.min()),
            Cell::Count(funding(Funding::Expired) + funding(Funding::Unfundable)),
            Cell::Count(funding(Funding::Unknown)),
        ]);
    }
    cells.extend([
        percentiles::percentile(&attempt.backoff.sorted(), Quantile::P50),
        percentiles::percentile(&attempt.duration.sorted(), Quantile::P50),
    ]);
    let keys = [call_keys(call), vec![("ordinal", ordinal.to_string())]].concat();
    Row { label: words::call(call), keys, cells, ..Row::default() }
}
