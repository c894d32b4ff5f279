//! Percentiles, their ranks and their intervals.

use dwindle::stats::{Mass, Proportion, Quantile, RankInterval, Weight};

/// (thousandths, quantile).
const QUANTILES: [(usize, Quantile); 9] = [
    (1, Quantile::P0_1),
    (10, Quantile::P1),
    (50, Quantile::P5),
    (100, Quantile::P10),
    (500, Quantile::P50),
    (900, Quantile::P90),
    (950, Quantile::P95),
    (990, Quantile::P99),
    (999, Quantile::P99_9),
];

/// (quantile, n, lo, hi), summed in exact integers: Σ C(n, k)·pᵏ·(1000 − p)ⁿ⁻ᵏ against 1000ⁿ/40.
const EXACT: [(Quantile, usize, Option<usize>, Option<usize>); 30] = [
    (Quantile::P0_1, 1, None, Some(1)),
    (Quantile::P0_1, 3_687, None, Some(9)),
    (Quantile::P0_1, 3_688, Some(1), Some(9)),
    (Quantile::P1, 100, None, Some(4)),
    (Quantile::P1, 367, None, Some(9)),
    (Quantile::P1, 368, Some(1), Some(9)),
    (Quantile::P1, 1_000, Some(4), Some(18)),
    (Quantile::P5, 1, None, None),
    (Quantile::P5, 71, None, Some(9)),
    (Quantile::P5, 72, Some(1), Some(9)),
    (Quantile::P10, 36, Some(1), Some(8)),
    (Quantile::P10, 1_000, Some(82), Some(120)),
    (Quantile::P50, 5, None, None),
    (Quantile::P50, 6, Some(1), Some(6)),
    (Quantile::P50, 35, Some(12), Some(24)),
    (Quantile::P50, 72, Some(28), Some(45)),
    (Quantile::P50, 1_000, Some(469), Some(532)),
    (Quantile::P50, 3_687, Some(1_784), Some(1_904)),
    (Quantile::P90, 35, Some(28), None),
    (Quantile::P90, 36, Some(29), Some(36)),
    (Quantile::P90, 368, Some(320), Some(343)),
    (Quantile::P95, 71, Some(63), None),
    (Quantile::P95, 72, Some(64), Some(72)),
    (Quantile::P95, 1_000, Some(936), Some(964)),
    (Quantile::P99, 1, Some(1), None),
    (Quantile::P99, 367, Some(359), None),
    (Quantile::P99, 368, Some(360), Some(368)),
    (Quantile::P99, 1_000, Some(983), Some(997)),
    (Quantile::P99_9, 3_687, Some(3_679), None),
    (Quantile::P99_9, 3_688, Some(3_680), Some(3_688)),
];

/// (quantile, n, lo, hi), summed with 60 decimal digits.
const LARGE: [(Quantile, usize, usize, usize); 6] = [
    (Quantile::P50, 100_000, 49_690, 50_311),
    (Quantile::P1, 100_000, 939, 1_063),
    (Quantile::P99_9, 2_000_000, 1_997_912, 1_998_088),
    (Quantile::P50, 2_000_000, 998_614, 1_001_387),
    (Quantile::P50, 10_000_000, 4_996_901, 5_003_100),
    (Quantile::P99, 10_000_000, 9_899_383, 9_900_617),
];

#[test]
fn the_rank_is_the_ceiling_of_p_times_n() {
    for (thousandths, quantile) in QUANTILES {
        for n in 1..=2_000 {
            let rank = (thousandths * n).div_ceil(1_000);
            assert_eq!(quantile.rank(n), Some(rank), "{quantile} of {n}");
        }
    }
    assert_eq!(Quantile::P99.rank(usize::MAX), Some(usize::MAX / 100 * 99 + 15));
}

#[test]
fn an_empty_sample_has_no_percentile() {
    assert_eq!(Quantile::P50.rank(0), None);
    assert_eq!(Quantile::P50.interval(0), RankInterval { lo: None, hi: None });
}

#[test]
fn intervals_equal_those_summed_exactly() {
    for (quantile, n, lo, hi) in EXACT {
        assert_eq!(quantile.interval(n), RankInterval { lo, hi }, "{quantile} of {n}");
    }
}

#[test]
fn intervals_of_large_samples_keep_their_precision() {
    for (quantile, n, lo, hi) in LARGE {
        let expected = RankInterval { lo: Some(lo), hi: Some(hi) };
        assert_eq!(quantile.interval(n), expected, "{quantile} of {n}");
    }
}

#[test]
fn an_interval_holds_the_rank_of_its_percentile() {
    for (_, quantile) in QUANTILES {
        for n in 1..=1_500 {
            let (rank, interval) = (quantile.rank(n), quantile.interval(n));
            assert!(interval.lo <= rank, "{quantile} of {n}");
            assert!(interval.hi.is_none_or(|hi| Some(hi) >= rank && hi <= n), "{quantile} of {n}");
        }
    }
}

#[test]
fn the_least_samples_are_those_of_the_definitions() {
    let least = QUANTILES.map(|(_, quantile)| quantile.least_sample());
    assert_eq!(least, [3_688, 368, 72, 36, 6, 36, 72, 368, 3_688]);
}

#[test]
fn below_the_least_sample_the_interval_is_open_on_the_outer_side() {
    for (thousandths, quantile) in QUANTILES {
        let least = quantile.least_sample();
        let outer = |n: usize| match quantile.interval(n) {
            RankInterval { hi, .. } if thousandths >= 500 => hi,
            RankInterval { lo, .. } => lo,
        };
        assert_eq!(outer(least - 1), None, "{quantile}");
        assert!(outer(least).is_some(), "{quantile}");
    }
}

#[test]
fn percentiles_are_named_as_people_write_them() {
    let names = QUANTILES.map(|(_, quantile)| quantile.to_string());
    assert_eq!(names, ["p0.1", "p1", "p5", "p10", "p50", "p90", "p95", "p99", "p99.9"]);
}

/// (part, whole, lo, hi), by bisection over exact fractions.
const SHARES: [(u64, u64, f64, f64); 7] = [
    (0, 10, 0.0, 0.308_497),
    (5, 10, 0.187_086, 0.812_914),
    (10, 10, 0.691_503, 1.0),
    (1, 100, 0.000_253, 0.054_459),
    (3, 413, 0.001_501, 0.021_080),
    (0, 368, 0.0, 0.009_974),
    (40, 400, 0.072_406, 0.133_678),
];

#[test]
fn intervals_of_shares_are_those_of_clopper_and_pearson() {
    for (part, whole, lo, hi) in SHARES {
        let (found_lo, found_hi) = Proportion { part, whole }.interval();
        let differs = |found: f64, expected: f64| (found - expected).abs() > 1e-6;
        assert!(
            !differs(found_lo, lo) && !differs(found_hi, hi),
            "{part} of {whole}: [{found_lo}, {found_hi}]"
        );
    }
    assert_eq!(Proportion { part: 0, whole: 0 }.interval(), (0.0, 1.0));
    let (lo, hi) = Proportion { part: 1_000, whole: 10_000_000 }.interval();
    assert!(0.000_093 < lo && lo < 0.0001 && 0.0001 < hi && hi < 0.000_107, "[{lo}, {hi}]");
}

/// P(X ≤ k) of X successes in n trials of probability p, for neighbours of n and k one after another:
/// nothing of this is the sum that intervals are taken from.
struct Cumulated {
    p: f64,
    n: f64,
    k: f64,
    /// P(X = k).
    term: f64,
    /// P(X ≤ k).
    sum: f64,
}

impl Cumulated {
    /// Of one trial and k = 0.
    fn new(p: f64) -> Self {
        Self { p, n: 1.0, k: 0.0, term: 1.0 - p, sum: 1.0 - p }
    }

    /// One trial more, then P(X ≤ k) for that k, which is no smaller than the last.
    fn next(&mut self, k: usize) -> f64 {
        // At most k of n + 1: at most k of n, unless it was k and one more.
        self.sum -= self.p * self.term;
        self.n += 1.0;
        self.term *= self.n / (self.n - self.k) * (1.0 - self.p);
        while self.k < f64::from(u32::try_from(k).unwrap()) {
            self.term *= (self.n - self.k) / (self.k + 1.0) * self.p / (1.0 - self.p);
            self.k += 1.0;
            self.sum += self.term;
        }
        self.sum
    }
}

/// Enumerates the exact coverage of the interval of one of the lower quantiles, and of the upper
/// one that mirrors it, of every sample from the least on.
fn covers(thousandths: u16, lower: Quantile, upper: Quantile) {
    let p = f64::from(thousandths) / 1_000.0;
    let (mut below, mut up_to) = (Cumulated::new(p), Cumulated::new(p));
    let least = lower.least_sample();
    for n in 2..=10_000 {
        let (lo, hi) = match lower.interval(n) {
            RankInterval { lo: Some(lo), hi: Some(hi) } => (lo, hi),
            interval => {
                assert!(n < least, "{lower} of {n}: {interval:?}");
                below.next(0);
                up_to.next(interval.hi.map_or(0, |hi| hi - 1));
                continue;
            }
        };
        // The quantile lies between the ranks if at least lo, and less than hi, lie below it.
        let coverage = up_to.next(hi - 1) - below.next(lo - 1);
        if n >= least {
            assert!(coverage >= 0.95 - 1e-9, "{lower} of {n}: {coverage}");
        }
        let mirrored = RankInterval { lo: Some(n + 1 - hi), hi: Some(n + 1 - lo) };
        assert_eq!(upper.interval(n), mirrored, "{upper} of {n}");
    }
}

#[test]
fn the_intervals_of_the_outermost_percentiles_cover_95_samples_of_100() {
    covers(1, Quantile::P0_1, Quantile::P99_9);
    covers(10, Quantile::P1, Quantile::P99);
}

#[test]
fn the_intervals_of_outer_percentiles_cover_95_samples_of_100() {
    covers(50, Quantile::P5, Quantile::P95);
    covers(100, Quantile::P10, Quantile::P90);
}

#[test]
fn the_interval_of_the_median_covers_95_samples_of_100() {
    covers(500, Quantile::P50, Quantile::P50);
}

#[test]
fn a_sample_of_equal_weights_counts_as_large_as_it_is() {
    for weight in [1.0, 2.0, 3.333_333, 10.0, 1e9] {
        let mut mass = Mass::NOTHING;
        (0..1_000).for_each(|_| mass.add(Weight::new(weight)));
        assert_eq!(mass.sample_size(), 1_000, "{weight}");
        assert!((mass.effective_n().unwrap() - 1_000.0).abs() < 1e-6, "{weight}");
    }
}

#[test]
fn the_effective_sample_is_that_of_kish() {
    let mut mass = Mass::NOTHING;
    for weight in [1.0, 1.0, 1.0, 1.0, 4.0] {
        mass.add(Weight::new(weight));
    }
    // 8² / (4·1² + 4²).
    assert_eq!((mass.effective_n(), mass.sample_size()), (Some(3.2), 3));
    assert_eq!(mass.population(), Some(8.0));
    mass.add(None);
    assert_eq!((mass.effective_n(), mass.sample_size()), (None, 6));
}

#[test]
fn what_is_no_weight_is_none() {
    for weight in [-1.0, 0.5, 1e10, f64::NAN, f64::INFINITY] {
        assert_eq!(Weight::new(weight), None, "{weight}");
    }
    for probability in [0.0, -0.1, 1.1, f64::NAN] {
        assert_eq!(Weight::of_probability(probability), None, "{probability}");
    }
    assert!(Weight::new(0.0).unwrap().is_zero());
    assert_eq!(Weight::of_probability(0.1), Weight::new(10.0));
}
