//! What was checked and what came of it, in words that every form shares.

use super::super::{findings, text, words};
use super::Told;
use crate::check::{Basis, Check, Judged, Kind, Measured, Outcome, RetryRule, Standing};
use crate::contract::{Promise, Suppression};
use crate::span::TraceId;
use crate::stats::Proportion;

/// What was checked.
pub(super) fn title(kind: &Kind<'_>) -> String {
    match kind {
        Kind::Case(case) => case.name.to_owned(),
        Kind::Limit(limit) => limit.text.clone(),
        Kind::Retry(rule @ RetryRule::Owner, policy) => {
            format!("{} = {}", rule.name(), policy.owner.as_deref().unwrap_or_default())
        }
        Kind::Retry(rule @ RetryRule::MaxAttempts, policy) => {
            format!("{} <= {}", rule.name(), policy.max_attempts.unwrap_or_default())
        }
        Kind::Retry(rule @ RetryRule::BudgetRatio, policy) => {
            format!("{} <= {}", rule.name(), policy.budget_ratio.unwrap_or_default())
        }
    }
}

/// What sort of thing was checked.
pub(super) const fn sort(kind: &Kind<'_>) -> &'static str {
    match kind {
        Kind::Case(_) => "case",
        Kind::Limit(_) => "limit",
        Kind::Retry(..) => "retry",
    }
}

/// Why it came out as it did.
pub(super) fn reason(check: &Check<'_>) -> String {
    let reason = match &check.basis {
        Basis::Findings { found, missing } if found.is_empty() => match missing.as_slice() {
            [] => "nothing found".to_owned(),
            missing => missing.iter().map(|&need| words::need(need)).collect::<Vec<_>>().join("; "),
        },
        Basis::Findings { found, .. } => {
            // What fails says so; of what does not, whether it ever did is the point.
            let told = found.iter().filter(|finding| {
                check.outcome != Outcome::Fail || finding.standing == Standing::Fails
            });
            told.map(summary).collect::<Vec<_>>().join("; ")
        }
        Basis::Measured(measured) => self::measured(measured, &check.kind, check.outcome),
        Basis::RetriesByOthers { count, traces } => match count {
            0 => "no other service retried".to_owned(),
            count => format!("{} by other services{}", text::counted(*count, "retry"), ids(traces)),
        },
        Basis::TriedTooOften { count, most, traces } => match count {
            0 => format!("no call was tried more than {}", text::counted(u64::from(*most), "time")),
            count => format!(
                "{} tried more often, up to {}{}",
                text::counted(*count, "call"),
                text::counted(u64::from(*most), "time"),
                ids(traces)
            ),
        },
        Basis::RetryBudget { share, interval } => {
            let first_tries = share.whole - share.part;
            let ratio = text::ratio(share.part, first_tries);
            format!(
                "{ratio} {} retries per first try, n {}",
                bounds(*interval),
                text::count(first_tries)
            )
        }
    };
    match check.suppression {
        Some(suppression) => format!("{reason}; {}", suppressed(suppression)),
        None => reason,
    }
}

/// A finding in short.
fn summary(finding: &Judged<'_>) -> String {
    let standing = match finding.standing {
        Standing::Fails => String::new(),
        Standing::Possible => ", only for some clock offsets".to_owned(),
        Standing::Known => ", known before".to_owned(),
        Standing::Suppressed => finding
            .suppression
            .map_or_else(String::new, |suppression| format!(", {}", suppressed(suppression))),
    };
    format!(
        "{} {} at {} (id {}{standing})",
        finding.subject.code.name(),
        text::counted(finding.group.findings, "time"),
        findings::place(finding.subject),
        finding.id,
    )
}

/// That something does not fail, until when and why.
pub(super) fn suppressed(suppression: &Suppression) -> String {
    format!("suppressed until {}: {}", suppression.until, suppression.reason)
}

/// A finding in full, with what it costs and where to look.
pub(super) fn finding(finding: &Judged<'_>) -> String {
    let wasted = finding.group.wasted_ns;
    let wasted = wasted.map_or_else(String::new, |ns| format!(", {} ms wasted", text::millis(ns)));
    format!(
        "{}: {}; class {}{wasted}; traces {}",
        summary(finding),
        words::finding(finding.subject.code),
        words::named(Some(&finding.subject.class)),
        findings::traces(finding.group),
    )
}

fn measured(measured: &Measured, kind: &Kind<'_>, outcome: Outcome) -> String {
    let told = match measured {
        Measured::Time { estimate: None, .. } => return no_value(kind),
        Measured::Share { proportion: Proportion { whole: 0, .. }, .. } => return no_value(kind),
        Measured::Time { estimate: Some(estimate), n } => {
            let millis = |length: crate::units::Nanos| text::millis(i128::from(length.as_nanos()));
            let end = |length: Option<_>| length.map_or_else(|| text::ABSENT.to_owned(), millis);
            format!(
                "{} ms [{}, {}], n {}",
                millis(estimate.value),
                end(estimate.lo),
                end(estimate.hi),
                text::count(*n)
            )
        }
        Measured::Share { proportion, interval } => format!(
            "{} {}, {} of {}",
            text::ratio(proportion.part, proportion.whole),
            bounds(*interval),
            text::count(proportion.part),
            text::count(proportion.whole)
        ),
    };
    match outcome {
        Outcome::NoEvidence => {
            format!("{told}: the 95 % interval is on both sides, so more requests are needed")
        }
        Outcome::Pass | Outcome::Fail => told,
    }
}

fn no_value(kind: &Kind<'_>) -> String {
    let of_hops = match kind {
        Kind::Limit(limit) => match &limit.promise {
            Promise::Time { of: crate::contract::TimeOf::Hops(hops), .. } => Some(&hops.callee),
            Promise::Ratio { callee, .. } => callee.as_ref(),
            Promise::Time { .. } => None,
        },
        Kind::Case(_) | Kind::Retry(..) => None,
    };
    let of = of_hops.map_or_else(String::new, |callee| format!(" of hops to {}", callee.as_str()));
    format!("no value{of} in the requests that match: nothing to judge, or no deadline is known")
}

/// An interval of a ratio.
fn bounds((lo, hi): (f64, f64)) -> String {
    let end = |end: f64| {
        if end.is_finite() { format!("{end:.4}") } else { text::ABSENT.to_owned() }
    };
    format!("[{}, {}]", end(lo), end(hi))
}

fn ids(traces: &[TraceId]) -> String {
    let ids: Vec<String> = traces.iter().map(ToString::to_string).collect();
    format!("; traces {}", ids.join(" "))
}

/// The verdict in a word.
pub(super) fn verdict(told: &Told<'_>) -> &'static str {
    if told.verdict.fails() { "fail" } else { "pass" }
}

/// The verdict in a sentence.
pub(super) fn conclusion(told: &Told<'_>) -> String {
    let count = |outcome: Outcome| {
        told.verdict.checks().filter(|check| check.outcome == outcome).count() as u64
    };
    let failing = told.verdict.checks().filter(|check| check.fails).count() as u64;
    format!(
        "{}: {} of {} fail; {} pass, {} cannot be told.",
        verdict(told),
        text::count(failing),
        text::counted(told.verdict.checks().count() as u64, "check"),
        text::count(count(Outcome::Pass)),
        text::count(count(Outcome::NoEvidence)),
    )
}
