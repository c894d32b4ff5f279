//! Text in CSV that no spreadsheet takes for a formula, and the way back.
//!
//! A cell that begins with one of these signs is run by the programs that people open CSV with. An
//! apostrophe before it makes it text. So that the original can be had back, a text that begins with
//! apostrophes and goes on like a formula gets one more.

use std::borrow::Cow;

/// What begins a formula, or is passed over before one; the wide forms count where people write them.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// `text` as a cell that is nothing but text.
pub fn harmless(text: &str) -> Cow<'_, str> {
    if is_formula(text) { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

/// The text that [`harmless`] was given; numbers are what they are.
pub(super) fn original(cell: &str) -> &str {
    if is_formula(cell) { cell.strip_prefix('\'').unwrap_or(cell) } else { cell }
}

fn is_formula(text: &str) -> bool {
    text.trim_start_matches('\'').starts_with(FORMULA)
}
