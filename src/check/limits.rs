//! The values that a limit is about, and whether their interval keeps it.

use rustc_hash::FxHashSet;

use super::evidence::Request;
use super::judge::Outcome;
use crate::contract::{Comparison, Glob, HopMeasure, Promise, Ratio, Statistic, TimeOf};
use crate::distributions::{Estimate, Sample, Weights};
use crate::span::{Interner, SpanId, Sym, TraceId};
use crate::stats::Proportion;
use crate::tables::{
    AttemptKind, AttemptRow, Funding, HopRow, RequestRow, Tables, TerminalOutcome, Verdict,
};
use crate::units::Nanos;

/// The values that one limit is about.
#[derive(Clone, Debug)]
pub(super) enum Values {
    Times(Sample),
    Share(Proportion),
}

/// What was measured for a limit.
#[derive(Clone, Copy, Debug)]
pub enum Measured {
    /// A time, with the interval in which the population's lies; an end that the sample does not
    /// bound is `None`.
    Time {
        /// The value and its interval; `None` without any value.
        estimate: Option<Estimate>,
        /// Of how many values.
        n: u64,
    },
    /// A share, with the interval in which the population's lies.
    Share {
        /// How many of how many.
        proportion: Proportion,
        /// The interval.
        interval: (f64, f64),
    },
}

impl Values {
    pub(super) fn new(promise: &Promise) -> Self {
        match promise {
            Promise::Time { .. } => Self::Times(Sample::default()),
            Promise::Ratio { .. } => Self::Share(Proportion::default()),
        }
    }

    /// Takes in those of a partition that belong to requests of the contract.
    pub(super) fn add(
        &mut self,
        promise: &Promise,
        tables: &Tables,
        weights: &Weights,
        is_its: &dyn Fn(Request) -> bool,
    ) {
        match (self, promise) {
            (Self::Times(sample), Promise::Time { of, statistic, .. }) => {
                // The extremes are those of all that was seen, whatever it stands for.
                let is_weighted = matches!(statistic, Statistic::Quantile(_));
                let weight = |(trace, root): Request| {
                    weights.of_request(trace, root).filter(|_| is_weighted)
                };
                match of {
                    TimeOf::Requests(value) => {
                        for row in requests(tables, is_its) {
                            let weight = weight((row.trace_id, row.root_span_id));
                            sample.push_some(value(row), weight);
                        }
                    }
                    TimeOf::Hops(HopMeasure { value, callee }) => {
                        for row in hops(tables, Some(callee), is_its) {
                            let weight = weight((row.trace_id, row.root_span_id));
                            sample.push_some(value(row), weight);
                        }
                    }
                }
            }
            (Self::Share(share), Promise::Ratio { ratio, callee, .. }) => {
                let trials = Trials { tables, callee: callee.as_ref(), is_its };
                for did in trials.of(*ratio) {
                    share.whole += 1;
                    share.part += u64::from(did);
                }
            }
            _ => {}
        }
    }

    /// Forgets what requests weigh.
    pub(super) fn forget_weights(&mut self) {
        if let Self::Times(sample) = self {
            sample.forget_weights();
        }
    }

    /// What they say of the promise.
    pub(super) fn judge(&self, promise: &Promise) -> (Outcome, Measured) {
        match (self, promise) {
            (Self::Times(sample), Promise::Time { statistic, comparison, bound, .. }) => {
                let sorted = sample.sorted();
                // What was seen was seen: the extremes are no estimates.
                let seen = |value: Option<Nanos>| {
                    value.map(|value| Estimate {
                        value,
                        lo: Some(value),
                        hi: Some(value),
                        is_approximate: false,
                    })
                };
                let estimate = match statistic {
                    Statistic::Min => seen(sorted.min()),
                    Statistic::Max => seen(sorted.max()),
                    Statistic::Quantile(quantile) => sorted.quantile(*quantile),
                };
                let (lo, hi) = estimate.map_or((None, None), |estimate| (estimate.lo, estimate.hi));
                let measured = Measured::Time { estimate, n: sorted.len() as u64 };
                (kept(*comparison, lo, hi, *bound), measured)
            }
            (Self::Share(proportion), Promise::Ratio { comparison, bound, .. }) => {
                let interval @ (lo, hi) = proportion.interval();
                let ends = (proportion.whole > 0).then_some((lo, hi));
                let outcome = kept(*comparison, ends.map(|it| it.0), ends.map(|it| it.1), *bound);
                (outcome, Measured::Share { proportion: *proportion, interval })
            }
            _ => (Outcome::NoEvidence, Measured::Time { estimate: None, n: 0 }),
        }
    }
}

/// Whether a promise is kept anywhere from `lo` to `hi`, or nowhere. An end that is not known is
/// infinitely far.
pub(super) fn kept<T: PartialOrd + Copy>(
    comparison: Comparison,
    lo: Option<T>,
    hi: Option<T>,
    bound: T,
) -> Outcome {
    let is = |end: Option<T>, holds: fn(&T, &T) -> bool| end.is_some_and(|end| holds(&end, &bound));
    let (keeps, breaks) = match comparison {
        Comparison::AtMost => (is(hi, T::le), is(lo, T::gt)),
        Comparison::Below => (is(hi, T::lt), is(lo, T::ge)),
        Comparison::AtLeast => (is(lo, T::ge), is(hi, T::lt)),
        Comparison::Above => (is(lo, T::gt), is(hi, T::le)),
    };
    match (keeps, breaks) {
        (true, _) => Outcome::Pass,
        (false, true) => Outcome::Fail,
        (false, false) => Outcome::NoEvidence,
    }
}

fn requests<'t>(
    tables: &'t Tables,
    is_its: &dyn Fn(Request) -> bool,
) -> impl Iterator<Item = &'t RequestRow> {
    tables.requests.iter().filter(move |row| is_its((row.trace_id, row.root_span_id)))
}

fn hops<'t>(
    tables: &'t Tables,
    callee: Option<&'t Glob>,
    is_its: &dyn Fn(Request) -> bool,
) -> impl Iterator<Item = &'t HopRow> {
    tables.hops.iter().filter(move |row| {
        is_named(&tables.strings, callee, row.callee_service)
            && is_its((row.trace_id, row.root_span_id))
    })
}

/// Whether a service is one of those that are asked for.
fn is_named(strings: &Interner, wanted: Option<&Glob>, service: Option<Sym>) -> bool {
    wanted.is_none_or(|wanted| service.is_some_and(|name| wanted.matches(strings.get(name))))
}

/// The rows of a contract's requests that a ratio counts.
struct Trials<'t> {
    tables: &'t Tables,
    callee: Option<&'t Glob>,
    is_its: &'t dyn Fn(Request) -> bool,
}

impl Trials<'_> {
    /// For each trial whether it did what the ratio counts.
    fn of(&self, ratio: Ratio) -> Vec<bool> {
        match ratio {
            Ratio::DeadlineMiss => {
                self.requests(|row| row.completed_before_deadline.map(|in_time| !in_time))
            }
            Ratio::Failure => {
                self.requests(|row| Some(row.terminal_outcome != TerminalOutcome::Completed))
            }
            Ratio::Late => self.requests(|row| row.late_work_ns.map(|late| late > Nanos::ZERO)),
            Ratio::Residual => {
                self.requests(|row| Some(row.residual_work_after_cancel_ns > Nanos::ZERO))
            }
            Ratio::Retry => self.calls(AttemptKind::Retry),
            Ratio::Hedge => self.calls(AttemptKind::Hedge),
            Ratio::UnfundableRetry => self.attempts(|row| {
                (row.kind == AttemptKind::Retry).then(|| is_unfunded(row)).flatten()
            }),
            Ratio::UnfundableAttempt => self.attempts(is_unfunded),
            Ratio::Undeclared => self
                .hops(|row| (row.verdict != Verdict::Origin).then_some(row.granted_ns.is_none())),
            Ratio::Overgrant => self.hops(|row| {
                let is_judged = row.granted_ns.is_some()
                    && !matches!(row.verdict, Verdict::Origin | Verdict::NoCallerDeadline);
                is_judged.then_some(matches!(row.verdict, Verdict::Reset | Verdict::Overgrant))
            }),
        }
    }

    fn requests(&self, did: impl Fn(&RequestRow) -> Option<bool>) -> Vec<bool> {
        requests(self.tables, self.is_its).filter_map(did).collect()
    }

    fn hops(&self, did: impl Fn(&HopRow) -> Option<bool>) -> Vec<bool> {
        hops(self.tables, self.callee, self.is_its).filter_map(did).collect()
    }

    fn attempts(&self, did: impl Fn(&AttemptRow) -> Option<bool>) -> Vec<bool> {
        self.attempt_rows().filter_map(did).collect()
    }

    fn attempt_rows(&self) -> impl Iterator<Item = &AttemptRow> {
        self.tables.attempts.iter().filter(|row| {
            is_named(&self.tables.strings, self.callee, row.callee_service)
                && (self.is_its)((row.trace_id, row.root_span_id))
        })
    }

    /// For each call whether it has an attempt of a kind.
    fn calls(&self, kind: AttemptKind) -> Vec<bool> {
        let call = |row: &AttemptRow| (row.trace_id, row.call_id);
        let of_kind = self.attempt_rows().filter(|row| row.kind == kind);
        let have: FxHashSet<(TraceId, SpanId)> = of_kind.map(call).collect();
        let first = |row: &&AttemptRow| row.span_id == row.call_id;
        self.attempt_rows().filter(first).map(|row| have.contains(&call(row))).collect()
    }
}

/// Whether too little was left; `None` where that is not known, or would be known only of those that
/// had nothing left: without an allowance those with enough cannot be told.
fn is_unfunded(row: &AttemptRow) -> Option<bool> {
    row.allowance_ns?;
    match row.funding {
        Funding::Unknown => None,
        Funding::Funded => Some(false),
        Funding::Expired | Funding::Unfundable => Some(true),
    }
}
