//! Time in integers: [`Nanos`] is a length, [`UnixNanos`] an instant. The only unit conversions.
//!
//! Both wrap a signed 64-bit number of nanoseconds. Arithmetic saturates at about 292 years
//! instead of wrapping, so that absurd timestamps in an export give an absurd length and never a
//! wrong sign or a panic; for instants that are real it is exact.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Neg, Sub};

use serde::{Deserialize, Serialize};

/// A signed length of time in nanoseconds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Nanos(i64);

/// An instant: nanoseconds since the Unix epoch, on the clock of whoever wrote it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct UnixNanos(i64);

impl Nanos {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest length there is.
    pub const MAX: Self = Self(i64::MAX);

    /// A length of `nanos` nanoseconds.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// A length of `millis` milliseconds, saturating.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// A length of `seconds` seconds, saturating.
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1_000_000_000))
    }

    /// The number of nanoseconds.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// This length, or zero where it is negative.
    #[must_use]
    pub fn at_least_zero(self) -> Self {
        self.max(Self::ZERO)
    }

    /// This length divided by `divisor`, rounded down (towards minus infinity).
    #[must_use]
    pub const fn div_floor(self, divisor: i64) -> Self {
        Self(self.0.div_euclid(divisor))
    }

    /// Reads a duration as people write it in a contract or a flag: a decimal number and one of
    /// `ns`, `us`, `µs`, `ms`, `s`, `m`, `h`, such as `80ms` or `1.5s`; several may follow one
    /// another as in Go (`1m30s`). Not negative; exact to the nanosecond, digits beyond are an
    /// error.
    ///
    /// # Errors
    /// Says what was expected, without repeating the text.
    pub fn parse(text: &str) -> Result<Self, ParseDurationError> {
        let mut rest = text.trim();
        if rest.is_empty() {
            return Err(ParseDurationError);
        }
        let mut total: i64 = 0;
        while !rest.is_empty() {
            let number_len =
                rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).ok_or(ParseDurationError)?;
            let (number, tail) = rest.split_at(number_len);
            let unit_len =
                tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
            let (unit, tail) = tail.split_at(unit_len);
            let part = decimal_times(number, unit_nanos(unit.trim()).ok_or(ParseDurationError)?)
                .ok_or(ParseDurationError)?;
            total = total.checked_add(part).ok_or(ParseDurationError)?;
            rest = tail;
        }
        Ok(Self(total))
    }
}

/// What one of a unit is in nanoseconds.
fn unit_nanos(unit: &str) -> Option<i64> {
    Some(match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// `number` (digits with at most one point) times `unit` nanoseconds, exact or `None`: fractions
/// of a nanosecond are refused.
fn decimal_times(number: &str, unit: i64) -> Option<i64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.contains('.') {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{whole}{fraction}");
    // "0." and ".0" leave no digit; a lone point is no number.
    let is_zero = digits.is_empty() && number.len() > 1;
    let digits: i128 = if is_zero { 0 } else { digits.parse().ok()? };
    let scale = 10_i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let scaled = digits.checked_mul(i128::from(unit))?;
    if scaled % scale != 0 {
        return None;
    }
    i64::try_from(scaled / scale).ok()
}

/// The text is not a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseDurationError;

impl fmt::Display for ParseDurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "expected a duration such as \"800ms\", \"1.5s\" or \"1m30s\" (ns, us, ms, s, m, h)",
        )
    }
}

impl std::error::Error for ParseDurationError {}

impl UnixNanos {
    /// Before every instant there is.
    pub const MIN: Self = Self(i64::MIN);

    /// After every instant there is.
    pub const MAX: Self = Self(i64::MAX);

    /// The instant `nanos` nanoseconds after the epoch.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the epoch.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Nanos {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Neg for Nanos {
    type Output = Self;
    fn neg(self) -> Self {
        Self(self.0.saturating_neg())
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Nanos {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl Sub for UnixNanos {
    type Output = Nanos;
    fn sub(self, other: Self) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }
}

impl Add<Nanos> for UnixNanos {
    type Output = Self;
    fn add(self, length: Nanos) -> Self {
        Self(self.0.saturating_add(length.0))
    }
}

impl Sub<Nanos> for UnixNanos {
    type Output = Self;
    fn sub(self, length: Nanos) -> Self {
        Self(self.0.saturating_sub(length.0))
    }
}
