//! How much the traces explain, and what to record next.

use std::cmp::Reverse;

use super::model::{Block, Cell, Column, Report, Row, Section, Table};
use super::{Options, text, words};
use crate::distributions::Name;
use crate::instrumentation::{Advice, Explained, Gap, GapSeen, Instrumentation, Missing, advice};

/// Tells how much of the time of each class the traces explain, and what they lack that would decide
/// most of the rest.
pub fn add_instrumentation(report: &mut Report, all: &Instrumentation, options: &Options) {
    let mut classes: Vec<(&Name, &Explained)> = all.classes.iter().collect();
    classes.sort_by_key(|(name, class)| (Reverse(class.requests), *name));
    classes.truncate(options.classes);
    if classes.is_empty() {
        return;
    }
    let mut blocks: Vec<Block> =
        explained(&classes, options).into_iter().map(Block::Table).collect();
    let points: Vec<String> =
        classes.iter().filter_map(|(name, class)| sentence(name, class, all)).collect();
    if !points.is_empty() {
        blocks.push(Block::List(points));
    }
    if options.is_for_machines() {
        blocks.extend(gaps(&classes).map(Block::Table));
    }
    let section = Section { title: "What to record next".to_owned(), class: None, blocks };
    report.insert_before_last(section);
}

fn explained(classes: &[(&Name, &Explained)], options: &Options) -> Option<Table> {
    let table = Table {
        id: "explained",
        title: "How much of what had passed spans explain, and what they leave dark".to_owned(),
        head: "class",
        columns: vec![
            Column::new("n", "requests", ""),
            Column::new("explained", "explained_ns", "share"),
            Column::new("untraced", "downstream_ns", "sum").ranked(3),
            Column::new("at systems", "systems_ns", "sum").ranked(Column::MACHINES),
            Column::new("on the way", "network_ns", "share").ranked(2),
            Column::new("dark calls", "dark_calls", ""),
            Column::new("dark", "dark_ns", "sum"),
            Column::new("left open", "open_calls", "").ranked(4),
            Column::new("open", "open_ns", "sum").ranked(4),
            Column::new("orphaned", "orphaned", "").ranked(1),
            Column::new("granted", "hops_granted", "").ranked(1),
        ],
        ..Table::default()
    };
    let row = |(name, class): &(&Name, &Explained)| {
        let cells = vec![
            Cell::Count(class.requests),
            Cell::TimeShare(class.explained_ns(), class.elapsed_ns),
            Cell::TotalTime(class.downstream_ns),
            Cell::TotalTime(class.systems_ns),
            Cell::TimeShare(class.network_ns, class.elapsed_ns),
            Cell::Count(class.dark),
            Cell::TotalTime(class.dark_ns),
            Cell::Count(class.open),
            Cell::TotalTime(class.open_ns),
            Cell::Share(class.orphaned, class.requests),
            Cell::Share(class.granted, class.hops),
        ];
        Row::new("class", name, cells).labelled(words::named(Some(name)))
    };
    table.limited(classes.iter().map(row), options.rows)
}

/// What to record for a class, and what next.
fn sentence(name: &Name, class: &Explained, all: &Instrumentation) -> Option<String> {
    let ranked = class.ranked();
    let (gap, seen) = ranked.first()?;
    let Advice { attribute, setting } = advised(gap, seen);
    let each = seen.undecided_ns / i128::from(class.requests.max(1));
    let next = ranked.get(1).map(|(gap, seen)| {
        let attribute = advised(gap, seen).attribute;
        format!(" Next: {} ({attribute}), {}.", what(gap, all), worth(seen, class))
    });
    Some(format!(
        "{}: record {} ({attribute}), which would decide {} of what had passed, {} ms a request: \
         {setting}.{}",
        words::named(Some(name)),
        what(gap, all),
        worth(seen, class),
        text::millis(each),
        next.unwrap_or_default(),
    ))
}

fn advised(gap: &Gap, seen: &GapSeen) -> Advice {
    advice(gap.missing, seen.way(), seen.stack().map(|stack| &**stack))
}

/// What is missing, in words.
fn what(gap: &Gap, all: &Instrumentation) -> String {
    let service = words::named(gap.service.as_deref());
    match gap.missing {
        Missing::Deadline => format!("the deadline of requests that begin at {service}"),
        Missing::Grant => format!("how much time {service} is given"),
        Missing::CalleeSpan if gap.service.as_ref().is_some_and(|it| all.traced.contains(it)) => {
            format!("spans of {service} for these calls too; for others it has some")
        }
        Missing::CalleeSpan => format!("spans of {service}"),
        Missing::CalleeName => format!("whom {service} calls"),
        Missing::Queue => format!("how long requests queue before {service}"),
        Missing::Ordinal => format!("which try it is, where {service} tries again"),
        Missing::Clock => format!("whose clock times {service}"),
    }
}

/// The share of what had passed that it would decide.
fn worth(seen: &GapSeen, class: &Explained) -> String {
    text::percent(seen.undecided_ns, class.elapsed_ns)
}

/// What people read in a sentence, and all that comes after.
fn gaps(classes: &[(&Name, &Explained)]) -> Option<Table> {
    let table = Table {
        id: "record_next",
        title: "What is missing, what would decide most first".to_owned(),
        head: "class",
        columns: vec![
            Column::new("decides", "undecided_ns", "share"),
            Column::new("requests", "requests", ""),
        ],
        ..Table::default()
    };
    let row = |name: &Name, class: &Explained, gap: &Gap, seen: &GapSeen| {
        let advice = advised(gap, seen);
        let keys = vec![
            ("class", Some(name.to_string())),
            ("missing", Some(gap.missing.name().to_owned())),
            ("service", gap.service.as_ref().map(ToString::to_string)),
            ("way", Some(seen.way().name().to_owned())),
            ("stack", seen.stack().map(ToString::to_string)),
            ("attribute", Some(advice.attribute.to_owned())),
            ("setting", Some(advice.setting.to_owned())),
        ];
        let cells =
            vec![Cell::TimeShare(seen.undecided_ns, class.elapsed_ns), Cell::Count(seen.requests)];
        Row { label: name.to_string(), keys, cells, ..Row::default() }
    };
    let rows = classes.iter().flat_map(|(name, class)| {
        class.ranked().into_iter().map(move |(gap, seen)| row(name, class, gap, seen))
    });
    table.with_all(rows.collect())
}
