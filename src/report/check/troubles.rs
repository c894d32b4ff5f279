//! What a review is told of, one by one: findings, limits and rules that fail, and those that would
//! but for a baseline, a suppression or a doubt.

use super::super::{findings, text, words as all_words};
use super::{Told, words};
use crate::check::{Check, Judged, Kind, Outcome, Standing, SuppressionState};
use crate::contract::Suppression;
use crate::finding_id::FindingId;

/// How bad it is; only errors fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// It fails.
    Error,
    /// It may be wrong.
    Warning,
    /// It does not fail, for a reason that is told.
    Note,
}

/// One of them.
pub(super) struct Trouble<'e> {
    /// What rule it breaks: a finding's code, or the sort of check.
    pub rule: &'static str,
    pub level: Level,
    pub id: FindingId,
    /// What it is, in short.
    pub title: String,
    pub message: String,
    /// The line of the contract file, from 1.
    pub line: usize,
    /// The hop.
    pub place: Option<String>,
    /// Whether it was there before.
    pub is_known: bool,
    pub suppression: Option<&'e Suppression>,
}

/// The rule of what cannot be told.
pub(super) const NO_EVIDENCE: &str = "no-evidence";

/// All of them, a finding once however many cases it fails.
pub(super) fn troubles<'e>(told: &Told<'e>) -> Vec<Trouble<'e>> {
    let mut troubles = Vec::new();
    for class in &told.verdict.classes {
        let line = class.contracts.first().map_or(1, |contract| contract.line);
        troubles.extend(class.findings.iter().map(|finding| of_finding(finding, line)));
        let checks = class.checks.iter().filter(|check| {
            check.outcome == Outcome::NoEvidence
                || (check.outcome == Outcome::Fail && !matches!(check.kind, Kind::Case(_)))
        });
        troubles.extend(checks.map(|check| of_check(check, class.name)));
    }
    troubles
}

fn of_finding<'e>(finding: &Judged<'e>, line: usize) -> Trouble<'e> {
    let place = findings::place(finding.subject);
    Trouble {
        rule: finding.subject.code.name(),
        level: match finding.standing {
            Standing::Fails => Level::Error,
            Standing::Possible => Level::Warning,
            Standing::Known | Standing::Suppressed => Level::Note,
        },
        id: finding.id,
        title: format!("{} at {place}", finding.subject.code.name()),
        message: words::finding(finding),
        line,
        place: Some(place),
        is_known: finding.standing == Standing::Known,
        suppression: finding.suppression,
    }
}

fn of_check<'e>(check: &Check<'e>, class: &str) -> Trouble<'e> {
    let title = words::title(&check.kind);
    let class = all_words::named(Some(class));
    let (rule, outcome) = match check.outcome {
        Outcome::NoEvidence => (NO_EVIDENCE, "cannot be told"),
        Outcome::Fail | Outcome::Pass => (words::sort(&check.kind), "fails"),
    };
    Trouble {
        rule,
        level: if check.fails { Level::Error } else { Level::Note },
        id: check.id,
        message: format!("{title} {outcome} for {class}: {}", words::reason(check)),
        title: format!("{title} {outcome}"),
        line: check.line,
        place: None,
        is_known: false,
        suppression: check.suppression,
    }
}

/// What is to be said of suppressions: those that are over, and those that suppress nothing.
pub(super) fn of_suppressions(told: &Told<'_>) -> Vec<String> {
    let used = told.verdict.suppressions.iter();
    let sentences = used.filter_map(|used| {
        let Suppression { id, reason, until, .. } = used.suppression;
        match used.state {
            SuppressionState::Used => None,
            SuppressionState::Expired => Some(format!(
                "the suppression of {id} ended on {until} and suppresses nothing any more: {reason}"
            )),
            SuppressionState::Unused => Some(format!(
                "nothing has the id {id}, which is suppressed until {until}: {reason}"
            )),
        }
    });
    sentences.collect()
}

/// How many are suppressed or known, where any are.
pub(super) fn excused(told: &Told<'_>) -> Option<String> {
    let findings = || told.verdict.classes.iter().flat_map(|class| &class.findings);
    let count = |standing| findings().filter(|finding| finding.standing == standing).count() as u64;
    let parts = [
        (count(Standing::Known), "known before"),
        (count(Standing::Suppressed), "suppressed"),
        (count(Standing::Possible), "only for some clock offsets"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, why)| format!("{} {why}", text::count(count)))
        .collect();
    (!parts.is_empty()).then(|| format!("Findings that do not fail: {}.", parts.join(", ")))
}
