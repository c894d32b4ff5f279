//! What was checked and what came of it, in words that every form shares.

use super::super::{findings, text, words};
use super::Told;
use crate::check::{Basis, Check, Judged, Kind, Measured, Need, Outcome, RetryRule, Standing};
use crate::contract::{Glob, Promise, Suppression, TimeOf};
use crate::span::TraceId;
use crate::units::Nanos;

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
        Kind::Match(contract) => format!("contract {} matches requests", contract.name),
    }
}

/// What sort of thing was checked.
pub(super) const fn sort(kind: &Kind<'_>) -> &'static str {
    match kind {
        Kind::Case(_) => "case",
        Kind::Limit(_) => "limit",
        Kind::Retry(..) => "retry",
        Kind::Match(_) => "match",
    }
}

/// Why it came out as it did.
pub(super) fn reason(check: &Check<'_>) -> String {
    let reason = match &check.basis {
        Basis::Findings { found, missing } => by_findings(check, found, missing),
        Basis::NoRequest => unmatched(&check.kind),
        Basis::RetriesByOthers { traces, .. } | Basis::TriedTooOften { traces, .. } => {
            value(check) + &ids(traces)
        }
        Basis::Measured(_) | Basis::RetryBudget { .. } => match check.outcome {
            Outcome::NoEvidence if has_value(&check.basis) => format!(
                "{}: the bound lies within the 95 % interval; more requests would tell",
                value(check)
            ),
            _ => value(check),
        },
    };
    match check.suppression {
        Some(suppression) => format!("{reason}; {}", suppressed(suppression)),
        None => reason,
    }
}

fn by_findings(check: &Check<'_>, found: &[Judged<'_>], missing: &[Need]) -> String {
    if !found.is_empty() {
        // What fails says so; of what does not, it matters why not.
        let is_told = |finding: &&Judged<'_>| {
            check.outcome != Outcome::Fail || finding.standing == Standing::Fails
        };
        return found.iter().filter(is_told).map(summary).collect::<Vec<_>>().join("; ");
    }
    match missing {
        [] => "nothing found".to_owned(),
        missing => missing.iter().map(|&need| words::need(need)).collect::<Vec<_>>().join("; "),
    }
}

/// What was measured; nothing of a case.
pub(super) fn value(check: &Check<'_>) -> String {
    match &check.basis {
        Basis::Findings { .. } => String::new(),
        Basis::NoRequest => unmatched(&check.kind),
        basis @ (Basis::Measured(_) | Basis::RetryBudget { .. }) if !has_value(basis) => {
            no_value(&check.kind)
        }
        Basis::Measured(measured) => self::measured(measured),
        Basis::RetriesByOthers { count: 0, .. } => "no other service retried".to_owned(),
        Basis::RetriesByOthers { count, .. } => {
            format!("{} by other services", text::counted(*count, "retry"))
        }
        Basis::TriedTooOften { count, most, .. } => {
            let most = text::counted(u64::from(*most), "time");
            match count {
                0 => format!("no call was tried more than {most}"),
                count => {
                    format!("{} tried more often, up to {most}", text::counted(*count, "call"))
                }
            }
        }
        Basis::RetryBudget { share, interval } => {
            let first_tries = share.whole - share.part;
            let ratio = text::ratio(share.part, first_tries);
            format!("{ratio} {}, n {}", bounds(*interval), text::count(first_tries))
        }
    }
}

fn has_value(basis: &Basis<'_>) -> bool {
    match basis {
        Basis::Measured(Measured::Time { estimate, .. }) => estimate.is_some(),
        Basis::Measured(Measured::Share { proportion, .. }) => proportion.whole > 0,
        Basis::RetryBudget { share, .. } => share.whole > 0,
        Basis::Findings { .. }
        | Basis::NoRequest
        | Basis::RetriesByOthers { .. }
        | Basis::TriedTooOften { .. } => true,
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

fn measured(measured: &Measured) -> String {
    match measured {
        Measured::Time { estimate, n } => {
            let millis = |length: Nanos| text::millis(i128::from(length.as_nanos()));
            let end = |length: Option<_>| length.map_or_else(|| text::ABSENT.to_owned(), millis);
            let is_approximate = estimate.is_some_and(|estimate| estimate.is_approximate);
            format!(
                "{} ms {}[{}, {}], n {}",
                end(estimate.map(|estimate| estimate.value)),
                if is_approximate { "≈" } else { "" },
                end(estimate.and_then(|estimate| estimate.lo)),
                end(estimate.and_then(|estimate| estimate.hi)),
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
    }
}

/// By what it was judged.
pub(super) fn judged_by(told: &Told<'_>) -> String {
    match (told.contract_file, &told.facts.calibrated) {
        (Some(file), _) => format!("contract {file}"),
        (None, Some(_)) => {
            "no contract: by what the spans declare, and what durations and outcomes show"
                .to_owned()
        }
        (None, None) => "no contract: by what the spans declare".to_owned(),
    }
}

/// What a contract that is about nothing asks for.
fn unmatched(kind: &Kind<'_>) -> String {
    let Kind::Match(contract) = kind else { return String::new() };
    let asked = |what: &str, glob: &Option<Glob>| {
        glob.as_ref().map(|glob| format!("{what} '{}'", glob.as_str()))
    };
    let asked = [
        asked("service", &contract.matches.service),
        asked("operation", &contract.matches.operation),
    ];
    let asked = asked.into_iter().flatten().collect::<Vec<_>>().join(" and ");
    let of = if asked.is_empty() { asked } else { format!(" of {asked}") };
    format!("no root span{of} that no contract before it takes")
}

fn no_value(kind: &Kind<'_>) -> String {
    let of_hops = match kind {
        Kind::Limit(limit) => match &limit.promise {
            Promise::Time { of: TimeOf::Hops(hops), .. } => Some(&hops.callee),
            Promise::Ratio { callee, .. } => callee.as_ref(),
            Promise::Time { .. } => None,
        },
        Kind::Case(_) | Kind::Retry(..) | Kind::Match(_) => None,
    };
    let of = of_hops.map_or_else(String::new, |callee| format!(" of hops to {}", callee.as_str()));
    format!("nothing of the kind{of} in requests that match, or no deadline is known")
}

/// An interval of a ratio.
fn bounds((lo, hi): (f64, f64)) -> String {
    let end = |end: f64| {
        if end.is_finite() { format!("{end:.4}") } else { text::ABSENT.to_owned() }
    };
    format!("[{}, {}]", end(lo), end(hi))
}

fn ids(traces: &[TraceId]) -> String {
    if traces.is_empty() {
        return String::new();
    }
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
        told.verdict.checks().filter(|check| check.outcome == outcome && !check.fails).count()
            as u64
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
