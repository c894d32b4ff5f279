//! Durations and texts as formats of others take them.

use std::fmt::Write as _;

use crate::config_text;
use crate::units::Nanos;

/// As protobuf writes durations in JSON: seconds, with no, 3, 6 or 9 decimals.
pub(super) fn seconds(length: Nanos) -> String {
    let nanos = length.as_nanos();
    let (whole, rest) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    match rest {
        0 => format!("{whole}s"),
        _ if rest % 1_000_000 == 0 => format!("{whole}.{:03}s", rest / 1_000_000),
        _ if rest % 1_000 == 0 => format!("{whole}.{:06}s", rest / 1_000),
        _ => format!("{whole}.{rest:09}s"),
    }
}

/// As people write durations, in the largest unit that needs no decimals.
pub(in crate::plan) fn duration(length: Nanos) -> String {
    let nanos = length.as_nanos();
    let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)];
    let whole = units.into_iter().find(|(_, unit)| nanos % unit == 0);
    whole.map_or_else(|| format!("{nanos}ns"), |(name, unit)| format!("{}{name}", nanos / unit))
}

/// In milliseconds, for sentences.
pub(super) fn millis(length: Nanos) -> String {
    let nanos = length.as_nanos();
    let decimals = format!("{}.{:06}", nanos / 1_000_000, nanos % 1_000_000);
    format!("{} ms", decimals.trim_end_matches('0').trim_end_matches('.'))
}

/// Lengths in a sentence.
pub(super) fn listed(lengths: &[Nanos]) -> String {
    let words: Vec<String> = lengths.iter().copied().map(millis).collect();
    words.join(", ")
}

/// A name in quotes, as JSON, YAML and TOML all read it.
pub(super) fn quoted(name: &str) -> String {
    let mut quoted = String::new();
    for c in serde_json::Value::from(name).to_string().chars() {
        // TOML takes no control character as it is, and YAML ends lines at some that JSON does not.
        if c.is_control() || (c.is_whitespace() && c != ' ') {
            // Writing to a string cannot fail.
            let _ = write!(quoted, "\\u{:04x}", u32::from(c));
        } else {
            quoted.push(c);
        }
    }
    quoted
}

/// A sentence as lines of a comment, perhaps a point of a list.
pub(super) fn push_comment(text: &mut String, sentence: &str) {
    config_text::push_comment(text, sentence, "  ");
}
