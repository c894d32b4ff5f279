//! Findings that do not fail a check for a while: each with a reason, and a day on which it counts
//! again.

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use toml::Spanned;

use super::ContractError;
use crate::config_error;
use crate::date::Date;
use crate::finding_id::FindingId;

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suppression {
    /// The finding.
    pub id: FindingId,
    /// Why it may stay for a while.
    pub reason: String,
    /// The last day on which it does.
    #[serde(deserialize_with = "day")]
    pub until: Date,
    /// The line of its file, from 1.
    #[serde(skip)]
    pub line: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    suppress: Vec<Spanned<Suppression>>,
}

impl Suppression {
    /// Reads a file that holds nothing else.
    ///
    /// # Errors
    /// Unknown and missing keys, ids and days that are none, blank reasons, an id twice.
    pub fn parse_file(file: &str, text: &str) -> Result<Vec<Self>, ContractError> {
        let parsed: File = config_error::parse_toml(file, text)?;
        Self::numbered(parsed.suppress, file, text)
    }

    /// The same with their lines.
    pub(super) fn numbered(
        parsed: Vec<Spanned<Self>>,
        file: &str,
        text: &str,
    ) -> Result<Vec<Self>, ContractError> {
        let mut suppressions: Vec<Self> = Vec::new();
        for spanned in parsed {
            let start = spanned.span().start;
            let line = config_error::line_of(text, start);
            let suppression = Self { line, ..spanned.into_inner() };
            let error_at = |key: &str, message: &str| {
                let byte = config_error::key_after(text, start, key).unwrap_or(start);
                let (key, message) = (Some(key.to_owned()), message.to_owned());
                Err(ContractError::at_byte(file, text, byte, key, message))
            };
            if suppression.reason.trim().is_empty() {
                return error_at("reason", "expected why the finding may stay for a while");
            }
            if suppressions.iter().any(|other| other.id == suppression.id) {
                return error_at("id", "this finding is suppressed twice");
            }
            suppressions.push(suppression);
        }
        Ok(suppressions)
    }
}

/// A day, as TOML writes it or in quotes.
fn day<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Date, D::Error> {
    let text = match toml::Value::deserialize(deserializer)? {
        toml::Value::Datetime(day) => day.to_string(),
        toml::Value::String(day) => day,
        _ => String::new(),
    };
    Date::parse(&text).map_err(D::Error::custom)
}
