//! Which attempts fit into what is left of a budget.

use super::policy::{CallPolicy, Policy, Share};
use super::sweep::Sweep;
use crate::budget::available;
use crate::contract::Glob;
use crate::names::names;
use crate::units::Nanos;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retries {
    /// The budget of the request.
    pub deadline: Nanos,
    /// What of it was spent before the first attempt.
    pub elapsed: Nanos,
    /// What is kept back for the answer.
    pub reserve: Nanos,
    /// What one attempt needs: its allowance.
    pub attempt: Nanos,
    /// The waits before further attempts; the last of them holds for all that follow.
    pub backoff: Vec<Nanos>,
    /// How many attempts at most: a ceiling, not a permission.
    pub max_attempts: u32,
}

/// Which attempts are made, each with its whole allowance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryPlan {
    /// What attempts may spend.
    pub available: Nanos,
    /// How many of them fit.
    pub attempts_admitted: u32,
    /// What these and the waits between them take.
    pub used: Nanos,
    /// What is left of the available time after them.
    pub unused: Nanos,
    /// The attempts that are admitted, then the first that is refused.
    pub steps: Vec<Step>,
}

/// An attempt, and whether it may be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its number, from 1.
    pub attempt: u32,
    /// The wait before it.
    pub backoff: Nanos,
    /// What it needs.
    pub allowance: Nanos,
    /// What was used before the wait, in nanoseconds.
    pub used_before_ns: i128,
    /// What is used at its end, where it is refused: what would be, which may be more than a length holds.
    pub used_after_ns: i128,
    /// Why it is admitted or refused.
    pub reason: Reason,
}

names! {
    /// Why an attempt is admitted or refused. Where both constraints refuse it the budget is named.
    pub enum Reason {
        /// It fits, and is within the maximum.
        Admitted = "admitted",
        /// The wait and the whole allowance do not fit into what is available.
        AllowanceExceedsAvailable = "allowance_exceeds_available",
        /// It would fit, but there were as many as there may be.
        MaxAttempts = "max_attempts",
    }
}

/// Where the number of attempts that fit falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Discontinuity {
    /// So many fit,
    pub attempts: u32,
    /// up to and with this length.
    pub at: Nanos,
}

/// How many attempts fit at a point of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepPoint {
    /// The length that is swept.
    pub at: Nanos,
    /// How many fit.
    pub attempts_admitted: u32,
}

impl Retries {
    /// What attempts may spend: what is left less the reserve, not below zero.
    pub fn available(&self) -> Nanos {
        available(self.deadline - self.elapsed, self.reserve)
    }

    /// How many attempts fit into `available`, whatever else is known of the request.
    pub fn admitted(&self, available: Nanos) -> u32 {
        // More attempts need more time, so the last that fits is found by halving: what people write
        // as a maximum may be billions.
        let fits = |attempts| self.needs(attempts) <= wide(available);
        let (mut fitting, mut too_many) = (0, u64::from(self.max_attempts) + 1);
        while too_many - fitting > 1 {
            let middle = fitting + (too_many - fitting) / 2;
            if fits(middle) {
                fitting = middle;
            } else {
                too_many = middle;
            }
        }
        u32::try_from(fitting).unwrap_or(self.max_attempts)
    }

    /// Which attempts are made, step by step. There is a step for each, so this is for a maximum that
    /// people can read.
    pub fn plan(&self) -> RetryPlan {
        let available = self.available();
        let attempts_admitted = self.admitted(available);
        let step = |attempt| self.step(attempt, available);
        let steps = (1..=attempts_admitted.saturating_add(1)).map(step).collect();
        let used = narrow(self.needs(u64::from(attempts_admitted)));
        RetryPlan { available, attempts_admitted, used, unused: available - used, steps }
    }

    fn step(&self, attempt: u32, available: Nanos) -> Step {
        let needed = self.needs(u64::from(attempt));
        let reason = if needed > wide(available) {
            Reason::AllowanceExceedsAvailable
        } else if attempt > self.max_attempts {
            Reason::MaxAttempts
        } else {
            Reason::Admitted
        };
        Step {
            attempt,
            backoff: self.backoff_before(attempt),
            allowance: self.attempt,
            used_before_ns: self.needs(u64::from(attempt) - 1),
            used_after_ns: needed,
            reason,
        }
    }

    /// The wait before an attempt, which the first has none of.
    pub fn backoff_before(&self, attempt: u32) -> Nanos {
        let retry = attempt.checked_sub(2).map(|retry| retry as usize);
        let listed = retry.and_then(|retry| self.backoff.get(retry).or(self.backoff.last()));
        listed.copied().unwrap_or(Nanos::ZERO)
    }

    /// The same as a policy of calls to `callee`: it refuses what is not funded.
    pub fn as_policy(&self, callee: Option<&str>, retry_budget: Option<Share>) -> Policy {
        let call = CallPolicy {
            callee: callee.map(Glob::literal),
            timeout: Some(self.attempt),
            max_attempts: Some(self.max_attempts),
            backoff: Some(self.backoff.clone()),
            retry_budget,
            ..CallPolicy::default()
        };
        Policy {
            deadline: Some(self.deadline),
            return_reserve: Some(self.reserve),
            reject_unfundable: Some(true),
            call: vec![call],
            ..Policy::default()
        }
    }

    /// How many attempts fit as the elapsed time goes over `sweep`.
    pub fn elapsed_sweep(&self, sweep: Sweep) -> Vec<SweepPoint> {
        let left = |elapsed| available(self.deadline - elapsed, self.reserve);
        let point = |at| SweepPoint { at, attempts_admitted: self.admitted(left(at)) };
        sweep.points().map(point).collect()
    }

    /// How many attempts fit as the allowance of one goes over `sweep`.
    pub fn allowance_sweep(&self, sweep: Sweep) -> Vec<SweepPoint> {
        let admitted = |attempt| Self { attempt, ..self.clone() }.admitted(self.available());
        sweep.points().map(|at| SweepPoint { at, attempts_admitted: admitted(at) }).collect()
    }

    /// The largest elapsed time at which each number of attempts still fits, least attempts first.
    pub fn elapsed_discontinuities(&self) -> Vec<Discontinuity> {
        let most = wide(self.deadline) - wide(self.reserve);
        self.discontinuities(|attempts| most - self.needs(attempts), 0)
    }

    /// The largest allowance at which each number of attempts still fits, least attempts first.
    pub fn allowance_discontinuities(&self) -> Vec<Discontinuity> {
        let available = wide(self.available());
        let largest =
            |attempts| (available - self.waits(attempts)).div_euclid(i128::from(attempts));
        // An attempt that needs nothing is none.
        self.discontinuities(largest, 1)
    }

    /// The numbers of attempts for which `largest`, which falls as they grow, is at least `least`.
    fn discontinuities(&self, largest: impl Fn(u64) -> i128, least: i128) -> Vec<Discontinuity> {
        (1..=self.max_attempts)
            .map(|attempts| (attempts, largest(u64::from(attempts))))
            .take_while(|(_, at)| *at >= least)
            .map(|(attempts, at)| Discontinuity { attempts, at: narrow(at) })
            .collect()
    }

    /// What so many attempts and the waits between them take.
    fn needs(&self, attempts: u64) -> i128 {
        i128::from(attempts) * wide(self.attempt) + self.waits(attempts)
    }

    /// The waits between so many attempts.
    fn waits(&self, attempts: u64) -> i128 {
        let retries = usize::try_from(attempts.saturating_sub(1)).unwrap_or(usize::MAX);
        let listed: i128 = self.backoff.iter().take(retries).copied().map(wide).sum();
        let beyond = retries.saturating_sub(self.backoff.len()) as u64;
        let last = self.backoff.last().copied().unwrap_or(Nanos::ZERO);
        listed + i128::from(beyond) * wide(last)
    }
}

/// Sums of lengths are compared exactly, however long these are.
pub(super) fn wide(length: Nanos) -> i128 {
    i128::from(length.as_nanos())
}

/// What is at most as long as some length.
fn narrow(length: i128) -> Nanos {
    Nanos::from_nanos(i64::try_from(length).unwrap_or(i64::MAX))
}
