//! A policy: how calls spend the budget of a request. People write it as TOML; replay runs requests
//! by it, and it is emitted as the configuration of others.

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

use crate::config_error::{self, ConfigError};
use crate::config_values::{durations, optional_count, optional_duration};
use crate::contract::Glob;
use crate::units::Nanos;

/// How calls spend the budget of a request. What is absent stays as it was.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    /// From the origin of a request to the instant after which its result is of no use.
    #[serde(deserialize_with = "optional_duration")]
    pub deadline: Option<Nanos>,
    /// Kept back for assembling and sending the result.
    #[serde(deserialize_with = "optional_duration")]
    pub return_reserve: Option<Nanos>,
    /// Whether a call gets no more than what its caller has left, and ends with it.
    pub propagate: Option<bool>,
    /// Whether a callee stops when its caller has left.
    pub stop_on_cancel: Option<bool>,
    /// Whether an attempt begins only where its whole timeout is available.
    pub reject_unfundable: Option<bool>,
    /// What calls get; the first that matches holds.
    pub call: Vec<CallPolicy>,
}

/// What the calls get that match; what is absent stays as it was, and matches everything.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CallPolicy {
    /// On the service that calls.
    pub caller: Option<Glob>,
    /// On the service that is called.
    pub callee: Option<Glob>,
    /// On the name of the operation.
    pub operation: Option<Glob>,
    /// Of one attempt.
    #[serde(deserialize_with = "optional_duration")]
    pub timeout: Option<Nanos>,
    /// How often at most, the first try included.
    #[serde(deserialize_with = "optional_count")]
    pub max_attempts: Option<u32>,
    /// The waits between attempts; the last of them holds for all further ones.
    #[serde(deserialize_with = "optional_durations")]
    pub backoff: Option<Vec<Nanos>>,
    /// Retries per first try at most.
    #[serde(deserialize_with = "optional_share")]
    pub retry_budget: Option<Share>,
}

/// A part of one, or more than one, in millionths, so that comparing with it is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share(u64);

impl Share {
    /// In millionths.
    pub const fn from_millionths(millionths: u64) -> Self {
        Self(millionths)
    }

    /// In millionths.
    pub const fn millionths(self) -> u64 {
        self.0
    }

    /// As a number, for those who print it.
    #[expect(clippy::cast_precision_loss, reason = "a share is told, and counted no further")]
    pub fn ratio(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// As a decimal number, which [`Share::parse`] reads.
    pub fn decimal(self) -> String {
        let decimals = format!("{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000);
        decimals.trim_end_matches('0').trim_end_matches('.').to_owned()
    }

    /// Whether `part` is less than this share of `whole`.
    pub fn is_above(self, part: u64, whole: u64) -> bool {
        u128::from(part) * 1_000_000 < u128::from(self.0) * u128::from(whole)
    }

    /// Reads a decimal number such as `0.3`, of at most six decimals.
    ///
    /// # Errors
    /// Says what was expected, without repeating the text.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        const EXPECTED: &str = "expected a number such as 0.3, of at most six decimals";
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || fraction.len() > 6 || !is_digits(whole) || !is_digits(fraction) {
            return Err(EXPECTED);
        }
        format!("{whole}{fraction:0<6}").parse().map(Self).map_err(|_| EXPECTED)
    }
}

fn optional_durations<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<Nanos>>, D::Error> {
    durations(deserializer).map(Some)
}

/// What TOML writes as a number; its shortest decimal form is what was written.
pub(crate) fn optional_share<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Share>, D::Error> {
    let value = toml::Value::deserialize(deserializer)?;
    let text = match &value {
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Float(number) => number.to_string(),
        _ => String::new(),
    };
    Share::parse(&text).map(Some).map_err(D::Error::custom)
}

impl CallPolicy {
    /// Whether it is about calls from `caller` to `callee`.
    pub fn is_about(&self, caller: &str, callee: &str, operation: &str) -> bool {
        let is_of =
            |glob: &Option<Glob>, name: &str| glob.as_ref().is_none_or(|it| it.matches(name));
        is_of(&self.caller, caller)
            && is_of(&self.callee, callee)
            && is_of(&self.operation, operation)
    }
}

impl Policy {
    /// Reads a policy file.
    ///
    /// # Errors
    /// Unknown keys, bad durations, patterns and numbers, values that cannot be meant.
    pub fn parse(file: &str, text: &str) -> Result<Self, ConfigError> {
        let policy: Self = config_error::parse_toml(file, text)?;
        match policy.contradiction() {
            None => Ok(policy),
            Some((key, message)) => {
                let at = text.find(key).unwrap_or(0);
                Err(ConfigError::at_byte(file, text, at, Some(key.to_owned()), message.to_owned()))
            }
        }
    }

    /// What a call gets from `caller` to `callee`.
    pub fn of_call(&self, caller: &str, callee: &str, operation: &str) -> Option<&CallPolicy> {
        self.call.iter().find(|call| call.is_about(caller, callee, operation))
    }

    /// A value that reads well and cannot be meant: its key, and what was expected.
    fn contradiction(&self) -> Option<(&'static str, &'static str)> {
        let nothing = Some(Nanos::ZERO);
        let reserve = self.return_reserve.unwrap_or(Nanos::ZERO);
        let any = |wrong: fn(&CallPolicy) -> bool| self.call.iter().any(wrong);
        let wrong = [
            (self.deadline == nothing, "deadline", "a deadline of nothing cannot be met"),
            (
                self.deadline.is_some_and(|deadline| reserve >= deadline),
                "return_reserve",
                "expected less than the deadline",
            ),
            (
                any(|call| call.timeout == Some(Nanos::ZERO)),
                "timeout",
                "expected a timeout of more than nothing",
            ),
            (
                any(|call| call.max_attempts == Some(0)),
                "max_attempts",
                "expected 1 or more: the first try counts",
            ),
        ];
        wrong.into_iter().find(|(is_wrong, ..)| *is_wrong).map(|(_, key, expected)| (key, expected))
    }
}
