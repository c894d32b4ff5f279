//! For which share of requests so many attempts would have fitted.

use super::calls::{Calls, Entered};
use super::class::{Class, Request};
use super::portion::Portion;
use super::settled::{Settled, Source, p95};
use crate::budget::available;
use crate::distributions::{Estimate, Values};
use crate::plan::retries::Retries;
use crate::stats::Quantile;
use crate::units::Nanos;

/// So many attempts are told of at most, whatever the maximum.
pub const TOLD: u32 = 10;

/// What is asked: what is absent is taken from what was measured.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// In place of each request's own.
    pub deadline: Option<Nanos>,
    /// What one attempt needs.
    pub attempt: Option<Nanos>,
    /// The waits between attempts.
    pub backoff: Option<Vec<Nanos>>,
    /// What is kept back for the answer.
    pub reserve: Option<Nanos>,
    /// How many attempts at most.
    pub max_attempts: Option<u32>,
    /// Other allowances to try.
    pub allowances: Option<Vec<Nanos>>,
    /// What holds where nothing else says.
    pub default: Retries,
}

/// What would have fitted for the calls of one line.
#[derive(Clone, Debug)]
pub struct LinePlan {
    /// What one attempt needs.
    pub attempt: Settled<Nanos>,
    /// The waits between attempts.
    pub backoff: Settled<Vec<Nanos>>,
    /// What is kept back for the answer; where a contract says so the largest, and each request keeps
    /// its own.
    pub reserve: Settled<Nanos>,
    /// How many attempts at most.
    pub max_attempts: Settled<u32>,
    /// Requests of which it cannot be told: they have no deadline.
    pub unbounded: usize,
    /// By number of attempts, from one on.
    pub fits: Vec<Fit>,
    /// The same with other allowances.
    pub sweep: Vec<Swept>,
}

/// Whether so many attempts would have fitted.
#[derive(Clone, Debug)]
pub struct Fit {
    /// How many.
    pub attempts: u32,
    /// The requests for which they would have.
    pub share: Portion,
    /// The largest allowance with which they would have for 95 % of the requests; zero where none
    /// would.
    pub allowance: Option<Estimate>,
}

/// The shares with another allowance.
#[derive(Clone, Debug)]
pub struct Swept {
    /// What one attempt needs.
    pub attempt: Nanos,
    /// By number of attempts, from one on.
    pub shares: Vec<Portion>,
}

/// What the requests of a line may spend on attempts when these begin.
struct Funds {
    traces: Vec<u32>,
    available: Vec<Nanos>,
}

impl Wanted {
    /// The answer for the calls of a class.
    pub fn line(&self, class: &Class, calls: &Calls) -> LinePlan {
        let default = &self.default;
        let attempt = Settled::of(self.attempt, || p95(&calls.succeeded), default.attempt);
        let backoff =
            Settled::of(self.backoff.clone(), || calls.usual_waits(), default.backoff.clone());
        let reserve = Settled::of(self.reserve, || reserve_found(class), default.reserve);
        let max_attempts = Settled::of(self.max_attempts, || None, default.max_attempts);
        let funds = self.funds(calls, &reserve);
        let policy = Retries {
            attempt: attempt.value,
            backoff: backoff.value.clone(),
            max_attempts: max_attempts.value,
            ..default.clone()
        };
        let allowances = self.allowances.clone().unwrap_or_else(|| around(attempt.value));
        let swept = |attempt| Swept {
            attempt,
            shares: funds.shares(&Retries { attempt, ..policy.clone() }),
        };
        LinePlan {
            unbounded: calls.requests.len() - funds.traces.len(),
            fits: funds.fits(&policy),
            sweep: allowances.into_iter().map(swept).collect(),
            attempt,
            backoff,
            reserve,
            max_attempts,
        }
    }

    fn funds(&self, calls: &Calls, reserve: &Settled<Nanos>) -> Funds {
        let mut funds = Funds { traces: Vec::new(), available: Vec::new() };
        for request in &calls.requests {
            let Some(remaining) = self.remaining(request) else { continue };
            let own = request.reserve.filter(|_| reserve.source == Source::Contract);
            funds.traces.push(request.trace);
            funds.available.push(available(remaining, own.unwrap_or(reserve.value)));
        }
        funds
    }

    /// What is left when the calls of a request begin.
    fn remaining(&self, request: &Entered) -> Option<Nanos> {
        match self.deadline {
            Some(deadline) => {
                let own = deadline - request.elapsed;
                Some(request.granted.map_or(own, |granted| granted.min(own)))
            }
            None => request.remaining,
        }
    }
}

impl Funds {
    fn fits(&self, policy: &Retries) -> Vec<Fit> {
        let shares = (1..).zip(self.shares(policy));
        let fit = |(attempts, share)| Fit {
            attempts,
            share,
            allowance: self.allowance(policy, attempts),
        };
        shares.map(fit).collect()
    }

    /// By number of attempts the share of requests for which so many fit.
    fn shares(&self, policy: &Retries) -> Vec<Portion> {
        let admitted: Vec<u32> = self.available.iter().map(|&it| policy.admitted(it)).collect();
        let share = |attempts| {
            let fitting = admitted.iter().filter(|&&admitted| admitted >= attempts).count();
            Portion::of(fitting, &self.traces)
        };
        (1..=policy.max_attempts.min(TOLD)).map(share).collect()
    }

    /// The largest allowance with which so many attempts fit for 95 % of the requests: the p5 of what
    /// each has for one attempt after all waits.
    fn allowance(&self, policy: &Retries, attempts: u32) -> Option<Estimate> {
        let waits: Nanos = (2..=attempts).map(|attempt| policy.backoff_before(attempt)).sum();
        let mut values = Values::default();
        for (&trace, &available) in self.traces.iter().zip(&self.available) {
            let each = (available - waits).div_floor(i64::from(attempts));
            values.push(trace, each.at_least_zero());
        }
        values.ordered().quantile(Quantile::P5)
    }
}

/// The reserve that a contract sets, else what was mostly enough.
fn reserve_found(class: &Class) -> Option<Settled<Nanos>> {
    let set = |request: &&Request| request.reserve.is_some_and(|reserve| reserve > Nanos::ZERO);
    let n = class.requests.iter().filter(set).count();
    let largest = class.requests.iter().filter_map(|request| request.reserve).max();
    match largest.filter(|_| n > 0) {
        Some(value) => Some(Settled { value, source: Source::Contract, n: Some(n) }),
        None => p95(&class.reserve_used),
    }
}

/// Lengths from half to twice as much.
fn around(attempt: Nanos) -> Vec<Nanos> {
    let quarter = attempt.div_floor(4);
    let quarters = |count| std::iter::repeat_n(quarter, count).sum();
    vec![quarters(2), quarters(3), attempt, quarters(5), quarters(6), quarters(8)]
}
