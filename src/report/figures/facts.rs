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
    let inferred = match sum(ClassSummary::with_inferred_deadline) {
        0 => String::new(),
        some => format!(" ({} of them inferred)", text::count(some)),
    };
    let mut facts = Vec::new();
    if bounded > 0 {
        let late = bounded - in_time;
        facts.push(Fact {
            value: text::percent(i128::from(in_time), i128::from(bounded)),
            words: format!(
                "of {} with a deadline{inferred} completed in time; {} did not",
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
    let coverage = &summary.overview.coverage;
    let resets = sum(resets);
    facts.push(known(
        coverage.hops_with_grant + coverage.hops_with_inferred_timeout > 0 && bounded > 0,
        text::count(resets),
        "hops were given the full timeout again, or more than was left",
        resets > 0,
    ));
    let unfunded = sum(|class| class.unfundable);
    // Those that began with nothing left are known where no allowance is.
    let (given, measured) =
        (coverage.attempts_with_allowance, coverage.attempts_with_measured_allowance);
    let of_measured = match measured {
        0 => String::new(),
        some => format!(" and measured for {} more", text::count(some)),
    };
    facts.push(known(
        bounded > 0 && (given + measured > 0 || unfunded > 0),
        text::count(unfunded),
        &format!(
            "attempts began without enough left to finish; what one needs is known of {}{of_measured} \
             of {}",
            text::count(given),
            text::count(coverage.attempts)
        ),
        unfunded > 0,
    ));
    let (late, residual) = (total(Measure::LateWork), total(Measure::ResidualWork));
    let work = |sum| format!("{} ms", text::millis(sum));
    facts.push(known(bounded > 0, work(late), "of work was done after deadlines", late > 0));
    facts.push(known(
        coverage.calls_with_callee > 0,
        work(residual),
        "of work was done for callers who had left",
        residual > 0,
    ));
    facts
}

/// A fact, or that it is not known.
fn known(is_known: bool, value: String, words: &str, is_alarming: bool) -> Fact {
    if is_known {
        Fact { value, words: words.to_owned(), is_alarming }
    } else {
        let words = format!("how many {words}: the traces cannot tell");
        let words = words.replace("how many of work", "how much work");
        Fact { value: "unknown".to_owned(), words, is_alarming: false }
    }
}

/// Hops that were given more than was left.
fn resets(class: &ClassSummary) -> u64 {
    let found = class
        .findings
        .iter()
        .filter(|((code, _), _): &(&(FindingCode, _), _)| OVERGRANTS.contains(code));
    found.map(|(_, finding)| finding.findings).sum()
}
