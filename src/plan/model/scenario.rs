//! What is simulated: services that call one another, how long they take, and how calls are made.

use std::collections::BTreeSet;

use super::calls::{CallRules, operation};
use super::topology::Topology;
use crate::plan::policy::{CallPolicy, Share};
use crate::units::Nanos;

/// So many attempts are simulated at most, by the most that a configuration may make.
const MOST_ATTEMPTS: u64 = 10_000_000;

/// So many of one request, which is held whole.
const MOST_OF_REQUEST: u64 = 100_000;

/// Longer lengths are no time that anybody waits for, and sums of them stay exact.
const LONGEST: Nanos = Nanos::from_seconds(86_400);

/// Requests to one topology, in some regimes and under some configurations.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// By which durations are drawn where they are random.
    pub seed: u64,
    /// How many requests each configuration serves in each regime.
    pub requests: u32,
    /// From a request's start to the instant after which its answer is of no use.
    pub threshold: Nanos,
    /// Requests per second that come in, for the load that calls make of them.
    pub base_per_s: Option<Share>,
    /// The services; requests go to the first.
    pub services: Vec<Service>,
    /// How long services take.
    pub regimes: Vec<Regime>,
    /// How calls are made.
    pub configurations: Vec<Configuration>,
}

/// A service, and what it calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Its name.
    pub name: String,
    /// Its own share of time, after its calls; drawn from the regime where there is none.
    pub own: Option<Nanos>,
    /// How long a message takes to it, and an answer back.
    pub transit: Nanos,
    /// Arms that run beside one another, each of services that are called one after another.
    pub arms: Vec<Vec<String>>,
}

/// How long services take that have no share of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regime {
    /// Its name.
    pub name: String,
    /// How long they take.
    pub durations: Durations,
    /// Services that take otherwise.
    pub services: Vec<(String, Durations)>,
}

/// Where durations come from. They begin anew for each configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Durations {
    /// These, over and over.
    Cycle(Vec<Nanos>),
    /// Any from the first to the second, all alike.
    Between(Nanos, Nanos),
    /// One of these, by its weight.
    Pick(Vec<(Nanos, u32)>),
}

/// How calls are made.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// Its name.
    pub name: String,
    /// Of one attempt.
    pub timeout: Nanos,
    /// How often at most, the first try included.
    pub max_attempts: u32,
    /// The waits between attempts; the last of them holds for all further ones.
    pub backoff: Vec<Nanos>,
    /// Retries per first try at most, over all requests.
    pub retry_budget: Option<Share>,
    /// Whether a call gets no more than what its caller has left.
    pub propagate: bool,
    /// Whether a callee stops when its caller has left.
    pub stop_on_cancel: bool,
    /// Whether an attempt begins only where its whole timeout is available.
    pub reject_unfundable: bool,
    /// What a caller keeps back of what is left to it; the first service's own share where absent.
    pub return_reserve: Option<Nanos>,
    /// The second attempt begins so long after the first, unless that has ended.
    pub hedge_after: Option<Nanos>,
    /// Calls that are made otherwise; the first that matches holds. The operation of a call is
    /// `step ARM.STEP`, both from 1.
    pub calls: Vec<CallPolicy>,
}

/// The table of a scenario in which something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Above all tables.
    Top,
    /// The service of that number.
    Service(usize),
    /// The regime of that number.
    Regime(usize),
    /// The configuration of that number.
    Configuration(usize),
    /// A call that a configuration, of the first number, makes otherwise.
    Call(usize, usize),
}

/// A value that reads well and cannot be meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("key `{key}`: {message}")]
pub struct Contradiction {
    /// Where.
    pub place: Place,
    /// The key.
    pub key: &'static str,
    /// What was expected.
    pub message: String,
}

impl Contradiction {
    /// A contradiction at `key`.
    pub(super) fn new(place: Place, key: &'static str, message: impl Into<String>) -> Self {
        Self { place, key, message: message.into() }
    }
}

impl Scenario {
    /// What a configuration keeps back for the answer.
    pub fn reserve(&self, configuration: &Configuration) -> Nanos {
        let own = || self.services.first().and_then(|root| root.own);
        configuration.return_reserve.or_else(own).unwrap_or(Nanos::ZERO)
    }

    /// The first value that cannot be meant.
    pub(super) fn contradiction(&self) -> Result<(), Contradiction> {
        let Self { requests, threshold, .. } = *self;
        let top = |key, message| Err(Contradiction::new(Place::Top, key, message));
        name_of(&self.name, Place::Top)?;
        if requests == 0 {
            return top("requests", "expected 1 or more");
        }
        length(threshold, Place::Top, "threshold")?;
        if self.services.is_empty() {
            return top("service", "expected [[service]] tables: requests go to the first");
        }
        if self.regimes.is_empty() {
            return top("regime", "expected a [[regime]]: how long services take");
        }
        if self.configurations.is_empty() {
            return top("configuration", "expected a [[configuration]]: how calls are made");
        }
        self.services_contradict()?;
        self.regimes_contradict()?;
        self.configurations_contradict()
    }

    fn services_contradict(&self) -> Result<(), Contradiction> {
        different(self.services.iter().map(|service| &service.name), Place::Service)?;
        for (number, service) in self.services.iter().enumerate() {
            let place = Place::Service(number);
            for (length, key) in [(service.own, "own"), (Some(service.transit), "transit")] {
                if length.is_some_and(|length| length > LONGEST) {
                    return Err(Contradiction::new(place, key, "expected at most 24h"));
                }
            }
            if number == 0 && service.own.is_none() {
                let message = "expected the own share of the service that requests go to";
                return Err(Contradiction::new(place, "own", message));
            }
        }
        Ok(())
    }

    fn regimes_contradict(&self) -> Result<(), Contradiction> {
        different(self.regimes.iter().map(|regime| &regime.name), Place::Regime)?;
        for (number, regime) in self.regimes.iter().enumerate() {
            let place = Place::Regime(number);
            regime.durations.contradiction(place)?;
            for (name, durations) in &regime.services {
                durations.contradiction(place)?;
                if !self.services.iter().any(|service| service.name == *name) {
                    let message = format!("no [[service]] is called {name:?}");
                    return Err(Contradiction::new(place, "service", message));
                }
            }
        }
        Ok(())
    }

    /// Refuses what is said of calls that nobody makes.
    fn is_about_some(
        &self,
        topology: &Topology,
        call: &CallPolicy,
        place: Place,
    ) -> Result<(), Contradiction> {
        let name = |service: usize| self.services[service].name.as_str();
        let mut unmet = [
            (call.caller.as_ref(), "caller", true),
            (call.callee.as_ref(), "callee", true),
            (call.operation.as_ref(), "operation", true),
        ];
        for (caller, arm, step, callee) in topology.calls() {
            let operation = operation(arm + 1, step + 1);
            if call.is_about(name(caller), name(callee), &operation) {
                return Ok(());
            }
            for ((glob, _, is_unmet), text) in
                unmet.iter_mut().zip([name(caller), name(callee), operation.as_str()])
            {
                *is_unmet &= glob.is_some_and(|glob| !glob.matches(text));
            }
        }
        let of_one = unmet
            .into_iter()
            .find_map(|(glob, key, is_unmet)| Some((glob?, key)).filter(|_| is_unmet));
        Err(match of_one {
            Some((glob, key)) => {
                let message = format!("no call of the scenario has the {key} {:?}", glob.as_str());
                Contradiction::new(place, key, message)
            }
            None => Contradiction::new(
                place,
                "call",
                "no call of the scenario is like that in all it says",
            ),
        })
    }

    fn configurations_contradict(&self) -> Result<(), Contradiction> {
        different(self.configurations.iter().map(|it| &it.name), Place::Configuration)?;
        let topology = Topology::of(self)?;
        if topology.steps() == 0 {
            let message = "expected calls of the service that requests go to";
            return Err(Contradiction::new(Place::Service(0), "arms", message));
        }
        for (number, configuration) in self.configurations.iter().enumerate() {
            let place = Place::Configuration(number);
            let wrong = |key, message: &str| Err(Contradiction::new(place, key, message));
            configuration.contradiction(place)?;
            for (call_number, call) in configuration.calls.iter().enumerate() {
                let place = Place::Call(number, call_number);
                self.is_about_some(&topology, call, place)?;
            }
            if self.reserve(configuration) >= self.threshold {
                return wrong(
                    "return_reserve",
                    "expected less than the threshold; where it is absent it is the own share of \
                     the first service",
                );
            }
            let most = CallRules::of(self, &topology, configuration).most_attempts(&topology);
            let all = most.saturating_mul(u64::from(self.requests));
            if most > MOST_OF_REQUEST || all > MOST_ATTEMPTS {
                let message = format!(
                    "expected fewer: {} requests may make {most} attempts each; one may make \
                     {MOST_OF_REQUEST}, all {MOST_ATTEMPTS}",
                    self.requests
                );
                return wrong("max_attempts", &message);
            }
        }
        Ok(())
    }
}

impl Configuration {
    fn contradiction(&self, place: Place) -> Result<(), Contradiction> {
        let wrong = |key, message: &str| Err(Contradiction::new(place, key, message));
        let timeouts = self.calls.iter().filter_map(|call| call.timeout);
        for timeout in std::iter::once(self.timeout).chain(timeouts) {
            length(timeout, place, "timeout")?;
        }
        if let Some(after) = self.hedge_after {
            length(after, place, "hedge_after")?;
        }
        let waits = self.calls.iter().filter_map(|call| call.backoff.as_ref()).flatten();
        if self.backoff.iter().chain(waits).any(|wait| *wait > LONGEST) {
            return wrong("backoff", "expected at most 24h");
        }
        if self.max_attempts == 0 || self.calls.iter().any(|call| call.max_attempts == Some(0)) {
            return wrong("max_attempts", "expected 1 or more: the first try counts");
        }
        Ok(())
    }
}

impl Durations {
    fn contradiction(&self, place: Place) -> Result<(), Contradiction> {
        let wrong = |key, message: &str| Err(Contradiction::new(place, key, message));
        match self {
            Self::Cycle(all) if all.is_empty() => wrong("cycle", "expected durations"),
            Self::Cycle(all) => all.iter().try_for_each(|it| length(*it, place, "cycle")),
            Self::Between(least, most) if least > most => {
                wrong("between", "expected the shortest first")
            }
            Self::Between(least, most) => {
                [least, most].into_iter().try_for_each(|it| length(*it, place, "between"))
            }
            Self::Pick(all) if all.iter().all(|(_, weight)| *weight == 0) => {
                wrong("pick", "expected durations with weights of 1 or more")
            }
            Self::Pick(all) => all.iter().try_for_each(|(it, _)| length(*it, place, "pick")),
        }
    }
}

fn length(length: Nanos, place: Place, key: &'static str) -> Result<(), Contradiction> {
    if length > Nanos::ZERO && length <= LONGEST {
        return Ok(());
    }
    Err(Contradiction::new(place, key, "expected more than nothing, and at most 24h"))
}

/// Names become those of operations and files, and what contracts match.
fn name_of(name: &str, place: Place) -> Result<(), Contradiction> {
    let is_harmless = |c: char| !c.is_control() && !"*?[]\"\\".contains(c);
    if !name.trim().is_empty() && name.len() <= 100 && name.chars().all(is_harmless) {
        return Ok(());
    }
    let message =
        "expected a name of at most 100 bytes without control characters and * ? [ ] \" \\";
    Err(Contradiction::new(place, "name", message))
}

fn different<'n>(
    names: impl Iterator<Item = &'n String>,
    place: fn(usize) -> Place,
) -> Result<(), Contradiction> {
    let mut known = BTreeSet::new();
    for (number, name) in names.enumerate() {
        name_of(name, place(number))?;
        if !known.insert(name) {
            let message = format!("two are called {name:?}");
            return Err(Contradiction::new(place(number), "name", message));
        }
    }
    Ok(())
}
