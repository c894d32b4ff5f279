//! Who calls whom, by numbers, and how many calls a request may make.

use std::collections::BTreeMap;

use super::scenario::{Contradiction, Place, Scenario};

/// Chains of calls are no deeper.
const DEEPEST: u32 = 64;

/// The services that each service calls.
#[derive(Clone, Debug)]
pub(super) struct Topology {
    /// By service and arm: whom it calls, by number.
    pub arms: Vec<Vec<Vec<usize>>>,
    /// The services that a request can reach, callees before their callers.
    bottom_up: Vec<usize>,
}

impl Topology {
    /// The topology of a scenario.
    pub(super) fn of(scenario: &Scenario) -> Result<Self, Contradiction> {
        let services = scenario.services.iter().enumerate();
        let numbers: BTreeMap<&str, usize> =
            services.clone().map(|(number, service)| (service.name.as_str(), number)).collect();
        let mut topology = Self { arms: Vec::new(), bottom_up: Vec::new() };
        for (number, service) in services {
            let number_of = |name: &String| {
                numbers.get(name.as_str()).copied().ok_or_else(|| {
                    let message = format!("no [[service]] is called {name:?}");
                    Contradiction::new(Place::Service(number), "arms", message)
                })
            };
            let arms = service.arms.iter().map(|arm| arm.iter().map(number_of).collect());
            topology.arms.push(arms.collect::<Result<_, _>>()?);
        }
        topology.descend(0, 0, &mut vec![false; scenario.services.len()])?;
        Ok(topology)
    }

    /// Adds `service` after all that it calls.
    fn descend(
        &mut self,
        service: usize,
        depth: u32,
        is_done: &mut [bool],
    ) -> Result<(), Contradiction> {
        if depth > DEEPEST {
            let message = format!("expected chains of at most {DEEPEST} calls that come to an end");
            return Err(Contradiction::new(Place::Service(service), "arms", message));
        }
        if is_done[service] {
            return Ok(());
        }
        let callees: Vec<usize> = self.arms[service].iter().flatten().copied().collect();
        for callee in callees {
            self.descend(callee, depth + 1, is_done)?;
        }
        is_done[service] = true;
        self.bottom_up.push(service);
        Ok(())
    }

    /// The steps of a request: the calls that it makes where each succeeds at once.
    pub(super) fn steps(&self) -> u64 {
        self.most_attempts(|_, _, _| 1)
    }

    /// The attempts that a request makes where each call is made as often as `tries` says, by the
    /// service that calls, its arm and its step.
    pub(super) fn most_attempts(&self, tries: impl Fn(usize, usize, usize) -> u32) -> u64 {
        let mut below = vec![0_u64; self.arms.len()];
        for &service in &self.bottom_up {
            let mut sum = 0_u64;
            for (arm, callees) in self.arms[service].iter().enumerate() {
                for (step, &callee) in callees.iter().enumerate() {
                    let each = below[callee].saturating_add(1);
                    let tries = u64::from(tries(service, arm, step));
                    sum = sum.saturating_add(each.saturating_mul(tries));
                }
            }
            below[service] = sum;
        }
        below.first().copied().unwrap_or(0)
    }

    /// All calls: who calls, in which arm and step, and whom.
    pub(super) fn calls(&self) -> impl Iterator<Item = (usize, usize, usize, usize)> {
        self.arms.iter().enumerate().flat_map(|(caller, arms)| {
            arms.iter().enumerate().flat_map(move |(arm, callees)| {
                let steps = callees.iter().enumerate();
                steps.map(move |(step, &callee)| (caller, arm, step, callee))
            })
        })
    }

    /// Whether any service but the first calls.
    pub(super) fn is_nested(&self) -> bool {
        let callers = self.bottom_up.iter().filter(|service| **service != 0);
        callers.flat_map(|service| &self.arms[*service]).any(|arm| !arm.is_empty())
    }
}
