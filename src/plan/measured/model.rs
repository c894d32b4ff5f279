//! A scenario of the chain model made of what was measured of one class, for people to correct.
//!
//! Its first service is the one that admits requests, with the median of its own time. It calls what
//! most requests call, in the arms in which they did. Each call is a service that takes what its
//! tries took, whatever was called below it.

use std::collections::{BTreeMap, BTreeSet};

use super::class::{Class, Shape};
use super::settled::median;
use super::tries::Tries;
use crate::distributions::{Call, Name};
use crate::plan::chain::allocated_timeout;
use crate::plan::model::{Configuration, Durations, Regime, Scenario, Service};
use crate::plan::policy::Share;
use crate::units::Nanos;

/// Durations of a call are told as so many, each for as large a part of its tries.
const PARTS: usize = 40;

/// So many requests are simulated at most: more tell the same.
const MOST_REQUESTS: usize = 1_000;

/// A scenario, and what was left out of it.
#[derive(Clone, Debug)]
pub struct Modelled {
    /// The scenario.
    pub scenario: Scenario,
    /// How many requests make these very calls.
    pub alike: usize,
    /// Of how many.
    pub requests: usize,
    /// Of how many traces these are.
    pub traces: usize,
    /// Whether any of them says how many it stands for, which makes no difference here.
    pub is_weighted: bool,
    /// How many tries there were of these calls.
    pub tries: usize,
    /// How many of them ended because their time was up.
    pub timed_out: usize,
    /// How many were cut for another reason, and are left out.
    pub cancelled: usize,
    /// How many failed otherwise than by time, which the model does not know.
    pub failed: usize,
    /// Attempts that lost against a hedge, or as one: with it they make one try.
    pub lost: usize,
}

/// What is missing to make a scenario of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unmodelled {
    /// No request has a deadline.
    #[error("none of its requests has a deadline")]
    Deadline,
    /// Most requests call nobody.
    #[error("most of its requests call nobody")]
    Calls,
    /// No try of a call was answered.
    #[error("no attempt of one of its calls succeeded")]
    Durations,
}

impl Modelled {
    /// A scenario of a class, to which requests come `base_per_s`.
    ///
    /// # Errors
    /// What is missing.
    pub fn of(name: &Name, class: &Class, base_per_s: Option<Share>) -> Result<Self, Unmodelled> {
        let threshold = median(&class.deadline).ok_or(Unmodelled::Deadline)?.value;
        let own = median(&class.own).ok_or(Unmodelled::Deadline)?.value;
        let (shape, alike) = usual(class).ok_or(Unmodelled::Calls)?;
        let called: BTreeSet<&Call> = shape.iter().flatten().collect();
        let calls = || called.iter().filter_map(|call| class.calls.get(*call));
        let of_tries = |count: fn(&Tries) -> usize| calls().map(|calls| count(&calls.tries)).sum();
        let front = called.first().and_then(|call| call.caller.as_deref()).unwrap_or("front");
        let names = names(front, &called);
        let regimes: Option<Vec<(String, Durations)>> = called
            .iter()
            .map(|call| Some((names.get(call)?.clone(), durations(class, call, threshold)?)))
            .collect();
        let services = regimes.ok_or(Unmodelled::Durations)?;
        let arms: Vec<Vec<String>> = shape
            .iter()
            .map(|arm| arm.iter().filter_map(|call| names.get(call).cloned()).collect())
            .collect();
        let steps = arms.iter().map(Vec::len).max().unwrap_or(1);
        let tries = calls().map(|calls| calls.tries.most).max().unwrap_or(1).max(1);
        let waits = calls().filter_map(|calls| median(&calls.backoff)).map(|wait| wait.value).max();
        let waits: Vec<Nanos> = waits.into_iter().filter(|&wait| wait > Nanos::ZERO).collect();
        let steps = u32::try_from(steps).unwrap_or(u32::MAX);
        let allocated = allocated_timeout(threshold, own, steps, tries).max(Nanos::from_nanos(1));
        let without_own = |name: &String| Service {
            name: name.clone(),
            own: None,
            transit: Nanos::ZERO,
            arms: Vec::new(),
        };
        let first = Service { own: Some(own), arms, ..without_own(&harmless(front)) };
        let (_, usual) = services.first().cloned().ok_or(Unmodelled::Calls)?;
        let others = services.iter().filter(|(_, durations)| *durations != usual).cloned();
        let scenario = Scenario {
            name: harmless(name),
            seed: 0,
            requests: u32::try_from(class.requests.len().min(MOST_REQUESTS)).unwrap_or(1),
            threshold,
            base_per_s,
            services: std::iter::once(first)
                .chain(services.iter().map(|(name, _)| without_own(name)))
                .collect(),
            regimes: vec![Regime {
                name: "measured".to_owned(),
                services: others.collect(),
                durations: usual,
            }],
            configurations: configurations(threshold, allocated, tries, &waits),
        };
        Ok(Self {
            scenario,
            alike,
            requests: class.requests.len(),
            traces: class.requests.iter().map(|it| it.trace).collect::<BTreeSet<u32>>().len(),
            is_weighted: class.requests.iter().any(|it| it.is_weighted),
            tries: of_tries(Tries::len),
            timed_out: of_tries(|tries| tries.timed_out),
            cancelled: of_tries(|tries| tries.cancelled),
            failed: of_tries(|tries| tries.failed),
            lost: of_tries(|tries| tries.lost),
        })
    }
}

/// What most requests call, and how many do.
fn usual(class: &Class) -> Option<(&Shape, usize)> {
    // Of those that are as many, the first in order.
    let most = class.shapes.iter().rev().max_by_key(|(_, count)| **count);
    most.map(|(shape, count)| (shape, *count)).filter(|(shape, _)| !shape.is_empty())
}

/// Those of the built-in scenario: where that has the whole threshold as its timeout, or a part of it.
fn configurations(
    threshold: Nanos,
    allocated: Nanos,
    tries: u32,
    backoff: &[Nanos],
) -> Vec<Configuration> {
    // A test reads it, so that it is there.
    let Ok(built_in) = Scenario::built_in() else { return Vec::new() };
    let measured = |configuration: Configuration| Configuration {
        timeout: if configuration.timeout < built_in.threshold { allocated } else { threshold },
        max_attempts: tries,
        backoff: backoff.to_vec(),
        ..configuration
    };
    built_in.configurations.into_iter().map(measured).collect()
}

/// What tries of a call took: parts of those that were answered, each by the middle of it, and those
/// whose time was up.
fn durations(class: &Class, call: &Call, threshold: Nanos) -> Option<Durations> {
    let tries = &class.calls.get(call)?.tries;
    let sorted = tries.answered.ordered();
    let n = sorted.len();
    let mut weights: BTreeMap<Nanos, usize> = BTreeMap::new();
    let parts = n.min(PARTS);
    for part in 0..parts {
        let (from, to) = (part * n / parts, (part + 1) * n / parts);
        let middle = sorted.at(from + (to - from).div_ceil(2))?;
        // A service of the model takes some time.
        *weights.entry(middle.max(Nanos::from_nanos(1))).or_default() += to - from;
    }
    if weights.is_empty() {
        return None;
    }
    if tries.timed_out > 0 {
        // How long they would have taken nobody knows; twice the threshold nobody waits for.
        *weights.entry(threshold + threshold).or_default() += tries.timed_out;
    }
    let weighted = |(duration, count)| (duration, u32::try_from(count).unwrap_or(u32::MAX));
    Some(Durations::Pick(weights.into_iter().map(weighted).collect()))
}

/// A name of its own for each call, other than that of who calls.
fn names<'c>(front: &str, calls: &BTreeSet<&'c Call>) -> BTreeMap<&'c Call, String> {
    let mut taken = BTreeSet::from([harmless(front)]);
    let mut names = BTreeMap::new();
    for &call in calls {
        let callee = call.callee.as_deref().unwrap_or("unknown");
        let plain = harmless(&format!("{callee} {}", call.operation));
        let numbered = (2..).map(|number| format!("{plain} {number}"));
        let name = std::iter::once(plain.clone()).chain(numbered).find(|it| !taken.contains(it));
        let name = name.unwrap_or(plain);
        taken.insert(name.clone());
        names.insert(call, name);
    }
    names
}

/// A name as scenarios take it, and as anybody may read it: short, without what patterns and quotes are
/// made of, hides or turns.
fn harmless(name: &str) -> String {
    const LONGEST: usize = 80;
    let is_safe = |c: char| {
        // Letters that are nothing to see are fillers of Hangul.
        (c.is_alphanumeric() || c.is_ascii_graphic() || c == ' ')
            && !"*?[]\"\\\u{115f}\u{1160}\u{3164}\u{ffa0}".contains(c)
    };
    let safe = |c: char| if is_safe(c) { c } else { '_' };
    let mut harmless: String = name.trim().chars().map(safe).collect();
    while harmless.len() > LONGEST {
        harmless.pop();
    }
    if harmless.is_empty() { "_".to_owned() } else { harmless }
}
