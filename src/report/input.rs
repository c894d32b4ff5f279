//! What the report rests on: topology, workload, coverage, blind spots, trouble in the input.

use std::collections::BTreeMap;

use super::model::{Block, Cell, Column, Row, Section, Table};
use super::{Options, RunFacts, chosen, problems, text, words};
use crate::distributions::{Name, Overview, Summary};
use crate::tables::BlindSpot;

/// The section.
pub(super) fn section(summary: &Summary, facts: &RunFacts, options: &Options) -> Section {
    let tables = [
        Some(workload(summary, facts)),
        edges(summary, options),
        Some(coverage(&summary.overview, facts)),
        blind_spots(summary, facts),
    ];
    let mut blocks: Vec<Block> = tables.into_iter().flatten().map(Block::Table).collect();
    blocks.extend(problems::blocks(&facts.problems, facts.files, options.rows));
    Section { title: "What this rests on".to_owned(), class: None, blocks }
}

fn workload(summary: &Summary, facts: &RunFacts) -> Table {
    let requests = summary.overview.requests;
    let row = |name, label, cell| Row::new("fact", name, vec![cell]).labelled(label);
    let count = |name, label, count| row(name, label, Cell::Count(count));
    let mut rows = vec![
        count("services", "services", summary.overview.services.len() as u64),
        count("edges", "edges between services", summary.overview.edges.len() as u64),
        count("classes", "request classes", summary.classes.len() as u64),
        count("requests", "requests", requests),
        count("traces", "traces", facts.traces),
        count("spans_read", "spans read", facts.spans_read),
        count("spans_admitted", "spans admitted", facts.spans_admitted),
        count("spans_rejected", "spans rejected", facts.spans_rejected),
        count("span_links", "span links, not followed", facts.span_links),
    ];
    rows.extend(facts.chosen.as_ref().map(|chosen| {
        count("requests_left_out", "requests left out, as was asked", chosen.left_out)
    }));
    if let Some((first, last)) = facts.window {
        let window = last - first;
        let counted = chosen::counted_for(facts).map_or(window, |(first, last)| last - first);
        let nanos = u128::try_from(counted.as_nanos()).unwrap_or(0);
        let rate = text::rate(u128::from(requests) * 1_000_000_000, nanos);
        rows.extend([
            row("first_start", "first start", Cell::Instant(first)),
            row("last_end", "last end", Cell::Instant(last)),
            row("window", "observation window, ms", Cell::Time(window)),
            row("requests_per_second", "requests per second", Cell::Text(rate)),
        ]);
    }
    Table {
        id: "workload",
        title: "Topology, workload and observation window".to_owned(),
        head: "fact",
        columns: vec![Column::new("value", "value", "")],
        rows,
        ..Table::default()
    }
}

fn edges(summary: &Summary, options: &Options) -> Option<Table> {
    let mut edges: Vec<_> = summary.overview.edges.iter().collect();
    edges.sort_by(|(key, calls), (other_key, other)| {
        other.cmp(calls).then_with(|| key.cmp(other_key))
    });
    let requests = summary.overview.requests;
    let row = |((caller, callee), &calls): (&(_, _), &u64)| {
        let (caller, callee): (&Name, &Name) = (caller, callee);
        let label = format!("{} → {}", words::named(Some(caller)), words::named(Some(callee)));
        let keys = vec![("caller", Some(caller.to_string())), ("callee", Some(callee.to_string()))];
        Row {
            label,
            keys,
            cells: vec![Cell::Count(calls), Cell::Ratio(calls, requests)],
            ..Row::default()
        }
    };
    let table = Table {
        id: "edges",
        title: "Calls between services".to_owned(),
        head: "edge",
        columns: vec![
            Column::new("calls", "calls", ""),
            Column::new("per request", "calls_per_request", ""),
        ],
        ..Table::default()
    };
    table.limited(edges.into_iter().map(row), options.rows)
}

/// How much of the evidence is there.
pub(super) fn coverage(overview: &Overview, facts: &RunFacts) -> Table {
    let coverage = &overview.coverage;
    let with_a_word = facts.clients.saturating_sub(facts.wordless_clients);
    let row = |name, label, (part, whole), missing: &str| {
        let missing = Cell::Text(missing.to_owned());
        let cells = vec![Cell::Count(part), Cell::Count(whole), Cell::Share(part, whole), missing];
        Row::new("evidence", name, cells).labelled(label)
    };
    // What nobody declares is no evidence; people are told where it stood in for some.
    let stand_in = |name, label, (part, whole), what: &str| Row {
        is_quiet: part == 0,
        ..row(name, label, (part, whole), what)
    };
    let rows = vec![
        row(
            "deadlines",
            "requests with a deadline",
            (coverage.requests_with_deadline, overview.requests),
            "nothing is told of what was left",
        ),
        stand_in(
            "inferred_deadlines",
            "more with an inferred one",
            (coverage.requests_with_inferred_deadline, overview.requests),
            "told by durations alone",
        ),
        row(
            "grants",
            "hops with a grant",
            (coverage.hops_with_grant, coverage.hops),
            "resets and overgrants go unseen",
        ),
        stand_in(
            "inferred_timeouts",
            "more with an inferred timeout",
            (coverage.hops_with_inferred_timeout, coverage.hops),
            "told by durations alone",
        ),
        row(
            "callee_spans",
            "calls with a callee span",
            (coverage.calls_with_callee, coverage.calls),
            "late work there goes unseen",
        ),
        row(
            "allowances",
            "attempts with an allowance",
            (coverage.attempts_with_allowance, coverage.attempts),
            "funding is unknown",
        ),
        stand_in(
            "measured_allowances",
            "more with a measured one",
            (coverage.attempts_with_measured_allowance, coverage.attempts),
            "told by durations alone",
        ),
        row(
            "client_outcomes",
            "clients that ended with a word",
            (with_a_word, facts.clients),
            "leaving is told by the server's end",
        ),
        row(
            "sampling",
            "requests with known sampling",
            (overview.requests.saturating_sub(overview.weights.unknown), overview.requests),
            "percentiles are of what was kept",
        ),
    ];
    Table {
        id: "coverage",
        title: "Coverage: how much of the evidence is there".to_owned(),
        head: "evidence",
        columns: vec![
            Column::new("have", "have", ""),
            Column::new("of", "of", ""),
            Column::new("share", "share", ""),
            Column::prose("without it"),
        ],
        rows,
        ..Table::default()
    }
}

fn blind_spots(summary: &Summary, facts: &RunFacts) -> Option<Table> {
    let mut spots: BTreeMap<BlindSpot, u64> = BTreeMap::new();
    for class in summary.classes.values() {
        for (spot, count) in &class.blind_spots {
            *spots.entry(*spot).or_default() += count;
        }
    }
    let requests = summary.overview.requests;
    let row = |name: &str, count: u64, meaning: &str| {
        let cells =
            vec![Cell::Count(count), Cell::Share(count, requests), Cell::Text(meaning.to_owned())];
        Row::new("blind_spot", name, cells)
    };
    let mut rows: Vec<Row> = spots
        .iter()
        .map(|(spot, count)| row(spot.name(), *count, words::blind_spot(*spot)))
        .collect();
    let touching = facts.window.map_or(0, |(first, last)| summary.extents.touching(first, last));
    if touching > 0 {
        rows.push(row("window_edge", touching, "at the window's edge; may be cut off"));
    }
    let table = Table {
        id: "all_blind_spots",
        title: "Blind spots: what the traces cannot tell".to_owned(),
        head: "blind spot",
        columns: vec![
            Column::new("requests", "requests", ""),
            Column::new("share", "share", ""),
            Column::prose("meaning"),
        ],
        ..Table::default()
    };
    table.with_all(rows)
}
