//! Values of files as people read and correct them; `config_values` reads what is written here.

use crate::units::Nanos;
use crate::visible::escaping;

/// Comments are no wider.
const COMMENT: usize = 96;

/// As people read durations, in the largest unit of which there is one, to the last digit.
pub(crate) fn duration(length: Nanos) -> String {
    let nanos = length.as_nanos().unsigned_abs();
    let sign = if length < Nanos::ZERO { "-" } else { "" };
    let units = [("s", 1_000_000_000_u64, 9), ("ms", 1_000_000, 6), ("us", 1_000, 3)];
    let Some((name, unit, digits)) = units.into_iter().find(|(_, unit, _)| nanos >= *unit) else {
        return if nanos == 0 { "0s".to_owned() } else { format!("{sign}{nanos}ns") };
    };
    let decimals = format!("{}.{:0>digits$}", nanos / unit, nanos % unit);
    let decimals = decimals.trim_end_matches('0').trim_end_matches('.');
    format!("{sign}{decimals}{name}")
}

/// A text in quotes as TOML reads it, in which nothing is hidden.
pub(crate) fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaping(&text, |c| format!("\\U{:08X}", u32::from(c))))
}

/// Sentences as lines of a comment, of which the second and those after it are indented.
pub(crate) fn push_comment(text: &mut String, sentences: &str, indent: &str) {
    let mut line = String::from("#");
    for word in sentences.split_whitespace() {
        if line.len() > 1 && line.chars().count() + 1 + word.chars().count() > COMMENT {
            text.push_str(&line);
            text.push('\n');
            line = format!("#{indent}");
        }
        line.push(' ');
        line.push_str(word);
    }
    text.push_str(&line);
    text.push('\n');
}
