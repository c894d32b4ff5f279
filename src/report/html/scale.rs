//! Lengths of time on an axis.

use crate::units::Nanos;

/// Maps values to places, linearly.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    values: (i128, i128),
    places: (f64, f64),
}

impl Scale {
    /// `from` lies at `at`, `to` at `until`.
    pub(super) fn new(from: i128, to: i128, at: f64, until: f64) -> Self {
        Self { values: (from, to.max(from + 1)), places: (at, until) }
    }

    /// Of lengths of time.
    pub(super) fn of(from: Nanos, to: Nanos, at: f64, until: f64) -> Self {
        Self::new(i128::from(from.as_nanos()), i128::from(to.as_nanos()), at, until)
    }

    /// Where a value lies; what is beyond an end lies at the end.
    pub(super) fn place(&self, value: i128) -> f64 {
        let ((from, to), (at, until)) = (self.values, self.places);
        let share = float(value.clamp(from, to) - from) / float(to - from);
        at + share * (until - at)
    }

    /// Where a length of time lies.
    pub(super) fn at(&self, value: Nanos) -> f64 {
        self.place(i128::from(value.as_nanos()))
    }

    /// Round values for a grid, at most about `most`.
    pub(super) fn ticks(&self, most: i128) -> Vec<i128> {
        let (from, to) = self.values;
        let step = round_step((to - from) / most.max(1));
        let first = from.div_euclid(step) + i128::from(from.rem_euclid(step) > 0);
        (first..=to.div_euclid(step)).map(|tick| tick * step).collect()
    }
}

/// The least of 1, 2 and 5 times a power of ten above `least`.
fn round_step(least: i128) -> i128 {
    let mut power = 1;
    loop {
        for factor in [1, 2, 5] {
            if power * factor > least {
                return power * factor;
            }
        }
        power *= 10;
    }
}

/// A number for a picture, where the last digits cannot be seen.
#[expect(clippy::cast_precision_loss, reason = "a picture has some thousand pixels")]
pub(super) fn float(number: i128) -> f64 {
    number as f64
}

/// A place in a picture, to a tenth of a pixel.
pub(super) fn px(place: f64) -> String {
    format!("{place:.1}")
}
