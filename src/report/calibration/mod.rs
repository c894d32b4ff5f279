//! What durations and outcomes tell where nothing is declared: after how long calls and requests are cut
//! off, and what attempts need (docs/inference.md). And the one line that says what of it counted.

mod needs;
mod timeouts;

use super::model::{Block, Cell, Column, Layout, Row, Section, Table};
use super::{Options, RunFacts, text};
use crate::calibrate::Calibration;
use crate::distributions::{Coverage, Overview};

/// The section; none where nothing was called and nothing asked for.
pub(super) fn section(
    calibration: &Calibration,
    coverage: &Coverage,
    facts: &RunFacts,
    options: &Options,
) -> Option<Section> {
    if calibration.calls.is_empty() && calibration.classes.is_empty() {
        return None;
    }
    let mut blocks = vec![Block::Note(what_counts(coverage, facts))];
    blocks.extend(timeouts::blocks(calibration, options));
    blocks.extend(needs::blocks(calibration, options));
    Some(Section { title: "What durations tell".to_owned(), class: None, blocks })
}

/// What of it counted, here or when a contract was taken from traces before.
fn what_counts(coverage: &Coverage, facts: &RunFacts) -> String {
    let judged = if facts.calibrated.is_some() {
        let whose = match facts.chosen {
            // What nobody chose may have had a part in it.
            Some(_) => " What judged them is told by all requests, what follows by those chosen.",
            None => "",
        };
        format!(
            "Requests and hops that declare nothing were judged by what of it is sure enough, and say so: \
             inferred, or measured.{whose}"
        )
    } else if stood_in(coverage).is_some() {
        "It judged nothing itself. Where nothing is declared a contract counts that was taken from traces, \
         and what rests on that says so: inferred, or measured."
            .to_owned()
    } else {
        "Nothing was judged by it: what is declared, or in a contract, counts.".to_owned()
    };
    format!("What follows is told by durations and outcomes alone. {judged}")
}

/// That what was told is of a sample.
fn of_sample(whats: &str, kept: u64) -> String {
    format!(" {whats} are of a sample of {}.", text::count(kept))
}

/// What stood in for a contract where none was given: as much as `overview` tells of it.
pub(super) fn judged_by(facts: &RunFacts, overview: Option<&Overview>) -> Option<String> {
    facts.calibrated.as_ref()?;
    let stood_in = match overview {
        Some(overview) => format!(": {}", stood_in(&overview.coverage)?),
        None => ", and what rests on that is marked as inferred or measured".to_owned(),
    };
    Some(format!(
        "No contract was given, so durations tell what is not declared{stood_in}. dwindle calibrate -o \
         contracts.toml writes it down to be corrected; --declared-only goes without."
    ))
}

/// How many requests, hops and attempts say nothing themselves of what they are judged by.
fn stood_in(of: &Coverage) -> Option<String> {
    let told = |count: u64, noun: &str, what: &str| {
        (count > 0).then(|| format!("{what} of {}", text::counted(count, noun)))
    };
    let inferred = [
        told(of.requests_with_inferred_deadline, "request", "deadlines"),
        told(of.hops_with_inferred_timeout, "hop", "timeouts"),
    ];
    let inferred: Vec<String> = inferred.into_iter().flatten().collect();
    let inferred = (!inferred.is_empty()).then(|| format!("{} inferred", inferred.join(" and ")));
    let measured = told(of.attempts_with_measured_allowance, "attempt", "needs");
    let measured = measured.map(|needs| format!("{needs} measured"));
    let parts: Vec<String> = inferred.into_iter().chain(measured).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// A table of the rows that people read, at most so many, and of those for machines; where there are
/// none for people, they are shown nothing.
fn with_quiet(table: Table, loud: Vec<Row>, quiet: Vec<Row>, most: usize) -> Option<Table> {
    let is_told = !loud.is_empty();
    let all = loud.len();
    let mut told: Vec<Row> = loud.into_iter().take(most).collect();
    let left_out = all.saturating_sub(told.len()) as u64;
    told.extend(quiet.into_iter().map(|row| Row { is_quiet: true, ..row }));
    Some(Table {
        layout: if is_told { table.layout } else { Layout::Line },
        rest: (left_out > 0).then(|| format!("and {} more", text::count(left_out))),
        rows: told,
        ..table
    })
    .filter(|table| !table.rows.is_empty())
    .map(telling)
}

/// The same, where people are spared columns that tell nothing of any row.
fn telling(mut table: Table) -> Table {
    for (place, column) in table.columns.iter_mut().enumerate() {
        let mut loud = table.rows.iter().filter(|row| !row.is_quiet);
        if loud.all(|row| matches!(row.cells.get(place), None | Some(Cell::Absent))) {
            column.rank = Column::MACHINES;
        }
    }
    table
}

/// A decimal logarithm to its second digit; what is no number, or below zero, is absent.
fn logarithm(number: Option<f64>) -> Cell {
    let hundredths = number.filter(|number| number.is_finite() && *number >= 0.0).map(|number| {
        // Beyond that no reader tells one from another.
        format!("{:.0}", (number * 100.0).min(1e9)).parse().unwrap_or(0)
    });
    hundredths.map_or(Cell::Absent, |hundredths| Cell::Ratio(hundredths, 100))
}
