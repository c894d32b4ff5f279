//! What the requests stand for that were kept (SEMANTICS §12), where anything is known of it.

use std::fmt::Write;

use super::{RunFacts, text};
use crate::distributions::{ClassSummary, Measure, Summary};

/// What is said of all classes: why no claim is made about more than was kept.
pub(super) fn notes(summary: &Summary, facts: &RunFacts) -> Vec<String> {
    let mut notes: Vec<String> = choice(facts).into_iter().collect();
    let is_by_outcome = |class: &&ClassSummary| class.weights.is_by_outcome();
    let by_outcome = summary.classes.values().filter(is_by_outcome).count() as u64;
    if by_outcome > 0 {
        notes.push(format!(
            "In {} requests were kept by how they ended: those that failed do not say what they stand \
             for, while most that completed do. Percentiles and shares there are of what was kept, and \
             say nothing of all requests.",
            text::counted(by_outcome, "class")
        ));
    }
    let is_weighted = |class: &&ClassSummary| class.measure(Measure::Elapsed).mass().is_weighted();
    let weighted = summary.classes.values().filter(is_weighted).count() as u64;
    if weighted > 0 {
        notes.push(format!(
            "Percentiles of {} are weighted by what requests stand for; counts, shares and sums are of \
             what was kept.",
            text::counted(weighted, "class")
        ));
    }
    notes
}

/// That traces were chosen once their outcome was known, where they were.
pub(super) fn choice(facts: &RunFacts) -> Option<String> {
    (!facts.chosen_by.is_empty()).then(|| {
        format!(
            "Traces were chosen once their outcome was known, by {}: percentiles and shares are of \
             what was kept, and say nothing of all requests.",
            facts.chosen_by.join(" and ")
        )
    })
}

/// What is said of one class.
pub(super) fn of_class(class: &ClassSummary) -> Option<String> {
    let weights = &class.weights;
    let elapsed = class.measure(Measure::Elapsed).mass();
    // Where somebody chose traces the summary says why nothing is weighted.
    let is_chosen = weights.is_whole() && !elapsed.is_weighted();
    if weights.known + weights.none == 0 || is_chosen {
        return None;
    }
    let mut note = if elapsed.is_weighted() {
        format!(
            "Weighted by sampling: {} stand for {}, as far as {} of equal weight would; n (≈effective n), \
             and ≈[a, b] is approximate. Counts, shares and sums are of what was kept.",
            text::counted(elapsed.n, "request"),
            text::count(whole(weights.population)),
            text::count(elapsed.sample_size() as u64),
        )
    } else if weights.known + weights.unknown == 0 {
        "No request stands for others.".to_owned()
    } else {
        let known = text::count(weights.known);
        let all = text::counted(weights.known + weights.unknown, "request");
        format!("Not weighted: {known} of {all} say what they stand for.")
    };
    if weights.none > 0 {
        // Writing to a string cannot fail.
        let _ = write!(
            note,
            " {} kept for other reasons, which stand for none, are left out of percentiles, and of sums and \
             shares of times.",
            text::counted(weights.none, "request")
        );
    }
    Some(note)
}

/// Millionths as whole requests.
fn whole(millionths: i128) -> u64 {
    u64::try_from((millionths + 500_000) / 1_000_000).unwrap_or(u64::MAX)
}
