//! The hypergeometric distribution behind tests of shares, summed outwards from its mode as the
//! binomial is.

use super::binomial::{NEGLIGIBLE, float};

/// P(X ≤ x) and P(X ≥ x) for X the number of marked among `taken` of `all`, of which `marked` are.
pub(super) fn tails(all: usize, marked: usize, taken: usize, x: usize) -> (f64, f64) {
    let least = (marked + taken).saturating_sub(all);
    let most = marked.min(taken);
    let mode = ((marked + 1) * (taken + 1) / (all + 2)).clamp(least, most);
    // P(X = k + 1) / P(X = k).
    let step = |k: usize| {
        float(marked - k) * float(taken - k) / (float(k + 1) * float(all + k + 1 - marked - taken))
    };
    let mut tails = Tails::default();
    tails.add(mode, x, 1.0);
    let mut term = 1.0;
    for k in (least..mode).rev() {
        term /= step(k);
        if k < x && term < NEGLIGIBLE * tails.at_most {
            break;
        }
        tails.add(k, x, term);
    }
    term = 1.0;
    for k in mode..most {
        term *= step(k);
        if k >= x && term < NEGLIGIBLE * tails.at_least {
            break;
        }
        tails.add(k + 1, x, term);
    }
    (tails.at_most / tails.all, tails.at_least / tails.all)
}

/// Sums of terms, each relative to the mode's.
#[derive(Default)]
struct Tails {
    at_most: f64,
    at_least: f64,
    all: f64,
}

impl Tails {
    fn add(&mut self, k: usize, x: usize, term: f64) {
        self.all += term;
        if k <= x {
            self.at_most += term;
        }
        if k >= x {
            self.at_least += term;
        }
    }
}
