//! What came of a configuration in a regime.

use super::calls::CallRules;
use super::execution::{Attempt, Served, after};
use super::{Model, Run};
use crate::plan::policy::Share;
use crate::span::Outcome;
use crate::units::Nanos;

/// A configuration in a regime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The regime.
    pub regime: String,
    /// The configuration.
    pub configuration: String,
    /// Requests that completed within the threshold.
    pub within: u64,
    /// Requests that completed after it.
    pub outside: u64,
    /// Requests of which an arm failed.
    pub dropped: u64,
    /// Element n/2 of all durations, sorted; dropped requests count.
    pub median: Nanos,
    /// The longest duration; dropped requests count.
    pub worst: Nanos,
    /// Attempts of all requests.
    pub attempts: u64,
    /// What services did after the threshold of their request.
    pub late_work: Nanos,
    /// Steps of a request.
    pub steps: u64,
    /// The attempts that a request makes where each call is made as often as it may be.
    pub most_attempts: u64,
    /// Requests per second that come in.
    pub base_per_s: Option<Share>,
}

impl Row {
    /// How many requests there were.
    pub fn requests(&self) -> u64 {
        self.within + self.outside + self.dropped
    }

    /// Attempts per step of each request.
    pub fn multiplier(&self) -> f64 {
        quotient(self.attempts, 1, self.requests().saturating_mul(self.steps))
    }

    /// Calls per second that the requests make of one another.
    pub fn internal_per_s(&self) -> Option<f64> {
        let base = self.base_per_s?.millionths();
        Some(quotient(self.attempts, base, self.requests().saturating_mul(1_000_000)))
    }

    /// Calls per second where each is made as often as it may be.
    pub fn unlimited_retry_per_s(&self) -> Option<f64> {
        Some(quotient(self.most_attempts, self.base_per_s?.millionths(), 1_000_000))
    }
}

/// `one · other / whole`, rounded once; 0 of nothing.
#[expect(clippy::cast_precision_loss, reason = "a rate is told, and counted no further")]
fn quotient(one: u64, other: u64, whole: u64) -> f64 {
    let part = u128::from(one) * u128::from(other);
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Counts requests as they end.
#[derive(Debug, Default)]
pub(super) struct Counting {
    durations: Vec<Nanos>,
    outside: u64,
    dropped: u64,
    attempts: u64,
    late_work: Nanos,
}

impl Counting {
    /// Counts a request.
    pub(super) fn add(&mut self, request: &Served, threshold: Nanos) {
        let duration = request.end - request.start;
        self.durations.push(duration);
        if request.outcome != Outcome::Ok {
            self.dropped += 1;
        } else if duration > threshold {
            self.outside += 1;
        }
        self.attempts += request.attempts();
        self.late_work += late_work(request, threshold);
    }

    /// The row of what was counted.
    pub(super) fn row(mut self, run: &Run<'_>) -> Row {
        let Run { regime, configuration, .. } = run;
        let Model { scenario, topology } = run.model;
        let rules = CallRules::of(scenario, topology, configuration);
        self.durations.sort_unstable();
        let at = |place: usize| self.durations.get(place).copied().unwrap_or_default();
        let requests = self.durations.len();
        let counted = u64::try_from(requests).unwrap_or(u64::MAX);
        Row {
            regime: regime.name.clone(),
            configuration: configuration.name.clone(),
            within: counted - self.outside - self.dropped,
            outside: self.outside,
            dropped: self.dropped,
            median: at(requests / 2),
            worst: at(requests.saturating_sub(1)),
            attempts: self.attempts,
            late_work: self.late_work,
            steps: topology.steps(),
            most_attempts: rules.most_attempts(topology),
            base_per_s: scenario.base_per_s,
        }
    }
}

/// What was done after `threshold`, by a service and all below it.
fn late_work(served: &Served, threshold: Nanos) -> Nanos {
    let attempts = served.calls.iter().flat_map(|call| &call.attempts);
    let below = |attempt: &Attempt| Some(late_work(attempt.served.as_ref()?, threshold));
    after(served.own(), threshold) + attempts.filter_map(below).sum()
}
