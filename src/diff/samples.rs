//! Values and counts of one side by trace, and the scores by which two sides are tested.

use std::cmp::Ordering;

use crate::distributions::Estimate;
use crate::stats::{Proportion, Quantile};
use crate::units::Nanos;

/// Values of one measure with the traces that they come from; those of a trace stand together.
#[derive(Debug, Default)]
pub(super) struct Values {
    traces: Vec<u32>,
    values: Vec<i64>,
}

/// The values of one side in order.
#[derive(Debug)]
pub(super) struct Ordered {
    sorted: Vec<i64>,
    /// How many independent values they are worth (SEMANTICS §12).
    effective: usize,
}

impl Values {
    /// Adds a value of a trace.
    pub(super) fn push(&mut self, trace: u32, value: Nanos) {
        self.traces.push(trace);
        self.values.push(value.as_nanos());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The values in order.
    pub(super) fn ordered(&self) -> Ordered {
        let mut sorted = self.values.clone();
        sorted.sort_unstable();
        Ordered { sorted, effective: effective(&self.traces) }
    }

    /// The score of each value, summed by trace.
    fn scored(&self, score: impl Fn(i64) -> f64) -> Vec<f64> {
        let scored = self.traces.iter().copied().zip(self.values.iter().map(|&value| score(value)));
        summed(scored)
    }
}

impl Ordered {
    /// How many values there are.
    pub(super) fn len(&self) -> usize {
        self.sorted.len()
    }

    /// How many independent ones they are worth.
    pub(super) const fn effective(&self) -> usize {
        self.effective
    }

    /// A percentile with its interval.
    pub(super) fn quantile(&self, quantile: Quantile) -> Option<Estimate> {
        let at = |rank: usize| {
            let value = rank.checked_sub(1).and_then(|index| self.sorted.get(index));
            value.copied().map(Nanos::from_nanos)
        };
        let ranks = quantile.interval_of(self.len(), self.effective);
        let value = at(quantile.rank(self.len())?)?;
        let is_approximate = self.effective < self.len();
        Some(Estimate {
            value,
            lo: ranks.lo.and_then(at),
            hi: ranks.hi.and_then(at),
            is_approximate,
        })
    }
}

/// The values of both sides in order.
pub(super) struct Pooled(Vec<i64>);

impl Pooled {
    pub(super) fn of(base: &Ordered, head: &Ordered) -> Self {
        let mut sorted = [&*base.sorted, &*head.sorted].concat();
        sorted.sort_unstable();
        Self(sorted)
    }

    /// How many are less than a value, and how many are not more.
    fn ranks(&self, value: i64) -> (usize, usize) {
        (self.0.partition_point(|&it| it < value), self.0.partition_point(|&it| it <= value))
    }

    /// Scores by rank (Mann and Whitney), those that are equal the mean of their ranks; twice it,
    /// around the mean of all.
    pub(super) fn by_rank(&self, values: &Values) -> Vec<f64> {
        let all = signed(self.0.len());
        values.scored(|value| {
            let (less, not_more) = self.ranks(value);
            float(signed(less) + signed(not_more) - all)
        })
    }

    /// By how much a value that is beyond a percentile scores more than one that is not.
    pub(super) fn exceedance_step(&self, quantile: Quantile) -> f64 {
        let (_, equal) = self.at(quantile);
        float(equal * signed(self.0.len()))
    }

    /// The value at a percentile, and how many have it.
    fn at(&self, quantile: Quantile) -> (i64, i128) {
        let rank = quantile.rank(self.0.len()).unwrap_or(0);
        let at = rank.checked_sub(1).and_then(|index| self.0.get(index)).copied().unwrap_or(0);
        let (less, not_more) = self.ranks(at);
        (at, signed(not_more - less))
    }

    /// Scores by being beyond a percentile of both sides together: 1 for those of higher rank, else
    /// 0, those that are equal the mean of what their ranks have; around the mean of all.
    pub(super) fn by_exceedance(&self, values: &Values, quantile: Quantile) -> Vec<f64> {
        let all = self.0.len();
        let rank = quantile.rank(all).unwrap_or(0);
        let (at, equal) = self.at(quantile);
        let (_, not_more) = self.ranks(at);
        // Exact as long as squares of counts are.
        let mean = signed(all - rank) * equal;
        values.scored(|value| {
            let score = match value.cmp(&at) {
                Ordering::Less => 0,
                Ordering::Equal => signed(not_more - rank),
                Ordering::Greater => equal,
            };
            float(score * signed(all) - mean)
        })
    }
}

/// Some of the requests of one side, by trace.
#[derive(Clone, Copy)]
pub(super) struct Share<'a> {
    /// The trace of each that did.
    pub(super) part: &'a [u32],
    /// The trace of each that could.
    pub(super) whole: &'a [u32],
}

impl Share<'_> {
    pub(super) fn proportion(self) -> Proportion {
        Proportion { part: self.part.len() as u64, whole: self.whole.len() as u64 }
    }

    /// With its 95 % interval.
    pub(super) fn interval(self) -> (f64, f64) {
        self.proportion().interval_of(effective(self.whole) as u64)
    }

    /// By how much a request that did scores more than one that did not.
    pub(super) fn step(both: Proportion) -> f64 {
        float(i128::from(both.whole))
    }

    /// Scores by having done it, around the mean of both sides, summed by trace.
    pub(super) fn scores(self, both: Proportion) -> Vec<f64> {
        let score = |score: u64| float(i128::from(score));
        let did = self.part.iter().map(|&trace| (trace, score(both.whole)));
        let could = self.whole.iter().map(|&trace| (trace, -score(both.part)));
        let mut scored: Vec<(u32, f64)> = did.chain(could).collect();
        scored.sort_by_key(|(trace, _)| *trace);
        summed(scored.into_iter())
    }
}

/// Sums scores by trace; those of a trace stand together.
fn summed(scored: impl Iterator<Item = (u32, f64)>) -> Vec<f64> {
    let mut sums: Vec<f64> = Vec::new();
    let mut last = None;
    for (trace, score) in scored {
        match sums.last_mut() {
            Some(sum) if last == Some(trace) => *sum += score,
            _ => sums.push(score),
        }
        last = Some(trace);
    }
    sums
}

/// How many independent values those of some traces are worth, if within a trace they are all alike:
/// (Σm)² / Σm² for m values a trace, rounded down.
fn effective(traces: &[u32]) -> usize {
    let squares: u128 = traces.chunk_by(|a, b| a == b).map(|run| (run.len() as u128).pow(2)).sum();
    let n = traces.len() as u128;
    (n * n).checked_div(squares).and_then(|worth| usize::try_from(worth).ok()).unwrap_or(0)
}

fn signed(count: usize) -> i128 {
    count as i128
}

#[expect(clippy::cast_precision_loss, reason = "scores beyond 2^53 need not be exact")]
fn float(score: i128) -> f64 {
    score as f64
}
