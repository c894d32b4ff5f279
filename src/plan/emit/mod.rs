//! A policy as configuration of others. What a format cannot say is told beside it, never dropped.

mod backoff;
mod contract;
mod envoy;
mod grpc;
mod paths;
mod text;

use super::policy::{CallPolicy, Policy};
use super::retries::Retries;
use crate::budget::available;
use crate::contract::Glob;
use crate::names::names;
use crate::units::Nanos;
pub(in crate::plan) use text::duration;
use text::millis;

names! {
    /// For whom configuration is written.
    pub enum Target {
        /// gRPC clients: a service config, as JSON.
        Grpc = "grpc",
        /// Envoy: a route and a cluster, as YAML.
        Envoy = "envoy",
        /// This tool: a contract, as TOML.
        Contract = "contract",
    }
}

/// What is to be written.
#[derive(Debug)]
pub struct Wanted<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// What of the deadline is spent before the calls, where it is known.
    pub elapsed: Option<Nanos>,
    /// The one service whose calls are written; all where there is none.
    pub callee: Option<&'a str>,
    /// Whether calls may be made twice, so that those that timed out are tried again too.
    pub is_repeat_safe: bool,
}

/// What was written.
#[derive(Debug, PartialEq, Eq)]
pub struct Emitted {
    /// The configuration.
    pub text: String,
    /// What of the policy it does not say, where the format has no comments to tell it.
    pub unsaid: Vec<String>,
}

impl Wanted<'_> {
    /// Writes it.
    ///
    /// # Errors
    /// Says why there is no such configuration.
    pub fn emit(&self, target: Target) -> Result<Emitted, String> {
        if let Some(callee) = self.callee
            && self.calls().is_empty()
            && !self.policy.call.is_empty()
        {
            return Err(format!("no [[call]] of the policy is about calls to {callee}"));
        }
        match target {
            Target::Grpc => grpc::emit(self),
            Target::Envoy => envoy::emit(self).map(told_in_comments),
            Target::Contract => Ok(told_in_comments(contract::emit(self))),
        }
    }

    /// What calls get, in the order in which the first that matches holds.
    fn calls(&self) -> Vec<&CallPolicy> {
        let is_wanted = |call: &&CallPolicy| match (self.callee, &call.callee) {
            (Some(wanted), Some(callee)) => callee.matches(wanted),
            _ => true,
        };
        self.policy.call.iter().filter(is_wanted).collect()
    }

    /// The service that such calls go to.
    fn callee_of(&self, call: &CallPolicy) -> Option<String> {
        let of_call = || call.callee.as_ref().and_then(Glob::as_literal);
        self.callee.map(str::to_owned).or_else(of_call)
    }

    /// What a call, all its attempts and the waits between them, may take.
    fn call_timeout(&self) -> Result<Option<Nanos>, String> {
        let elapsed = self.elapsed.unwrap_or(Nanos::ZERO);
        let reserve = self.policy.return_reserve.unwrap_or(Nanos::ZERO);
        let timeout = self.policy.deadline.map(|deadline| available(deadline - elapsed, reserve));
        if timeout == Some(Nanos::ZERO) {
            return Err("nothing of the deadline is available, so there is no timeout to write: \
                        many read a timeout of 0 as none"
                .to_owned());
        }
        Ok(timeout)
    }

    /// What none of the proxies and clients that know no deadline can say.
    fn unsaid_by_clients(&self, who: &str) -> Vec<String> {
        let policy = self.policy;
        let mut unsaid = Vec::new();
        match (policy.deadline, self.elapsed) {
            (None, _) => unsaid.push(format!(
                "the policy has no deadline, so no timeout of whole calls is written; {who} goes by its \
                 own"
            )),
            (Some(_), Some(elapsed)) => unsaid.push(format!(
                "the timeout of a call is right where {} were spent before it; it is fixed, and too \
                 long where more were",
                millis(elapsed)
            )),
            (Some(_), None) => unsaid.push(
                "what is spent before a call is not known, so its timeout is all that the deadline less \
                 the return reserve leaves a call made at once; it is too long for a later one"
                    .to_owned(),
            ),
        }
        if policy.reject_unfundable == Some(true) {
            unsaid.push(format!(
                "reject_unfundable: {who} begins an attempt whatever is left, and cuts it off at the \
                 call's timeout"
            ));
        }
        if policy.stop_on_cancel == Some(true) {
            unsaid.push("stop_on_cancel: whether a callee stops is up to the callee".to_owned());
        }
        unsaid
    }
}

/// The same with what it does not say told in comments before it.
fn told_in_comments((text, unsaid): (String, Vec<String>)) -> Emitted {
    let mut told = String::new();
    let head = "By dwindle plan emit. What it does not say, or says otherwise than was meant:";
    text::push_comment(&mut told, head);
    for point in &unsaid {
        text::push_comment(&mut told, &format!("- {point}"));
    }
    Emitted { text: told + &text, unsaid: Vec::new() }
}

/// Which calls a policy is about, for people, where it is not all.
fn scope(call: &CallPolicy) -> Vec<String> {
    let parts =
        [("caller", &call.caller), ("callee", &call.callee), ("operation", &call.operation)];
    let part = |(name, glob): (&str, &Option<Glob>)| {
        glob.as_ref().map(|glob| format!("{name} {}", text::quoted(glob.as_str())))
    };
    parts.into_iter().filter_map(part).collect()
}

/// How many attempts there are; a budget of nothing allows no retry.
fn attempts(call: &CallPolicy) -> Option<u32> {
    let has_no_budget = call.retry_budget.is_some_and(|budget| budget.millionths() == 0);
    if has_no_budget { Some(1) } else { call.max_attempts }
}

/// The last attempts, where not all fit into what a call may take.
fn unfunded(call: &CallPolicy, timeout: Nanos, max_attempts: u32) -> Option<String> {
    let attempt = call.timeout?;
    let backoff = call.backoff.clone().unwrap_or_default();
    let nothing = Nanos::ZERO;
    let (elapsed, reserve) = (nothing, nothing);
    let retries = Retries { deadline: timeout, elapsed, reserve, attempt, backoff, max_attempts };
    let admitted = retries.admitted(timeout);
    let (timeout, attempt) = (millis(timeout), millis(attempt));
    match admitted {
        0 => Some(format!(
            "no attempt fits into {timeout} that takes its whole {attempt}; it is cut off"
        )),
        admitted if admitted < max_attempts => Some(format!(
            "of {max_attempts} attempts {admitted} fit into {timeout} where each takes its whole \
             {attempt}; what is begun after them is cut off"
        )),
        _ => None,
    }
}
