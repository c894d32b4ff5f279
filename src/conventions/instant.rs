//! Instants written as dates: RFC 3339, its compact form, and Finagle's with a colon before the
//! milliseconds.

use crate::units::UnixNanos;

const SECONDS_PER_DAY: i64 = 86_400;
const NANOS_PER_SECOND: i64 = 1_000_000_000;
/// Digits of a second's fraction down to a nanosecond; more are cut.
const FRACTION_DIGITS: usize = 9;

/// Reads `2026-11-29T22:46:57.5Z`, `20261129T224657Z` or `2026-11-29 22:46:57:500 +0000`.
pub fn parse(text: &str) -> Option<UnixNanos> {
    let mut rest = Cursor(text.trim().as_bytes());
    let year = rest.number(4)?;
    rest.skip(b"-");
    let month = rest.number(2)?;
    rest.skip(b"-");
    let day = rest.number(2)?;
    rest.one_of(b"Tt ")?;
    let hour = rest.number(2)?;
    rest.skip(b":");
    let minute = rest.number(2)?;
    rest.skip(b":");
    let second = rest.number(2)?;
    let fraction = if rest.skip(b".,:") { rest.fraction()? } else { 0 };
    rest.skip(b" ");
    let offset = rest.zone()?;
    // A leap second is written as 60.
    let in_range = (1..=12).contains(&month) && hour < 24 && minute < 60 && second <= 60;
    if !rest.0.is_empty() || !in_range || day < 1 || days_of(year, month) < day {
        return None;
    }
    let seconds =
        days_from_epoch(year, month, day) * SECONDS_PER_DAY + hour * 3_600 + minute * 60 + second
            - offset;
    seconds.checked_mul(NANOS_PER_SECOND)?.checked_add(fraction).map(UnixNanos::from_nanos)
}

/// The days of a month.
fn days_of(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days since 1970-01-01 in the Gregorian calendar. Years are taken to begin in March, so that the
/// leap day is the last of its year and months have a regular length before it.
fn days_from_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// What is left to read.
struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    /// The next byte, if it is one of `set`.
    fn one_of(&mut self, set: &[u8]) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        set.contains(&first).then(|| {
            self.0 = rest;
            first
        })
    }

    /// Steps over the next byte if it is one of `set`, and tells whether it was.
    fn skip(&mut self, set: &[u8]) -> bool {
        self.one_of(set).is_some()
    }

    /// The next digit.
    fn digit(&mut self) -> Option<i64> {
        self.one_of(b"0123456789").map(|byte| i64::from(byte - b'0'))
    }

    /// A number of exactly `digits` digits.
    fn number(&mut self, digits: usize) -> Option<i64> {
        (0..digits).try_fold(0, |number, _| Some(number * 10 + self.digit()?))
    }

    /// The digits after the point, in nanoseconds.
    fn fraction(&mut self) -> Option<i64> {
        let mut nanos = self.digit()? * (NANOS_PER_SECOND / 10);
        let mut unit = NANOS_PER_SECOND / 100;
        for _ in 1..FRACTION_DIGITS {
            let Some(digit) = self.digit() else { return Some(nanos) };
            nanos += digit * unit;
            unit /= 10;
        }
        while self.digit().is_some() {}
        Some(nanos)
    }

    /// How many seconds the zone is ahead of UTC.
    fn zone(&mut self) -> Option<i64> {
        let sign = match self.one_of(b"Zz+-")? {
            b'+' => 1,
            b'-' => -1,
            _ => return Some(0),
        };
        let hours = self.number(2)?;
        self.skip(b":");
        Some(sign * (hours * 3_600 + self.number(2)? * 60))
    }
}
