//! Waits between attempts, as formats say them that know only a first one and how it grows.

use crate::units::Nanos;

/// The waits before each retry of so many attempts: the last that is listed holds for all that follow.
pub(super) fn planned(listed: &[Nanos], attempts: u32) -> Vec<Nanos> {
    let last = listed.last().copied().unwrap_or(Nanos::ZERO);
    let waits = listed.iter().copied().chain(std::iter::repeat(last));
    waits.take(attempts.saturating_sub(1) as usize).collect()
}

/// A first wait, a factor in the place of the list (its numerator and denominator), and a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Growing {
    pub(super) first: Nanos,
    pub(super) factor: (i64, i64),
    pub(super) most: Nanos,
}

impl Growing {
    /// What comes nearest: the first two waits and the largest are kept. `None` where there is no wait;
    /// formats that need one get the shortest.
    pub(super) fn of(planned: &[Nanos]) -> Option<Self> {
        let first = *planned.first()?;
        let most = planned.iter().copied().max()?;
        if first == Nanos::ZERO {
            return None;
        }
        let second = planned.get(1).copied().unwrap_or(first);
        // A factor has to be more than nothing.
        let second = if second == Nanos::ZERO { first } else { second };
        Some(Self { first, factor: (second.as_nanos(), first.as_nanos()), most })
    }

    /// The same, growing twofold.
    pub(super) fn doubling(self) -> Self {
        Self { factor: (2, 1), ..self }
    }

    /// The waits before so many retries, rounded down.
    pub(super) fn waits(self, retries: usize) -> Vec<Nanos> {
        let (numerator, denominator) = self.factor;
        let most = i128::from(self.most.as_nanos());
        let grown = |wait: &i128| {
            let next = wait.saturating_mul(numerator.into()) / i128::from(denominator.max(1));
            Some(next.min(most))
        };
        std::iter::successors(Some(i128::from(self.first.as_nanos())), grown)
            .take(retries)
            .map(|wait| Nanos::from_nanos(i64::try_from(wait).unwrap_or(i64::MAX)))
            .collect()
    }
}
