//! Days of the calendar.

use std::fmt;

use crate::units::UnixNanos;

/// A day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: i64,
    month: u8,
    day: u8,
}

impl Date {
    /// The day of an instant, in UTC (Howard Hinnant's algorithm: years begin in March, so that the
    /// leap day is the last).
    pub fn of(instant: UnixNanos) -> Self {
        let days = instant.as_nanos().div_euclid(86_400_000_000_000) + 719_468;
        let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        let small = |number: i64| u8::try_from(number).unwrap_or(1);
        Self {
            year: year + era * 400 + i64::from(month <= 2),
            month: small(month),
            day: small(day),
        }
    }

    /// Reads a day as in `2027-01-31`.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        /// What is expected.
        const EXPECTED: &str = "expected a day such as 2027-01-31";
        let digits = |part: Option<&str>, length: usize| {
            let part = part.filter(|part| part.len() == length)?;
            part.bytes().all(|b| b.is_ascii_digit()).then(|| part.parse::<u8>().ok())?
        };
        let mut parts = text.split('-');
        let year = parts.next().filter(|year| year.len() == 4);
        let year = year.filter(|year| year.bytes().all(|b| b.is_ascii_digit()));
        let year = year.and_then(|year| year.parse().ok());
        let (month, day) = (digits(parts.next(), 2), digits(parts.next(), 2));
        match (year, month, day, parts.next()) {
            (Some(year), Some(month), Some(day), None)
                if (1..=12).contains(&month) && (1..=days(year, month)).contains(&day) =>
            {
                Ok(Self { year, month, day })
            }
            _ => Err(EXPECTED),
        }
    }
}

/// How many days a month has.
fn days(year: i64, month: u8) -> u8 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + u8::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}
