//! Whether two samples differ: tests by permutation of clusters, such as traces, whose scores are
//! summed before. What belongs together is never parted, so that a trace with many values counts as
//! one witness.
//!
//! If the sides are alike, every assignment of the clusters to them is as likely as the one that was
//! seen. The sum over the head's clusters is compared with what it is over all assignments: exactly
//! where scores have two values (Fisher's test) or clusters are few, else by a saddlepoint.

use super::binomial::float;
use super::{hypergeometric, normal, saddlepoint};

/// So many clusters or fewer are assigned in every possible way.
const FEW: usize = 16;

/// Sums that differ by less than this, relative to what is summed, are the same.
const SAME: f64 = 1e-9;

/// Below so many standard deviations a saddlepoint divides by next to nothing, and the normal
/// distribution serves as well.
const NEAR: f64 = 0.05;

/// The power at which a difference counts as one that would be told.
const POWER: f64 = 0.8;

/// What a test tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Test {
    /// If the sides were alike: twice the chance that the head's sum lies as far out on its side.
    pub p: f64,
    /// Twice the least chance that the outermost assignments have: `p` is at least that. It is 2 where
    /// all assignments give the same.
    pub least_p: f64,
    /// By how many standard deviations the head's sum is larger than expected.
    pub z: f64,
}

impl Test {
    /// Tests the scores of each cluster, those of `base` against those of `head`; `None` where a side
    /// has none.
    pub fn of(base: &[f64], head: &[f64]) -> Option<Self> {
        Self::in_steps(base, head, 0.0)
    }

    /// The same where a value changes the sum of its cluster by whole steps of `step`, and what lies
    /// between comes from clusters that hold different numbers of values. Half a step is taken off
    /// what was seen, so that the outcome itself counts as among those that are as far out.
    pub fn in_steps(base: &[f64], head: &[f64], step: f64) -> Option<Self> {
        if base.is_empty() || head.is_empty() {
            return None;
        }
        let scores = Scores { least_step: step, ..Scores::of(base, head) };
        let spread = scores.spread();
        if spread <= 0.0 {
            return Some(Self { p: 1.0, least_p: 2.0, z: 0.0 });
        }
        let outermost = [scores.largest(), scores.mirrored().largest()];
        let least = outermost.iter().map(|outermost| outermost.chance).fold(1.0, f64::min);
        let z = scores.sum / spread;
        let tail = scores.tail(z);
        let least_p = 2.0 * least;
        Some(Self { p: (2.0 * tail).max(least_p).min(1.0), least_p, z })
    }

    /// How many times as many clusters, of the same kind and as far apart, would be told apart at
    /// `level` four times of five. `None` where nothing is seen that could be told.
    pub fn growth_to_tell(&self, level: f64) -> Option<f64> {
        let wanted = normal::beyond(level / 2.0) + normal::beyond(1.0 - POWER);
        (self.z != 0.0).then(|| (wanted / self.z).powi(2))
    }

    /// How many times as many clusters it takes before any outcome can be told at `level`: chances
    /// multiply. `None` where no number would do.
    pub fn growth_to_reach(&self, level: f64) -> Option<f64> {
        self.could_differ().then(|| (level / 2.0).ln() / (self.least_p / 2.0).ln())
    }

    /// Whether assignments give different sums at all.
    pub fn could_differ(&self) -> bool {
        self.least_p < 2.0
    }
}

/// The scores of all clusters around their mean, in order, and the head's part of them.
struct Scores {
    sorted: Vec<f64>,
    head: Vec<f64>,
    /// Over the head.
    sum: f64,
    /// How far sums lie apart at least, as the caller knows.
    least_step: f64,
}

/// The largest sum that any assignment gives.
struct Outermost {
    sum: f64,
    /// How likely it is.
    chance: f64,
}

impl Scores {
    fn of(base: &[f64], head: &[f64]) -> Self {
        let mut sorted = [base, head].concat();
        sorted.sort_unstable_by(f64::total_cmp);
        let mean = sorted.iter().sum::<f64>() / float(sorted.len());
        for score in &mut sorted {
            *score -= mean;
        }
        let mut head = head.to_vec();
        // The order of the input must not show in the last digit of a sum.
        head.sort_unstable_by(f64::total_cmp);
        for score in &mut head {
            *score -= mean;
        }
        let sum = head.iter().sum();
        Self { sorted, head, sum, least_step: 0.0 }
    }

    fn mirrored(&self) -> Self {
        let mirrored = |scores: &[f64]| scores.iter().rev().map(|score| -score).collect();
        Self {
            sorted: mirrored(&self.sorted),
            head: mirrored(&self.head),
            sum: -self.sum,
            least_step: self.least_step,
        }
    }

    fn all(&self) -> usize {
        self.sorted.len()
    }

    fn taken(&self) -> usize {
        self.head.len()
    }

    fn squares(&self) -> f64 {
        self.sorted.iter().map(|score| score * score).sum()
    }

    /// The standard deviation of the head's sum over all assignments; zero where all scores are the
    /// same.
    fn spread(&self) -> f64 {
        let (Some(first), Some(last)) = (self.sorted.first(), self.sorted.last()) else {
            return 0.0;
        };
        if first.total_cmp(last).is_eq() {
            return 0.0;
        }
        let (all, taken) = (float(self.all()), float(self.taken()));
        (taken * (all - taken) / (all * (all - 1.0)) * self.squares()).sqrt()
    }

    /// Sums closer than this are the same.
    fn grain(&self) -> f64 {
        SAME * self.sorted.iter().map(|score| score.abs()).sum::<f64>()
    }

    /// How far sums lie apart, at least: as the two scores that are nearest to one another do.
    fn step(&self) -> f64 {
        let apart = self.sorted.windows(2).map(|pair| match pair {
            [one, next] => next - one,
            _ => 0.0,
        });
        let grain = self.grain();
        apart.filter(|apart| *apart > grain).fold(f64::INFINITY, f64::min)
    }

    fn largest(&self) -> Outermost {
        let top = self.sorted.get(self.all() - self.taken()..).unwrap_or_default();
        let sum = top.iter().sum();
        // Of those that are as large as the least of them others may stand in.
        let is_least =
            |score: &&f64| top.first().is_some_and(|least| least.total_cmp(score).is_eq());
        let alike = self.sorted.iter().filter(is_least).count();
        let wanted = top.iter().filter(is_least).count();
        let chance = (ln_choices(alike, wanted) - ln_choices(self.all(), self.taken())).exp();
        Outermost { sum, chance }
    }

    /// The chance of a sum that lies as far out on the side on which the head's lies.
    fn tail(&self, z: f64) -> f64 {
        if let Some(tail) = self.tail_of_two_values() {
            return tail;
        }
        let mirrored;
        let upwards = if self.sum < 0.0 {
            mirrored = self.mirrored();
            &mirrored
        } else {
            self
        };
        if self.all() <= FEW {
            return upwards.tail_by_enumeration();
        }
        let outermost = upwards.largest();
        if upwards.sum >= outermost.sum - self.grain() {
            return outermost.chance;
        }
        let step = upwards.step().max(self.least_step);
        let nearest = z.abs() * (1.0 - step / 2.0 / upwards.sum);
        if nearest < NEAR {
            return normal::upper_tail(nearest);
        }
        let scale = (self.squares() / float(self.all())).sqrt();
        let scaled: Vec<f64> = upwards.sorted.iter().map(|score| score / scale).collect();
        saddlepoint::upper_tail(&scaled, self.taken(), upwards.sum / scale, step / scale)
    }

    /// The smaller tail where each score is one of two values, exactly.
    fn tail_of_two_values(&self) -> Option<f64> {
        let (first, last) = (self.sorted.first()?, self.sorted.last()?);
        let is_high = |score: &&f64| score.total_cmp(last).is_eq();
        let high = self.sorted.iter().filter(is_high).count();
        let highest_low = self.sorted.get(self.all() - high - 1)?;
        if highest_low.total_cmp(first).is_ne() {
            return None;
        }
        let seen = self.head.iter().filter(is_high).count();
        let (below, above) = hypergeometric::tails(self.all(), high, self.taken(), seen);
        Some(below.min(above))
    }

    /// The chance of a sum as large as the head's, counted.
    fn tail_by_enumeration(&self) -> f64 {
        let least = self.sum - self.grain();
        let (mut as_large, mut assignments) = (0_u32, 0_u32);
        for mask in 0..1_u32 << self.all() {
            if mask.count_ones() as usize != self.taken() {
                continue;
            }
            let drawn =
                self.sorted.iter().enumerate().filter(|(place, _)| (mask >> place) & 1 == 1);
            assignments += 1;
            as_large += u32::from(drawn.map(|(_, score)| score).sum::<f64>() >= least);
        }
        f64::from(as_large) / f64::from(assignments)
    }
}

/// The logarithm of the number of ways to choose `some` of `all`.
fn ln_choices(all: usize, some: usize) -> f64 {
    let ln_factorial = |n: usize| libm::lgamma(float(n) + 1.0);
    ln_factorial(all) - ln_factorial(some) - ln_factorial(all - some)
}
