//! Numbers, instants and names as people read them.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

pub(super) use crate::counts::{count, counted, thousands};
use crate::date::Date;
use crate::units::UnixNanos;
pub use crate::visible::visible;

/// What stands where nothing is known.
pub(super) const ABSENT: &str = "–";

/// A length of time in milliseconds with three significant digits, without the unit.
pub(super) fn millis(nanos: i128) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    format!("{sign}{}", three_digits(nanos.unsigned_abs(), 6))
}

/// The same with so many significant digits, as far as they are not zeros at the end of decimals: for
/// lengths that somebody chose.
pub(super) fn finer_millis(nanos: i128, digits: u32) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    format!("{sign}{}", without_zeros(&significant(nanos.unsigned_abs(), 6, digits)))
}

/// A length of time in milliseconds to its last digit, without the unit.
pub(super) fn exact_millis(nanos: i128) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let (whole, rest) = (nanos.unsigned_abs() / 1_000_000, nanos.unsigned_abs() % 1_000_000);
    let decimals = format!("{rest:06}");
    let whole = thousands(&whole.to_string());
    without_zeros(&format!("{sign}{whole}.{decimals}")).to_owned()
}

/// How many times as long as `whole` `part` is, with three significant digits.
pub(super) fn multiple(part: i128, whole: i128) -> String {
    if part < 0 || whole <= 0 {
        return ABSENT.to_owned();
    }
    format!("×{}", without_zeros(&rate(part.unsigned_abs(), whole.unsigned_abs())))
}

/// A decimal number without the zeros at the end of its decimals.
fn without_zeros(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// `part` per `whole` with three significant digits.
pub(super) fn ratio(part: u64, whole: u64) -> String {
    rate(u128::from(part), u128::from(whole))
}

/// `part / whole` with three significant digits, at most nine decimals.
pub(super) fn rate(part: u128, whole: u128) -> String {
    let scaled = part.saturating_mul(1_000_000_000).checked_div(whole);
    scaled.map_or_else(|| ABSENT.to_owned(), |scaled| three_digits(scaled, 9))
}

/// `number / 10^decimals` rounded half up to three significant digits.
fn three_digits(number: u128, decimals: u32) -> String {
    significant(number, decimals, 3)
}

/// The same to so many significant digits.
fn significant(number: u128, decimals: u32, most: u32) -> String {
    if number == 0 {
        return "0".to_owned();
    }
    let surplus = (number.ilog10() + 1).saturating_sub(most);
    let unit = 10_u128.pow(surplus);
    let rounded = (number.saturating_add(unit / 2) / unit).saturating_mul(unit);
    // Rounding up may give one digit more, as from 9.996 to 10.0.
    let digits = rounded.ilog10() + 1;
    let shown = decimals.min((decimals + most).saturating_sub(digits));
    let scaled = rounded / 10_u128.pow(decimals - shown);
    let one = 10_u128.pow(shown);
    let whole = thousands(&(scaled / one).to_string());
    match shown {
        0 => whole,
        _ => format!("{whole}.{:0>width$}", scaled % one, width = shown as usize),
    }
}

/// `number / 10^decimals`, exact.
pub(super) fn decimal(number: u128, decimals: u32) -> String {
    let one = 10_u128.pow(decimals);
    let whole = thousands(&(number / one).to_string());
    let exact = format!("{whole}.{:0>width$}", number % one, width = decimals as usize);
    without_zeros(&exact).to_owned()
}

/// A percentage with one decimal. Only nothing is 0 %, only all is 100 %.
pub(super) fn percent(part: i128, whole: i128) -> String {
    if whole <= 0 {
        return ABSENT.to_owned();
    }
    let doubled = part.saturating_mul(2_000).saturating_add(whole);
    let rounded = doubled.div_euclid(whole.saturating_mul(2));
    match rounded {
        _ if part == 0 => "0 %".to_owned(),
        _ if part == whole => "100 %".to_owned(),
        0 if part > 0 => "<0.1 %".to_owned(),
        1_000 if part < whole => ">99.9 %".to_owned(),
        _ => format!("{}.{} %", rounded / 10, rounded.rem_euclid(10)),
    }
}

/// A part of one, in points of a hundred.
pub(super) fn points(part: f64) -> String {
    let words = format!("{:.1}", part * 100.0);
    if words == "-0.0" { "0.0".to_owned() } else { words }
}

/// An instant in UTC, to the second.
pub(super) fn instant(instant: UnixNanos) -> String {
    let second = instant.as_nanos().div_euclid(1_000_000_000).rem_euclid(86_400);
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    format!("{} {hour:02}:{minute:02}:{:02} UTC", Date::of(instant), second % 60)
}

/// How many columns `text` takes.
pub(super) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// `text` in at most `room` columns: what is too long loses its middle, since paths and names
/// differ at either end.
pub(super) fn shorten(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let room = room.saturating_sub(1);
    let head = fitting(text.chars(), room.div_ceil(2));
    let tail = fitting(text.chars().rev(), room / 2);
    let tail: String = tail.chars().rev().collect();
    format!("{head}…{tail}")
}

fn fitting(chars: impl Iterator<Item = char>, room: usize) -> String {
    let mut used = 0;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= room
    };
    chars.take_while(fits).collect()
}

/// `text` in lines of at most `room` columns.
pub(super) fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let word = shorten(word, room);
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(&word) <= room => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

/// A line without the colours that it begins with.
fn without_colours(line: &str) -> &str {
    match line.strip_prefix('\u{1b}').and_then(|line| line.split_once('m')) {
        Some((_, rest)) => without_colours(rest.trim_start()),
        None => line,
    }
}

/// A page of which no line is a workflow command: forges that run it take every line that begins with
/// two colons for one, whoever named the service that stands there.
pub(super) fn without_commands(page: &str) -> String {
    /// As wide as a colon, and looks like one.
    const RATIO: &str = "\u{2236}";
    let line = |line: &str| {
        let command = without_colours(line.trim_start());
        if command.starts_with("::") {
            let (indent, rest) = line.split_at(line.len() - command.len());
            [indent, RATIO, rest.get(1..).unwrap_or_default()].concat()
        } else {
            line.to_owned()
        }
    };
    page.split('\n').map(line).collect::<Vec<_>>().join("\n")
}
