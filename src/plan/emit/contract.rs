//! The contract of this tool (SEMANTICS §13).

use std::fmt::Write as _;

use super::text::{duration, millis, quoted};
use super::{Wanted, scope};
use crate::contract::Glob;
use crate::plan::policy::CallPolicy;
use crate::units::Nanos;

/// Writes it, and what it does not say. A contract is about requests, so that it holds one way of retrying.
pub(super) fn emit(wanted: &Wanted<'_>) -> (String, Vec<String>) {
    let policy = wanted.policy;
    let calls = wanted.calls();
    let mut unsaid = vec![
        "of which requests it is: it has no match, so that check puts all requests of all classes under \
         it; add such as match = { service = \"storefront\", operation = \"GET /items/*\" }"
            .to_owned(),
    ];
    let mut text = String::from("[[contract]]\nname = \"planned\"\n");
    // Writing to a string cannot fail.
    if let Some(deadline) = policy.deadline {
        let _ = writeln!(text, "deadline = {}", quoted(&duration(deadline)));
    } else {
        unsaid.push("the policy has no deadline, nor has the contract".to_owned());
    }
    if let Some(reserve) = policy.return_reserve {
        let _ = writeln!(text, "return_reserve = {}", quoted(&duration(reserve)));
    }
    if let Some((call, others)) = calls.split_first() {
        push_retry(&mut text, call, &mut unsaid);
        for other in others {
            unsaid.push(format!("how other calls retry: {}", scope(other).join(", ")));
        }
    }
    if let Some(elapsed) = wanted.elapsed {
        unsaid.push(format!(
            "the {} spent before the calls: check finds what was spent in the traces",
            millis(elapsed)
        ));
    }
    let rules = [
        ("propagate", policy.propagate),
        ("stop_on_cancel", policy.stop_on_cancel),
        ("reject_unfundable", policy.reject_unfundable),
    ];
    for (name, rule) in rules {
        let Some(rule) = rule else { continue };
        unsaid.push(format!("{name} = {rule}: a contract promises nothing of it; findings tell"));
    }
    (text, unsaid)
}

fn push_retry(text: &mut String, call: &CallPolicy, unsaid: &mut Vec<String>) {
    let mut keys: Vec<String> = Vec::new();
    match call.caller.as_ref().map(|caller| (caller, caller.as_literal())) {
        None => {}
        Some((_, Some(owner))) => keys.push(format!("owner = {}", quoted(&owner))),
        Some((caller, None)) => {
            let caller = quoted(caller.as_str());
            unsaid.push(format!("caller: an owner of retries is one service, not {caller}"));
        }
    }
    keys.extend(call.max_attempts.map(|most| format!("max_attempts = {most}")));
    keys.extend(
        call.timeout.map(|length| format!("attempt_allowance = {}", quoted(&duration(length)))),
    );
    if let Some(backoff) = &call.backoff {
        let waits = backoff.iter().map(|&wait: &Nanos| quoted(&duration(wait)));
        keys.push(format!("backoff = [{}]", waits.collect::<Vec<_>>().join(", ")));
    }
    keys.extend(call.retry_budget.map(|budget| format!("budget_ratio = {}", budget.decimal())));
    for (name, glob) in [("callee", &call.callee), ("operation", &call.operation)] {
        let pattern = glob.as_ref().map(Glob::as_str);
        unsaid.extend(pattern.map(|pattern| {
            format!(
                "{name}: retries of all calls of a request are judged, not only of {}",
                quoted(pattern)
            )
        }));
    }
    if !keys.is_empty() {
        let _ = writeln!(text, "retry = {{ {} }}", keys.join(", "));
    }
}
