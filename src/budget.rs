//! The arithmetic of deadlines: what was left, what of it may be spent, and what counts as equal
//! (SEMANTICS §5). One place for everything that reasons about budgets.

use std::ops::RangeInclusive;

use crate::units::{Nanos, UnixNanos};

/// The default floor of [`tolerance`].
pub const TOLERANCE_FLOOR: Nanos = Nanos::from_millis(5);

/// How much two lengths may differ and still be called equal: senders round, and measure a
/// little after the span began. `max(floor, x / 50)`.
pub fn tolerance(length: Nanos, floor: Nanos) -> Nanos {
    floor.max(length.div_floor(50))
}

/// What is left at `instant` until `deadline`; negative once it has passed.
pub fn remaining(deadline: Option<UnixNanos>, instant: UnixNanos) -> Option<Nanos> {
    deadline.map(|deadline| deadline - instant)
}

/// What of the remaining time may be spent: less the return reserve, not below zero.
pub fn available(remaining: Nanos, return_reserve: Nanos) -> Nanos {
    (remaining - return_reserve).at_least_zero()
}

/// The earlier of two deadlines, either of which may be unknown.
pub fn earlier<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Whether a grant equals an earlier allowance within the tolerance of that allowance.
pub fn is_equal(grant: Nanos, allowance: Nanos, floor: Nanos) -> bool {
    let tolerance = tolerance(allowance, floor);
    allowance - tolerance <= grant && grant <= allowance + tolerance
}

/// The allowances, none negative, that `grant` equals: both bounds of [`is_equal`] grow with the
/// allowance, so they are one range.
pub fn equal_allowances(grant: Nanos, floor: Nanos) -> RangeInclusive<Nanos> {
    // The least x with x + x / 50 >= grant, and the greatest with x - x / 50 <= grant, all rounded
    // down.
    let first = grant - floor.max(grant.div_floor(51));
    let last = grant + floor.max(grant.div_floor(49));
    first.at_least_zero()..=last
}
