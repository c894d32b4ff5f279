//! What a contract says of retries: who may, how often, and how many in all.

use rustc_hash::FxHashMap;

use super::evidence::Request;
use super::judge::{Basis, Outcome};
use super::limits::kept;
use crate::contract::{Comparison, RetryPolicy};
use crate::names::names;
use crate::span::{SpanId, TraceId};
use crate::stats::Proportion;
use crate::tables::{AttemptKind, AttemptRow, Tables};

/// How many traces are kept as examples.
const EXEMPLARS: usize = 3;

names! {
    /// A rule for retries.
    pub enum RetryRule {
        /// Nobody else retries.
        Owner = "retry.owner",
        /// No call is tried more often.
        MaxAttempts = "retry.max_attempts",
        /// There are no more retries per first try.
        BudgetRatio = "retry.budget_ratio",
    }
}

/// What the requests of a contract tried again.
#[derive(Clone, Debug, Default)]
pub(super) struct Retries {
    /// Attempts of whichever service.
    attempts: u64,
    /// Retries by others than the owner.
    by_others: u64,
    /// How often a call of the owner was tried at most.
    most: u32,
    /// How many of its calls were tried more often than they may be.
    too_often: u64,
    /// Its retries, of those and its first tries.
    share: Proportion,
    /// Traces that break the first two rules.
    exemplars: [Vec<TraceId>; 2],
}

/// The attempts of one call.
#[derive(Clone, Copy, Default)]
struct Tries {
    rows: u32,
    resends: u32,
    /// The largest declared number: earlier attempts may not have been traced.
    declared: u32,
}

impl Tries {
    /// Redirects and challenges aside.
    fn count(self) -> u32 {
        (self.rows - self.resends).max(self.declared.saturating_sub(self.resends))
    }
}

impl Retries {
    /// Takes in a partition's attempts that belong to requests of the contract.
    pub(super) fn add(
        &mut self,
        policy: &RetryPolicy,
        tables: &Tables,
        is_its: &dyn Fn(Request) -> bool,
    ) {
        let mut calls: FxHashMap<(TraceId, SpanId), Tries> = FxHashMap::default();
        for row in tables.attempts.iter().filter(|row| is_its((row.trace_id, row.root_span_id))) {
            self.attempts += 1;
            let is_retry = row.kind == AttemptKind::Retry;
            if is_owner(policy, tables, row) {
                calls.entry((row.trace_id, row.call_id)).or_default().add(row);
                self.share.part += u64::from(is_retry);
                self.share.whole += u64::from(is_retry || row.kind == AttemptKind::Initial);
            } else if is_retry {
                self.by_others += 1;
                keep(&mut self.exemplars[0], row.trace_id);
            }
        }
        self.most = calls.values().map(|tries| tries.count()).max().unwrap_or(0).max(self.most);
        let most = policy.max_attempts.unwrap_or(u32::MAX);
        let too_often = calls.iter().filter(|(_, tries)| tries.count() > most);
        let mut traces: Vec<TraceId> = too_often.map(|((trace, _), _)| *trace).collect();
        self.too_often += traces.len() as u64;
        traces.sort_unstable();
        for trace in traces {
            keep(&mut self.exemplars[1], trace);
        }
    }

    /// What is told of a rule.
    pub(super) fn basis(&self, rule: RetryRule) -> Basis<'_> {
        let [by_others, too_often] = &self.exemplars;
        match rule {
            RetryRule::Owner => Basis::RetriesByOthers { count: self.by_others, traces: by_others },
            RetryRule::MaxAttempts => {
                let (count, most) = (self.too_often, self.most);
                Basis::TriedTooOften { count, most, traces: too_often }
            }
            RetryRule::BudgetRatio => {
                Basis::RetryBudget { share: self.share, interval: self.per_first_try() }
            }
        }
    }

    /// Whether the rule is kept.
    pub(super) fn judge(&self, rule: RetryRule, policy: &RetryPolicy) -> Outcome {
        if self.attempts == 0 {
            return Outcome::NoEvidence;
        }
        match rule {
            RetryRule::Owner if self.by_others > 0 => Outcome::Fail,
            RetryRule::MaxAttempts if self.too_often > 0 => Outcome::Fail,
            RetryRule::Owner | RetryRule::MaxAttempts => Outcome::Pass,
            RetryRule::BudgetRatio if self.share.whole == 0 => Outcome::NoEvidence,
            RetryRule::BudgetRatio => {
                let (lo, hi) = self.per_first_try();
                let bound = policy.budget_ratio.unwrap_or(f64::INFINITY);
                kept(Comparison::AtMost, Some(lo), Some(hi), bound)
            }
        }
    }

    /// The interval of retries per first try.
    fn per_first_try(&self) -> (f64, f64) {
        let (lo, hi) = self.share.interval();
        (lo / (1.0 - lo), hi / (1.0 - hi))
    }
}

impl Tries {
    fn add(&mut self, row: &AttemptRow) {
        self.rows += 1;
        self.resends += u32::from(row.kind == AttemptKind::Resend);
        self.declared = self.declared.max(u32::try_from(row.ordinal).unwrap_or(0));
    }
}

/// Keeps the first traces in the order of their ids.
fn keep(exemplars: &mut Vec<TraceId>, trace: TraceId) {
    if let Err(place) = exemplars.binary_search(&trace) {
        exemplars.insert(place, trace);
        exemplars.truncate(EXEMPLARS);
    }
}

/// Whether it is an attempt of the service that may retry.
fn is_owner(policy: &RetryPolicy, tables: &Tables, row: &AttemptRow) -> bool {
    policy.owner.as_ref().is_none_or(|owner| {
        row.caller_service.is_some_and(|caller| tables.strings.get(caller) == owner)
    })
}
