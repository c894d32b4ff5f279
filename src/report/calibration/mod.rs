//! What durations and outcomes tell where nothing is declared: after how long calls and requests are cut
//! off, and what attempts need (docs/inference.md). And the one line that says what of it counted.

mod needs;
mod timeouts;

use super::model::{Block, Cell, Layout, Row, Section, Table};
use super::{Options, RunFacts, text};
use crate::calibrate::Calibration;
use crate::contract::{CallTerms, ContractFile};

/// The section; none where nothing was called and nothing asked for.
pub(super) fn section(
    calibration: &Calibration,
    facts: &RunFacts,
    options: &Options,
) -> Option<Section> {
    if calibration.calls.is_empty() && calibration.classes.is_empty() {
        return None;
    }
    let mut blocks = vec![Block::Note(what_counts(facts).to_owned())];
    blocks.extend(timeouts::blocks(calibration, options));
    blocks.extend(needs::blocks(calibration, options));
    Some(Section { title: "What durations tell".to_owned(), class: None, blocks })
}

fn what_counts(facts: &RunFacts) -> &'static str {
    if facts.calibrated.is_some() {
        "What follows is told by durations and outcomes alone. Requests and hops that declare nothing \
         were judged by what of it is sure enough, and say so: inferred, or measured."
    } else {
        "What follows is told by durations and outcomes alone. Nothing was judged by it: what is \
         declared, or in a contract, counts."
    }
}

/// What stood in for a contract, where none was given.
pub(super) fn judged_by(facts: &RunFacts) -> Option<String> {
    let text = facts.calibrated.as_deref()?;
    let file = ContractFile::parse("what was calibrated", text).ok()?;
    let deadlines = file.contracts.iter().filter(|contract| contract.deadline.is_some()).count();
    let with = |says: fn(&CallTerms) -> bool| file.calls.iter().filter(|terms| says(terms)).count();
    let timeouts = with(|terms| terms.timeout.is_some());
    let allowances = with(|terms| terms.attempt_allowance.is_some());
    let inferred: Vec<String> = [(deadlines, "deadline"), (timeouts, "timeout")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| text::counted(count as u64, noun))
        .collect();
    let mut stand_in = Vec::new();
    if !inferred.is_empty() {
        stand_in.push(format!("{} inferred", inferred.join(" and ")));
    }
    if allowances > 0 {
        let calls = text::counted(allowances as u64, "call");
        stand_in.push(format!("what attempts need measured of {calls}"));
    }
    (!stand_in.is_empty()).then(|| {
        format!(
            "No contract was given, so what is not declared is told by durations: {}. dwindle \
             calibrate -o contracts.toml writes that down to be corrected; --declared-only goes \
             without.",
            stand_in.join(", ")
        )
    })
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
}

/// A decimal logarithm to its second digit; what is no number, or below zero, is absent.
fn logarithm(number: Option<f64>) -> Cell {
    let hundredths = number.filter(|number| number.is_finite() && *number >= 0.0).map(|number| {
        // Beyond that no reader tells one from another.
        format!("{:.0}", (number * 100.0).min(1e9)).parse().unwrap_or(0)
    });
    hundredths.map_or(Cell::Absent, |hundredths| Cell::Ratio(hundredths, 100))
}
