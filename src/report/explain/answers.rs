//! The six questions of a contract, answered in words for one request. Every number is one of the
//! tables, or a difference of two.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::bars::{funding, time};
use super::request::Request;
use super::tree::Tree;
use super::{after, deadline};
use crate::report::text::{count, counted, percent};
use crate::report::words;
use crate::span::{GrantKind, Sym};
use crate::tables::{AttemptRow, Category, SegmentRow};
use crate::units::Nanos;

/// A question and what is to be said to it, point by point.
pub(super) struct Answer {
    /// Its name for machines.
    pub(super) id: &'static str,
    pub(super) question: &'static str,
    pub(super) points: Vec<String>,
}

/// So many examples are told of one thing.
pub(super) const MOST: usize = 6;

/// All six.
pub(super) fn answers(request: &Request<'_>, tree: &Tree<'_>) -> Vec<Answer> {
    let answer = |id, question, points| Answer { id, question, points };
    vec![
        answer("deadline_source", "Who set the deadline?", deadline::who_set_it(request)),
        answer("budget", "What was left at each stage?", stages(request)),
        answer("time", "Where did the time go?", spent(request)),
        answer("retries", "Which layer tried again?", tried_again(request)),
        answer(
            "after",
            "What went on after the deadline, or after a caller had left?",
            after::went_on(request, tree),
        ),
        answer("stopped", "What shows that work stopped?", after::stopped(request, tree)),
    ]
}

fn stages(request: &Request<'_>) -> Vec<String> {
    let row = request.row;
    let Some(budget) = row.budget_at_origin_ns else {
        return vec![format!(
            "Without a deadline nothing is known of what was left; {} ms passed.",
            time(row.elapsed_ns)
        )];
    };
    let mut points = vec![format!("origin: {} ms{}", time(budget), request.if_inferred())];
    let mut stage = |name: &str, left: Option<Nanos>| {
        let left = left.map_or_else(|| "not known".to_owned(), |left| format!("{} ms", time(left)));
        points.push(format!("{name}: {left}"));
    };
    stage("admission", row.budget_at_admission_ns);
    stage("start of execution", row.budget_at_start_ns);
    match row.downstream_budget_sent_ns {
        Some(sent) => stage(&format!("sent on, at most{}", if_inferred(request, sent)), Some(sent)),
        None => points.push("sent on: no grant was seen".to_owned()),
    }
    let left = budget - row.elapsed_ns;
    points.push(format!("return: {} ms, after {} ms", time(left), time(row.elapsed_ns)));
    points
}

/// A mark beside what was sent on, where all hops that were given so much are cut off after it.
fn if_inferred(request: &Request<'_>, sent: Nanos) -> &'static str {
    let mut given = request.hops.iter().filter(|hop| hop.granted_ns == Some(sent));
    if given.all(|hop| hop.grant_kind == Some(GrantKind::Inferred)) { " (inferred)" } else { "" }
}

fn spent(request: &Request<'_>) -> Vec<String> {
    let parts: [(&str, &[Category]); 4] = [
        ("queued", &[Category::Queue]),
        ("executing", &[Category::Local]),
        ("waiting for callees that were not traced", &[Category::Downstream]),
        ("waiting on the way, and between tries", &[Category::Network, Category::Backoff]),
    ];
    let mut points: Vec<String> =
        parts.into_iter().map(|(name, categories)| spent_on(request, name, categories)).collect();
    points.push(match request.row.return_reserve_used_ns {
        Some(used) => format!("returning, once the last callee had answered: {} ms", time(used)),
        None => "returning: not known, it called nothing that had answered".to_owned(),
    });
    points
}

fn spent_on(request: &Request<'_>, name: &str, categories: &[Category]) -> String {
    let mut segments: Vec<&SegmentRow> = request
        .segments
        .iter()
        .copied()
        .filter(|segment| categories.contains(&segment.category))
        .collect();
    segments.sort_by_key(|segment| Reverse(segment.duration_ns));
    let total: Nanos = segments.iter().map(|segment| segment.duration_ns).sum();
    let nanos = |length: Nanos| i128::from(length.as_nanos());
    let part = percent(nanos(total), nanos(request.row.elapsed_ns));
    let place =
        |segment: &&SegmentRow| format!("{} {}", request.place(segment), time(segment.duration_ns));
    let places: Vec<String> = segments.iter().take(3).map(place).collect();
    let more = segments.len().saturating_sub(places.len());
    let more = if more > 0 { format!(", and {} more", count(more as u64)) } else { String::new() };
    match places.as_slice() {
        [] => format!("{name}: 0 ms"),
        places => format!("{name}: {} ms ({part}): {}{more}", time(total), places.join(", ")),
    }
}

fn tried_again(request: &Request<'_>) -> Vec<String> {
    let mut calls: BTreeMap<usize, Vec<&AttemptRow>> = BTreeMap::new();
    let mut numbers = BTreeMap::new();
    for &attempt in request.attempts.iter().filter(|attempt| attempt.attempts > 1) {
        let number = numbers.len();
        let number = *numbers.entry(attempt.call_id).or_insert(number);
        calls.entry(number).or_default().push(attempt);
    }
    if calls.is_empty() {
        return vec!["None that was traced: no call was tried twice.".to_owned()];
    }
    let mut points = Vec::new();
    if request.row.retry_layered {
        points.push("Two layers, one below the other: their tries multiply.".to_owned());
    }
    for attempts in calls.values().take(MOST) {
        points.extend(attempts.first().map(|first| call(request, first, attempts)));
    }
    points.extend(more(calls.len(), "call"));
    points
}

fn call(request: &Request<'_>, first: &AttemptRow, attempts: &[&AttemptRow]) -> String {
    let name = |name: Sym| words::named(Some(request.text(name)));
    let callee = first.callee_service.map(|callee| format!("{} · ", name(callee)));
    let tries = attempts.iter().take(MOST).map(|attempt| one_try(request, attempt));
    let tries: Vec<String> = tries.collect();
    let more = if attempts.len() > tries.len() { "; …" } else { "" };
    format!(
        "{} called {}{} {} times: {}{more}",
        words::named(first.caller_service.map(|name| request.text(name))),
        callee.unwrap_or_default(),
        name(first.operation),
        first.attempts,
        tries.join("; ")
    )
}

fn one_try(request: &Request<'_>, attempt: &AttemptRow) -> String {
    let left = attempt
        .remaining_at_start_ns
        .map_or_else(String::new, |left| format!(" with {} ms left", time(left)));
    let backoff = attempt
        .backoff_ns
        .filter(|backoff| *backoff > Nanos::ZERO)
        .map_or_else(String::new, |backoff| format!(" after {} ms", time(backoff)));
    format!(
        "try {} ({}{backoff}) at {} ms{left} ({}), {} after {} ms",
        attempt.ordinal,
        attempt.kind.name(),
        time(attempt.elapsed_at_start_ns),
        funding(request, attempt),
        attempt.outcome.name().replace('_', " "),
        time(attempt.duration_ns)
    )
}

/// What of a list was left out, beyond the examples.
pub(super) fn more(all: usize, noun: &str) -> Option<String> {
    let left_out = all.saturating_sub(MOST);
    let more = counted(left_out as u64, noun).replacen(' ', " more ", 1);
    (left_out > 0).then(|| format!("and {more}"))
}
