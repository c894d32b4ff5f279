//! Percentiles without assumptions (SEMANTICS §12): which rank of a sorted sample is the
//! percentile, and which two ranks enclose the population's with 95 % confidence; what a share of a
//! sample says of the population's; and whether two samples differ. Ranks, counts and scores only:
//! this module never sees a value.

mod binomial;
mod family;
mod hypergeometric;
mod normal;
mod permutation;
mod proportion;
mod saddlepoint;
mod weight;

use std::fmt;

pub(crate) use binomial::{at_least as upper_binomial, float};
pub use family::{Family, LEVEL};
pub use permutation::Test;
pub use proportion::Proportion;
pub use weight::{Aims, Mass, Weight};

/// A quantile, in thousandths so that ranks are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quantile(u16);

/// The ranks, from 1, that enclose a quantile of the population in at least 95 samples of 100.
/// A side on which no order statistic is far enough out is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankInterval {
    /// The lower rank.
    pub lo: Option<usize>,
    /// The upper rank.
    pub hi: Option<usize>,
}

impl Quantile {
    /// The lowest thousandth.
    pub const P0_1: Self = Self(1);
    /// The lowest hundredth.
    pub const P1: Self = Self(10);
    /// The lowest twentieth.
    pub const P5: Self = Self(50);
    /// The lowest tenth.
    pub const P10: Self = Self(100);
    /// The median.
    pub const P50: Self = Self(500);
    /// All but the highest tenth.
    pub const P90: Self = Self(900);
    /// All but the highest twentieth.
    pub const P95: Self = Self(950);
    /// All but the highest hundredth.
    pub const P99: Self = Self(990);
    /// All but the highest thousandth.
    pub const P99_9: Self = Self(999);

    /// All of them, from the lowest on.
    pub const ALL: [Self; 9] = [
        Self::P0_1,
        Self::P1,
        Self::P5,
        Self::P10,
        Self::P50,
        Self::P90,
        Self::P95,
        Self::P99,
        Self::P99_9,
    ];

    /// The nearest rank in a sample of `n`, from 1: ⌈p·n⌉. `None` where there is no sample.
    pub fn rank(self, n: usize) -> Option<usize> {
        if n == 0 {
            return None;
        }
        usize::try_from(self.share_of(n as u128)).ok()
    }

    /// What of `whole` lies up to the percentile: ⌈p·whole⌉.
    fn share_of(self, whole: u128) -> u128 {
        (u128::from(self.0) * whole).div_ceil(1_000)
    }

    /// The smallest interval of ranks, each tail at most 2.5 %, in a sample of `n`.
    pub fn interval(self, n: usize) -> RankInterval {
        binomial::central_ranks(n, f64::from(self.0) / 1_000.0)
    }

    /// The interval of `n` values that stand for no more than `effective` independent ones: where it
    /// lies among as many, stretched over all and rounded outwards.
    pub fn interval_of(self, n: usize, effective: usize) -> RankInterval {
        let ranks = self.interval(effective);
        if effective >= n {
            return ranks;
        }
        let stretched = |rank: usize| rank as u128 * n as u128 / effective as u128;
        let back = |rank: u128| usize::try_from(rank).unwrap_or(n);
        RankInterval {
            lo: ranks.lo.map(|lo| back(stretched(lo.saturating_sub(1)) + 1)),
            hi: ranks
                .hi
                .map(|hi| back((hi as u128 * n as u128).div_ceil(effective as u128)).min(n)),
        }
    }

    /// The end of an interval on the quantile's outer side, where larger samples are needed.
    pub fn outer<T>(self, lo: Option<T>, hi: Option<T>) -> Option<T> {
        if self < Self::P50 { lo } else { hi }
    }

    /// The smallest sample whose interval has an end on the quantile's outer side. Below it the
    /// sample says nothing about how far out the quantile may lie.
    pub fn least_sample(self) -> usize {
        let inner = f64::from(self.0.max(1_000 - self.0)) / 1_000.0;
        let mut tail = inner;
        let mut n = 1;
        while tail > binomial::TAIL {
            tail *= inner;
            n += 1;
        }
        n
    }
}

impl fmt::Display for Quantile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0 / 10, self.0 % 10) {
            (percent, 0) => write!(f, "p{percent}"),
            (percent, tenth) => write!(f, "p{percent}.{tenth}"),
        }
    }
}
