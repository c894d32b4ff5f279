//! Counts as people read them.

/// A count, in groups of three digits.
pub(crate) fn count(number: u64) -> String {
    thousands(&number.to_string())
}

/// Digits in groups of three.
pub(crate) fn thousands(digits: &str) -> String {
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The first number without a noun's plural, the others with: `1 file`, `2 files`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let plural = match noun {
        _ if number == 1 => noun.to_owned(),
        _ if noun.ends_with("ss") => format!("{noun}es"),
        _ if noun.ends_with("ry") => format!("{}ies", noun.trim_end_matches('y')),
        _ => format!("{noun}s"),
    };
    format!("{} {plural}", count(number))
}
