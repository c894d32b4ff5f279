//! How each call of the topology is made under a configuration.

use super::scenario::{Configuration, Scenario};
use super::topology::Topology;
use crate::plan::policy::Share;
use crate::units::Nanos;

/// How a call is made.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallRule<'s> {
    /// Of one attempt.
    pub timeout: Nanos,
    /// How often at most, the first try included.
    pub max_attempts: u32,
    /// The retry budget that its attempts are counted in, by number.
    pub budget: usize,
    backoff: &'s [Nanos],
}

/// How all calls are made.
#[derive(Debug)]
pub(super) struct CallRules<'s> {
    /// By service, arm and step.
    rules: Vec<Vec<Vec<CallRule<'s>>>>,
    /// The retry budgets: that of the configuration, and those that calls have of their own.
    budgets: Vec<Budget>,
}

/// Retries per first try, as far as they are counted.
#[derive(Debug)]
struct Budget {
    most: Option<Share>,
    primary: u64,
    extra: u64,
}

impl CallRule<'_> {
    /// The wait before the attempt that follows `made` others.
    pub(super) fn backoff_after(&self, made: usize) -> Nanos {
        let wait = made.checked_sub(1).map(|place| self.backoff.get(place).or(self.backoff.last()));
        wait.flatten().copied().unwrap_or(Nanos::ZERO)
    }
}

impl<'s> CallRules<'s> {
    /// The rules of a configuration.
    pub(super) fn of(
        scenario: &'s Scenario,
        topology: &Topology,
        configuration: &'s Configuration,
    ) -> Self {
        let own = configuration.calls.iter().map(|call| call.retry_budget);
        let budgets = std::iter::once(configuration.retry_budget).chain(own);
        let budgets = budgets.map(|most| Budget { most, primary: 0, extra: 0 }).collect();
        let rule = |caller: usize, (arm, step): (usize, usize), callee: usize| {
            let name = |service: usize| scenario.services[service].name.as_str();
            let operation = operation(arm + 1, step + 1);
            let own = configuration.calls.iter().enumerate();
            let own =
                own.clone().find(|(_, call)| call.is_about(name(caller), name(callee), &operation));
            let call = own.map(|(_, call)| call);
            CallRule {
                timeout: call.and_then(|call| call.timeout).unwrap_or(configuration.timeout),
                max_attempts: call
                    .and_then(|call| call.max_attempts)
                    .unwrap_or(configuration.max_attempts),
                budget: own
                    .filter(|(_, call)| call.retry_budget.is_some())
                    .map_or(0, |(number, _)| number + 1),
                backoff: call
                    .and_then(|call| call.backoff.as_deref())
                    .unwrap_or(&configuration.backoff),
            }
        };
        let rules = topology.arms.iter().enumerate().map(|(caller, arms)| {
            let arms = arms.iter().enumerate().map(|(arm, callees)| {
                let steps = callees.iter().enumerate();
                steps.map(|(step, &callee)| rule(caller, (arm, step), callee)).collect()
            });
            arms.collect()
        });
        Self { rules: rules.collect(), budgets }
    }

    /// The rule of a call, by the service that calls, its arm and its step.
    pub(super) fn rule(&self, caller: usize, arm: usize, step: usize) -> CallRule<'s> {
        self.rules[caller][arm][step]
    }

    /// The attempts that a request makes where each is made as often as it may be.
    pub(super) fn most_attempts(&self, topology: &Topology) -> u64 {
        topology.most_attempts(|caller, arm, step| self.rule(caller, arm, step).max_attempts)
    }

    /// The most attempts that any call may make.
    pub(super) fn most_tries(&self) -> u32 {
        let rules = self.rules.iter().flatten().flatten();
        rules.map(|rule| rule.max_attempts).max().unwrap_or(1)
    }

    /// Counts an attempt; `false` where the budget allows no retry.
    pub(super) fn spend(&mut self, budget: usize, is_first: bool) -> bool {
        let Budget { most, primary, extra } = &mut self.budgets[budget];
        if is_first {
            *primary += 1;
            return true;
        }
        let is_allowed = most.is_none_or(|most| most.is_above(*extra, *primary));
        *extra += u64::from(is_allowed);
        is_allowed
    }

    /// Counts an attempt no more, which never was.
    pub(super) fn take_back(&mut self, budget: usize, is_first: bool) {
        let Budget { primary, extra, .. } = &mut self.budgets[budget];
        let counted = if is_first { primary } else { extra };
        *counted = counted.saturating_sub(1);
    }
}

/// What a call is called, by its arm and step from 1.
pub(super) fn operation(arm: usize, step: usize) -> String {
    format!("step {arm}.{step}")
}
