//! Envoy: a route with its timeouts and retries, and the cluster whose circuit breaker holds the budget
//! of retries.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::backoff::{Growing, planned};
use super::paths::{Entry, Paths, Taken, told_apart};
use super::text::{listed, millis, push_comment, quoted, seconds};
use super::{Wanted, attempts, scope, unfunded};
use crate::plan::policy::{CallPolicy, Share};
use crate::units::Nanos;

/// What never reached the application, so that it may be tried again whatever it does.
const SAFE: &str = "connect-failure,refused-stream";

/// The same, and what timed out or was answered by 502, 503 or 504.
const REPEAT_SAFE: &str = "connect-failure,refused-stream,gateway-error";

/// Envoy lets so many retries run at a time whatever the budget says, unless it is told otherwise.
const LEAST_CONCURRENCY: u32 = 3;

/// The shortest wait and timeout.
const MILLISECOND: Nanos = Nanos::from_millis(1);

/// Writes it, and what it does not say.
pub(super) fn emit(wanted: &Wanted<'_>) -> Result<(String, Vec<String>), String> {
    let mut unsaid = vec![
        "it is a fragment to merge: the routes into a virtual host, whose first route that matches is \
         taken, the thresholds into the clusters of these names"
            .to_owned(),
    ];
    unsaid.extend(wanted.unsaid_by_clients("Envoy"));
    if wanted.policy.propagate == Some(true) {
        unsaid.push(
            "propagate: Envoy tells the callee its timeout (x-envoy-expected-rq-timeout-ms), not what \
             the caller has left; of gRPC calls max_stream_duration.grpc_timeout_header_max can follow \
             grpc-timeout"
                .to_owned(),
        );
    }
    let timeout = wanted.call_timeout()?;
    let default = CallPolicy::default();
    let calls = wanted.calls();
    let written = if calls.is_empty() { vec![&default] } else { calls };
    let mut routes = String::from("routes:\n");
    let mut clusters: BTreeMap<String, Vec<Entry<'_>>> = BTreeMap::new();
    for call in written {
        let cluster = wanted.callee_of(call).ok_or_else(|| {
            let scope = scope(call).join(", ");
            let of = if scope.is_empty() { "a call of the policy".to_owned() } else { scope };
            format!("{of}: a route needs the name of a cluster: give it by --callee")
        })?;
        let paths = Paths::of(call).unwrap_or_else(Paths::all);
        clusters.entry(cluster).or_default().push(Entry { call, paths });
    }
    // The smallest budget of those of a cluster, in the order of their names.
    let mut budgets: BTreeMap<&str, Option<Share>> = BTreeMap::new();
    for (cluster, entries) in &clusters {
        let choice = "a route takes all that it matches: give paths, or the beginnings of paths, as in \
                      \"shop.Cart/Get*\", and each caller a policy of its own";
        for entry in told_apart(entries.clone(), Taken::First, choice, &mut unsaid)? {
            let budget = entry.call.retry_budget;
            let least = budgets.entry(cluster).or_insert(budget);
            *least = crate::budget::earlier(*least, budget);
            Route { wanted, entry, cluster, timeout }.push(&mut routes)?;
        }
    }
    let mut text = routes + "clusters:\n";
    for (name, budget) in &budgets {
        push_cluster(&mut text, name, *budget);
    }
    if budgets.len() > 1 {
        unsaid.push(
            "which requests go to which cluster: put each route where those of its callee are matched"
                .to_owned(),
        );
    }
    if budgets.values().any(Option::is_some) {
        unsaid.push(
            "retry_budget: each Envoy counts by itself, and by requests under way at a time"
                .to_owned(),
        );
    }
    Ok((text, unsaid))
}

struct Route<'a> {
    wanted: &'a Wanted<'a>,
    entry: Entry<'a>,
    cluster: &'a str,
    timeout: Option<Nanos>,
}

impl Route<'_> {
    /// A route; what it does not say stands before it.
    fn push(&self, text: &mut String) -> Result<(), String> {
        let (mut route, mut unsaid) = (String::new(), Vec::new());
        self.push_keys(&mut route, &mut unsaid)?;
        for point in &unsaid {
            push_comment(text, &format!("- {point}"));
        }
        text.push_str(&route);
        Ok(())
    }

    fn push_keys(&self, text: &mut String, unsaid: &mut Vec<String>) -> Result<(), String> {
        let Self { entry: Entry { call, .. }, cluster, .. } = self;
        if let Some(caller) = &call.caller {
            let caller = quoted(caller.as_str());
            unsaid.push(format!("caller: only the proxies of {caller} are meant"));
        }
        let attempts = attempts(call);
        if attempts.is_none() {
            unsaid.push(
                "max_attempts: the policy has none, so nothing of retries is written".to_owned(),
            );
        }
        // Writing to a string cannot fail.
        let _ = writeln!(text, "- match: {}", self.matched(unsaid));
        let _ = writeln!(text, "  route:\n    cluster: {}", quoted(cluster));
        if let Some(timeout) = self.timeout {
            let _ = writeln!(text, "    timeout: {}", whole_millis(timeout, "timeout", unsaid)?);
        }
        if attempts.is_none() && call.timeout.is_none() {
            return Ok(());
        }
        let retries = attempts.unwrap_or(1) - 1;
        unsaid.extend(self.timeout.and_then(|timeout| unfunded(call, timeout, retries + 1)));
        let retry_on = if self.wanted.is_repeat_safe { REPEAT_SAFE } else { SAFE };
        let _ = writeln!(text, "    retry_policy:\n      retry_on: {retry_on}");
        let _ = writeln!(text, "      num_retries: {retries}");
        if let Some(allowance) = call.timeout {
            let allowance = whole_millis(allowance, "per_try_timeout", unsaid)?;
            let _ = writeln!(text, "      per_try_timeout: {allowance}");
        }
        if retries > 0 {
            if !self.wanted.is_repeat_safe {
                unsaid.push(
                    "an attempt that timed out is not tried again, as it may have done its work: \
                     --repeat-safe writes gateway-error where that does no harm"
                        .to_owned(),
                );
            }
            self.push_back_off(text, retries + 1, unsaid)?;
        }
        Ok(())
    }

    /// A path where the operation is one, or the beginning of some; else all.
    fn matched(&self, unsaid: &mut Vec<String>) -> String {
        let Entry { call, paths } = &self.entry;
        if let Some(operation) = call.operation.as_ref().filter(|_| Paths::of(call).is_none()) {
            let pattern = quoted(operation.as_str());
            unsaid.push(format!(
                "operation: {pattern} is no path, so that all of the cluster's are matched"
            ));
        }
        match paths {
            Paths::One(path) => format!("{{ path: {} }}", quoted(path)),
            Paths::Under(start) => format!("{{ prefix: {} }}", quoted(start)),
        }
    }

    /// Envoy doubles the wait up to a bound, and waits a random part of it.
    fn push_back_off(
        &self,
        text: &mut String,
        attempts: u32,
        unsaid: &mut Vec<String>,
    ) -> Result<(), String> {
        let waits = planned(self.entry.call.backoff.as_deref().unwrap_or_default(), attempts);
        let shortest = Growing { first: MILLISECOND, factor: (2, 1), most: MILLISECOND };
        let growing = Growing::of(&waits).map_or(shortest, Growing::doubling);
        let base = whole_millis(growing.first, "backoff", unsaid)?;
        let most = whole_millis(growing.most, "backoff", unsaid)?;
        let _ = writeln!(
            text,
            "      retry_back_off:\n        base_interval: {base}\n        max_interval: {most}"
        );
        // Of many the first tell how they go.
        let first = waits.len().min(8);
        let bounds = growing.waits(first);
        let waits = waits.get(..first).unwrap_or_default();
        let meant =
            if bounds == waits { String::new() } else { format!("; {} were meant", listed(waits)) };
        unsaid.push(format!(
            "backoff: before its retries Envoy waits a random time up to {}{meant}",
            listed(&bounds)
        ));
        Ok(())
    }
}

fn push_cluster(text: &mut String, name: &str, budget: Option<Share>) {
    let _ = writeln!(text, "- name: {}", quoted(name));
    let Some(budget) = budget else {
        push_indented(
            text,
            "No retry budget: Envoy lets 3 retries to the cluster run at a time, unless max_retries says \
             otherwise.",
        );
        return;
    };
    let (percent, concurrency) = (percent_of_active(budget), least_concurrency(budget));
    push_indented(
        text,
        &format!(
            "{} retries per first try are {percent} % of all requests under way, which is what Envoy \
             counts; {concurrency} at a time pass whatever the share.",
            budget.decimal()
        ),
    );
    let _ = writeln!(
        text,
        "  circuit_breakers:\n    thresholds:\n    - retry_budget:\n        budget_percent: {{ value: \
         {percent} }}\n        min_retry_concurrency: {concurrency}"
    );
}

fn push_indented(text: &mut String, sentence: &str) {
    let mut comment = String::new();
    push_comment(&mut comment, sentence);
    for line in comment.lines() {
        let _ = writeln!(text, "  {line}");
    }
}

/// Retries among first tries and retries, in percent with two decimals, rounded down.
fn percent_of_active(budget: Share) -> String {
    let part = u128::from(budget.millionths());
    let hundredths = part * 10_000 / (part + 1_000_000);
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

fn least_concurrency(budget: Share) -> u32 {
    if budget.millionths() == 0 { 0 } else { LEAST_CONCURRENCY }
}

/// Envoy counts in milliseconds, and takes nothing of them for no limit.
fn whole_millis(length: Nanos, key: &str, unsaid: &mut Vec<String>) -> Result<String, String> {
    let whole = Nanos::from_millis(length.div_floor(MILLISECOND.as_nanos()).as_nanos());
    if whole == Nanos::ZERO {
        return Err(format!("{key}: Envoy counts in milliseconds; {} are none", millis(length)));
    }
    if whole != length {
        unsaid.push(format!("{key}: {} are meant; Envoy counts in milliseconds", millis(length)));
    }
    Ok(seconds(whole))
}
