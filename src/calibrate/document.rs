//! All that was concluded, for programs (docs/output.md).

use serde_json::{Value, json};

use super::atoms::Atom;
use super::funding::Decile;
use super::limit::{Calibration, CallLimit, ClassLimit, Limit, Measured, as_set};
use super::rule::Since;
use crate::distributions::Call;
use crate::units::Nanos;

/// The document.
pub fn document(of: &Calibration, version: &str) -> Value {
    json!({
        "schema_version": 1,
        "version": version,
        "sampled": of.is_sampled,
        "classes": of.classes.iter().map(class).collect::<Vec<_>>(),
        "calls": of.calls.iter().map(call).collect::<Vec<_>>(),
    })
}

fn class(of: &ClassLimit) -> Value {
    let (declared, range) = of.declared;
    let (masked, masked_call) = &of.masked;
    let cut_with = of.cut_with.as_ref();
    json!({
        "class": &*of.class,
        "service": &*of.service,
        "operation": &*of.operation,
        "requests": of.requests,
        "limit": limit(&of.limit),
        "deadline_ns": nanos(of.deadline()),
        "outlasting": of.outlasting.part,
        "outlasting_of": of.outlasting.whole,
        "cut_with": cut_with.map(|with| named(&with.call)),
        "cut_with_constant": cut_with.map(|with| with.is_constant),
        "cut_with_requests": cut_with.map(|with| with.requests),
        "masked": masked,
        "masked_call": masked_call.as_ref().map(named),
        "declared": declared,
        "declared_least_ns": nanos(range.map(|(least, _)| least)),
        "declared_most_ns": nanos(range.map(|(_, most)| most)),
        "returned": of.returned,
        "return_reserve": of.reserve.as_ref().map(measured),
    })
}

fn call(of: &CallLimit) -> Value {
    let (succeeded, callers) = of.succeeded;
    json!({
        "call": named(&of.call),
        "attempts": of.attempts,
        "limit": limit(&of.limit),
        "unheard": of.unheard,
        "answered": of.answered,
        "rule": of.judged.rule.name(),
        "rule_n": of.judged.n,
        "log10_ratio": of.judged.log_ratio,
        "constant_ns": nanos(of.judged.constant),
        "budget_from": of.judged.budget.map(|(since, _)| match since {
            Since::Origin => "origin",
            Since::CallerCalled => "caller_called",
        }),
        "budget_ns": nanos(of.judged.budget.and_then(|(_, budget)| budget)),
        "timeout_ns": nanos(of.timeout()),
        "same_elsewhere": of.same_elsewhere,
        "succeeded": succeeded,
        "succeeded_callers": callers,
        "attempt_allowance": of.allowance.as_ref().map(measured),
        "break_even": of.break_even.as_ref().map(measured),
        "had_deadline": of.funding.all.whole,
        "paid": of.funding.all.part,
        "funding": of.funding.deciles.iter().map(decile).collect::<Vec<_>>(),
        "funding_break_even_ns": nanos(of.funding.break_even),
    })
}

fn named(call: &Call) -> Value {
    json!({
        "caller": call.caller.as_deref(),
        "callee": call.callee.as_deref(),
        "operation": &*call.operation,
    })
}

fn limit(of: &Limit) -> Value {
    json!({
        "cut_off": of.cut,
        "kept": of.kept(),
        "longest_ns": of.longest.as_nanos(),
        "atoms": of.atoms.iter().map(atom).collect::<Vec<_>>(),
    })
}

fn atom(of: &Atom) -> Value {
    json!({
        "value_ns": as_set(of).as_nanos(),
        "begins_ns": of.value.as_nanos(),
        "lo_ns": of.lo.as_nanos(),
        "hi_ns": of.hi.as_nanos(),
        "n": of.count,
        "round": of.round.is_some(),
    })
}

fn measured(of: &Measured) -> Value {
    json!({
        "quantile": of.quantile.to_string(),
        "value_ns": of.estimate.value.as_nanos(),
        "lo_ns": nanos(of.estimate.lo),
        "hi_ns": nanos(of.estimate.hi),
        "n": of.n,
    })
}

fn decile(of: &Decile) -> Value {
    let (lo, hi) = of.paid.interval();
    json!({
        "from_ns": of.from.as_nanos(),
        "to_ns": of.to.as_nanos(),
        "attempts": of.paid.whole,
        "paid": of.paid.part,
        "lo": lo,
        "hi": hi,
    })
}

fn nanos(length: Option<Nanos>) -> Option<i64> {
    length.map(Nanos::as_nanos)
}
