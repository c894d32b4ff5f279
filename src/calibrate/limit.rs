//! What is concluded from what was seen.

use std::collections::{BTreeMap, BTreeSet};

use super::atoms::{Atom, atoms};
use super::funding::{Funding, funding, with_less};
use super::observed::{CUT, CallObserved, ClassObserved, Cut, CutRequest, Observed};
use super::rule::{Judged, Rule, rule};
use super::{Chosen, Sampled};
use crate::budget::{TOLERANCE_FLOOR, tolerance};
use crate::distributions::{Call, Estimate, Name, Values};
use crate::stats::{Proportion, Quantile};
use crate::units::Nanos;

/// What ends sooner was not cut off by any limit of its own.
const LEAST_LASTING: Nanos = Nanos::from_millis(10);

/// Of fewer attempts that succeeded nobody tells what one needs, nor of fewer requests what they take
/// to return.
pub const LEAST_MEASURED: usize = 20;

/// Of fewer requests at one value nobody tells their deadline, and of fewer attempts each is told by
/// itself.
pub const LEAST_CUT: usize = 10;

/// One request in so many may outlast what is taken for their deadline: it may have been measured
/// wrongly.
const OUTLASTING: u64 = 100;

/// What is concluded of calls and of classes of requests.
#[derive(Clone, Debug, Default)]
pub struct Calibration {
    /// By class, in order.
    pub classes: Vec<ClassLimit>,
    /// By caller, callee and name, in order.
    pub calls: Vec<CallLimit>,
    /// Whether requests say what they stand for by their sampling.
    pub is_sampled: bool,
}

/// After how long something is cut off.
#[derive(Clone, Debug)]
pub struct Limit {
    /// How many were cut off.
    pub cut: u64,
    /// Where their durations pile up, the largest pile first.
    pub atoms: Vec<Atom>,
    /// How long each took that was cut off, in order, where they are fewer than [`LEAST_CUT`].
    pub few: Vec<Nanos>,
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
    /// Of how many values: those that are kept of all.
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
    /// Of those that were cut off, these whose callee went on and ended well, which nobody heard.
    pub unheard: u64,
    /// Those that ended as if they had been cut off, but were answered.
    pub answered: u64,
    /// What decides that.
    pub judged: Judged,
    /// How many of how many that succeeded or were cut off took longer than the constant, or the first
    /// atom: some callers do not cut off there, or the timeout is another by now.
    pub outlasting: Proportion,
    /// How many other callers cut off their calls at the same value as the first atom.
    pub same_elsewhere: usize,
    /// How many attempts succeeded, and of how many callers: what an attempt needs does not go by who
    /// makes it, so that all of one callee for one thing count.
    pub succeeded: (u64, usize),
    /// What to keep for an attempt, by those that succeeded.
    pub allowance: Option<Measured>,
    /// With less than that few of those that succeeded would have: by that attempts are judged.
    pub break_even: Option<Measured>,
    /// How often attempts pay by what was left.
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
    /// How many of how many took longer than the first atom.
    pub outlasting: Proportion,
    /// The call with which most of those that were cut off ended, unless it was cut off when what was
    /// left was used up: then its limit may be all that there is.
    pub cut_with: Option<CutWith>,
    /// How many completed though a call in them was cut off and not tried again, and the call of which
    /// that is most often so.
    pub masked: (u64, Option<Call>),
    /// How many declare a deadline, and the least and the most that they declare.
    pub declared: (u64, Option<(Nanos, Nanos)>),
    /// Of how many it is known how long they took to return.
    pub returned: u64,
    /// How long they take to return.
    pub reserve: Option<Measured>,
}

/// Calls that were cut off when requests were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutWith {
    /// The one with which most ended.
    pub call: Call,
    /// Whether that is cut off after a constant.
    pub is_constant: bool,
    /// How many ended with it or with others.
    pub requests: u64,
}

/// Whether more than one in a hundred, and not only one, took longer than what was taken for a limit.
fn is_outlasted(outlasting: Proportion) -> bool {
    1 < outlasting.part && outlasting.whole < outlasting.part.saturating_mul(OUTLASTING)
}

impl CallLimit {
    /// The timeout, where it is sure enough that the caller sets one.
    pub fn timeout(&self) -> Option<Nanos> {
        if is_outlasted(self.outlasting) {
            return None;
        }
        let is_set = matches!(self.judged.rule, Rule::Fixed | Rule::MinOfBoth);
        let constant = self.judged.constant.filter(|_| is_set)?;
        let holds = |atom: &&Atom| atom.lo <= constant && constant <= atom.hi;
        let value = self.limit.atoms.iter().find(holds).map_or(constant, as_set);
        (Nanos::ZERO < value).then_some(value)
    }
}

impl ClassLimit {
    /// The deadline, where it is sure enough that there is one.
    pub fn deadline(&self) -> Option<Nanos> {
        self.declared_alike().or_else(|| self.inferred())
    }

    /// What all declare alike, if they do.
    pub fn declared_alike(&self) -> Option<Nanos> {
        let (count, range) = self.declared;
        let (least, most) = range?;
        let is_alike = most - least <= tolerance(least, TOLERANCE_FLOOR);
        (count == self.requests && is_alike)
            .then(|| shortest_within(most, least, most))
            .filter(|&value| Nanos::ZERO < value)
    }

    /// How many were not cut off.
    pub fn others(&self) -> u64 {
        self.requests.saturating_sub(self.limit.cut)
    }

    /// What nobody declares, and enough requests show.
    fn inferred(&self) -> Option<Nanos> {
        let atom = self.limit.atoms.first().filter(|atom| LEAST_CUT <= atom.count)?;
        let is_own = self.cut_with.is_none() && self.declared.0 == 0;
        let is_own = is_own && !is_outlasted(self.outlasting);
        is_own.then(|| as_set(atom)).filter(|&value| Nanos::ZERO < value)
    }
}

impl Limit {
    /// How many of those that were cut off are kept, which is what atoms are told by.
    pub fn kept(&self) -> u64 {
        self.cut.min(CUT as u64)
    }
}

/// What was set, most likely, as people write it: the round number, else the one of fewest digits that
/// the interval holds.
pub fn as_set(atom: &Atom) -> Nanos {
    atom.round.unwrap_or_else(|| shortest_within(atom.value, atom.lo, atom.hi))
}

/// `value` with as few significant digits as it can have from `lo` to `hi`.
fn shortest_within(value: Nanos, lo: Nanos, hi: Nanos) -> Nanos {
    let rounded = (1..=18).map(|digits| rounded_to(value, digits, Rounding::Half));
    rounded.into_iter().find(|rounded| (lo..=hi).contains(rounded)).unwrap_or(value)
}

/// To which side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounding {
    /// To the smaller number.
    Down,
    /// To the nearer one, from the middle on to the larger.
    Half,
    /// To the larger number.
    Up,
}

/// A length with so many significant digits.
pub(super) fn rounded_to(length: Nanos, digits: u32, side: Rounding) -> Nanos {
    let nanos = length.as_nanos();
    let all = nanos.unsigned_abs().checked_ilog10().unwrap_or(0) + 1;
    let unit = 10_i64.saturating_pow(all.saturating_sub(digits));
    let added = match side {
        Rounding::Down => 0,
        Rounding::Half => unit / 2,
        Rounding::Up => unit - 1,
    };
    Nanos::from_nanos(nanos.saturating_add(added).div_euclid(unit).saturating_mul(unit))
}

impl Observed {
    /// Concludes.
    pub fn calibrate(self, chosen: Chosen) -> Calibration {
        let Self { calls, classes, is_sampled } = self.with_callees();
        let mut pooled: BTreeMap<Call, Pooled> = BTreeMap::new();
        for (call, seen) in &calls {
            pooled.entry(whoever_calls(call)).or_default().add(seen);
        }
        let needs = pooled.into_iter().map(|(call, pooled)| (call, pooled.needs(chosen)));
        let needs: BTreeMap<Call, Needs> = needs.collect();
        let calls = calls.into_iter().map(|(call, seen)| {
            let needs = needs.get(&whoever_calls(&call)).copied().unwrap_or_default();
            call_limit(call, &seen, needs)
        });
        let mut calls: Vec<CallLimit> = calls.collect();
        count_same_elsewhere(&mut calls);
        let classes = classes.into_iter();
        let classes = classes.map(|(class, seen)| class_limit(class, &seen, &calls, chosen));
        Calibration { classes: classes.collect(), calls, is_sampled }
    }
}

/// What the attempts of a call are pooled by: those of all callers where it is known whom they call.
fn whoever_calls(call: &Call) -> Call {
    let caller = call.caller.clone().filter(|_| call.callee.is_none());
    Call { caller, ..call.clone() }
}

/// Attempts for one thing that succeeded, whoever made them.
#[derive(Default)]
struct Pooled {
    succeeded: Option<Sampled<Nanos>>,
    callers: usize,
}

/// What an attempt needs.
#[derive(Clone, Copy, Default)]
struct Needs {
    succeeded: (u64, usize),
    allowance: Option<Measured>,
    break_even: Option<Measured>,
}

impl Pooled {
    fn add(&mut self, seen: &CallObserved) {
        self.callers += usize::from(!seen.succeeded.is_empty());
        match &mut self.succeeded {
            Some(succeeded) => succeeded.merge(seen.succeeded.clone()),
            none => *none = Some(seen.succeeded.clone()),
        }
    }

    fn needs(self, chosen: Chosen) -> Needs {
        let Some(succeeded) = self.succeeded else { return Needs::default() };
        Needs {
            succeeded: (succeeded.seen(), self.callers),
            allowance: measured(&succeeded, chosen.allowance),
            break_even: measured(&succeeded, Quantile::P5),
        }
    }
}

fn call_limit(call: Call, seen: &CallObserved, needs: Needs) -> CallLimit {
    let cuts: Vec<&Cut> = seen.cut.by_trace().into_iter().map(|(_, cut)| cut).collect();
    let limit = Limit::of(seen.cut.seen(), cuts.iter().map(|cut| cut.duration), seen.longest);
    let less = |than: Option<Measured>| than.map(|than| with_less(seen, than.estimate.value));
    // Those that end at once had nothing left when they began.
    let lasting: Vec<&Cut> =
        cuts.iter().copied().filter(|cut| LEAST_LASTING <= cut.duration).collect();
    let judged = unless_by_others(rule(&lasting, &limit.atoms), &lasting);
    let of_constant =
        |atom: &&Atom| judged.constant.is_some_and(|it| (atom.lo..=atom.hi).contains(&it));
    let atom = limit.atoms.iter().find(of_constant).or(limit.atoms.first());
    let succeeded = seen.succeeded.by_trace().into_iter().map(|(_, &took)| took);
    let outlasting = outlasting(atom, succeeded.chain(cuts.iter().map(|cut| cut.duration)));
    CallLimit {
        call,
        attempts: seen.attempts,
        judged,
        limit,
        outlasting,
        unheard: seen.unheard,
        answered: seen.answered,
        same_elsewhere: 0,
        succeeded: needs.succeeded,
        allowance: needs.allowance,
        break_even: needs.break_even,
        funding: Funding {
            with_less_than_allowance: less(needs.allowance),
            with_less_than_break_even: less(needs.break_even),
            ..funding(seen)
        },
    }
}

/// Counts for each call how many other callers cut off theirs at the same value.
fn count_same_elsewhere(calls: &mut [CallLimit]) {
    let seen = calls.iter().flat_map(|call| {
        call.limit.atoms.iter().map(|atom| (atom.lo, atom.hi, call.call.caller.clone()))
    });
    let seen: Vec<(Nanos, Nanos, Option<Name>)> = seen.collect();
    for call in calls {
        let Some(value) = call.limit.atoms.first().map(as_set) else { continue };
        let alike = seen
            .iter()
            .filter(|(lo, hi, caller)| *lo <= value && value <= *hi && *caller != call.call.caller);
        let callers: BTreeSet<&Option<Name>> = alike.map(|(.., caller)| caller).collect();
        call.same_elsewhere = callers.len();
    }
}

fn class_limit(
    class: Name,
    seen: &ClassObserved,
    calls: &[CallLimit],
    chosen: Chosen,
) -> ClassLimit {
    let cuts: Vec<&CutRequest> = seen.cut.by_trace().into_iter().map(|(_, cut)| cut).collect();
    let limit = Limit::of(seen.cut.seen(), cuts.iter().map(|cut| cut.elapsed), seen.longest);
    let others = seen.others.by_trace().into_iter().map(|(_, &other)| other);
    let all = others.chain(cuts.iter().map(|cut| cut.elapsed));
    let outlasting = outlasting(limit.atoms.first(), all);
    ClassLimit {
        class,
        service: seen.service.clone(),
        operation: seen.operation.clone(),
        requests: seen.requests,
        limit,
        outlasting,
        cut_with: cut_with(&cuts, calls),
        masked: (
            seen.masked.values().sum(),
            most_often(&seen.masked).map(|(call, _)| call.clone()),
        ),
        declared: (seen.declared, seen.declared_range),
        returned: seen.returned.seen(),
        reserve: measured(&seen.returned, chosen.reserve),
    }
}

/// The same; nothing, where a constant is told by attempts most of which were cut off with others.
fn unless_by_others(judged: Judged, cuts: &[&Cut]) -> Judged {
    let Some(constant) = judged.constant else { return judged };
    let within = tolerance(constant, TOLERANCE_FLOOR);
    let near = cuts
        .iter()
        .filter(|cut| cut.duration <= constant + within && constant <= cut.duration + within);
    let near: Vec<bool> = near.map(|cut| cut.by_others).collect();
    let by_others = near.iter().filter(|&&by_others| by_others).count();
    if 2 * by_others <= near.len() {
        return judged;
    }
    Judged { rule: Rule::NotEnoughEvidence, constant: None, budget: None, ..judged }
}

/// How many of `durations` are longer than an atom, and by more than limits are equal within.
fn outlasting(atom: Option<&Atom>, durations: impl Iterator<Item = Nanos>) -> Proportion {
    let Some(atom) = atom else { return Proportion::default() };
    let beyond = atom.hi + tolerance(atom.hi, TOLERANCE_FLOOR);
    durations.fold(Proportion::default(), |of, duration| Proportion {
        part: of.part + u64::from(beyond < duration),
        whole: of.whole + 1,
    })
}

/// The calls with which most of `cuts` ended, other than those that are cut off when what was left is used
/// up.
fn cut_with(cuts: &[&CutRequest], calls: &[CallLimit]) -> Option<CutWith> {
    // Whom it calls is not always known.
    let limits = |call: &Call| {
        let (caller, operation) = (call.caller.clone(), call.operation.clone());
        let is_it = move |limit: &&CallLimit| {
            (&limit.call.caller, &limit.call.operation) == (&caller, &operation)
        };
        calls.iter().filter(is_it)
    };
    // One that was cut off before its constant was because less was left.
    let may_be_its = |call: &Call, took: Nanos| {
        limits(call).all(|limit| {
            let within = |constant: Nanos| constant - tolerance(constant, TOLERANCE_FLOOR) <= took;
            limit.judged.rule != Rule::Propagated && limit.judged.constant.is_none_or(within)
        })
    };
    let mut count: BTreeMap<Call, u64> = BTreeMap::new();
    for (call, took) in cuts.iter().filter_map(|cut| cut.with.as_ref()) {
        if may_be_its(call, *took) {
            *count.entry(call.clone()).or_default() += 1;
        }
    }
    let requests = count.values().sum();
    let (call, _) = most_often(&count)?;
    let is_constant = limits(call).any(|limit| limit.timeout().is_some());
    let found = CutWith { call: call.clone(), is_constant, requests };
    ((cuts.len() as u64) < 2 * requests).then_some(found)
}

/// The call that was counted most often.
fn most_often(count: &BTreeMap<Call, u64>) -> Option<(&Call, u64)> {
    count.iter().map(|(call, &times)| (call, times)).max_by_key(|(_, times)| *times)
}

impl Limit {
    /// What `durations` of those that were cut off show, of which `cut` were seen.
    fn of(cut: u64, durations: impl Iterator<Item = Nanos>, longest: Nanos) -> Self {
        let durations = in_order(durations);
        let atoms = atoms(&durations);
        let few = if durations.len() < LEAST_CUT { durations } else { Vec::new() };
        Self { cut, atoms, few, longest }
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
    (LEAST_MEASURED <= n).then_some(Measured { quantile, estimate, n })
}

fn in_order(values: impl Iterator<Item = Nanos>) -> Vec<Nanos> {
    let mut values: Vec<Nanos> = values.collect();
    values.sort_unstable();
    values
}
