//! Many comparisons at once: how likely it is that any of them shows a difference where there is
//! none.
//!
//! Comparisons that could not show one, whichever way the clusters fall, are left out first (Tarone,
//! Biometrics 46, 1990: what could be shown is known before anybody looks at who is on which side);
//! the others are corrected by Holm (Scandinavian Journal of Statistics 6, 1979). Both hold whatever
//! the comparisons have to do with one another.

use super::Test;
use super::binomial::float;

/// How likely it may be that anything is marked as different where nothing is.
pub const LEVEL: f64 = 0.05;

/// The comparisons that are judged together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Family {
    /// How many could show a difference.
    pub size: usize,
    /// The p at or below which a comparison must be able to go to be one of them, and below which any
    /// of them is told apart.
    pub level: f64,
    /// By comparison the corrected p; `None` of those that could show none.
    pub corrected: Vec<Option<f64>>,
}

impl Family {
    /// Corrects the tests of comparisons; those without one could show nothing.
    pub fn of(tests: &[Option<Test>]) -> Self {
        let level = level(tests.iter().flatten().map(|test| test.least_p).collect());
        let test = |(place, test): (usize, &Option<Test>)| {
            test.filter(|test| test.least_p <= level).map(|test| (test.p, place))
        };
        let mut judged: Vec<(f64, usize)> = tests.iter().enumerate().filter_map(test).collect();
        judged.sort_by(|(p, place), (other_p, other)| p.total_cmp(other_p).then(place.cmp(other)));
        let mut corrected = vec![None; tests.len()];
        let mut largest = 0.0_f64;
        for (rank, (p, place)) in judged.iter().enumerate() {
            largest = largest.max((p * float(judged.len() - rank)).min(1.0));
            if let Some(slot) = corrected.get_mut(*place) {
                *slot = Some(largest);
            }
        }
        Self { size: judged.len(), level, corrected }
    }
}

/// The level over the least k for which no more than k comparisons can go below it.
fn level(mut least: Vec<f64>) -> f64 {
    least.sort_unstable_by(f64::total_cmp);
    let fits = |k: &usize| {
        let level = LEVEL / float(*k);
        least.partition_point(|&p| p <= level) <= *k
    };
    LEVEL / float((1..=least.len()).find(fits).unwrap_or(1))
}
