//! What is concluded from what was seen.

use super::atoms::{Atom, atoms};
use super::funding::{Funding, funding};
use super::observed::{CallObserved, ClassObserved, Cut, Observed};
use super::rule::{Judged, rule};
use super::{Chosen, Sampled};
use crate::distributions::{Call, Estimate, Name, Values};
use crate::stats::Quantile;
use crate::units::Nanos;

/// Of fewer attempts that succeeded nobody tells what one needs.
const LEAST_SUCCEEDED: usize = 20;

/// What is concluded of calls and of classes of requests.
#[derive(Clone, Debug, Default)]
pub struct Calibration {
    /// By class, in order.
    pub classes: Vec<ClassLimit>,
    /// By caller, callee and name, in order.
    pub calls: Vec<CallLimit>,
}

/// After how long something is cut off.
#[derive(Clone, Debug)]
pub struct Limit {
    /// How many were cut off.
    pub cut: u64,
    /// Where their durations pile up, the largest pile first.
    pub atoms: Vec<Atom>,
    /// The longest of all, cut off or not: where nothing was cut off there is no limit up to that.
    pub longest: Nanos,
}

/// A quantile of what was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Which one.
    pub quantile: Quantile,
    /// What it is.
    pub estimate: Estimate,
    /// Of how many values.
    pub n: usize,
}

/// What is concluded of the attempts of one call.
#[derive(Clone, Debug)]
pub struct CallLimit {
    /// Who calls whom.
    pub call: Call,
    /// How many attempts.
    pub attempts: u64,
    /// After how long they are cut off.
    pub limit: Limit,
    /// Those that ended as if they had been cut off, but were answered.
    pub answered: u64,
    /// What decides that.
    pub judged: Judged,
    /// How many other callers cut off their calls at the same value as the first atom.
    pub same_elsewhere: usize,
    /// What an attempt needs, by those that succeeded.
    pub allowance: Option<Measured>,
    /// With less than that few of those that succeeded would have.
    pub break_even: Option<Measured>,
    /// How often attempts succeed by what was left.
    pub funding: Funding,
}

/// What is concluded of the requests of one class.
#[derive(Clone, Debug)]
pub struct ClassLimit {
    /// The class.
    pub class: Name,
    /// The service of their roots.
    pub service: Name,
    /// The name of their roots, or method and route.
    pub operation: Name,
    /// How many.
    pub requests: u64,
    /// After how long they are cut off.
    pub limit: Limit,
    /// How many declare a deadline, and the least and the most that they declare.
    pub declared: (u64, Option<(Nanos, Nanos)>),
    /// How long they take to return.
    pub reserve: Option<Measured>,
}

impl Observed {
    /// Concludes.
    pub fn calibrate(self, chosen: Chosen) -> Calibration {
        let Self { calls, classes } = self.with_callees();
        let classes = classes.into_iter().map(|(class, seen)| class_limit(class, &seen, chosen));
        let calls = calls.into_iter().map(|(call, seen)| call_limit(call, &seen, chosen));
        Calibration { classes: classes.collect(), calls: calls.collect() }
    }
}

fn class_limit(class: Name, seen: &ClassObserved, chosen: Chosen) -> ClassLimit {
    let cut = in_order(seen.cut.by_trace().into_iter().map(|(_, &cut)| cut));
    let declared = in_order(seen.declared.by_trace().into_iter().map(|(_, &declared)| declared));
    let range = declared.first().copied().zip(declared.last().copied());
    ClassLimit {
        class,
        service: seen.service.clone(),
        operation: seen.operation.clone(),
        requests: seen.requests,
        limit: Limit { cut: seen.cut.seen(), atoms: atoms(&cut), longest: seen.longest },
        declared: (seen.declared.seen(), range),
        reserve: measured(&seen.returned, chosen.reserve),
    }
}

fn call_limit(call: Call, seen: &CallObserved, chosen: Chosen) -> CallLimit {
    let cuts: Vec<&Cut> = seen.cut.by_trace().into_iter().map(|(_, cut)| cut).collect();
    let atoms = atoms(&in_order(cuts.iter().map(|cut| cut.duration)));
    CallLimit {
        call,
        attempts: seen.attempts,
        judged: rule(&cuts, &atoms),
        limit: Limit { cut: seen.cut.seen(), atoms, longest: seen.longest },
        answered: seen.answered,
        same_elsewhere: 0,
        allowance: measured(&seen.succeeded, chosen.allowance),
        break_even: measured(&seen.succeeded, Quantile::P5),
        funding: funding(seen),
    }
}

/// A quantile of enough values.
fn measured(values: &Sampled<Nanos>, quantile: Quantile) -> Option<Measured> {
    let mut by_trace = Values::default();
    for (trace, &value) in values.by_trace() {
        by_trace.push(trace, value);
    }
    let estimate = by_trace.ordered().quantile(quantile)?;
    let n = values.len();
    (LEAST_SUCCEEDED <= n).then_some(Measured { quantile, estimate, n })
}

fn in_order(values: impl Iterator<Item = Nanos>) -> Vec<Nanos> {
    let mut values: Vec<Nanos> = values.collect();
    values.sort_unstable();
    values
}
