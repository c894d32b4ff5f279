//! What names in tables mean, in words for people.

use crate::distributions::{Call, Measure};
use crate::tables::{BlindSpot, FindingCode};

/// How to give requests a deadline.
pub(super) const SET_A_DEADLINE: &[&str] = &[
    "--deadline 1s                     # for every request",
    "--deadline 'GET /items/*=800ms'   # for some; may be repeated",
    "--contract budgets.toml           # classes, reserves and limits in a file",
];

/// A measure of a request.
pub(super) const fn measure(measure: Measure) -> &'static str {
    match measure {
        Measure::Elapsed => "elapsed",
        Measure::Queue => "queue",
        Measure::LocalExecution => "local execution",
        Measure::ReturnReserveUsed => "return reserve used",
        Measure::BudgetAtOrigin => "left at origin",
        Measure::BudgetAtAdmission => "left at admission",
        Measure::BudgetAtStart => "left at start",
        Measure::LateWork => "late work",
        Measure::LateWait => "late open calls",
        Measure::LateWall => "late until last end",
        Measure::ResidualWork => "residual work",
        Measure::ResidualWait => "residual open calls",
    }
}

/// A call without its caller, which stands above it in a tree.
pub(super) fn callee(call: &Call) -> String {
    format!("{} · {}", named(call.callee.as_deref()), named(Some(&call.operation)))
}

/// A call.
pub(super) fn call(call: &Call) -> String {
    match &call.caller {
        Some(caller) => format!("{} → {}", named(Some(caller)), callee(call)),
        None => callee(call),
    }
}

/// A name, or that there is none.
pub(super) fn named(name: Option<&str>) -> &str {
    match name {
        None => "(unknown)",
        Some("") => "(no name)",
        Some(name) => name,
    }
}

/// What a finding says.
pub(super) const fn finding(code: FindingCode) -> &'static str {
    match code {
        FindingCode::TimeoutReset => "given the full timeout again, not what was left",
        FindingCode::Overgrant => "given more than was left",
        FindingCode::ReserveInvaded => "given time that the return reserve needs",
        FindingCode::AdmittedUnfundable => "queued until too little was left, then begun",
        FindingCode::StartedExpired => "begun after the deadline",
        FindingCode::RanAfterQueueCancel => "caller left while it queued, then begun",
        FindingCode::ReserveConsumed => "a call ended within the return reserve",
        FindingCode::RetryUnfundable => "retried with less left than one try needs",
        FindingCode::HedgeUnfundable => "hedged with less left than one try needs",
        FindingCode::AttemptUnfundable => "tried with less left than one try needs",
        FindingCode::RetryLayered => "two layers retried one request",
        FindingCode::BlindRetry => "a side effect in doubt was sent again",
        FindingCode::CancelIgnored => "server went on after its client had left",
        FindingCode::CancelDropped => "cancellation was not passed on",
        FindingCode::HedgeNotCancelled => "the losing try ran on",
        FindingCode::SideEffectLate => "a side effect began after the deadline",
        FindingCode::GraveyardFirst => "expired work ran while live work waited",
    }
}

/// What a blind spot hides.
pub(super) const fn blind_spot(spot: BlindSpot) -> &'static str {
    match spot {
        BlindSpot::AttemptsMissing => "earlier tries of a retry were not traced",
        BlindSpot::ClockAdjusted => "times were moved before the export",
        BlindSpot::ClockConflict => "times across hosts are doubtful",
        BlindSpot::ClockShift => "child before its parent on one clock",
        BlindSpot::ClockSkewCorrected => "clocks of hosts aligned by causality",
        BlindSpot::Cycle => "spans are each other's parents; cut",
        BlindSpot::DuplicateSpans => "several records with one id; one kept",
        BlindSpot::ExtraRoots => "several roots; each is a request",
        BlindSpot::MissingRoot => "root not traced; longer than seen",
        BlindSpot::NegativeDuration => "spans that end before they start",
        BlindSpot::NoDeadline => "no deadline is known",
        BlindSpot::Orphans => "spans whose parent was not traced",
    }
}
