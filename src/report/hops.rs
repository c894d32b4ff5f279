//! The hops of a class: what was left at each, how long they queued, what they were given.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::model::{Cell, Column, Row, Table};
use super::{Options, percentiles, words};
use crate::distributions::{ClassSummary, HopSummary, Place, Sample, Sorted};
use crate::stats::Quantile;
use crate::tables::Verdict;
use crate::units::Nanos;

/// How deep a place stands in a tree, the place, and its hops.
pub(super) type Ordered<'a> = (usize, &'a Place, &'a HopSummary);

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
        let parent = above.get(&(entry.0.depth.saturating_sub(1), caller)).map(|(place, _)| *place);
        let entered = entry.1.elapsed_at_entry.sorted().quantile(Quantile::P50);
        children.entry(parent).or_default().push((entered.map(|median| median.value), entry));
    }
    // Last first, as a stack wants them.
    for places in children.values_mut() {
        places.sort_by(|(at, (place, _)), (other_at, (other, _))| {
            (other_at, other).cmp(&(at, place))
        });
    }
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

/// Whether anybody called: of a root there is nothing to tell that the request does not.
pub(super) fn is_called(place: &Place, hop: &HopSummary) -> bool {
    place.depth > 0 || hop.verdicts.keys().any(|&verdict| verdict != Verdict::Origin)
}

/// What was left at each hop below the origin.
pub(super) fn remaining(class: &ClassSummary, options: &Options) -> Option<Table> {
    let told = Told {
        id: "remaining",
        title: "Left at each hop, when it was sent (else received)",
        measure: "remaining_at_entry_ns",
        column: "remaining_at_send_ns",
        sample: |hop| &hop.remaining_at_entry,
        by_inferred: Some(|hop| hop.left_by_inferred),
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
        by_inferred: None,
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
    /// How many values rest on what is inferred, where any may.
    by_inferred: Option<fn(&HopSummary) -> u64>,
}

fn on_the_path(class: &ClassSummary, told: &Told, options: &Options) -> Option<Table> {
    let side = percentiles::side_of_hops(told.column);
    let places = below_origin(class, told.sample);
    let row = |(&(level, place, hop), values): (&Ordered<'_>, &Sorted)| {
        let mut cells = percentiles::cells(side, values);
        cells.extend(told.by_inferred.map(|by_inferred| Cell::Count(by_inferred(hop))));
        Row {
            label: words::callee(&place.call),
            level,
            keys: words::place_keys(Some(place)),
            cells,
            ..Row::default()
        }
    };
    let largest = percentiles::largest(places.iter().map(|(_, _, hop)| (told.sample)(hop)));
    let mut columns = percentiles::columns(side, told.measure, largest);
    let mut title = told.title.to_owned();
    if let Some(by_inferred) = told.by_inferred {
        let part: u64 = places.iter().map(|(_, _, hop)| by_inferred(hop)).sum();
        let whole = places.iter().map(|(_, _, hop)| (told.sample)(hop).len() as u64).sum();
        title = words::by_inferred(&title, (part, whole));
        // Where it holds for all of them the title says enough.
        let rank = if (1..whole).contains(&part) { 3 } else { Column::MACHINES };
        columns.push(Column::new("by inferred", "left_by_inferred", "").ranked(rank));
    }
    let table = Table { id: told.id, title, head: "hop", columns, ..Table::default() };
    let all = places.len();
    let places = busiest(places, options.rows);
    let samples: Vec<Sorted> =
        places.iter().map(|(_, _, hop)| (told.sample)(hop).sorted()).collect();
    let rows = places.iter().zip(&samples).map(row).collect();
    let table = table.with_some_of(all, rows)?;
    Some(percentiles::with_shapes(table, told.measure, &samples))
}

/// The hops below the origin that have any value of a sample, as a tree.
pub(super) fn below_origin(
    class: &ClassSummary,
    sample: impl Fn(&HopSummary) -> &Sample,
) -> Vec<Ordered<'_>> {
    let mut places = in_path_order(class);
    places.retain(|(_, place, hop)| is_called(place, hop) && !sample(hop).is_empty());
    let is_entered = places.iter().any(|(_, place, _)| place.depth == 0);
    let indent = usize::from(!is_entered);
    let level = |level: usize| level.saturating_sub(indent);
    places.into_iter().map(|(depth, place, hop)| (level(depth), place, hop)).collect()
}

/// Those of the most hops, in the order in which they stand.
pub(super) fn busiest(mut places: Vec<Ordered<'_>>, most: usize) -> Vec<Ordered<'_>> {
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
    let row = |(place, hop): (&Place, &HopSummary)| Row {
        label: words::call(&place.call),
        keys: words::place_keys(Some(place)),
        cells: percentiles::cells(side, &hop.queue.sorted()),
        ..Row::default()
    };
    let table = Table {
        id: "queues",
        title: "Time in queues, by hop".to_owned(),
        head: "hop",
        columns: percentiles::columns(side, "queue_ns", largest),
        ..Table::default()
    };
    table.limited(queued.into_iter().map(row), options.rows)
}

/// What hops below the origin were given, compared with what was left: a column for each verdict
/// that occurs, those that are worth a look last to go.
pub(super) fn grants(class: &ClassSummary, options: &Options) -> Option<Table> {
    let mut granted = in_path_order(class);
    granted.retain(|(_, place, hop)| is_called(place, hop) && hop.granted() > 0);
    let count = |hop: &HopSummary, verdict| hop.verdicts.get(&verdict).copied().unwrap_or(0);
    let occurs = |verdict: &Verdict| granted.iter().any(|(_, _, hop)| count(hop, *verdict) > 0);
    let verdicts: Vec<Verdict> = Verdict::ALL.iter().copied().filter(occurs).collect();
    let sum = |count: fn(&HopSummary) -> u64| granted.iter().map(|(_, _, hop)| count(hop)).sum();
    let (inferred, all_granted) = (sum(HopSummary::inferred), sum(HopSummary::granted));
    let rank = if inferred > 0 { 0 } else { Column::MACHINES };
    let mut columns =
        vec![Column::new("n", "hops", ""), Column::new("inferred", "inferred", "").ranked(rank)];
    columns.extend(verdicts.iter().map(|verdict| {
        let column = Column::new(&verdict.name().replace('_', " "), verdict.name(), "").part();
        match verdict {
            Verdict::Reset | Verdict::Overgrant => column,
            Verdict::ReserveInvading | Verdict::Expired | Verdict::Undeclared => column.ranked(1),
            Verdict::Propagated | Verdict::Tightened => column.ranked(2),
            _ => column.ranked(3),
        }
    }));
    let row = |(_, place, hop): Ordered<'_>| {
        let kinds = words::joined(hop.grant_kinds.keys().map(|kind| kind.name()));
        let counts = verdicts.iter().map(|&verdict| count(hop, verdict));
        Row {
            label: words::call(&place.call),
            keys: [words::place_keys(Some(place)), vec![("grant_kind", kinds)]].concat(),
            cells: [hop.hops, hop.inferred()].into_iter().chain(counts).map(Cell::Count).collect(),
            ..Row::default()
        }
    };
    let title = "Time given to hops, compared with what was left";
    let table = Table {
        id: "grants",
        title: words::by_inferred(title, (inferred, all_granted)),
        head: "hop",
        columns,
        ..Table::default()
    };
    let all = granted.len();
    table.with_some_of(all, busiest(granted, options.rows).into_iter().map(row).collect())
}
