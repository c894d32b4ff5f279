//! What a span's own time is spent on where it does no work: waits, queues and backoffs
//! (SEMANTICS §8, categories).

use super::attempt::Calls;
use super::trace::Trace;
use crate::tables::{AttemptKind, Category};
use crate::units::{Nanos, UnixNanos};

/// A stretch of time: from, to.
pub(super) type Stretch = (UnixNanos, UnixNanos);

/// For each span the disjoint stretches of it that are queue or backoff, by time.
#[derive(Debug)]
pub(super) struct Marks {
    of_span: Vec<Vec<(Stretch, Category)>>,
}

impl Marks {
    /// Marks all spans of a trace.
    pub(super) fn of(trace: &Trace<'_>, calls: &Calls) -> Self {
        let mut queues: Vec<Vec<Stretch>> = vec![Vec::new(); trace.len()];
        let mut backoffs: Vec<Vec<Stretch>> = vec![Vec::new(); trace.len()];
        for i in 0..trace.len() {
            let span = trace.span(i);
            queues[i].push((trace.start(i), trace.start(i) + span.waited_inside));
            if span.flags.is_wait {
                queues[i].push((trace.start(i), trace.wait_end(i)));
            }
            if let Some(parent) = trace.parent(i).filter(|_| trace.is_server(i)) {
                queues[parent].push((trace.arrival(i), trace.start(i)));
            }
        }
        for pair in calls.calls.iter().flat_map(|call| call.attempts.windows(2)) {
            if let [before, after] = pair
                && after.kind == AttemptKind::Retry
                && let Some(parent) = trace.parent(after.span)
            {
                backoffs[parent].push((trace.end(before.span), trace.start(after.span)));
            }
        }
        let of_span =
            queues.into_iter().zip(backoffs).map(|(queues, backoffs)| mark(queues, backoffs));
        Self { of_span: of_span.collect() }
    }

    /// Calls `tell` with each part of `stretch` of span `i`, and what the part was marked as.
    pub(super) fn split(
        &self,
        i: usize,
        (mut from, to): Stretch,
        mut tell: impl FnMut(Stretch, Option<Category>),
    ) {
        let marks = &self.of_span[i];
        let first = marks.partition_point(|((_, mark_to), _)| *mark_to <= from);
        for &((mark_from, mark_to), category) in marks.iter().skip(first) {
            if mark_from >= to {
                break;
            }
            if from < mark_from {
                tell((from, mark_from), None);
            }
            tell((mark_from.max(from), mark_to.min(to)), Some(category));
            from = mark_to.min(to);
        }
        if from < to {
            tell((from, to), None);
        }
    }
}

/// Queue comes before backoff where both hold.
fn mark(queues: Vec<Stretch>, backoffs: Vec<Stretch>) -> Vec<(Stretch, Category)> {
    let queues = union(queues);
    let mut marks: Vec<(Stretch, Category)> =
        queues.iter().map(|&stretch| (stretch, Category::Queue)).collect();
    for (mut from, to) in union(backoffs) {
        let first = queues.partition_point(|&(_, queue_to)| queue_to <= from);
        for &(queue_from, queue_to) in queues.iter().skip(first).take_while(|queue| queue.0 < to) {
            if from < queue_from {
                marks.push(((from, queue_from), Category::Backoff));
            }
            from = queue_to.min(to);
        }
        if from < to {
            marks.push(((from, to), Category::Backoff));
        }
    }
    marks.sort_unstable();
    marks
}

/// The union of stretches: disjoint, by time, none empty.
pub(super) fn union(mut stretches: Vec<Stretch>) -> Vec<Stretch> {
    stretches.retain(|(from, to)| from < to);
    stretches.sort_unstable();
    let mut union: Vec<Stretch> = Vec::new();
    for (from, to) in stretches {
        match union.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => union.push((from, to)),
        }
    }
    union
}

/// The length of disjoint stretches together.
pub(super) fn length(stretches: &[Stretch]) -> Nanos {
    stretches.iter().map(|&(from, to)| to - from).sum()
}
