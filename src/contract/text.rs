//! Values of contract files, with errors that say what was expected in the words of who wrote it.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, Visitor};

use crate::units::Nanos;

/// A text; anything else is refused with what was expected.
pub(super) fn text<'de, D: Deserializer<'de>>(
    deserializer: D,
    expected: &'static str,
) -> Result<String, D::Error> {
    struct Text(&'static str);

    impl Visitor<'_> for Text {
        type Value = String;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }

        fn visit_str<E>(self, text: &str) -> Result<String, E> {
            Ok(text.to_owned())
        }
    }

    deserializer.deserialize_str(Text(expected))
}

/// A length of time as people write it.
pub(super) struct Duration(pub Nanos);

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = text(deserializer, "a duration in quotes, such as \"800ms\"")?;
        Nanos::parse(&text).map(Self).map_err(D::Error::custom)
    }
}

/// A whole number, not negative.
pub(super) fn optional_count<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<u32>, D::Error> {
    let value = toml::Value::deserialize(deserializer)?;
    let count = value.as_integer().and_then(|number| u32::try_from(number).ok());
    count.map(Some).ok_or_else(|| D::Error::custom("expected a whole number such as 3"))
}

/// A number, whole or not.
#[expect(clippy::cast_precision_loss, reason = "nobody writes a ratio beyond 2^53")]
pub(super) fn optional_ratio<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<f64>, D::Error> {
    let value = toml::Value::deserialize(deserializer)?;
    let ratio = value.as_float().or_else(|| value.as_integer().map(|number| number as f64));
    ratio.map(Some).ok_or_else(|| D::Error::custom("expected a number such as 0.3"))
}
