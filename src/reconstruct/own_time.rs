//! What a span's own time is spent on (SEMANTICS §8, categories).

use super::attempt::Calls;
use super::trace::Trace;
use crate::span::Kind;
use crate::tables::{AttemptKind, Category};
use crate::units::{Nanos, UnixNanos};

/// A stretch of time: from, to.
pub(super) type Stretch = (UnixNanos, UnixNanos);

/// What the own time of each span is.
#[derive(Debug)]
pub(super) struct OwnTime {
    /// The disjoint stretches that are queue or backoff, by time.
    marks: Vec<Vec<(Stretch, Category)>>,
    /// What all the rest is.
    otherwise: Vec<Category>,
}

impl OwnTime {
    /// Looks at all spans of a trace.
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
        let marks =
            queues.into_iter().zip(backoffs).map(|(queues, backoffs)| mark(queues, backoffs));
        let otherwise = (0..trace.len()).map(|i| otherwise(trace, i));
        Self { marks: marks.collect(), otherwise: otherwise.collect() }
    }

    /// What own time of span `i` is where nothing marks it.
    pub(super) fn otherwise(&self, i: usize) -> Category {
        self.otherwise[i]
    }

    /// Calls `tell` with each part of `stretch` of span `i`, and what the part was marked as.
    pub(super) fn split(
        &self,
        i: usize,
        (mut from, to): Stretch,
        mut tell: impl FnMut(Stretch, Option<Category>),
    ) {
        let marks = &self.marks[i];
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

fn otherwise(trace: &Trace<'_>, i: usize) -> Category {
    if !trace.span(i).kind.sends() {
        return Category::Local;
    }
    let mut calls = trace.children.of(i).iter().map(|&child| trace.span(child));
    if trace.servers(i).next().is_some() {
        Category::Network
    } else if calls.any(|span| span.kind == Kind::Client && !span.flags.is_wait) {
        Category::Local
    } else {
        Category::Downstream
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
fn union(mut stretches: Vec<Stretch>) -> Vec<Stretch> {
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

/// Disjoint stretches by time, ready to be asked how much of another one they hold.
#[derive(Debug, Default)]
pub(super) struct Union {
    stretches: Vec<Stretch>,
    /// The length of all stretches before each, and of all.
    before: Vec<Nanos>,
}

impl Union {
    /// The union of stretches.
    pub(super) fn of(stretches: Vec<Stretch>) -> Self {
        let stretches = union(stretches);
        let mut before = vec![Nanos::ZERO];
        before.extend(stretches.iter().scan(Nanos::ZERO, |sum, &(from, to)| {
            *sum += to - from;
            Some(*sum)
        }));
        Self { stretches, before }
    }

    /// The length of all stretches.
    pub(super) fn length(&self) -> Nanos {
        self.before.last().copied().unwrap_or_default()
    }

    /// The length of this union and another one together.
    pub(super) fn length_with(&self, other: &Self) -> Nanos {
        let (few, many) = if self.stretches.len() < other.stretches.len() {
            (self, other)
        } else {
            (other, self)
        };
        let alone = few
            .stretches
            .iter()
            .map(|&(from, to)| (to - from) - (many.length_before(to) - many.length_before(from)));
        many.length() + alone.sum()
    }

    /// The length of what lies before `instant`.
    fn length_before(&self, instant: UnixNanos) -> Nanos {
        let begun = self.stretches.partition_point(|stretch| stretch.0 < instant);
        let Some(last) = begun.checked_sub(1) else { return Nanos::ZERO };
        let (from, to) = self.stretches[last];
        self.before[last] + (to.min(instant) - from)
    }
}
