//! What a request's measured course says of why its spans ended when they did.

use std::cmp::Ordering;

use crate::reconstruct::{Course, Role};
use crate::span::Outcome;
use crate::tables::AttemptKind;

/// Why spans ended, by span.
#[derive(Debug)]
pub(super) struct Seen {
    /// It was cut short, so that how long it would have gone on is unknown.
    pub is_cut: Vec<bool>,
    /// The span whose end cut it: the ancestor that left first, or the attempt that had answered.
    pub cut_by: Vec<Option<usize>>,
    /// Its outcome is that of what it holds: the server of a call, the attempts of a call span.
    pub passes_on: Vec<bool>,
    /// The children, by (end, start, id).
    pub by_end: Vec<Vec<usize>>,
}

impl Seen {
    pub(super) fn of(course: &Course) -> Self {
        let spans = &course.spans;
        let by_end: Vec<Vec<usize>> = (0..spans.len()).map(|i| by_end(course, i)).collect();
        let left_first = left_first(course);
        let winners = winners(course);
        let mut seen = Self {
            is_cut: vec![false; spans.len()],
            cut_by: vec![None; spans.len()],
            passes_on: (0..spans.len()).map(|i| passes_on(course, i)).collect(),
            by_end,
        };
        for (i, span) in spans.iter().enumerate() {
            if span.outcome == Outcome::Ok {
                continue;
            }
            // At one instant a caller may have left because of what it asked for, unless that says no.
            let is_stopped = |&above: &usize| match spans[above].end.cmp(&span.end) {
                Ordering::Less => true,
                Ordering::Equal => span.outcome == Outcome::Cancelled,
                Ordering::Greater => false,
            };
            let stopped_by = left_first[i].filter(is_stopped);
            let of_call = span.attempt.and_then(|attempt| winners[attempt.call]);
            let lost_to = of_call.filter(|_| span.outcome == Outcome::Cancelled);
            seen.cut_by[i] = stopped_by.or(lost_to);
            let answered = seen.last_ended(course, i).is_some_and(|it| answers(course, i, it));
            seen.is_cut[i] = seen.cut_by[i].is_some() || (span.outcome.left() && !answered);
        }
        seen
    }

    /// The last child that had ended when span `i` did.
    pub(super) fn last_ended(&self, course: &Course, i: usize) -> Option<usize> {
        let children = &self.by_end[i];
        let ended = children.partition_point(|&it| course.spans[it].end <= course.spans[i].end);
        children.get(ended.checked_sub(1)?).copied()
    }
}

/// Whether span `i` left because `child`, the last that it had asked for, had failed. What was
/// cancelled is no answer, and a call that left did so by itself, whatever its server said.
fn answers(course: &Course, i: usize, child: usize) -> bool {
    let answer = course.spans[child].outcome;
    course.spans[i].attempt.is_none() && !matches!(answer, Outcome::Ok | Outcome::Cancelled)
}

fn by_end(course: &Course, i: usize) -> Vec<usize> {
    let mut children = course.children(i).to_vec();
    children.sort_unstable_by_key(|&child| {
        let span = &course.spans[child];
        (span.end, span.start, span.span_id)
    });
    children
}

fn passes_on(course: &Course, i: usize) -> bool {
    match course.spans[i].role {
        Role::CallSpan => true,
        Role::Caller => server(course, i).is_some(),
        _ => false,
    }
}

/// The server of a call that has one alone.
pub(super) fn server(course: &Course, i: usize) -> Option<usize> {
    let is_server = |child: &usize| course.spans[*child].role == Role::Callee;
    let mut servers = course.children(i).iter().copied().filter(is_server);
    let first = servers.next()?;
    servers.next().is_none().then_some(first)
}

/// By span the ancestor that left first.
fn left_first(course: &Course) -> Vec<Option<usize>> {
    let mut first: Vec<Option<usize>> = Vec::with_capacity(course.spans.len());
    for span in &course.spans {
        let above = span.parent.and_then(|parent| first[parent]);
        let parent = span.parent.filter(|&parent| course.spans[parent].outcome.left());
        let end = |&it: &usize| (course.spans[it].end, it);
        first.push(above.into_iter().chain(parent).min_by_key(end));
    }
    first
}

/// By call with a hedge the attempt that answered first.
fn winners(course: &Course) -> Vec<Option<usize>> {
    let mut winners = vec![None; course.calls.len()];
    let mut is_hedged = vec![false; course.calls.len()];
    for (i, span) in course.spans.iter().enumerate() {
        let Some(attempt) = span.attempt else { continue };
        is_hedged[attempt.call] |= attempt.kind == AttemptKind::Hedge;
        if span.outcome == Outcome::Ok {
            let best: &mut Option<usize> = &mut winners[attempt.call];
            let is_first = best.is_none_or(|best| span.end < course.spans[best].end);
            *best = if is_first { Some(i) } else { *best };
        }
    }
    for (winner, is_hedged) in winners.iter_mut().zip(is_hedged) {
        *winner = winner.filter(|_| is_hedged);
    }
    winners
}
