//! What a review is told of, one by one: findings, limits and rules that fail, and those that would
//! but for a baseline, a suppression or a doubt.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::super::{findings, text, words as all_words};
use super::{Told, words};
use crate::check::{Basis, Check, Judged, Kind, Need, Outcome, Standing, SuppressionState};
use crate::contract::Suppression;
use crate::finding_id::FindingId;

/// How bad it is; only errors fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
    /// What it is, in full.
    pub message: String,
    /// What it wasted.
    pub wasted_ns: i128,
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

/// All of them, a finding once however many cases it fails: what fails first, and of that the promises
/// of the contract before what wastes most, since forges show the first few.
pub(super) fn troubles<'e>(told: &Told<'e>) -> Vec<Trouble<'e>> {
    let mut troubles = Vec::new();
    for class in &told.verdict.classes {
        let line = class.contracts.first().map_or(1, |contract| contract.line);
        troubles.extend(class.findings.iter().map(|finding| of_finding(finding, line)));
        // What a case fails for are its findings.
        let checks = class.checks.iter().filter(|check| match check.outcome {
            Outcome::Pass => false,
            Outcome::Fail => !matches!(check.kind, Kind::Case(_)),
            Outcome::NoEvidence => check.fails || check.suppression.is_some() || is_match(check),
        });
        troubles.extend(checks.map(|check| of_check(check, class.name)));
    }
    troubles.sort_by_key(|trouble| {
        (trouble.level, trouble.place.is_some(), Reverse(trouble.wasted_ns))
    });
    troubles
}

/// Whether it says that a contract is about nothing.
const fn is_match(check: &Check<'_>) -> bool {
    matches!(check.kind, Kind::Match(_))
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
        wasted_ns: finding.group.wasted_ns.unwrap_or_default(),
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
        level: match check.fails {
            true => Level::Error,
            false if is_match(check) && check.suppression.is_none() => Level::Warning,
            false => Level::Note,
        },
        id: check.id,
        message: format!(
            "{title} {outcome} for {class} (id {}): {}",
            check.id,
            words::reason(check)
        ),
        wasted_ns: 0,
        title: format!("{title} {outcome}"),
        line: check.line,
        place: None,
        is_known: false,
        suppression: check.suppression,
    }
}

/// What cannot be told and does not fail, by what would have to be recorded.
pub(super) fn untold(told: &Told<'_>) -> Vec<String> {
    let mut limits = Vec::new();
    let mut lacking: BTreeMap<Need, (BTreeSet<String>, BTreeSet<&str>)> = BTreeMap::new();
    for class in &told.verdict.classes {
        let untold = class.checks.iter().filter(|check| check.outcome == Outcome::NoEvidence);
        for check in untold.filter(|check| !check.fails && check.suppression.is_none()) {
            match &check.basis {
                Basis::Findings { missing, .. } => {
                    for &need in missing {
                        let (cases, classes) = lacking.entry(need).or_default();
                        cases.insert(words::title(&check.kind));
                        classes.insert(class.name);
                    }
                }
                _ => limits.push(of_check(check, class.name).message),
            }
        }
    }
    let by_need = lacking.into_iter().map(|(need, (cases, classes))| {
        let cases: Vec<String> = cases.into_iter().collect();
        let classes = text::counted(classes.len() as u64, "class");
        let (cases, need) = (cases.join(", "), all_words::need(need));
        format!("cannot be told for {classes} ({cases}): {need}")
    });
    limits.into_iter().chain(by_need).collect()
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
