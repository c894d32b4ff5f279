//! The far tail of a sum over some of many scores, drawn without replacement.
//!
//! The double saddlepoint approximation of Lugannani and Rice in Skovgaard's form (Journal of Applied
//! Probability 24, 1987; for two samples Booth and Butler, Biometrika 77, 1990): the sum of z·a where
//! each z is 1 for a score that was drawn, given that so many were. Its error is relative, so that it
//! holds far out, and for skewed scores too, where a normal approximation with the same variance is
//! off by orders of magnitude. No random number is drawn.

use super::binomial::float;
use super::normal;

/// More steps than any sum needed in tests.
const STEPS: usize = 200;

/// Halvings of a step that goes too far.
const HALVINGS: usize = 60;

/// P(sum ≥ `sum`) of `taken` of `scores`, 0 < `taken` < their number, where sums lie `step` apart.
/// Scores are centred and have a variance of about 1; `sum` is more than half a step and less than
/// the largest that there can be.
pub(super) fn upper_tail(scores: &[f64], taken: usize, sum: f64, step: f64) -> f64 {
    let (all, taken) = (float(scores.len()), float(taken));
    // A sum stands for all that is nearer to it than to its neighbours.
    let sum = sum - step / 2.0;
    let problem = Problem { scores, taken, sum };
    let begin = Point { tilt: 0.0, odds: (taken / (all - taken)).ln() };
    let untilted = problem.at(begin);
    let (end, tilted) = problem.least(begin);
    let signed_root = (2.0 * (untilted.value - tilted.value)).max(0.0).sqrt();
    let tilt = (end.tilt * step / 2.0).sinh() / (step / 2.0);
    let ratio = tilt * (tilted.determinant() / untilted.by_odds_twice).sqrt();
    if signed_root == 0.0 || ratio.is_nan() || ratio <= 0.0 {
        return 0.5;
    }
    let correction = normal::density(signed_root) * (1.0 / ratio - 1.0 / signed_root);
    (normal::upper_tail(signed_root) + correction).clamp(0.0, 1.0)
}

struct Problem<'a> {
    scores: &'a [f64],
    taken: f64,
    sum: f64,
}

#[derive(Clone, Copy)]
struct Point {
    tilt: f64,
    odds: f64,
}

/// The cumulant function less what it is compared with, and its derivatives.
struct Surface {
    value: f64,
    by_tilt: f64,
    by_odds: f64,
    by_tilt_twice: f64,
    by_both: f64,
    by_odds_twice: f64,
}

impl Surface {
    fn determinant(&self) -> f64 {
        self.by_tilt_twice * self.by_odds_twice - self.by_both * self.by_both
    }
}

impl Problem<'_> {
    fn at(&self, point: Point) -> Surface {
        let mut surface = Surface {
            value: -point.tilt * self.sum - point.odds * self.taken,
            by_tilt: -self.sum,
            by_odds: -self.taken,
            by_tilt_twice: 0.0,
            by_both: 0.0,
            by_odds_twice: 0.0,
        };
        for &score in self.scores {
            let exponent = point.tilt * score + point.odds;
            let shrunk = (-exponent.abs()).exp();
            // ln(1 + e^x), and the chance e^x / (1 + e^x) of being drawn, without overflow.
            surface.value += exponent.max(0.0) + shrunk.ln_1p();
            let chance = if exponent < 0.0 { shrunk } else { 1.0 } / (1.0 + shrunk);
            let spread = shrunk / ((1.0 + shrunk) * (1.0 + shrunk));
            surface.by_tilt += chance * score;
            surface.by_odds += chance;
            surface.by_tilt_twice += spread * score * score;
            surface.by_both += spread * score;
            surface.by_odds_twice += spread;
        }
        surface
    }

    /// Where the surface, which is convex, is lowest, by Newton's steps.
    fn least(&self, begin: Point) -> (Point, Surface) {
        let mut point = begin;
        let mut surface = self.at(point);
        for _ in 0..STEPS {
            let determinant = surface.determinant();
            let tilt = (surface.by_odds_twice * surface.by_tilt
                - surface.by_both * surface.by_odds)
                / determinant;
            let odds = (surface.by_tilt_twice * surface.by_odds
                - surface.by_both * surface.by_tilt)
                / determinant;
            // How much lower it is, as far as the derivatives tell.
            let gain = tilt * surface.by_tilt + odds * surface.by_odds;
            if gain.is_nan() || gain <= 1e-12 * (1.0 + surface.value.abs()) {
                break;
            }
            let mut part = 1.0;
            let mut next = (point, None);
            for _ in 0..HALVINGS {
                let tried =
                    Point { tilt: point.tilt - part * tilt, odds: point.odds - part * odds };
                let there = self.at(tried);
                if there.value <= surface.value - part * gain / 4.0 {
                    next = (tried, Some(there));
                    break;
                }
                part /= 2.0;
            }
            let (Point { tilt, odds }, Some(there)) = next else { break };
            point = Point { tilt, odds };
            surface = there;
        }
        (point, surface)
    }
}
