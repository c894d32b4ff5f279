//! What a length or an instant may be.

use crate::units::Nanos;

/// From the least that a length or an instant may be to the most; no most where nothing bounds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The least.
    pub lo: Nanos,
    /// The most.
    pub hi: Option<Nanos>,
}

impl Range {
    /// Nothing.
    pub const ZERO: Self = Self::exactly(Nanos::ZERO);

    /// What is known.
    pub const fn exactly(value: Nanos) -> Self {
        Self { lo: value, hi: Some(value) }
    }

    /// At least so much.
    pub const fn from(lo: Nanos) -> Self {
        Self { lo, hi: None }
    }

    /// Whether it is known.
    pub fn is_exact(self) -> bool {
        self.hi == Some(self.lo)
    }

    /// The same, so much more.
    pub(super) fn later(self, by: Nanos) -> Self {
        self.plus(Self::exactly(by))
    }

    /// The sum.
    pub(super) fn plus(self, other: Self) -> Self {
        let hi = self.hi.zip(other.hi).map(|(one, other)| one + other);
        Self { lo: self.lo + other.lo, hi }
    }

    /// How long after `other` it is.
    pub(super) fn since(self, other: Self) -> Self {
        let hi = self.hi.map(|hi| hi - other.lo);
        Self { lo: other.hi.map_or(-Nanos::MAX, |from| self.lo - from), hi }
    }

    /// Either of the two.
    pub(super) fn or(self, other: Self) -> Self {
        Self { lo: self.lo.min(other.lo), hi: more(self.hi, other.hi) }
    }

    /// The lesser of the two.
    pub(super) fn least(self, other: Self) -> Self {
        Self { lo: self.lo.min(other.lo), hi: less(self.hi, other.hi) }
    }

    /// The same, never below zero.
    pub(super) fn at_least_zero(self) -> Self {
        Self { lo: self.lo.at_least_zero(), hi: self.hi.map(Nanos::at_least_zero) }
    }
}

/// The lesser of two, where none is the most.
pub(super) fn less(one: Option<Nanos>, other: Option<Nanos>) -> Option<Nanos> {
    crate::budget::earlier(one, other)
}

/// The greater of two, where none is the most.
pub(super) fn more(one: Option<Nanos>, other: Option<Nanos>) -> Option<Nanos> {
    one.zip(other).map(|(one, other)| one.max(other))
}
