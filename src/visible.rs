//! Names of others as text that obeys nobody.

use unicode_width::UnicodeWidthChar;

/// So many marks may stand on one letter; more would hide the lines above.
const MOST_MARKS: usize = 3;

/// `text` without anything that a terminal or a reader's eye would take for more than text:
/// control characters, those that change the direction of what follows or cannot be seen, and heaps
/// of marks on one letter.
pub fn visible(text: &str) -> String {
    escaping(text, |c| c.escape_unicode().to_string())
}

/// The same, where `escaped` tells what stands for a character that is not left as it is.
pub(crate) fn escaping(text: &str, escaped: impl Fn(char) -> String) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut marks = 0;
    for c in text.chars() {
        marks = if c.width() == Some(0) { marks + 1 } else { 0 };
        if c.is_control() || is_invisible(c) || marks > MOST_MARKS {
            safe.push_str(&escaped(c));
        } else {
            safe.push(c);
        }
    }
    safe
}

/// What Unicode lets programs ignore, and what ends lines or changes direction.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}
