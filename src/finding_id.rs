//! Ids of findings: the same in every run and for every order of input, so that a review, a baseline
//! or a suppression can name one.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _};
use twox_hash::XxHash64;

/// A hash of what is wrong where: of names, never of trace ids, times or counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FindingId(u64);

impl FindingId {
    /// How many hexadecimal digits it has: few enough to type, and enough for a million findings to
    /// have one each.
    const DIGITS: usize = 12;

    /// The id of what `parts` name together; a part that is absent differs from one that is empty.
    pub fn of(parts: &[Option<&str>]) -> Self {
        let mut bytes = Vec::new();
        for part in parts {
            bytes.push(u8::from(part.is_some()));
            let text = part.unwrap_or_default();
            bytes.extend((text.len() as u64).to_le_bytes());
            bytes.extend(text.as_bytes());
        }
        Self(XxHash64::oneshot(0, &bytes) >> (64 - 4 * Self::DIGITS))
    }

    /// Reads one as it is told.
    pub fn parse(text: &str) -> Option<Self> {
        let is_digit = |c: char| c.is_ascii_hexdigit() && !c.is_ascii_uppercase();
        let is_id = text.len() == Self::DIGITS && text.chars().all(is_digit);
        u64::from_str_radix(text, 16).ok().filter(|_| is_id).map(Self)
    }
}

impl fmt::Display for FindingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:0digits$x}", self.0, digits = Self::DIGITS)
    }
}

impl<'de> Deserialize<'de> for FindingId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            D::Error::custom("expected an id as `dwindle findings` tells it: 12 hexadecimal digits")
        })
    }
}
