//! How many of how many, and what that says of the population.

use super::binomial;

/// Halvings until an interval's end is as exact as its float.
const STEPS: usize = 60;

/// `part` of `whole` independent trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proportion {
    /// Those that did.
    pub part: u64,
    /// All.
    pub whole: u64,
}

impl Proportion {
    /// The part of one; of nothing, zero.
    pub fn ratio(self) -> f64 {
        if self.whole == 0 {
            return 0.0;
        }
        binomial::float(count(self.part)) / binomial::float(count(self.whole))
    }

    /// The exact 95 % interval (Clopper and Pearson): each tail at most 2.5 %. Of no trial all is
    /// possible.
    pub fn interval(self) -> (f64, f64) {
        let (n, k) = (count(self.whole), count(self.part.min(self.whole)));
        let is_below = |p: f64| binomial::at_least(n, p, k) <= binomial::TAIL;
        let is_not_above = |p: f64| binomial::at_most(n, p, k) > binomial::TAIL;
        let lo = if k == 0 { 0.0 } else { last(is_below) };
        let hi = if k == n { 1.0 } else { last(is_not_above) };
        (lo, hi)
    }

    /// The same of trials that stand for no more than `effective` independent ones: of as many, where
    /// as large a part did, rounded to either side.
    pub fn interval_of(self, effective: u64) -> (f64, f64) {
        if effective >= self.whole {
            return self.interval();
        }
        let product = u128::from(self.part) * u128::from(effective);
        let whole = u128::from(self.whole);
        let of = |part: u128| {
            let part = u64::try_from(part).unwrap_or(u64::MAX);
            Self { part, whole: effective }.interval()
        };
        (of(product / whole).0, of(product.div_ceil(whole)).1)
    }
}

/// The last p, from 0 to 1, for which `holds`, which it does up to there.
pub(super) fn last(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut below, mut above) = (0.0, 1.0);
    for _ in 0..STEPS {
        let middle = f64::midpoint(below, above);
        if holds(middle) {
            below = middle;
        } else {
            above = middle;
        }
    }
    below
}

fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
