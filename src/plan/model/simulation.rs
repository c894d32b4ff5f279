//! The model: requests one after another, in each request arm by arm, each arm to its end. That is the
//! order in which durations are drawn and the retry budget counts. There are no queues and no
//! capacities: nothing takes longer because more is asked.

use super::calls::{CallRule, CallRules};
use super::draws::{Draws, Spot};
use super::execution::{Attempt, Call, Deadline, Served};
use super::scenario::{Configuration, Regime, Scenario};
use super::topology::Topology;
use crate::budget::available;
use crate::span::Outcome;
use crate::tables::AttemptKind;
use crate::units::Nanos;

/// One configuration in one regime.
#[derive(Debug)]
pub(super) struct Simulation<'s> {
    scenario: &'s Scenario,
    topology: &'s Topology,
    configuration: &'s Configuration,
    reserve: Nanos,
    draws: Draws<'s>,
    rules: CallRules<'s>,
    /// How many requests there were.
    requests: u64,
}

impl<'s> Simulation<'s> {
    /// Before its first request.
    pub(super) fn new(
        scenario: &'s Scenario,
        topology: &'s Topology,
        regime: &'s Regime,
        configuration: &'s Configuration,
    ) -> Self {
        Self {
            scenario,
            topology,
            configuration,
            reserve: scenario.reserve(configuration),
            draws: Draws::of(scenario, regime),
            rules: CallRules::of(scenario, topology, configuration),
            requests: 0,
        }
    }

    /// The next request, its spans numbered from 1.
    pub(super) fn request(&mut self) -> Served {
        let deadline = self.scenario.threshold;
        let deadline = Deadline { effective: deadline, known: deadline };
        self.requests += 1;
        let mut request = self.serve(0, Nanos::ZERO, deadline, Spot::request(self.requests));
        request.number(1);
        request
    }

    /// A service at work: its arms beside one another, and then its own share, whatever came of them.
    fn serve(&mut self, service: usize, start: Nanos, deadline: Deadline, spot: Spot) -> Served {
        let own = self.scenario.services[service].own;
        let own = own.unwrap_or_else(|| self.draws.next(service, spot));
        let (mut calls, mut own_from, mut outcome) = (Vec::new(), start, Outcome::Ok);
        for (arm, callees) in self.topology.arms[service].iter().enumerate() {
            let mut at = start;
            for (step, &callee) in callees.iter().enumerate() {
                let rule = self.rules.rule(service, arm, step);
                let CallRule { timeout, budget, .. } = rule;
                let (attempts, end) =
                    self.call(callee, rule, at, deadline, spot.part(arm).part(step));
                at = end;
                let is_ok = attempts.iter().any(|attempt| attempt.outcome == Outcome::Ok);
                calls.push(Call {
                    callee,
                    arm: arm + 1,
                    step: step + 1,
                    timeout,
                    budget,
                    attempts,
                });
                if !is_ok {
                    outcome = Outcome::Error;
                    break;
                }
            }
            own_from = own_from.max(at);
        }
        Served { id: 0, service, start, end: own_from + own, own_from, outcome, deadline, calls }
    }

    /// A call, as often as it takes and may: its attempts, and when the caller goes on.
    fn call(
        &mut self,
        callee: usize,
        rule: CallRule<'s>,
        start: Nanos,
        deadline: Deadline,
        spot: Spot,
    ) -> (Vec<Attempt>, Nanos) {
        let mut attempts: Vec<Attempt> = Vec::new();
        let (mut end, mut is_ok) = (start, false);
        while !is_ok {
            let at = end + rule.backoff_after(attempts.len());
            let next = self.try_call(callee, rule, at, deadline, (attempts.len(), spot));
            let Some(attempt) = next else { break };
            (end, is_ok) = (attempt.end, attempt.outcome == Outcome::Ok);
            attempts.push(attempt);
            if let [first] = attempts.as_slice()
                && let Some(hedge) = self.hedge(callee, rule, first, deadline, spot)
            {
                attempts.push(hedge);
                end = self.settle(&mut attempts);
                is_ok = attempts.iter().any(|attempt| attempt.outcome == Outcome::Ok);
            }
        }
        (attempts, end)
    }

    /// The next attempt after `made` others, unless it may not be.
    fn try_call(
        &mut self,
        callee: usize,
        rule: CallRule<'s>,
        at: Nanos,
        deadline: Deadline,
        (made, spot): (usize, Spot),
    ) -> Option<Attempt> {
        let Configuration { propagate, reject_unfundable, .. } = *self.configuration;
        let CallRule { timeout, max_attempts, budget, .. } = rule;
        let spendable = available(deadline.known - at, self.reserve);
        let is_refused = u64::try_from(made).is_ok_and(|made| made >= u64::from(max_attempts))
            || (propagate && spendable == Nanos::ZERO)
            || (reject_unfundable && spendable < timeout);
        if is_refused || !self.rules.spend(budget, made == 0) {
            return None;
        }
        let kind = if made == 0 { AttemptKind::Initial } else { AttemptKind::Retry };
        let grant = if propagate { timeout.min(spendable) } else { timeout };
        Some(self.attempt(callee, at, deadline, (grant, kind), spot.part(made)))
    }

    /// One attempt: what takes longer than its timeout costs the timeout. The callee goes on, unless
    /// it stops with its caller.
    fn attempt(
        &mut self,
        callee: usize,
        start: Nanos,
        deadline: Deadline,
        (grant, kind): (Nanos, AttemptKind),
        spot: Spot,
    ) -> Attempt {
        let transit = self.scenario.services[callee].transit;
        let received = start + transit;
        let of_callee =
            Deadline { effective: deadline.effective.min(start + grant), known: received + grant };
        let served = self.serve(callee, received, of_callee, spot);
        let (answered, outcome) = (served.end + transit, served.outcome);
        let mut attempt =
            Attempt { id: 0, kind, start, end: answered, outcome, grant, served: Some(served) };
        if answered - start > grant {
            self.leave(&mut attempt, start + grant, Outcome::DeadlineExceeded);
        }
        attempt
    }

    /// The second attempt, where the first goes on for so long that it is hedged.
    fn hedge(
        &mut self,
        callee: usize,
        rule: CallRule<'s>,
        first: &Attempt,
        deadline: Deadline,
        spot: Spot,
    ) -> Option<Attempt> {
        let at = first.start + self.configuration.hedge_after?;
        let hedge = (at < first.end)
            .then(|| self.try_call(callee, rule, at, deadline, (1, spot)))
            .flatten()?;
        Some(Attempt { kind: AttemptKind::Hedge, ..hedge })
    }

    /// The first of two attempts beside one another that is `ok` wins, and the other is cancelled then.
    /// Gives when the caller goes on.
    fn settle(&mut self, attempts: &mut [Attempt]) -> Nanos {
        let is_ok = |attempt: &&Attempt| attempt.outcome == Outcome::Ok;
        let Some(won) = attempts.iter().filter(is_ok).map(|attempt| attempt.end).min() else {
            return attempts.iter().map(|attempt| attempt.end).max().unwrap_or_default();
        };
        for attempt in attempts.iter_mut().filter(|attempt| attempt.end > won) {
            self.leave(attempt, won, Outcome::Cancelled);
        }
        won
    }

    /// The caller of an attempt leaves.
    fn leave(&mut self, attempt: &mut Attempt, at: Nanos, outcome: Outcome) {
        (attempt.end, attempt.outcome) = (at, outcome);
        if self.configuration.stop_on_cancel {
            attempt.served = attempt.served.take().and_then(|served| self.stop(served, at));
        }
    }

    /// What is left of a service's work where it stops at an instant. What it would have asked for
    /// afterwards was drawn and never was, so that the retry budget gets it back.
    fn stop(&mut self, mut served: Served, at: Nanos) -> Option<Served> {
        if served.start >= at {
            self.take_back(&served);
            return None;
        }
        if served.end > at {
            (served.end, served.outcome) = (at, Outcome::Cancelled);
            for call in &mut served.calls {
                call.attempts.retain(|attempt| {
                    let is_made = attempt.start < at;
                    if !is_made {
                        self.take_back_one(call.budget, attempt);
                    }
                    is_made
                });
                for attempt in call.attempts.iter_mut().filter(|attempt| attempt.end > at) {
                    self.leave(attempt, at, Outcome::Cancelled);
                }
            }
            if served.own_from > at {
                // Where it stops in a wait that no attempt ends, nobody can tell that from its own time.
                let attempts = served.calls.iter().flat_map(|call| &call.attempts);
                let last = attempts.map(|attempt| attempt.end).max();
                served.own_from = last.unwrap_or(served.start);
            }
        }
        Some(served)
    }

    fn take_back(&mut self, served: &Served) {
        for call in &served.calls {
            call.attempts.iter().for_each(|attempt| self.take_back_one(call.budget, attempt));
        }
    }

    fn take_back_one(&mut self, budget: usize, attempt: &Attempt) {
        self.rules.take_back(budget, attempt.kind == AttemptKind::Initial);
        if let Some(served) = &attempt.served {
            self.take_back(served);
        }
    }
}
