//! What was seen, in sentences: what a value rests on, and why there is none.

use super::atoms::{Atom, ROUND};
use super::limit::{
    CallLimit, ClassLimit, CutWith, LEAST_MEASURED, Limit, Measured, Rounding, as_set, rounded_to,
};
use super::rule::{Rule, Since};
use crate::config_text::{duration, quoted};
use crate::counts::{count, counted};
use crate::distributions::Call;
use crate::stats::{Proportion, Quantile};
use crate::units::Nanos;

/// Values are told by so many significant digits.
const DIGITS: u32 = 4;

/// What took a single time is told by so many: whether it lies just above a round number shows only then.
const SINGLE_DIGITS: u32 = 6;

/// Shorter ones lie just above some round number anyway.
const LEAST_ROUND: Nanos = Nanos::from_millis(10);

/// A length in few digits.
pub(super) fn length(length: Nanos) -> String {
    duration(rounded_to(length, DIGITS, Rounding::Half))
}

/// What the attempts of a call show of when they are cut off.
pub(super) fn of_timeout(of: &CallLimit) -> String {
    let mut told = vec![limit(&of.limit, of.attempts, "attempt", of.same_elsewhere)];
    if of.unheard > 0 {
        let whose = match of.unheard {
            1 if of.limit.cut == 1 => "Its".to_owned(),
            n => format!("Of {n} the"),
        };
        told.push(format!("{whose} callee went on and ended well, which nobody heard."));
    }
    if of.outlasting.part > 0 {
        told.push(outlasting(of.outlasting, "that succeeded or were cut off"));
    }
    if of.answered > 0 {
        told.push(format!(
            "{} ended as if cut off, but had been answered by a callee that failed.",
            counted(of.answered, "attempt")
        ));
    }
    if of.limit.few.is_empty() && of.limit.cut > 0 {
        told.push(rule(of));
    }
    told.join(" ")
}

fn outlasting(of: Proportion, which: &str) -> String {
    format!("Of {} {which} {} took longer.", count(of.whole), count(of.part))
}

fn rule(of: &CallLimit) -> String {
    let judged = &of.judged;
    let left = judged.budget.map_or_else(
        || "what was left".to_owned(),
        |(since, budget)| {
            let of = budget.map_or_else(String::new, |budget| format!(" of {}", length(budget)));
            let from = match since {
                Since::Origin => "the request's origin",
                Since::CallerCalled => "when the caller was called",
            };
            format!("what was left{of} from {from}")
        },
    );
    let constant = judged.constant.map_or_else(|| "a constant".to_owned(), length);
    let what = match judged.rule {
        Rule::Fixed => "Fixed: after a constant, whatever was left".to_owned(),
        Rule::Propagated => format!("Propagated: when {left} was used up"),
        Rule::MinOfBoth => format!("Min of both: after {constant} or when {left} was used up"),
        Rule::NotEnoughEvidence => {
            return format!(
                "Whether that is a constant or what was left, they do not tell (not enough evidence, \
                 n = {}).",
                judged.n
            );
        }
    };
    let times = judged.log_ratio.map_or_else(String::new, |log| {
        // Beyond that nobody tells one number from another.
        let log = log.clamp(0.0, 300.0);
        let times = if log < 2.0 {
            format!("{:.0}", 10_f64.powf(log))
        } else {
            format!("10^{:.0}", log.floor())
        };
        format!(", {times} times as likely as the next rule")
    });
    format!("{what}{times} (n = {}).", judged.n)
}

/// What the requests of a class show of when they are cut off.
pub(super) fn of_deadline(of: &ClassLimit) -> String {
    let limit = limit(&of.limit, of.requests, "request", 0);
    let mut told: Vec<String> =
        [declared(of), limit].into_iter().filter(|it| !it.is_empty()).collect();
    if let Some(CutWith { call, is_constant, requests }) = &of.cut_with {
        let (requests, call) = (count(*requests), named(call));
        told.push(if *is_constant {
            format!(
                "{requests} of these ended when a call was cut off after a constant ({call}): they \
                 ended because it was."
            )
        } else {
            format!(
                "{requests} of these ended when a call was cut off (mostly {call}): whose limit it was, \
                 they do not tell."
            )
        });
    }
    if of.outlasting.part > 0 {
        told.push(outlasting(of.outlasting, "requests"));
    }
    if let (masked, Some(call)) = &of.masked {
        let (most, call) = (if *masked == 1 { "" } else { "mostly " }, named(call));
        told.push(format!(
            "{} completed although a call was cut off and not tried again ({most}{call}).",
            counted(*masked, "request"),
        ));
    }
    told.join(" ")
}

fn declared(of: &ClassLimit) -> String {
    let (count, Some((least, most))) = of.declared else { return String::new() };
    let how = if least == most {
        length(least)
    } else {
        format!("from {} to {}", length(least), length(most))
    };
    let all = if count == of.requests { "all".to_owned() } else { count.to_string() };
    format!("Of {} {all} declare a deadline: {how}.", counted(of.requests, "request"))
}

/// What a measured value is and of what, of which there are so many.
pub(super) fn of_measured(measured: &Measured, whats: &str, all: u64) -> String {
    let Measured { quantile, estimate, n } = measured;
    let end = |end: Option<Nanos>| end.map_or_else(|| "?".to_owned(), length);
    let what = match *quantile {
        Quantile::P50 => "Median".to_owned(),
        other => other.to_string(),
    };
    let value = length(estimate.value);
    let sample = sample(*n as u64, all);
    format!("{what} of {whats}{sample}: {value} [{}, {}].", end(estimate.lo), end(estimate.hi))
}

/// That so many were kept of all; nothing where these are all.
fn sample(kept: u64, all: u64) -> String {
    if kept < all { format!(", by a sample of {}", count(kept)) } else { String::new() }
}

/// Why there is no such value.
pub(super) fn of_too_few(whats: &str) -> String {
    format!("Known of {whats}: of fewer than {LEAST_MEASURED} nobody tells.")
}

fn limit(limit: &Limit, of: u64, noun: &str, same_elsewhere: usize) -> String {
    let cut = limit.cut;
    let were = if cut == 1 { "was" } else { "were" };
    let took = length(limit.longest);
    if cut == 0 {
        return match of {
            1 => format!("The one {noun} was not cut off and took {took}."),
            _ => format!("None of {} was cut off; the longest took {took}.", counted(of, noun)),
        };
    }
    let sample = sample(limit.kept(), cut);
    let so_many = format!("{} of {} {were} cut off{sample}", count(cut), counted(of, noun));
    if !limit.atoms.is_empty() {
        let mut atoms = limit.atoms.iter().map(atom);
        let first = atoms.next().unwrap_or_default();
        let others = if same_elsewhere > 0 {
            format!(", also seen from {}", counted(same_elsewhere as u64, "other caller"))
        } else {
            String::new()
        };
        let rest = atoms.fold(String::new(), |rest, atom| rest + "; " + &atom);
        return format!("{so_many}: {first}{others}{rest}.");
    }
    if limit.few.is_empty() {
        return format!("{so_many}, at no one value; the longest of all took {took}.");
    }
    format!("{so_many}, after {}", few(&limit.few))
}

/// So many at one value.
fn atom(atom: &Atom) -> String {
    let Atom { lo, hi, count, round, .. } = atom;
    let is_round = if round.is_some() { ", a round number" } else { "" };
    format!("{count} at {} [{}, {}]{is_round}", length(as_set(atom)), length(*lo), length(*hi))
}

/// Few durations, and whether they lie where people set limits.
fn few(durations: &[Nanos]) -> String {
    let exact = |&it: &Nanos| duration(rounded_to(it, SINGLE_DIGITS, Rounding::Half));
    let listed: Vec<String> = durations.iter().map(exact).collect();
    let listed = match listed.as_slice() {
        [firsts @ .., last] if !firsts.is_empty() => format!("{} and {last}", firsts.join(", ")),
        _ => listed.concat(),
    };
    let says = match durations.len() {
        1 => "one says little".to_owned(),
        n => format!("{n} say little"),
    };
    let (Some(&first), Some(&last)) = (durations.first(), durations.last()) else { return listed };
    match just_above(first).filter(|&round| just_above(last) == Some(round)) {
        Some(round) if first == last => {
            format!("{listed}: just above {}; {says}.", duration(round))
        }
        Some(round) => format!("{listed}: all just above {}; {says}.", duration(round)),
        None if late(first) < last - first => format!("{listed}: at no one value; {says}."),
        None => format!("{listed}: {says}."),
    }
}

/// The round number that a length exceeds by no more than a timer is late.
fn just_above(length: Nanos) -> Option<Nanos> {
    let mut unit = LEAST_ROUND.as_nanos() / 10;
    while let Some(largest) = ROUND.last().and_then(|digits| unit.checked_mul(*digits)) {
        for digits in ROUND {
            let round = Nanos::from_nanos(unit.saturating_mul(digits));
            if round <= length && length - round <= late(round) {
                return Some(round);
            }
        }
        if length.as_nanos() < largest {
            break;
        }
        unit = unit.checked_mul(10)?;
    }
    None
}

/// How late a timer of a length may be.
fn late(length: Nanos) -> Nanos {
    length.div_floor(100) + Nanos::from_millis(1)
}

/// Who calls whom, what for.
pub(super) fn named(call: &Call) -> String {
    let caller = quoted(call.caller.as_deref().unwrap_or_default());
    let callee = match &call.callee {
        Some(callee) => quoted(callee),
        None => "unknown".to_owned(),
    };
    format!("{caller} → {callee}, {}", quoted(&call.operation))
}
