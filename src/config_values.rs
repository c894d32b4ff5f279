//! Values of files that people write, with errors that say what was expected in the words of who wrote it.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, Visitor};

use crate::units::Nanos;

/// What `read` makes of a text; anything else is refused with what was expected. It is read while the
/// place of the text is known, which errors tell.
pub(crate) fn text<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    expected: &'static str,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, D::Error> {
    struct Text<R>(&'static str, R);

    impl<T, R: FnOnce(&str) -> Result<T, String>> Visitor<'_> for Text<R> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }

        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
            (self.1)(text).map_err(E::custom)
        }
    }

    deserializer.deserialize_str(Text(expected, read))
}

/// A length of time as people write it.
pub(crate) struct Duration(pub Nanos);

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text(deserializer, "a duration in quotes, such as \"800ms\"", |text| {
            Nanos::parse(text).map(Self).map_err(|error| error.to_string())
        })
    }
}

/// A length of time.
pub(crate) fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Nanos, D::Error> {
    Duration::deserialize(deserializer).map(|Duration(length)| length)
}

/// A length of time where there may be none.
pub(crate) fn optional_duration<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Nanos>, D::Error> {
    duration(deserializer).map(Some)
}

/// Lengths of time.
pub(crate) fn durations<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Nanos>, D::Error> {
    let durations = Vec::<Duration>::deserialize(deserializer)?;
    Ok(durations.into_iter().map(|Duration(length)| length).collect())
}

/// A whole number, not negative.
pub(crate) fn optional_count<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<u32>, D::Error> {
    let value = toml::Value::deserialize(deserializer)?;
    let count = value.as_integer().and_then(|number| u32::try_from(number).ok());
    count.map(Some).ok_or_else(|| D::Error::custom("expected a whole number such as 3"))
}

/// A number, whole or not.
#[expect(clippy::cast_precision_loss, reason = "nobody writes a ratio beyond 2^53")]
pub(crate) fn optional_ratio<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<f64>, D::Error> {
    let value = toml::Value::deserialize(deserializer)?;
    let ratio = value.as_float().or_else(|| value.as_integer().map(|number| number as f64));
    ratio.map(Some).ok_or_else(|| D::Error::custom("expected a number such as 0.3"))
}
