//! Lines of a comparison in words and numbers for people.

use std::cmp::Ordering;

use crate::diff::{About, Line, Mark, Numbers, Part, Rate};
use crate::distributions::{Estimate, Name, Place};
use crate::ranking::Subject;
use crate::report::{text, words};
use crate::units::Nanos;

/// What a line is about, in full.
pub(super) fn about(about: &About) -> String {
    match about {
        About::Rate(rate) => self::rate(*rate).to_owned(),
        About::Measure(measure, quantile) => format!("{} {quantile}", words::measure(*measure)),
        About::Remaining(place, quantile) => format!("left {quantile}, {}", hop(place)),
        About::Elapsed(place, quantile) => format!("elapsed {quantile}, {}", hop(place)),
        About::Finding(_) => format!("{}, {}", subject(about), at(about)),
    }
}

/// The same without the percentile, which stands beside it.
pub(super) fn subject(about: &About) -> String {
    match about {
        About::Rate(rate) => self::rate(*rate).to_owned(),
        About::Measure(measure, _) => words::measure(*measure).to_owned(),
        About::Remaining(place, _) | About::Elapsed(place, _) => hop(place),
        About::Finding((code, _)) => code.name().to_owned(),
    }
}

/// The percentile, or where a finding is.
pub(super) fn at(about: &About) -> String {
    match about {
        About::Measure(_, quantile)
        | About::Remaining(_, quantile)
        | About::Elapsed(_, quantile) => quantile.to_string(),
        About::Finding((_, Some(call))) => words::call(call),
        About::Rate(_) | About::Finding((_, None)) => text::ABSENT.to_owned(),
    }
}

/// The id of a finding, the same as everywhere.
pub(super) fn finding_id(class: &Name, about: &About) -> String {
    match about {
        About::Finding((code, call)) => {
            Subject { class: class.clone(), code: *code, call: call.clone() }.id().to_string()
        }
        _ => String::new(),
    }
}

fn hop(place: &Place) -> String {
    words::call(&place.call)
}

const fn rate(rate: Rate) -> &'static str {
    match rate {
        Rate::InTime => "completed in time",
        Rate::Completed => "completed",
        Rate::Failed => "failed",
        Rate::Rejected => "rejected",
        Rate::Cancelled => "cancelled",
        Rate::DeadlineExceeded => "deadline exceeded",
        Rate::Indeterminate => "indeterminate",
        Rate::Retried => "retried",
        Rate::Unfunded => "with unfunded attempts",
        Rate::LateWork => "with late work",
        Rate::ResidualWork => "with residual work",
    }
}

/// What base and head say.
pub(super) fn sides(numbers: &Numbers) -> [String; 2] {
    match numbers {
        Numbers::Times { base, head, .. } => [base, head].map(|side| millis(side.estimate.value)),
        Numbers::Shares { base, head, .. } => [base, head].map(share),
    }
}

/// The intervals of base and head.
pub(super) fn sides_intervals(numbers: &Numbers) -> [String; 2] {
    match numbers {
        Numbers::Times { base, head, .. } => [base, head].map(|side| interval(&side.estimate)),
        Numbers::Shares { base, head, .. } => [base, head].map(|side| {
            let (lo, hi) = side.interval;
            format!("[{}, {}]", text::points(lo), text::points(hi))
        }),
    }
}

/// From what to what.
pub(super) fn from_to(numbers: &Numbers) -> String {
    let [base, head] = sides(numbers);
    let unit = if matches!(numbers, Numbers::Times { .. }) { " ms" } else { "" };
    format!("{base} → {head}{unit}")
}

/// By how much head is more.
pub(super) fn shift(numbers: &Numbers) -> String {
    match numbers {
        Numbers::Times { shift, .. } => plus(shift.value > Nanos::ZERO, millis(shift.value)),
        Numbers::Shares { shift: (shift, ..), .. } => signed_points(*shift),
    }
}

/// The interval of the shift.
pub(super) fn shift_interval(numbers: &Numbers) -> String {
    match numbers {
        Numbers::Times { shift, .. } => {
            let end = |end: Option<Nanos>| {
                end.map_or_else(
                    || text::ABSENT.to_owned(),
                    |end| plus(end > Nanos::ZERO, millis(end)),
                )
            };
            format!("[{}, {}]", end(shift.lo), end(shift.hi))
        }
        Numbers::Shares { shift: (_, lo, hi), .. } => {
            format!("[{}, {}]", signed_points(*lo), signed_points(*hi))
        }
    }
}

/// The shift as a part of what base says, where that is some time.
pub(super) fn change(numbers: &Numbers) -> String {
    match numbers {
        Numbers::Times { base, shift, .. } if base.estimate.value > Nanos::ZERO => {
            let nanos = |length: Nanos| i128::from(length.as_nanos());
            let percent = text::percent(nanos(shift.value).abs(), nanos(base.estimate.value));
            match shift.value.cmp(&Nanos::ZERO) {
                Ordering::Less if !percent.starts_with('<') => format!("-{percent}"),
                Ordering::Greater if !percent.starts_with('<') => format!("+{percent}"),
                _ => percent,
            }
        }
        _ => text::ABSENT.to_owned(),
    }
}

/// How likely it is that any line shows as much by chance.
pub(super) fn p(line: &Line) -> String {
    match line.corrected_p {
        None => text::ABSENT.to_owned(),
        Some(p) if p < 0.001 => "<0.001".to_owned(),
        Some(p) if p >= 1.0 => "1".to_owned(),
        Some(p) => format!("{p:.3}"),
    }
}

/// What a line says.
pub(super) const fn mark(mark: Mark) -> &'static str {
    match mark {
        Mark::Worse => "worse",
        Mark::Better => "better",
        Mark::Same => "~",
        Mark::TooFew => "few",
        Mark::Untold => "",
    }
}

/// About how many more requests a side would tell the line's sides apart.
pub(super) fn needs(line: &Line, requests: (u64, u64)) -> String {
    let more = line.growth.map(|growth| more(growth, requests));
    more.map_or_else(String::new, |more| format!("{} more", text::count(more)))
}

/// So many more requests a side, to two digits.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "about how many: two digits are told, and a float stands for any number that is"
)]
pub(super) fn more(growth: f64, (base, head): (u64, u64)) -> u64 {
    let more = (growth * (base + head) as f64 / 2.0).ceil() as u64;
    let unit = 10_u64.pow(more.max(1).ilog10().saturating_sub(1));
    more.div_ceil(unit).saturating_mul(unit)
}

/// How much work a finding explains, per request.
pub(super) fn wasted(part: &Part) -> String {
    let requests = i128::from(part.proportion.whole);
    let mean = part.wasted_ns.and_then(|wasted| wasted.checked_div(requests));
    mean.map_or_else(|| text::ABSENT.to_owned(), text::millis)
}

fn share(part: &Part) -> String {
    let count = |number: u64| i128::from(number);
    text::percent(count(part.proportion.part), count(part.proportion.whole))
}

fn interval(estimate: &Estimate) -> String {
    let end = |end: Option<Nanos>| end.map_or_else(|| text::ABSENT.to_owned(), millis);
    format!("[{}, {}]", end(estimate.lo), end(estimate.hi))
}

fn millis(length: Nanos) -> String {
    text::millis(i128::from(length.as_nanos()))
}

fn plus(is_more: bool, words: String) -> String {
    if is_more { format!("+{words}") } else { words }
}

fn signed_points(part: f64) -> String {
    let words = text::points(part);
    plus(part > 0.0 && words != "0.0", words)
}
