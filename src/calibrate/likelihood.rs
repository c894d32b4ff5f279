//! How likely attempts are that were cut off, given how long each should have taken: near that, by a
//! normal distribution whose width the attempts tell, or strays, which may take any time.

use crate::stats::float;
use crate::units::Nanos;

/// What a limit may differ by is told in this share of it, and half a millisecond.
const SHARE: f64 = 0.01;
const FLOOR: f64 = 500_000.0;

/// The deviation around a limit, in that unit: from hardly any to what still is a pile.
const NARROWEST: f64 = 0.05;
const WIDEST: f64 = 1.5;

/// What is spread log-normally with at least that deviation is no pile.
const NO_PILE: f64 = 0.05;

/// Strays take from a millisecond to twice the longest, each factor as likely as any other.
const SHORTEST_STRAY: f64 = 1e6;

/// Rounds until width, share of strays and limits have settled.
const ROUNDS: usize = 12;

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
    /// How many attempts the constants cut off.
    pub by_constant: usize,
    /// How many had used up what was left.
    pub by_budget: usize,
    /// The budgets.
    pub budgets: Vec<Nanos>,
}

/// The evidence that no limit cut attempts off: that they are spread log-normally, and more than a pile
/// is, or from the shortest to the longest.
pub(super) fn unlimited(tries: &[Try]) -> f64 {
    let n = float(tries.len());
    let logs: Vec<f64> = tries.iter().map(|it| it.duration.max(SHORTEST_STRAY).ln()).collect();
    let sum: f64 = logs.iter().sum();
    let longest = logs.iter().fold(SHORTEST_STRAY.ln(), |most, &log| most.max(log));
    let range = longest + 2.0_f64.ln() - SHORTEST_STRAY.ln();
    let even = -sum - n * range.ln();
    let mean = sum / n;
    let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
    let spread = (squares / n).sqrt().max(NO_PILE);
    let normal = -sum - n * (spread * ROOT_TAU).ln() - squares / (2.0 * spread * spread) - n.ln();
    even.max(normal)
}

/// What an attempt is compared with.
#[derive(Clone, Copy)]
struct Expected {
    /// The limit, by number: constants before budgets.
    limit: usize,
    /// How much longer it took, in the unit of the limit.
    excess: f64,
    /// That unit.
    unit: f64,
}

impl Try {
    /// One that took so long, of which no more is known.
    pub(super) fn of(duration: Nanos) -> Self {
        Self { duration: nanos(duration), spent: Nanos::ZERO, budget: None }
    }
}

impl Model {
    /// Fits the limits to the attempts.
    pub(super) fn fit(&self, tries: &[Try]) -> Fit {
        let known = self.budgets.iter().flatten().count();
        let limits = self.constants.iter().copied().map(Some).chain(self.budgets.iter().copied());
        let mut limits: Vec<Option<f64>> = limits.map(|limit| limit.map(nanos)).collect();
        let longest = tries.iter().fold(SHORTEST_STRAY, |most, it| most.max(it.duration));
        let range = (2.0 * longest / SHORTEST_STRAY).ln();
        let stray = |it: &Try| 1.0 / (it.duration.max(SHORTEST_STRAY) * range);
        let constants = float(self.constants.len()).max(1.0);
        let (mut width, mut strays) = (0.5, 0.1);
        let mut fit =
            Fit { evidence: f64::NEG_INFINITY, by_constant: 0, by_budget: 0, budgets: Vec::new() };
        for round in 0..ROUNDS {
            let mut likelihood = 0.0;
            let (mut squares, mut near) = (0.0, 0.0);
            let mut moved = vec![(0.0, 0.0); limits.len()];
            (fit.by_constant, fit.by_budget) = (0, 0);
            for it in tries {
                let expected = self.expected(it, &limits);
                let piled = expected.map_or(0.0, |expected| {
                    let z = expected.excess / width;
                    let density = (-z * z / 2.0).exp() / (width * expected.unit * ROOT_TAU);
                    // Which of several constants applies is not known beforehand.
                    let is_one = expected.limit < self.constants.len();
                    (1.0 - strays) * density / if is_one { constants } else { 1.0 }
                });
                let any = strays * stray(it);
                likelihood += (piled + any).max(f64::MIN_POSITIVE).ln();
                let weight = piled / (piled + any).max(f64::MIN_POSITIVE);
                near += weight;
                let Some(expected) = expected else { continue };
                squares += weight * expected.excess * expected.excess;
                if let Some((sum, weights)) = moved.get_mut(expected.limit) {
                    *sum += weight * expected.excess * expected.unit;
                    *weights += weight;
                }
                if weight > 0.5 && expected.limit < self.constants.len() {
                    fit.by_constant += 1;
                } else if weight > 0.5 {
                    fit.by_budget += 1;
                }
            }
            let n = float(tries.len());
            fit.evidence = likelihood;
            if round + 1 == ROUNDS {
                break;
            }
            strays = ((n - near + 0.5) / (n + 1.0)).clamp(0.001, 1.0);
            width = (squares / near.max(1.0)).sqrt().clamp(NARROWEST, WIDEST);
            for (limit, (sum, weights)) in limits.iter_mut().zip(moved) {
                if weights > 0.5 {
                    *limit = limit.map(|limit| limit + sum / weights);
                }
            }
        }
        let n = float(tries.len());
        let free = 2.0 + float(self.constants.len() + known);
        fit.evidence -= free / 2.0 * n.ln();
        let budgets = limits.iter().skip(self.constants.len()).flatten();
        fit.budgets = budgets.map(|&budget| Nanos::from_nanos(whole(budget))).collect();
        fit
    }

    /// How long an attempt should have taken: until the constant, or until its budget was used up,
    /// whichever comes first.
    fn expected(&self, it: &Try, limits: &[Option<f64>]) -> Option<Expected> {
        let (constants, budgets) = limits.split_at(self.constants.len().min(limits.len()));
        let against = |limit: usize, length: f64, unit_of: f64| {
            let unit = SHARE * unit_of + FLOOR;
            Expected { limit, excess: (it.duration - length) / unit, unit }
        };
        let known = constants.iter().enumerate().filter_map(|(at, limit)| Some((at, (*limit)?)));
        let nearest = known
            .map(|(at, limit)| against(at, limit, limit))
            .min_by(|a, b| a.excess.abs().total_cmp(&b.excess.abs()));
        let budget = it.budget.and_then(|at| Some((at, (*budgets.get(at)?)?)));
        let left = budget.map(|(at, budget)| {
            let left = (budget - nanos(it.spent)).max(0.0);
            (left, against(constants.len() + at, left, left))
        });
        match (nearest, left) {
            (Some(constant), Some((left, by_budget))) => {
                let value = limits.get(constant.limit).copied().flatten();
                Some(if value.is_some_and(|value| value <= left) { constant } else { by_budget })
            }
            (constant, left) => constant.or(left.map(|(_, by_budget)| by_budget)),
        }
    }
}

const ROOT_TAU: f64 = 2.506_628_274_631_000_7;

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
