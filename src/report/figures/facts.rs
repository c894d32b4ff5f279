//! The few numbers that sum up a report.

use crate::distributions::{ClassSummary, Measure, Summary};
use crate::report::class::OVERGRANTS;
use crate::report::text;
use crate::tables::FindingCode;

/// A number that somebody who reads nothing else should see.
#[derive(Clone, Debug)]
pub struct Fact {
    /// The number.
    pub value: String,
    /// What it says.
    pub words: String,
    /// Something is wrong.
    pub is_alarming: bool,
}

pub(super) fn of(summary: &Summary) -> Vec<Fact> {
    let sum = |count: fn(&ClassSummary) -> u64| summary.classes.values().map(count).sum::<u64>();
    let total =
        |measure| summary.classes.values().map(|class| class.measure(measure).sum()).sum::<i128>();
    let requests = sum(|class| class.requests);
    let bounded = sum(ClassSummary::with_deadline);
    let in_time = sum(|class| class.completed_in_time);
    let mut facts = Vec::new();
    if bounded > 0 {
        let late = bounded - in_time;
        facts.push(Fact {
            value: text::percent(i128::from(in_time), i128::from(bounded)),
            words: format!(
                "of {} with a deadline completed in time; {} did not",
                text::counted(bounded, "request"),
                text::count(late)
            ),
            is_alarming: late > 0,
        });
    } else {
        facts.push(Fact {
            value: text::count(requests),
            words: "requests, none with a known deadline: set one to see where it would go"
                .to_owned(),
            is_alarming: false,
        });
    }
    let resets = sum(resets);
    facts.push(Fact {
        value: text::count(resets),
        words: "hops were given the full timeout again, or more than was left".to_owned(),
        is_alarming: resets > 0,
    });
    let unfunded = sum(|class| class.unfundable);
    facts.push(Fact {
        value: text::count(unfunded),
        words: format!(
            "of {} began without enough left to finish",
            text::counted(summary.overview.coverage.attempts, "attempt")
        ),
        is_alarming: unfunded > 0,
    });
    let (late, residual) = (total(Measure::LateWork), total(Measure::ResidualWork));
    facts.push(Fact {
        value: format!("{} ms", text::millis(late)),
        words: "of work was done after deadlines".to_owned(),
        is_alarming: late > 0,
    });
    facts.push(Fact {
        value: format!("{} ms", text::millis(residual)),
        words: "of work was done for callers who had left".to_owned(),
        is_alarming: residual > 0,
    });
    facts
}

/// Hops that were given more than was left.
fn resets(class: &ClassSummary) -> u64 {
    let found = class
        .findings
        .iter()
        .filter(|((code, _), _): &(&(FindingCode, _), _)| OVERGRANTS.contains(code));
    found.map(|(_, finding)| finding.findings).sum()
}
