//! What names in tables mean, in words for people, and what machines tell rows by.

use std::collections::BTreeMap;

use super::model::Key;
use crate::check::Need;
use crate::distributions::{Call, Measure, Name, Place};
use crate::rules::rule;
use crate::tables::{BlindSpot, Evidence, FindingCode};

/// How to give requests a deadline.
pub(super) const SET_A_DEADLINE: &[&str] = &[
    "--deadline 1s                     # for every request",
    "--deadline 'GET /items/*=800ms'   # for some; may be repeated",
    "--contract budgets.toml           # classes, reserves and limits in a file",
];
/// The same in a sentence.
pub(super) const SET_ONE: &str = "set the deadline of requests by --deadline or in a contract";

/// How deadlines can become known where no span says anything; [`SET_ONE`] comes next.
pub(super) const NO_GRANT: &str = "no span says how much time it was given: capture the \
     grpc-timeout or x-envoy-expected-rq-timeout-ms request header, write deadline.remaining_ms, or ";
/// Of spans without a root.
pub(super) const NO_ROOT: &str =
    "no span is a root, so nothing says when requests began: export whole traces";
/// Of some spans.
pub(super) const ORPHANS: &str =
    "name a parent that is not there: export whole traces, and read their files together";
/// Of some spans.
pub(super) const NO_SERVICE: &str = "have no service.name: set it in the SDK's resource";
/// Of spans without an allowance.
pub(super) const NO_ALLOWANCE: &str = "no span says how long one attempt may take, so no retry can \
     be called unfundable: write deadline.attempt_timeout_ms, or set retry.attempt_allowance in a \
     contract";
/// Of spans without an ordinal.
pub(super) const NO_ORDINAL: &str = "no span says which attempt it is: retries are told from calls \
     that failed before, unless http.request.resend_count or the like is written";
/// Of spans that did not queue.
pub(super) const NO_QUEUE: &str = "no span says how long it waited before it started: capture \
     x-request-start, or write deadline.queue_ms, to see queues in front of services";

/// What cannot be judged without something, and how traces can come to hold it.
pub(super) fn need(need: Need) -> String {
    match need {
        Need::Deadline => format!("no request has a deadline: {SET_ONE}"),
        Need::Grants => format!("{NO_GRANT}{SET_ONE}"),
        Need::Queue => NO_QUEUE.to_owned(),
        Need::Allowance => NO_ALLOWANCE.to_owned(),
        Need::Retries => format!("no call was tried again; {NO_ORDINAL}"),
        Need::Hedges => "no call was hedged".to_owned(),
        Need::Cancellation => "no caller left early, as far as outcomes tell: record status codes \
             (rpc.grpc.status_code, http.response.status_code, error.type) on client spans"
            .to_owned(),
        Need::Servers => {
            "no call has a span of its callee: trace servers, and pass on trace context".to_owned()
        }
    }
}

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

/// Names that occur, joined by blanks; `None` where none does.
pub(super) fn joined<'a>(names: impl Iterator<Item = &'a str>) -> Option<String> {
    let names: Vec<&str> = names.collect();
    (!names.is_empty()).then(|| names.join(" "))
}

/// What said how much time a hop was given: an attribute, or what stands in its place.
pub(super) fn grant_key(key: &str) -> &str {
    match key {
        "inferred" => "what durations show (inferred)",
        "contract" => "the contract",
        attribute => attribute,
    }
}

/// What findings rest on.
pub(super) fn evidence(counts: &BTreeMap<Evidence, u64>) -> String {
    let names: Vec<&str> = counts.keys().map(|evidence| evidence.name()).collect();
    names.join("/")
}

/// A table's title, which says so where `part` of `whole` of its numbers rest on what durations alone
/// tell.
pub(super) fn by_inferred(title: &str, (part, whole): (u64, u64)) -> String {
    match part {
        0 => title.to_owned(),
        part if part < whole => format!("{title} · partly inferred"),
        _ => format!("{title} · inferred"),
    }
}

/// What tells a place from others, for machines.
pub(super) fn place_keys(place: Option<&Place>) -> Vec<Key> {
    let depth = ("depth", place.map(|place| place.depth.to_string()));
    [call_keys(place.map(|place| &place.call)), vec![depth]].concat()
}

/// What tells a call from others, for machines.
pub(super) fn call_keys(call: Option<&Call>) -> Vec<Key> {
    let name = |name: Option<&Name>| name.map(ToString::to_string);
    vec![
        ("caller", name(call.and_then(|call| call.caller.as_ref()))),
        ("callee", name(call.and_then(|call| call.callee.as_ref()))),
        ("operation", name(call.map(|call| &call.operation))),
    ]
}

/// A name, or that there is none.
pub(super) fn named(name: Option<&str>) -> &str {
    match name {
        None => "(unknown)",
        Some(blank) if blank.trim().is_empty() => "(no name)",
        Some(name) => name,
    }
}

/// What a finding says.
pub(super) fn finding(code: FindingCode) -> &'static str {
    rule(code).short
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
        BlindSpot::NegativeDuration => "spans that end before they start, or not at all",
        BlindSpot::NoDeadline => "no deadline is known",
        BlindSpot::Orphans => "spans whose parent was not traced",
        BlindSpot::SamplingDisagrees => "spans disagree on the sampling; the root counts",
        BlindSpot::TimesRounded => "times rounded on the way; below 1 µs they mean nothing",
        BlindSpot::TraceJoined => "joined of two traces, one with half the other's id",
    }
}
