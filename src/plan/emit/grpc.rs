//! gRPC service config: `methodConfig` with a `retryPolicy`, and `retryThrottling` (gRFC A6).

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::backoff::{Growing, planned};
use super::paths::{Entry, Paths, Taken, told_apart};
use super::text::{listed, millis, quoted, seconds};
use super::{Emitted, Wanted, attempts, scope, unfunded};
use crate::plan::policy::{CallPolicy, Share};
use crate::units::Nanos;

/// Clients treat a larger maximum as this one.
const MOST_ATTEMPTS: u32 = 5;

/// Tokens at the start. A failure takes one before its retry is decided, which needs more than half of
/// them: of a burst the fifth failure is not tried again.
const MAX_TOKENS: u32 = 10;

/// What has to be more than nothing.
const SHORTEST_WAIT: Nanos = Nanos::from_millis(1);

/// Writes it.
pub(super) fn emit(wanted: &Wanted<'_>) -> Result<Emitted, String> {
    let calls = wanted.calls();
    let callees: BTreeSet<String> =
        calls.iter().filter_map(|call| wanted.callee_of(call)).collect();
    if callees.len() > 1 {
        let callees: Vec<String> = callees.into_iter().collect();
        return Err(format!(
            "a service config is for one server: choose by --callee {}",
            callees.join(" or ")
        ));
    }
    let timeout = wanted.call_timeout()?;
    let mut unsaid = wanted.unsaid_by_clients("a gRPC client");
    if wanted.policy.propagate == Some(true) {
        unsaid.push(
            "propagate: a client passes on what it has left only where the application hands on its \
             context or deadline"
                .to_owned(),
        );
    }
    let default = CallPolicy::default();
    let written = if calls.is_empty() { vec![&default] } else { calls };
    let entry = |call| Entry { call, paths: named(call).unwrap_or_else(Paths::all) };
    let entries = written.into_iter().map(entry).collect();
    let choice = "a service config has one entry of a name, and takes the one that names most: name \
                  methods in full, or all of a service, as in \"shop.Cart/*\", and give each caller a policy \
                  of its own";
    let entries = told_apart(entries, Taken::Narrowest, choice, &mut unsaid)?;
    let methods: Vec<Value> =
        entries.iter().map(|entry| method(entry, timeout, &mut unsaid)).collect();
    let mut config = Map::new();
    config.insert("methodConfig".to_owned(), methods.into());
    let has_retries = |call: &&CallPolicy| attempts(call).is_some_and(|attempts| attempts > 1);
    let written = entries.iter().map(|entry| entry.call).filter(has_retries);
    let budgets: BTreeSet<Share> = written.filter_map(|call| call.retry_budget).collect();
    if let Some(least) = budgets.first() {
        config.insert("retryThrottling".to_owned(), throttling(*least, &mut unsaid));
        if budgets.len() > 1 {
            unsaid.push(
                "retry_budget: throttling is of all calls to a server; the smallest is written"
                    .to_owned(),
            );
        }
    }
    Ok(Emitted { text: format!("{:#}\n", Value::Object(config)), unsaid })
}

fn method(entry: &Entry<'_>, timeout: Option<Nanos>, unsaid: &mut Vec<String>) -> Value {
    let call = entry.call;
    let mut method = Map::new();
    method.insert("name".to_owned(), json!([name(entry, unsaid)]));
    let attempts = attempts(call);
    let has_one = attempts.is_none_or(|attempts| attempts == 1);
    let shorter = call.timeout.filter(|_| has_one);
    if let Some(timeout) = crate::budget::earlier(timeout, shorter) {
        method.insert("timeout".to_owned(), json!(seconds(timeout)));
    }
    let made = attempts.unwrap_or(1).min(MOST_ATTEMPTS);
    let unfunded = timeout.and_then(|timeout| unfunded(call, timeout, made));
    unsaid.extend(unfunded.map(|unfunded| format!("timeout{}: {unfunded}", of(call))));
    match attempts {
        None => unsaid.push(format!(
            "max_attempts{}: the policy has none, so nothing of retries is written; clients make none",
            of(call)
        )),
        Some(1) if call.max_attempts != Some(1) => {
            unsaid.push(format!("retry_budget{}: none, so no retries are written", of(call)));
        }
        Some(1) => {}
        Some(attempts) => {
            method.insert("retryPolicy".to_owned(), retries(call, attempts, unsaid));
        }
    }
    Value::Object(method)
}

/// The paths that a name can stand for: a method in full, all of a service, or all.
fn named(call: &CallPolicy) -> Option<Paths> {
    let is_one = |part: &str| !part.is_empty() && !part.contains('/');
    let is_nameable = |paths: &Paths| match paths {
        Paths::Under(start) if start == "/" => true,
        Paths::Under(start) => {
            start.strip_suffix('/').and_then(|it| it.get(1..)).is_some_and(is_one)
        }
        Paths::One(path) => {
            split(path).is_some_and(|(service, method)| is_one(service) && is_one(method))
        }
    };
    Paths::of(call).filter(is_nameable)
}

fn split(path: &str) -> Option<(&str, &str)> {
    path.trim_start_matches('/').split_once('/')
}

/// A method is named in full, or all of a service, or all that have no other entry.
fn name(entry: &Entry<'_>, unsaid: &mut Vec<String>) -> Value {
    if let Some(caller) = &entry.call.caller {
        let caller = quoted(caller.as_str());
        unsaid.push(format!("caller: only clients in {caller} are meant; give it to no other"));
    }
    if let Some(operation) = entry.call.operation.as_ref().filter(|_| named(entry.call).is_none()) {
        let pattern = quoted(operation.as_str());
        unsaid.push(format!(
            "operation: {pattern} names no gRPC method, nor a service, so that all methods are meant"
        ));
    }
    let (Paths::One(path) | Paths::Under(path)) = &entry.paths;
    match split(path) {
        None => json!({}),
        Some((service, "")) => json!({ "service": service }),
        Some((service, method)) => json!({ "service": service, "method": method }),
    }
}

fn retries(call: &CallPolicy, attempts: u32, unsaid: &mut Vec<String>) -> Value {
    let of = of(call);
    if attempts > MOST_ATTEMPTS {
        unsaid.push(format!(
            "max_attempts{of}: clients make {MOST_ATTEMPTS} attempts at most unless their channel allows \
             more; {attempts} were meant"
        ));
    }
    if let Some(allowance) = call.timeout {
        unsaid.push(format!(
            "timeout{of}: an attempt has no timeout of its own, so that one slow attempt may take \
             all of the call's; {} were meant",
            millis(allowance)
        ));
    }
    let waits = planned(call.backoff.as_deref().unwrap_or_default(), attempts.min(MOST_ATTEMPTS));
    let shortest = Growing { first: SHORTEST_WAIT, factor: (1, 1), most: SHORTEST_WAIT };
    let growing = Growing::of(&waits).unwrap_or(shortest);
    let (numerator, denominator) = growing.factor;
    let written = growing.waits(waits.len());
    if written != waits {
        unsaid.push(format!(
            "backoff{of}: {} were meant; clients wait {}",
            listed(&waits),
            listed(&written)
        ));
    }
    unsaid.push(format!("backoff{of}: clients make each wait up to a fifth shorter or longer"));
    unsaid.push(format!(
        "errors that are tried again{of}: UNAVAILABLE is written, which may also come after the server \
         has begun, so that only what may be done twice should be tried again"
    ));
    json!({
        "maxAttempts": attempts,
        "initialBackoff": seconds(growing.first),
        "maxBackoff": seconds(growing.most),
        "backoffMultiplier": factor(numerator, denominator),
        "retryableStatusCodes": ["UNAVAILABLE"],
    })
}

/// Of which calls a point is, where it is not all.
fn of(call: &CallPolicy) -> String {
    let scope = scope(call);
    if scope.is_empty() { String::new() } else { format!(" of {}", scope.join(", ")) }
}

#[expect(clippy::cast_precision_loss, reason = "a factor is a real number")]
fn factor(numerator: i64, denominator: i64) -> Value {
    if numerator % denominator == 0 {
        json!(numerator / denominator)
    } else {
        json!(numerator as f64 / denominator as f64)
    }
}

/// A failure costs a token, a success gives back the ratio, so that in the long run failures, and with
/// them retries, are no more than the ratio of successes.
fn throttling(budget: Share, unsaid: &mut Vec<String>) -> Value {
    // Clients read three decimals, and want more than nothing.
    let thousandths = budget.millionths() / 1_000;
    if thousandths.saturating_mul(1_000) != budget.millionths() {
        unsaid.push("retry_budget: clients read three decimals of it".to_owned());
    }
    unsaid.push(format!(
        "retry_budget: a token bucket stands in place of it: of a burst of failures the first {} are \
         tried again",
        MAX_TOKENS / 2 - 1
    ));
    let ratio = f64::from(u32::try_from(thousandths.max(1)).unwrap_or(u32::MAX)) / 1_000.0;
    json!({ "maxTokens": MAX_TOKENS, "tokenRatio": ratio })
}
