//! The binomial distribution behind order-statistic intervals, summed outwards from its mode.
//!
//! Summing needs no gamma function and keeps its precision for any sample size, where continued
//! fractions with a fixed number of steps lose it beyond some hundred thousand.

use super::RankInterval;

/// What may lie beyond either end of an interval.
pub(super) const TAIL: f64 = 0.025;

/// Terms this much smaller than the largest no longer change a sum.
pub(super) const NEGLIGIBLE: f64 = 1e-22;

/// The largest `lo` with P(X < lo) ≤ [`TAIL`] and the smallest `hi` with P(X ≥ hi) ≤ [`TAIL`], for
/// X the number of `n` observations that lie below a quantile at `p`, 0 < p < 1.
pub(super) fn central_ranks(n: usize, p: f64) -> RankInterval {
    let (least, terms) = relative_terms(n, p);
    let bound = terms.iter().sum::<f64>() * TAIL;
    let below = within(terms.iter(), bound);
    let above = within(terms.iter().rev(), bound);
    // `least` is 0 unless the terms below it are negligible, in which case some lie in the tail.
    RankInterval {
        lo: (below > 0).then_some(least + below),
        hi: (above > 0).then(|| least + terms.len() - above),
    }
}

/// P(X ≤ k) for X the number of `n` trials that succeed, each with probability `p`, 0 < p < 1.
pub(super) fn at_most(n: usize, p: f64, k: usize) -> f64 {
    let (least, terms) = relative_terms(n, p);
    let taken = (k + 1).saturating_sub(least).min(terms.len());
    terms.iter().take(taken).sum::<f64>() / terms.iter().sum::<f64>()
}

/// P(X ≥ k), likewise.
pub(crate) fn at_least(n: usize, p: f64, k: usize) -> f64 {
    let (least, terms) = relative_terms(n, p);
    let left = k.saturating_sub(least).min(terms.len());
    terms.iter().skip(left).sum::<f64>() / terms.iter().sum::<f64>()
}

/// How many of `terms` sum to no more than `bound`.
fn within<'a>(terms: impl Iterator<Item = &'a f64>, bound: f64) -> usize {
    let sums = terms.scan(0.0, |sum, term| {
        *sum += term;
        Some(*sum)
    });
    sums.take_while(|&sum| sum <= bound).count()
}

/// P(X = k) relative to the mode's, for all k from the first returned on that are not negligible.
fn relative_terms(n: usize, p: f64) -> (usize, Vec<f64>) {
    let odds = p / (1.0 - p);
    let mode = mode(n, p);
    let falling = |k: &usize, term: f64| term * float(*k) / (float(n - *k + 1) * odds);
    let mut terms: Vec<f64> = outwards((1..=mode).rev(), falling).collect();
    let least = mode - terms.len();
    terms.reverse();
    terms.push(1.0);
    terms.extend(outwards(mode..n, |k, term| term * float(n - *k) * odds / float(*k + 1)));
    (least, terms)
}

/// The terms that follow from 1.0 by `step`, until they are negligible.
fn outwards<I: Iterator<Item = usize>>(
    ks: I,
    step: impl Fn(&usize, f64) -> f64,
) -> impl Iterator<Item = f64> {
    let terms = ks.scan(1.0, move |term, k| {
        *term = step(&k, *term);
        Some(*term)
    });
    terms.take_while(|&term| term > NEGLIGIBLE)
}

/// The most likely count, or a neighbour of it: every term is relative to it, so that one off
/// does no harm.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "0 ≤ n·p ≤ n, and a rounded mode serves as well"
)]
fn mode(n: usize, p: f64) -> usize {
    ((float(n) * p) as usize).min(n)
}

/// `n` as a float; beyond 2^53, which no sample reaches, to the nearest.
#[expect(clippy::cast_precision_loss, reason = "no sample holds 2^53 values")]
pub(crate) fn float(n: usize) -> f64 {
    n as f64
}
