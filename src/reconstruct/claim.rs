//! What a finding rests on: that one instant does not come before another, and how sure that is
//! while clocks are known only within an interval (SEMANTICS §11, certainty; §4).

use super::clock::Clock;
use super::moment::Moment;
use crate::tables::Certainty;
use crate::units::Nanos;

/// An instant of span `to` comes at least so long after one of span `from` as is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    from: usize,
    to: usize,
    /// By how much it holds; negative where it does not.
    margin: Nanos,
}

impl Claim {
    /// `to` is not before `from`.
    pub(super) fn not_before(to: Moment, from: Moment) -> Self {
        Self { from: from.1, to: to.1, margin: to.0 - from.0 }
    }

    /// `to` is after `from`.
    pub(super) fn after(to: Moment, from: Moment) -> Self {
        Self::not_before(to, from).by(Nanos::from_nanos(1))
    }

    /// The same, by at least so much.
    pub(super) fn by(self, least: Nanos) -> Self {
        Self { margin: self.margin - least, ..self }
    }

    /// Whether it holds at the offsets that were chosen.
    pub(super) fn holds(self) -> bool {
        self.margin >= Nanos::ZERO
    }

    /// Whether it holds whatever the offsets are.
    pub(super) fn is_sure(self, clock: &Clock) -> bool {
        clock.may_shrink(self.from, self.to).is_some_and(|shrink| self.margin >= shrink)
    }
}

/// How sure a finding is that rests on all of `claims`.
pub(super) fn certainty(claims: &[Claim], clock: &Clock) -> Certainty {
    if claims.iter().all(|claim| claim.is_sure(clock)) {
        Certainty::Certain
    } else {
        Certainty::Possible
    }
}
