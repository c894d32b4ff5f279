//! A length of time that goes from one value to another in equal steps.

use crate::units::Nanos;

/// `FROM..TO/STEP`, with both ends where the step meets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sweep {
    from: Nanos,
    to: Nanos,
    step: Nanos,
}

/// More points than this nobody reads.
const MAX_POINTS: i64 = 10_000;

/// About so many there are where nobody says how many.
const USUAL_POINTS: i64 = 20;

impl Sweep {
    /// Reads `0ms..1s/50ms`.
    ///
    /// # Errors
    /// Says what was expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parts = || {
            let (from, rest) = text.split_once("..")?;
            let (to, step) = rest.split_once('/')?;
            Some([from, to, step])
        };
        let parts = parts().ok_or("expected FROM..TO/STEP, such as 0ms..1s/50ms")?;
        let [from, to, step] = parts.map(|part| Nanos::parse(part).map_err(|it| it.to_string()));
        let sweep = Self { from: from?, to: to?, step: step? };
        if sweep.step == Nanos::ZERO {
            return Err("expected a step of more than nothing".to_owned());
        }
        if sweep.to < sweep.from {
            return Err("expected FROM not after TO".to_owned());
        }
        if sweep.steps() >= MAX_POINTS {
            let points = i128::from(sweep.steps()) + 1;
            return Err(format!("expected at most {MAX_POINTS} points; these are {points}"));
        }
        Ok(sweep)
    }

    /// From nothing to `to`, in steps of 1, 2 or 5 times a power of ten.
    pub fn up_to(to: Nanos) -> Self {
        let exact = to.as_nanos() / USUAL_POINTS;
        let mut tens: i64 = 1;
        while tens.saturating_mul(10) <= exact {
            tens *= 10;
        }
        let steps = [1, 2, 5, 10].map(|factor| tens.saturating_mul(factor));
        let step = steps.into_iter().find(|step| *step >= exact).unwrap_or(tens);
        Self { from: Nanos::ZERO, to, step: Nanos::from_nanos(step) }
    }

    /// The same without its beginning.
    #[must_use]
    pub fn after_start(self) -> Self {
        Self { from: self.from + self.step, ..self }
    }

    /// Where it begins.
    pub fn from(&self) -> Nanos {
        self.from
    }

    /// Whether it meets the lengths that are larger than one and not larger than another; `None` is no
    /// bound.
    pub fn meets(&self, beyond: Option<Nanos>, up_to: Option<Nanos>) -> bool {
        beyond.is_none_or(|beyond| self.to > beyond) && up_to.is_none_or(|up_to| self.from <= up_to)
    }

    /// The points, which are none where it begins after its end.
    pub fn points(self) -> impl Iterator<Item = Nanos> {
        let at =
            move |step: i64| Nanos::from_nanos(self.from.as_nanos() + step * self.step.as_nanos());
        let is_empty = self.to < self.from;
        (0..=self.steps()).map(at).filter(move |_| !is_empty)
    }

    fn steps(&self) -> i64 {
        (self.to - self.from).as_nanos() / self.step.as_nanos()
    }
}
