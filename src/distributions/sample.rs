//! The exact values of one measure, and what is told of them.

use super::merge::Merge;
use crate::stats::{Mass, Quantile, Weight};
use crate::units::Nanos;

/// What stands for the weight of a value of which it is not known.
const UNKNOWN: u64 = 0;

/// Values of one measure. Zeros, which most measures are full of, are only counted.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    zeros: Mass,
    others: Vec<i64>,
    /// Millionths of requests that each of the others stands for. Empty as long as of none is known.
    weights: Vec<u64>,
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
    /// The interval is that of as large a sample as the weighted one counts for.
    pub is_approximate: bool,
}

impl Sample {
    /// No value at all.
    pub(super) const NONE: Self =
        Self { zeros: Mass::NOTHING, others: Vec::new(), weights: Vec::new() };

    /// Adds a value of which no weight is known.
    pub fn push(&mut self, value: Nanos) {
        self.push_weighted(value, None);
    }

    /// Adds a value of a request of this weight; one that stands for none is not counted.
    pub fn push_weighted(&mut self, value: Nanos, weight: Option<Weight>) {
        if weight.is_some_and(Weight::is_zero) {
            return;
        }
        let value = value.as_nanos();
        if value == 0 {
            self.zeros.add(weight);
            return;
        }
        if weight.is_some() && self.weights.is_empty() {
            self.weights.resize(self.others.len(), UNKNOWN);
        }
        if weight.is_some() || !self.weights.is_empty() {
            self.weights.push(weight.map_or(UNKNOWN, Weight::millionths));
        }
        self.others.push(value);
    }

    /// Adds a value where there is one.
    pub fn push_some(&mut self, value: Option<Nanos>, weight: Option<Weight>) {
        if let Some(value) = value {
            self.push_weighted(value, weight);
        }
    }

    /// Adds zeros.
    pub(super) fn push_zeros(&mut self, zeros: Mass) {
        self.zeros.merge(zeros);
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        count(self.zeros) + self.others.len()
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

    /// How many there are, and what they weigh.
    pub fn mass(&self) -> Mass {
        let mut mass = self.zeros;
        mass.merge(self.nonzero_mass());
        mass
    }

    /// The same of those that are not zero.
    pub(super) fn nonzero_mass(&self) -> Mass {
        if self.weights.is_empty() {
            return Mass { n: self.others.len() as u64, ..Mass::NOTHING };
        }
        let mut mass = Mass::NOTHING;
        self.weights.iter().for_each(|&weight| mass.add(weight_of(weight)));
        mass
    }

    /// The zeros.
    pub(super) const fn zeros(&self) -> Mass {
        self.zeros
    }

    /// Forgets what the values weigh: where the weight of one request of a class is not known, those
    /// of the others are of no use.
    pub fn forget_weights(&mut self) {
        self.zeros = self.zeros.unweighted();
        self.weights = Vec::new();
    }

    /// The values in order, with further zeros up to those of `whole`: for measures whose zeros were
    /// not told.
    pub fn sorted_of(&self, whole: Mass) -> Sorted {
        self.clone().into_sorted_of(whole)
    }

    /// The values in order.
    pub fn sorted(&self) -> Sorted {
        self.sorted_of(Mass::NOTHING)
    }

    /// As [`Self::sorted_of`], without a copy.
    pub(super) fn into_sorted_of(mut self, whole: Mass) -> Sorted {
        let others = self.nonzero_mass();
        if self.zeros.n < whole.without(others).n {
            self.zeros = whole.without(others);
        }
        let mut mass = self.zeros;
        mass.merge(others);
        let (others, reached) = if mass.is_weighted() {
            ordered_by_weight(self.others, &self.weights, self.zeros)
        } else {
            self.others.sort_unstable();
            (self.others, Vec::new())
        };
        let negative = others.partition_point(|&value| value < 0);
        Sorted { mass, negative, zeros: self.zeros, others, reached }
    }

    /// The values that are not zero in order, each with the weight that stands for it.
    pub(super) fn into_ordered(self) -> Vec<(i64, u64)> {
        let weights = self.weights.into_iter().chain(std::iter::repeat(UNKNOWN));
        let mut ordered: Vec<(i64, u64)> = self.others.into_iter().zip(weights).collect();
        ordered.sort_unstable();
        ordered
    }
}

/// The weight that a number stands for.
pub(super) fn weight_of(millionths: u64) -> Option<Weight> {
    (millionths != UNKNOWN).then(|| Weight::of_millionths(millionths))
}

/// Values in order, and what weight is reached with each, zeros where they stand.
fn ordered_by_weight(others: Vec<i64>, weights: &[u64], zeros: Mass) -> (Vec<i64>, Vec<u128>) {
    let mut pairs: Vec<(i64, u64)> = others.into_iter().zip(weights.iter().copied()).collect();
    pairs.sort_unstable();
    let mut sum = 0;
    let mut are_below_zero = true;
    let reached = |&(value, weight): &(i64, u64)| {
        if are_below_zero && value > 0 {
            are_below_zero = false;
            sum += zeros.weight;
        }
        sum += u128::from(weight);
        sum
    };
    let reached = pairs.iter().map(reached).collect();
    (pairs.into_iter().map(|(value, _)| value).collect(), reached)
}

impl Merge for Sample {
    fn merge_from(&mut self, other: Self) {
        self.zeros.merge(other.zeros);
        if !(self.weights.is_empty() && other.weights.is_empty()) {
            self.weights.resize(self.others.len(), UNKNOWN);
            self.weights.extend(&other.weights);
        }
        self.others.extend(other.others);
        if !self.weights.is_empty() {
            self.weights.resize(self.others.len(), UNKNOWN);
        }
    }
}

/// The values of a sample in order. Where the weight of each is known, percentiles are those of
/// the population that they stand for.
#[derive(Clone, Debug)]
pub struct Sorted {
    mass: Mass,
    negative: usize,
    zeros: Mass,
    others: Vec<i64>,
    /// The weight up to each of the others, itself and all zeros before it included, where weights
    /// are known.
    reached: Vec<u128>,
}

impl Sorted {
    /// How many values there are.
    pub fn len(&self) -> usize {
        count(self.zeros) + self.others.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many there are, and what they weigh.
    pub const fn mass(&self) -> Mass {
        self.mass
    }

    /// The smallest value.
    pub fn min(&self) -> Option<Nanos> {
        self.ranked(0)
    }

    /// The largest value.
    pub fn max(&self) -> Option<Nanos> {
        self.ranked(self.len().checked_sub(1)?)
    }

    /// Each distinct value in order, and how many have it.
    pub fn runs(&self) -> impl Iterator<Item = (Nanos, usize)> + '_ {
        let (below, above) = self.others.split_at(self.negative.min(self.others.len()));
        let zeros = (self.zeros.n > 0).then_some((Nanos::ZERO, count(self.zeros)));
        same(below).chain(zeros).chain(same(above))
    }

    /// A quantile with its interval; `None` of an empty sample.
    pub fn quantile(&self, quantile: Quantile) -> Option<Estimate> {
        let aims = self.mass.aims(quantile)?;
        let end = |aim: Option<u128>| aim.and_then(|aim| self.at(aim));
        Some(Estimate {
            value: self.at(aims.value)?,
            lo: end(aims.lo),
            hi: end(aims.hi),
            is_approximate: self.mass.is_weighted(),
        })
    }

    /// The first value up to which so much of the mass lies.
    pub(super) fn at(&self, aim: u128) -> Option<Nanos> {
        if !self.mass.is_weighted() {
            return self.ranked(usize::try_from(aim.checked_sub(1)?).ok()?);
        }
        let index = self.reached.partition_point(|&reached| reached < aim);
        let below = self.negative.checked_sub(1).and_then(|last| self.reached.get(last));
        let up_to_zero = below.copied().unwrap_or(0) + self.zeros.weight;
        if index >= self.negative && aim <= up_to_zero {
            return Some(Nanos::ZERO);
        }
        self.others.get(index).copied().map(Nanos::from_nanos)
    }

    /// The value at a place in the order, from 0.
    fn ranked(&self, index: usize) -> Option<Nanos> {
        let value = if index < self.negative {
            self.others.get(index).copied()
        } else if index < self.negative + count(self.zeros) {
            Some(0)
        } else {
            self.others.get(index - count(self.zeros)).copied()
        };
        value.map(Nanos::from_nanos)
    }
}

/// How many it is.
fn count(mass: Mass) -> usize {
    usize::try_from(mass.n).unwrap_or(usize::MAX)
}

/// Runs of equal values.
fn same(values: &[i64]) -> impl Iterator<Item = (Nanos, usize)> + '_ {
    let runs = values.chunk_by(|a, b| a == b);
    runs.filter_map(|run| Some((Nanos::from_nanos(*run.first()?), run.len())))
}
