//! Who tries calls again, how often, and what layers of that come to.

use std::cmp::Reverse;

use super::model::{Block, Cell, Column, Report, Row, Section, Table};
use super::{Options, text, words};
use crate::distributions::Call;
use crate::retrying::{Edge, Layer, Path, Retrying};

/// So many calls or pairs of them are named in a sentence.
const NAMED: usize = 3;

/// Tells who tries calls again, where anybody does.
pub fn add_retrying(report: &mut Report, retrying: &Retrying, options: &Options) {
    let edges = retrying.ranked();
    if edges.is_empty() {
        return;
    }
    let mut blocks = vec![Block::Note(owners(&edges))];
    blocks.extend(layered(retrying).map(Block::Note));
    blocks.extend(by_edge(&edges, options).map(Block::Table));
    blocks.extend(by_path(retrying, options).map(Block::Table));
    if options.is_for_machines() {
        blocks.extend(by_pair(retrying).map(Block::Table));
    }
    let section = Section { title: "Who retries".to_owned(), class: None, blocks };
    report.insert_before_last(section);
}

/// Who tries again, those that do most first.
fn owners(edges: &[(&Call, &Edge)]) -> String {
    let retried: Vec<_> = edges.iter().filter(|(_, edge)| edge.retried > 0).collect();
    if retried.is_empty() {
        return "No call was retried: some were hedged or sent again.".to_owned();
    }
    let named = retried.iter().take(NAMED).map(|(call, edge)| {
        format!(
            "{} ({} of {}, {} tries at most)",
            words::call(call),
            text::count(edge.retried),
            text::counted(edge.calls, "call"),
            text::count(edge.most.0),
        )
    });
    let named: Vec<String> = named.collect();
    let more = retried.len().saturating_sub(NAMED) as u64;
    let more = if more > 0 { format!("; and {} more", text::count(more)) } else { String::new() };
    format!("Tried again: {}{more}.", named.join("; "))
}

/// Where two layers do.
fn layered(retrying: &Retrying) -> Option<String> {
    let pairs = ranked_pairs(retrying);
    let named = pairs.iter().take(NAMED).map(|((upper, lower), requests)| {
        format!(
            "{} above {} (in {})",
            words::call(upper),
            words::call(lower),
            text::counted(**requests, "request")
        )
    });
    let named: Vec<String> = named.collect();
    (!named.is_empty()).then(|| {
        format!(
            "Two layers retried in one request: {}. Let one of them own retries: each try of the \
             upper one begins all those of the lower one anew.",
            named.join("; ")
        )
    })
}

fn by_edge(edges: &[(&Call, &Edge)], options: &Options) -> Option<Table> {
    let table = Table {
        id: "retrying",
        title: "Calls that were tried or sent more than once".to_owned(),
        head: "call",
        columns: vec![
            Column::new("calls", "calls", ""),
            Column::new("tries/call", "tries_per_call", ""),
            Column::new("most", "tries", "max"),
            Column::new("retried", "retried", "").ranked(2),
            Column::new("retries", "retries", ""),
            Column::new("declared", "retries_declared", "").ranked(5),
            Column::new("named", "retries_named", "").ranked(6),
            Column::new("inferred", "retries_inferred", "").ranked(4),
            Column::new("hidden", "hidden_tries", "").ranked(1),
            Column::new("hedges", "hedges", "").ranked(1),
            Column::new("resends", "resends", "").ranked(3),
            Column::new("loops", "loops", "").ranked(7),
        ],
        ..Table::default()
    };
    let row = |(call, edge): &(&Call, &Edge)| Row {
        label: words::call(call),
        keys: words::call_keys(Some(call)),
        cells: vec![
            Cell::Count(edge.calls),
            Cell::Ratio(edge.tries, edge.calls),
            Cell::Count(edge.most.0),
            Cell::Share(edge.retried, edge.calls),
            Cell::Count(edge.retries),
            Cell::Count(edge.told.declared),
            Cell::Count(edge.told.named),
            Cell::Count(edge.told.inferred),
            Cell::Count(edge.hidden),
            Cell::Count(edge.hedges),
            Cell::Count(edge.resends),
            Cell::Count(edge.loops),
        ],
        ..Row::default()
    };
    table.limited(edges.iter().map(row), options.rows)
}

/// The paths to whose ends calls came more often than they would have, or might.
fn by_path(retrying: &Retrying, options: &Options) -> Option<Table> {
    let layers = retrying.layers.iter().map(|(path, layer)| (retrying.worst(path), path, layer));
    let mut paths: Vec<(u64, &Path, &Layer)> = layers.filter(|(worst, ..)| *worst > 1).collect();
    paths.sort_by_key(|(worst, path, layer)| {
        (Reverse((layer.tries.saturating_sub(layer.due), *worst)), *path)
    });
    let table = Table {
        id: "retry_layers",
        title: "Tries at the end of each path, a call that nobody tries again".to_owned(),
        head: "path",
        columns: vec![
            Column::new("due", "calls_due", ""),
            Column::new("calls", "calls", "").ranked(2),
            Column::new("tries", "tries", ""),
            Column::new("most/call", "tries", "max").ranked(1),
            Column::new("observed", "amplification", "observed"),
            Column::new("worst case", "amplification", "worst"),
        ],
        ..Table::default()
    };
    let row = |(worst, path, layer): &(u64, &Path, &Layer)| {
        let services = path.0.iter().map(|service| words::named(service.as_deref()));
        let label = services.collect::<Vec<_>>().join(" → ");
        let cells = vec![
            Cell::Count(layer.due),
            Cell::Count(layer.calls),
            Cell::Count(layer.tries),
            Cell::Count(layer.most.0),
            Cell::Ratio(layer.tries, layer.due),
            Cell::Count(*worst),
        ];
        Row::new("path", &label, cells)
    };
    table.limited(paths.iter().map(row), options.rows)
}

/// Calls of which one lies below the other, those that were both tried again most often first.
fn ranked_pairs(retrying: &Retrying) -> Vec<(&(Call, Call), &u64)> {
    let mut pairs: Vec<_> = retrying.pairs.iter().collect();
    pairs.sort_by_key(|(_, requests)| Reverse(**requests));
    pairs
}

/// What people read in a sentence.
fn by_pair(retrying: &Retrying) -> Option<Table> {
    let table = Table {
        id: "retry_pairs",
        title: "Calls of which one lies below the other, both tried again in one request"
            .to_owned(),
        head: "upper call",
        columns: vec![Column::new("requests", "requests", "")],
        ..Table::default()
    };
    let row = |((upper, lower), requests): (&(Call, Call), &u64)| {
        let lower = ["lower_caller", "lower_callee", "lower_operation"]
            .into_iter()
            .zip(words::call_keys(Some(lower)))
            .map(|(key, (_, name))| (key, name));
        Row {
            label: words::call(upper),
            keys: words::call_keys(Some(upper)).into_iter().chain(lower).collect(),
            cells: vec![Cell::Count(*requests)],
            ..Row::default()
        }
    };
    table.with_all(ranked_pairs(retrying).into_iter().map(row).collect())
}
