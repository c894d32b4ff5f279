//! One request class of both sides, line by line.

use std::collections::BTreeSet;

use super::line::{About, Line, Numbers, Part, Percentile};
use super::samples::{Pooled, Share};
use super::side::{ClassSide, Found, HopSide, Rate};
use crate::distributions::{Estimate, Measure, Ordered, Place, Values};
use crate::stats::{Proportion, Quantile, Test};
use crate::tables::BadSide;
use crate::units::Nanos;

/// A class that both sides have.
#[derive(Debug)]
pub struct ClassDiff {
    /// Its requests in base and in head.
    pub requests: (u64, u64),
    /// Rates first, then measures, hops and findings.
    pub lines: Vec<Line>,
    /// Hops that base alone has.
    pub gone_hops: Vec<Place>,
    /// Hops that head alone has.
    pub new_hops: Vec<Place>,
}

/// One thing that both sides have.
pub(super) enum Pair<'a> {
    Rate(Rate, [Share<'a>; 2]),
    Values(Told<'a>, BadSide, [&'a Values; 2]),
    Finding(&'a super::side::Flag, [Vec<u32>; 2], [&'a [u32]; 2], [Option<i128>; 2]),
}

/// Whose values they are.
#[derive(Clone, Copy)]
pub(super) enum Told<'a> {
    Measure(Measure),
    Remaining(&'a Place),
    Elapsed(&'a Place),
}

impl Told<'_> {
    fn about(self, quantile: Quantile) -> About {
        match self {
            Self::Measure(measure) => About::Measure(measure, quantile),
            Self::Remaining(place) => About::Remaining(place.clone(), quantile),
            Self::Elapsed(place) => About::Elapsed(place.clone(), quantile),
        }
    }
}

/// Everything of a class that both sides have.
pub(super) fn pairs<'a>(base: &'a ClassSide, head: &'a ClassSide) -> Vec<Pair<'a>> {
    let mut pairs = Vec::new();
    let is_bounded = !base.bounded.is_empty() && !head.bounded.is_empty();
    for &rate in Rate::ALL {
        // What completed in time says more than what completed.
        let is_told = match rate {
            Rate::Completed => !is_bounded,
            rate => is_bounded || !rate.needs_deadline(),
        };
        if is_told {
            pairs.push(Pair::Rate(rate, [share(base, rate), share(head, rate)]));
        }
    }
    for &measure in Measure::ALL {
        if let (Some(of_base), Some(of_head)) =
            (base.measures.get(&measure), head.measures.get(&measure))
        {
            let side = super::bad_side_of(measure);
            pairs.push(Pair::Values(Told::Measure(measure), side, [of_base, of_head]));
        }
    }
    for (place, of_base) in &base.hops {
        if let Some(of_head) = head.hops.get(place) {
            pairs.push(hop(place, of_base, of_head));
        }
    }
    let flags: BTreeSet<_> = base.findings.keys().chain(head.findings.keys()).collect();
    for flag in flags {
        let found = [base.findings.get(flag), head.findings.get(flag)];
        let traces = |found: Option<&Found>| {
            let requests = found.map(|found| found.requests.iter().map(|(trace, _)| *trace));
            requests.into_iter().flatten().collect()
        };
        let wasted = found.map(|found| found.and_then(|found| found.wasted_ns));
        let wholes = [&*base.requests, &*head.requests];
        pairs.push(Pair::Finding(flag, found.map(traces), wholes, wasted));
    }
    pairs
}

fn share(class: &ClassSide, rate: Rate) -> Share<'_> {
    let part = class.rates.get(&rate).map(Vec::as_slice).unwrap_or_default();
    Share { part, whole: if rate.needs_deadline() { &class.bounded } else { &class.requests } }
}

/// What was left at a hop, or what had passed where neither side knows what was left.
fn hop<'a>(place: &'a Place, base: &'a HopSide, head: &'a HopSide) -> Pair<'a> {
    if base.remaining.is_empty() && head.remaining.is_empty() {
        Pair::Values(Told::Elapsed(place), BadSide::High, [&base.elapsed, &head.elapsed])
    } else {
        Pair::Values(Told::Remaining(place), BadSide::Low, [&base.remaining, &head.remaining])
    }
}

/// The lines of one thing.
pub(super) fn lines(pair: &Pair<'_>) -> Vec<Line> {
    match pair {
        Pair::Rate(rate, shares) => vec![share_line(About::Rate(*rate), *shares, [None, None])],
        Pair::Finding(flag, [base, head], [all_base, all_head], wasted) => {
            let shares =
                [Share { part: base, whole: all_base }, Share { part: head, whole: all_head }];
            vec![share_line(About::Finding((*flag).clone()), shares, *wasted)]
        }
        Pair::Values(told, side, values) => value_lines(*told, *side, *values),
    }
}

fn share_line(about: About, shares: [Share<'_>; 2], wasted: [Option<i128>; 2]) -> Line {
    let [base, head] = shares;
    let (of_base, of_head) = (base.proportion(), head.proportion());
    let both =
        Proportion { part: of_base.part + of_head.part, whole: of_base.whole + of_head.whole };
    let step = Share::step(both);
    let test = Test::in_steps(&base.scores(both), &head.scores(both), step);
    let part = |share: Share<'_>, wasted_ns| Part {
        proportion: share.proportion(),
        interval: share.interval(),
        wasted_ns,
    };
    let [wasted_base, wasted_head] = wasted;
    let (base, head) = (part(base, wasted_base), part(head, wasted_head));
    let shift = share_shift(&base, &head);
    Line::new(about, Numbers::Shares { base, head, shift }, test)
}

/// The difference of two shares: distances of the ends from either share squared and added (Newcombe,
/// Statistics in Medicine 17, 1998, method 10), of exact intervals.
fn share_shift(base: &Part, head: &Part) -> (f64, f64, f64) {
    let of = |part: &Part| part.proportion.ratio();
    let (of_base, of_head) = (of(base), of(head));
    let ((base_lo, base_hi), (head_lo, head_hi)) = (base.interval, head.interval);
    let shift = of_head - of_base;
    let lo = shift - (of_head - head_lo).hypot(base_hi - of_base);
    let hi = shift + (head_hi - of_head).hypot(of_base - base_lo);
    (shift, lo, hi)
}

fn value_lines(told: Told<'_>, side: BadSide, values: [&Values; 2]) -> Vec<Line> {
    let [of_base, of_head] = values;
    let (base, head) = (of_base.ordered(), of_head.ordered());
    let pooled = Pooled::of(&base, &head);
    let worth = base.effective().min(head.effective());
    let outermost = judged(side, worth);
    let line = |quantile: Quantile| {
        let numbers = times(&base, &head, quantile)?;
        let is_bounded = worth >= quantile.least_sample();
        let test = match quantile {
            Quantile::P50 => Test::of(&pooled.by_rank(of_base), &pooled.by_rank(of_head)),
            _ if outermost == Some(quantile) => {
                let [base, head] =
                    [of_base, of_head].map(|values| pooled.by_exceedance(values, quantile));
                Test::in_steps(&base, &head, pooled.exceedance_step(quantile))
            }
            _ => None,
        };
        (is_bounded || quantile == Quantile::P50)
            .then(|| Line::new(told.about(quantile), numbers, test))
    };
    quantiles(side).into_iter().filter_map(line).collect()
}

/// From the middle to the bad side.
fn quantiles(side: BadSide) -> [Quantile; 5] {
    match side {
        BadSide::High => {
            [Quantile::P50, Quantile::P90, Quantile::P95, Quantile::P99, Quantile::P99_9]
        }
        BadSide::Low => [Quantile::P50, Quantile::P10, Quantile::P5, Quantile::P1, Quantile::P0_1],
    }
}

/// The outermost of the customary percentiles that both sides bound: it is judged beside the median,
/// and the others are not, since every line that is judged makes all others harder to tell apart.
fn judged(side: BadSide, worth: usize) -> Option<Quantile> {
    let [_, inner, middle, outer, _] = quantiles(side);
    [outer, middle, inner].into_iter().find(|quantile| worth >= quantile.least_sample())
}

fn times(base: &Ordered, head: &Ordered, quantile: Quantile) -> Option<Numbers> {
    let percentile = |side: &Ordered| {
        let estimate = side.quantile(quantile)?;
        Some(Percentile { estimate, n: side.len(), effective: side.effective() })
    };
    let (base, head) = (percentile(base)?, percentile(head)?);
    let shift = shift(&base.estimate, &head.estimate);
    Some(Numbers::Times { base, head, shift })
}

/// The difference of two percentiles, as of two shares: distances of the ends from either squared and
/// added (Zou and Donner, Statistics in Medicine 27, 2008).
fn shift(base: &Estimate, head: &Estimate) -> Estimate {
    let value = head.value - base.value;
    let below = head.lo.zip(base.hi).map(|(lo, hi)| hypotenuse(head.value - lo, hi - base.value));
    let above = head.hi.zip(base.lo).map(|(hi, lo)| hypotenuse(hi - head.value, base.value - lo));
    Estimate {
        value,
        lo: below.map(|below| value - below),
        hi: above.map(|above| value + above),
        is_approximate: true,
    }
}

/// The root of the sum of the squares, rounded up.
fn hypotenuse(a: Nanos, b: Nanos) -> Nanos {
    let square = |length: Nanos| {
        let length = u128::from(length.as_nanos().unsigned_abs());
        length.saturating_mul(length)
    };
    let sum = square(a).saturating_add(square(b));
    let root = sum.isqrt();
    let root = if root.saturating_mul(root) < sum { root + 1 } else { root };
    Nanos::from_nanos(i64::try_from(root).unwrap_or(i64::MAX))
}
