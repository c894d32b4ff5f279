//! Values and counts of one side by trace, and the scores by which two sides are tested.

use std::cmp::Ordering;

use crate::distributions::{Ordered, Values, effective};
use crate::stats::{Proportion, Quantile};

/// The values of both sides in order.
pub(super) struct Pooled(Vec<i64>);

impl Pooled {
    pub(super) fn of(base: &Ordered, head: &Ordered) -> Self {
        let mut sorted = [base.sorted(), head.sorted()].concat();
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
        scored(values, |value| {
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
        scored(values, |value| {
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

/// The score of each value, summed by trace.
fn scored(values: &Values, score: impl Fn(i64) -> f64) -> Vec<f64> {
    summed(values.iter().map(|(trace, value)| (trace, score(value))))
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

fn signed(count: usize) -> i128 {
    count as i128
}

#[expect(clippy::cast_precision_loss, reason = "scores beyond 2^53 need not be exact")]
fn float(score: i128) -> f64 {
    score as f64
}
