//! How likely attempts are that were cut off, given how long each should have taken: near that, by a
//! normal distribution whose width the attempts tell, or strays, which may take any time.

use crate::stats::float;
use crate::units::Nanos;

/// What attempts differ by from a limit is told in this share of it, and half a millisecond.
const SHARE: f64 = 0.01;
const FLOOR: f64 = 500_000.0;

/// The deviation around a limit, in that unit: from hardly any to what still is a pile.
const NARROWEST: f64 = 0.05;
const WIDEST: f64 = 1.5;

/// What is spread log-normally with at least that deviation is no pile.
const NO_PILE: f64 = 0.05;

/// Of two limits the longer would have let an attempt run clearly longer where they differ by more than
/// that, in the unit of the shorter.
const CLEARLY: f64 = 3.0;

/// Strays take from a millisecond to twice the longest, each factor as likely as any other.
const SHORTEST_STRAY: f64 = 1e6;

/// At least so many of all are strays: what a rule does not explain is never impossible.
const FEWEST_STRAYS: f64 = 0.001;

/// Rounds until width, share of strays and limits have settled.
const ROUNDS: usize = 12;

/// The root of a full turn, which makes a normal density sum to one.
const ROOT_TAU: f64 = 2.506_628_274_631;

/// Limits that may have cut attempts off.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    /// Constants: the one nearest to how long an attempt took.
    pub constants: Vec<Nanos>,
    /// Budgets by number; `None` where it is not known.
    pub budgets: Vec<Option<Nanos>>,
}

/// An attempt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Try {
    /// How long it took, in nanoseconds.
    pub duration: f64,
    /// What was spent before.
    pub spent: Nanos,
    /// Which budget it had, if any.
    pub budget: Option<usize>,
}

/// How well limits tell attempts.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    /// The natural logarithm of the likelihood, less what the free parameters gain by chance
    /// (Schwarz: half the logarithm of the sample for each).
    pub evidence: f64,
    /// How many attempts the constants cut off, of those that their budget would have let run clearly
    /// longer.
    pub by_constant: usize,
    /// How many had used up what was left, of those that the constants would have let run clearly longer.
    pub by_budget: usize,
    /// The budgets.
    pub budgets: Vec<Nanos>,
}

/// What the attempts are fitted by.
struct Guess {
    /// Constants, then budgets.
    limits: Vec<Option<f64>>,
    /// The deviation around them, in their units.
    width: f64,
    /// The share of strays.
    strays: f64,
}

/// What the attempts say of a guess.
struct Weighed {
    likelihood: f64,
    /// How many attempts were cut off by the limits, and the sum of their squared excesses.
    near: f64,
    squares: f64,
    /// By limit, the sum of what attempts exceed it by, and how many these are.
    excess: Vec<(f64, f64)>,
    by_constant: usize,
    by_budget: usize,
}

/// What an attempt is compared with.
#[derive(Clone, Copy)]
struct Expected {
    /// The limit, by number.
    limit: usize,
    /// How long it should have taken.
    length: f64,
    /// How much longer it took, in the unit of the limit.
    excess: f64,
    /// That unit.
    unit: f64,
    /// Whether no other limit explains as well how long it took.
    is_clear: bool,
}

impl Try {
    /// One that took so long, of which no more is known.
    pub(super) fn of(duration: Nanos) -> Self {
        Self { duration: nanos(duration), spent: Nanos::ZERO, budget: None }
    }

    /// The logarithm of how long it took, as a stray.
    fn log(&self) -> f64 {
        self.duration.max(SHORTEST_STRAY).ln()
    }
}

/// The evidence that no limit cut attempts off: that they are spread log-normally, and more than a pile
/// is, or evenly from the shortest to the longest.
pub(super) fn unlimited(tries: &[Try]) -> f64 {
    let n = float(tries.len());
    let sum: f64 = tries.iter().map(Try::log).sum();
    let even = -sum - n * stray_range(tries).ln();
    let mean = sum / n;
    let squares: f64 = tries.iter().map(|it| (it.log() - mean).powi(2)).sum();
    let spread = (squares / n).sqrt().max(NO_PILE);
    let normal = -sum - n * (spread * ROOT_TAU).ln() - squares / (2.0 * spread * spread) - n.ln();
    even.max(normal)
}

/// Over how much strays are spread, as a logarithm.
fn stray_range(tries: &[Try]) -> f64 {
    let shortest = SHORTEST_STRAY.ln();
    let longest = tries.iter().map(Try::log).fold(shortest, f64::max);
    longest + 2.0_f64.ln() - shortest
}

impl Model {
    /// Fits the limits to the attempts.
    pub(super) fn fit(&self, tries: &[Try]) -> Fit {
        let limits = self.constants.iter().copied().map(Some).chain(self.budgets.iter().copied());
        let limits: Vec<Option<f64>> = limits.map(|limit| limit.map(nanos)).collect();
        let known = limits.iter().flatten().count();
        let range = stray_range(tries);
        let mut guess = Guess { limits, width: 0.5, strays: 0.1 };
        let mut weighed = self.weigh(&guess, tries, range);
        for _ in 0..ROUNDS {
            guess.improve(&weighed, tries.len());
            weighed = self.weigh(&guess, tries, range);
        }
        let free = float(known + 2);
        let budgets = guess.limits.iter().skip(self.constants.len()).flatten();
        Fit {
            evidence: weighed.likelihood - free / 2.0 * float(tries.len()).ln(),
            by_constant: weighed.by_constant,
            by_budget: weighed.by_budget,
            budgets: budgets.map(|&budget| Nanos::from_nanos(whole(budget))).collect(),
        }
    }

    fn weigh(&self, guess: &Guess, tries: &[Try], range: f64) -> Weighed {
        let mut weighed = Weighed {
            likelihood: 0.0,
            near: 0.0,
            squares: 0.0,
            excess: vec![(0.0, 0.0); guess.limits.len()],
            by_constant: 0,
            by_budget: 0,
        };
        for it in tries {
            let expected = self.expected(it, &guess.limits);
            let piled = expected.map_or(0.0, |expected| self.density(expected, guess));
            let stray = guess.strays / (it.duration.max(SHORTEST_STRAY) * range);
            let both = (piled + stray).max(f64::MIN_POSITIVE);
            weighed.likelihood += both.ln();
            if let Some(expected) = expected {
                let is_constant = expected.limit < self.constants.len();
                weighed.add(expected, piled / both, is_constant);
            }
        }
        weighed
    }

    /// How likely an attempt that is no stray differs from its limit by as much.
    fn density(&self, expected: Expected, guess: &Guess) -> f64 {
        let z = expected.excess / guess.width;
        let density = (-z * z / 2.0).exp() / (guess.width * expected.unit * ROOT_TAU);
        let of_those = (1.0 - guess.strays) * density;
        // Which of several constants applies is not known beforehand.
        match self.constants.len() {
            several if expected.limit < several => of_those / float(several),
            _ => of_those,
        }
    }

    /// How long an attempt should have taken: until the nearest constant, or until its budget was used
    /// up, whichever comes first.
    fn expected(&self, it: &Try, limits: &[Option<f64>]) -> Option<Expected> {
        let (constants, budgets) = limits.split_at(self.constants.len().min(limits.len()));
        let known = constants.iter().enumerate().filter_map(|(at, limit)| Some((at, (*limit)?)));
        let constant = known.map(|(at, limit)| Expected::of(it, at, limit));
        let constant = constant.min_by(|a, b| a.excess.abs().total_cmp(&b.excess.abs()));
        let budget = it.budget.and_then(|at| Some((at, (*budgets.get(at)?)?)));
        let left = budget.map(|(at, budget)| {
            Expected::of(it, constants.len() + at, (budget - nanos(it.spent)).max(0.0))
        });
        match (constant, left) {
            (Some(constant), Some(left)) if left.length < constant.length => {
                Some(left.beside(constant))
            }
            (Some(constant), Some(left)) => Some(constant.beside(left)),
            // Whether a budget that nobody knows would have let it run longer, nobody knows.
            (Some(constant), None) => Some(Expected { is_clear: budgets.is_empty(), ..constant }),
            (None, left) => left,
        }
    }
}

impl Expected {
    fn of(it: &Try, limit: usize, length: f64) -> Self {
        let unit = SHARE * length + FLOOR;
        Self { limit, length, excess: (it.duration - length) / unit, unit, is_clear: true }
    }

    /// The same where another limit comes no sooner.
    fn beside(self, other: Self) -> Self {
        Self { is_clear: other.length - self.length > CLEARLY * self.unit, ..self }
    }
}

impl Guess {
    /// Moves to what the attempts say, weighed by how sure it is that limits cut them off.
    fn improve(&mut self, weighed: &Weighed, tries: usize) {
        let n = float(tries);
        self.strays = ((n - weighed.near + 0.5) / (n + 1.0)).clamp(FEWEST_STRAYS, 1.0);
        self.width = (weighed.squares / weighed.near.max(1.0)).sqrt().clamp(NARROWEST, WIDEST);
        for (limit, &(sum, weight)) in self.limits.iter_mut().zip(&weighed.excess) {
            // Where hardly any attempt is near it stays where it is.
            if weight > 0.5 {
                *limit = limit.map(|limit| limit + sum / weight);
            }
        }
    }
}

impl Weighed {
    /// Adds an attempt that its limit cut off with a probability of `weight`.
    fn add(&mut self, expected: Expected, weight: f64, is_constant: bool) {
        self.near += weight;
        self.squares += weight * expected.excess * expected.excess;
        if let Some((sum, weights)) = self.excess.get_mut(expected.limit) {
            *sum += weight * expected.excess * expected.unit;
            *weights += weight;
        }
        let is_sure = usize::from(weight > 0.5 && expected.is_clear);
        if is_constant {
            self.by_constant += is_sure;
        } else {
            self.by_budget += is_sure;
        }
    }
}

/// Nanoseconds as a float: close enough for a likelihood.
#[expect(clippy::cast_precision_loss, reason = "a millionth of a millionth of a limit")]
const fn nanos(length: Nanos) -> f64 {
    length.as_nanos() as f64
}

/// A float as nanoseconds, saturating.
#[expect(clippy::cast_possible_truncation, reason = "what does not fit is the longest there is")]
const fn whole(length: f64) -> i64 {
    length as i64
}
