//! The exact values of one measure, and what is told of them.

use super::merge::Merge;
use crate::stats::Quantile;
use crate::units::Nanos;

/// Values of one measure. Zeros, which most measures are full of, are only counted.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    zeros: usize,
    others: Vec<i64>,
}

/// A quantile of a sample with its 95 % interval; a side that the sample does not bound is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// The value at the nearest rank.
    pub value: Nanos,
    /// The lower end.
    pub lo: Option<Nanos>,
    /// The upper end.
    pub hi: Option<Nanos>,
}

impl Sample {
    /// No value at all.
    pub(super) const NONE: Self = Self { zeros: 0, others: Vec::new() };

    /// Adds a value.
    pub fn push(&mut self, value: Nanos) {
        match value.as_nanos() {
            0 => self.zeros += 1,
            other => self.others.push(other),
        }
    }

    /// Adds a value where there is one.
    pub fn push_some(&mut self, value: Option<Nanos>) {
        if let Some(value) = value {
            self.push(value);
        }
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.zeros + self.others.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many are not zero.
    pub fn nonzero(&self) -> usize {
        self.others.len()
    }

    /// Their sum; wide, so that it is exact.
    pub fn sum(&self) -> i128 {
        self.others.iter().copied().map(i128::from).sum()
    }

    /// The values in order, with further zeros up to `n`: for measures whose zeros were not told.
    pub fn sorted_of(&self, n: usize) -> Sorted {
        let mut others = self.others.clone();
        others.sort_unstable();
        let negative = others.partition_point(|&value| value < 0);
        Sorted { negative, zeros: self.zeros.max(n.saturating_sub(others.len())), others }
    }

    /// The values in order.
    pub fn sorted(&self) -> Sorted {
        self.sorted_of(0)
    }
}

impl Merge for Sample {
    fn merge_from(&mut self, other: Self) {
        self.zeros += other.zeros;
        self.others.extend(other.others);
    }
}

/// The values of a sample in order.
#[derive(Clone, Debug)]
pub struct Sorted {
    negative: usize,
    zeros: usize,
    others: Vec<i64>,
}

impl Sorted {
    /// How many values there are.
    pub fn len(&self) -> usize {
        self.zeros + self.others.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The smallest value.
    pub fn min(&self) -> Option<Nanos> {
        self.at(1)
    }

    /// The largest value.
    pub fn max(&self) -> Option<Nanos> {
        self.at(self.len())
    }

    /// Each distinct value in order, and how many have it.
    pub fn runs(&self) -> impl Iterator<Item = (Nanos, usize)> + '_ {
        let (below, above) = self.others.split_at(self.negative.min(self.others.len()));
        let zeros = (self.zeros > 0).then_some((Nanos::ZERO, self.zeros));
        same(below).chain(zeros).chain(same(above))
    }

    /// A quantile with its interval; `None` of an empty sample.
    pub fn quantile(&self, quantile: Quantile) -> Option<Estimate> {
        let value = self.at(quantile.rank(self.len())?)?;
        let ranks = quantile.interval(self.len());
        let end = |rank: Option<usize>| rank.and_then(|rank| self.at(rank));
        Some(Estimate { value, lo: end(ranks.lo), hi: end(ranks.hi) })
    }

    /// The value of a rank, from 1.
    fn at(&self, rank: usize) -> Option<Nanos> {
        let index = rank.checked_sub(1)?;
        let value = if index < self.negative {
            self.others.get(index).copied()
        } else if index < self.negative + self.zeros {
            Some(0)
        } else {
            self.others.get(index - self.zeros).copied()
        };
        value.map(Nanos::from_nanos)
    }
}

/// Runs of equal values.
fn same(values: &[i64]) -> impl Iterator<Item = (Nanos, usize)> + '_ {
    let runs = values.chunk_by(|a, b| a == b);
    runs.filter_map(|run| Some((Nanos::from_nanos(*run.first()?), run.len())))
}
