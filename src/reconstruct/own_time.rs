//! What a span's own time is spent on (SEMANTICS §8, categories).

use std::ops::Range;

use super::attempt::Calls;
use super::memory::{refill, take_leading};
use super::moment::Stretch;
use super::trace::Trace;
use crate::span::Kind;
use crate::tables::{AttemptKind, Category};
use crate::units::{Nanos, UnixNanos};

/// What the own time of each span is.
#[derive(Debug, Default)]
pub(super) struct OwnTime {
    /// The stretches that are queue or backoff, by span; those of one disjoint, by time.
    marks: Vec<(Stretch, Category)>,
    /// By span: which marks are its own.
    marks_of: Vec<Range<usize>>,
    /// By span: what all the rest is.
    otherwise: Vec<Category>,
    queues: Vec<(usize, Stretch)>,
    backoffs: Vec<(usize, Stretch)>,
}

impl OwnTime {
    /// Looks at all spans of a trace.
    pub(super) fn fill(&mut self, trace: &Trace<'_>, calls: &Calls) {
        self.gather(trace, calls);
        let Self { marks, marks_of, otherwise, queues, backoffs } = self;
        let (mut queues, mut backoffs) = (queues.as_slice(), backoffs.as_slice());
        marks.clear();
        let own_marks = (0..trace.len()).map(|i| {
            let from = marks.len();
            let queues = take_leading(&mut queues, |queue| queue.0 == i);
            let backoffs = take_leading(&mut backoffs, |backoff| backoff.0 == i);
            if !queues.is_empty() || !backoffs.is_empty() {
                let stretches = |of: &[(usize, Stretch)]| united(of.iter().map(|own| own.1));
                mark(&stretches(queues), &stretches(backoffs), marks);
            }
            from..marks.len()
        });
        refill(marks_of, own_marks);
        refill(otherwise, (0..trace.len()).map(|i| otherwise_of(trace, i)));
    }

    /// Gathers the queues and backoffs of all spans, by span.
    fn gather(&mut self, trace: &Trace<'_>, calls: &Calls) {
        let Self { queues, backoffs, .. } = self;
        queues.clear();
        backoffs.clear();
        let add = |to: &mut Vec<(usize, Stretch)>, span: usize, stretch: Stretch| {
            if stretch.0 < stretch.1 {
                to.push((span, stretch));
            }
        };
        for i in 0..trace.len() {
            let span = trace.span(i);
            add(queues, i, (trace.start(i), trace.start(i) + span.waited_inside));
            if span.flags.is_wait {
                add(queues, i, (trace.start(i), trace.wait_end(i).0));
            }
            if let Some(parent) = trace.parent(i).filter(|_| trace.is_server(i)) {
                add(queues, parent, (trace.arrival(i), trace.start(i)));
            }
        }
        for pair in calls.calls().flat_map(|attempts| attempts.windows(2)) {
            if let [before, after] = pair
                && after.kind == AttemptKind::Retry
                && let Some(parent) = trace.parent(after.span)
            {
                add(backoffs, parent, (trace.end(before.span), trace.start(after.span)));
            }
        }
        queues.sort_unstable();
        backoffs.sort_unstable();
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
        let marks = &self.marks[self.marks_of[i].clone()];
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

fn otherwise_of(trace: &Trace<'_>, i: usize) -> Category {
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

/// Appends the marks of one span. Queue comes before backoff where both hold.
fn mark(queues: &[Stretch], backoffs: &[Stretch], marks: &mut Vec<(Stretch, Category)>) {
    let begin = marks.len();
    marks.extend(queues.iter().map(|&stretch| (stretch, Category::Queue)));
    for &(mut from, to) in backoffs {
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
    if let Some(own) = marks.get_mut(begin..) {
        own.sort_unstable();
    }
}

/// The union of stretches: disjoint, by time, none empty.
fn united(stretches: impl Iterator<Item = Stretch>) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = stretches.filter(|(from, to)| from < to).collect();
    stretches.sort_unstable();
    stretches.dedup_by(|next, last| {
        let goes_on = next.0 <= last.1;
        if goes_on {
            last.1 = last.1.max(next.1);
        }
        goes_on
    });
    stretches
}

/// Disjoint stretches by time, ready to be asked how much of another one they hold.
#[derive(Debug, Default)]
pub(super) struct Union {
    stretches: Vec<Stretch>,
    /// The length of all stretches before each.
    before: Vec<Nanos>,
    /// The length of all stretches.
    length: Nanos,
}

impl Union {
    /// The union of stretches.
    pub(super) fn of(stretches: impl Iterator<Item = Stretch>) -> Self {
        let stretches = united(stretches);
        let mut length = Nanos::ZERO;
        let before = stretches.iter().map(|&(from, to)| {
            let before = length;
            length += to - from;
            before
        });
        let before = before.collect();
        Self { stretches, before, length }
    }

    /// The length of all stretches.
    pub(super) fn length(&self) -> Nanos {
        self.length
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
