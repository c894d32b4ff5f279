//! How many requests of the population those that were kept stand for (SEMANTICS §12).

use std::num::NonZeroU64;

use super::Quantile;

/// Weights are whole numbers of millionths: their sums are exact, in whatever order they come.
const MILLIONTHS: f64 = 1e6;

/// How many requests of the population one that was kept stands for: 1 / sampling probability.
/// Zero for one that was kept for other reasons, and stands for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Weight(NonZeroU64);

impl Weight {
    /// One in more than this is no sampling, and squares of more would not fit.
    pub const LARGEST: f64 = 1e9;

    /// The weight of a request that stands for `requests`, to the millionth. `None` where that is no
    /// weight: a probability is not above 1.
    pub fn new(requests: f64) -> Option<Self> {
        let is_one = requests == 0.0 || (1.0..=Self::LARGEST).contains(&requests);
        is_one.then(|| Self::of_millionths(whole(requests * MILLIONTHS)))
    }

    /// The weight of a request that was kept with this probability. `None` where that is none.
    pub fn of_probability(probability: f64) -> Option<Self> {
        (0.0 < probability && probability <= 1.0).then(|| Self::new(1.0 / probability))?
    }

    pub(crate) const fn of_millionths(millionths: u64) -> Self {
        // One more, so that none needs no room of its own.
        Self(NonZeroU64::MIN.saturating_add(millionths))
    }

    pub(crate) const fn millionths(self) -> u64 {
        self.0.get() - 1
    }

    /// How many requests it is.
    pub fn requests(self) -> f64 {
        float(self.millionths().into()) / MILLIONTHS
    }

    /// Whether it stands for none.
    pub const fn is_zero(self) -> bool {
        self.millionths() == 0
    }
}

/// The nearest whole number of one that is not negative, nor more than [`Weight::LARGEST`] in
/// millionths.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in range")]
fn whole(number: f64) -> u64 {
    number.round() as u64
}

#[expect(clippy::cast_precision_loss, reason = "what is told of it need not be exact")]
const fn float(number: u128) -> f64 {
    number as f64
}

/// How many values there are, and what they weigh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mass {
    /// How many.
    pub n: u64,
    /// Of how many of them the weight is known.
    pub known: u64,
    /// The sum of these weights, in millionths.
    pub weight: u128,
    /// The sum of their squares.
    pub squares: u128,
}

/// How much of a mass lies up to a percentile, itself included, and up to the ends of its interval.
/// A side that the sample does not bound is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aims {
    /// Up to the percentile.
    pub value: u128,
    /// Up to the lower end.
    pub lo: Option<u128>,
    /// Up to the upper end.
    pub hi: Option<u128>,
}

impl Mass {
    /// No values.
    pub const NOTHING: Self = Self { n: 0, known: 0, weight: 0, squares: 0 };

    /// Adds one value.
    #[inline]
    pub fn add(&mut self, weight: Option<Weight>) {
        self.n += 1;
        if let Some(weight) = weight {
            let millionths = u128::from(weight.millionths());
            self.known += 1;
            self.weight += millionths;
            self.squares = self.squares.saturating_add(millionths * millionths);
        }
    }

    /// Adds those of another part.
    pub fn merge(&mut self, other: Self) {
        self.n += other.n;
        self.known += other.known;
        self.weight += other.weight;
        self.squares = self.squares.saturating_add(other.squares);
    }

    /// What is left without `part`.
    #[must_use]
    pub fn without(self, part: Self) -> Self {
        Self {
            n: self.n.saturating_sub(part.n),
            known: self.known.saturating_sub(part.known),
            weight: self.weight.saturating_sub(part.weight),
            squares: self.squares.saturating_sub(part.squares),
        }
    }

    /// The same where nothing is known of weights.
    #[must_use]
    pub fn unweighted(self) -> Self {
        Self { n: self.n, ..Self::default() }
    }

    /// Whether the weight of every value is known.
    pub const fn is_weighted(self) -> bool {
        self.n > 0 && self.known == self.n
    }

    /// What percentiles are shares of: the sum of weights, or how many there are.
    pub fn whole(self) -> u128 {
        if self.is_weighted() { self.weight } else { self.n.into() }
    }

    /// The sum of the weights, as requests; `None` where not all are known.
    pub fn population(self) -> Option<f64> {
        self.is_weighted().then(|| float(self.weight) / MILLIONTHS)
    }

    /// How many values of equal weight would tell as much: (Σw)²/Σw². `None` where not all weights
    /// are known.
    pub fn effective_n(self) -> Option<f64> {
        let squared = float(self.weight) * float(self.weight);
        self.is_weighted().then(|| squared / float(self.squares))
    }

    /// How large a sample it counts as: the effective one, rounded down, or how many there are.
    pub fn sample_size(self) -> usize {
        let whole = if self.is_weighted() {
            match self.weight.checked_mul(self.weight) {
                Some(squared) => squared.checked_div(self.squares).unwrap_or(0),
                None => self.effective_n().map_or(0, |n| u128::from(whole(n))),
            }
        } else {
            self.n.into()
        };
        usize::try_from(whole).unwrap_or(usize::MAX)
    }

    /// What to look for in it; `None` of nothing.
    pub fn aims(self, quantile: Quantile) -> Option<Aims> {
        let (whole, size) = (self.whole(), self.sample_size());
        let ranks = quantile.interval(size);
        // Ranks of the effective sample, as shares of the weight.
        let share =
            |rank: usize| (whole.checked_mul(rank as u128)?).checked_next_multiple_of(size as u128);
        let end = |rank: Option<usize>| Some(share(rank?)? / size as u128);
        let value = quantile.share_of(whole);
        (size > 0).then(|| Aims { value, lo: end(ranks.lo), hi: end(ranks.hi) })
    }
}
