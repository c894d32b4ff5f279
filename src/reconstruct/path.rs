//! The consumption path: where the time from origin to root end went (SEMANTICS §8).
//!
//! Spans are told from the roots down. What a span has to tell is a row of stretches; it passes on
//! to its children what these cover, whole runs at once where one child covers them, so that a
//! deep chain beside many siblings costs no more than its size.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::ops::Range;

use super::max_tree::MaxTree;
use super::moment::Stretch;
use super::own_time::OwnTime;
use super::trace::Trace;
use crate::span::{Interner, Sym};
use crate::tables::Category;
use crate::units::{Nanos, UnixNanos};

/// A part of the time of a request.
#[derive(Debug)]
pub(super) struct Segment {
    /// The request.
    pub request: usize,
    /// Whose own time it is.
    pub service: Sym,
    /// The name of that span.
    pub operation: Sym,
    /// What it was spent on.
    pub category: Category,
    /// How long; never zero.
    pub length: Nanos,
}

impl Segment {
    /// What tells segments apart, in no order that means anything.
    fn key(&self) -> (usize, usize, usize, Category) {
        (self.request, self.service.index(), self.operation.index(), self.category)
    }

    /// By request, and within one by what they are, in words.
    fn order(&self, other: &Self, strings: &Interner) -> Ordering {
        let text = |one: Sym, other: Sym| {
            if one == other { Ordering::Equal } else { strings.get(one).cmp(strings.get(other)) }
        };
        self.request
            .cmp(&other.request)
            .then_with(|| text(self.service, other.service))
            .then_with(|| text(self.operation, other.operation))
            .then_with(|| self.category.cmp(&other.category))
    }
}

/// The consumption paths of the requests of a trace.
#[derive(Debug, Default)]
pub(super) struct Path {
    segments: Vec<Segment>,
    /// By span the stretches that it still has to tell: disjoint, by time. Empty once all are told.
    open: Vec<VecDeque<Stretch>>,
    /// Empty ones whose memory is used again.
    spare: Vec<VecDeque<Stretch>>,
    /// The children of the span that is told.
    index: ChildIndex,
}

impl Path {
    /// Walks those of the requests that are told.
    pub(super) fn fill(
        &mut self,
        trace: &Trace<'_>,
        own_time: &OwnTime,
        subjects: Range<usize>,
        strings: &Interner,
    ) {
        self.segments.clear();
        self.open.resize_with(trace.len(), VecDeque::new);
        let mut walk = Walk { trace, own_time, path: self };
        for request in &trace.requests[subjects] {
            let root = request.root;
            walk.add(root, Category::Queue, trace.start(root) - request.origin);
            walk.give(root, (trace.start(root), trace.end(root)));
        }
        for &i in &trace.tree.top_down {
            walk.tell(i);
        }
        // By number first, which costs little: of what is told apart there is little to compare.
        self.segments.sort_unstable_by_key(Segment::key);
        self.segments.dedup_by(|next, last| {
            let is_same = last.key() == next.key();
            if is_same {
                last.length += next.length;
            }
            is_same
        });
        self.segments.sort_unstable_by(|one, other| one.order(other, strings));
    }

    /// The segments of a request: together exactly root end − origin.
    pub(super) fn segments(&self, request: usize) -> &[Segment] {
        let begin = self.segments.partition_point(|segment| segment.request < request);
        let end = self.segments.partition_point(|segment| segment.request <= request);
        &self.segments[begin..end]
    }
}

struct Walk<'t, 'a> {
    trace: &'t Trace<'a>,
    own_time: &'t OwnTime,
    path: &'t mut Path,
}

impl Walk<'_, '_> {
    /// Tells what span `i` did in its stretches; parts that its children have to tell become
    /// theirs.
    fn tell(&mut self, i: usize) {
        let mut open = std::mem::take(&mut self.path.open[i]);
        if open.is_empty() {
            return;
        }
        if self.trace.children.of(i).is_empty() {
            open.drain(..).for_each(|stretch| self.own(i, stretch));
            self.path.spare.push(open);
            return;
        }
        self.path.index.fill(self.trace, i);
        while let Some(&last) = open.back() {
            if let Some(child) = self.path.index.covering(last) {
                open = self.pass_on(child, open);
            } else {
                open.pop_back();
                self.tell_stretch(i, last);
            }
        }
        if open.capacity() > 0 {
            self.path.spare.push(open);
        }
    }

    /// Gives span `i` a stretch to tell that is earlier than those it has.
    fn give(&mut self, i: usize, stretch: Stretch) {
        let open = &mut self.path.open[i];
        if open.capacity() == 0 {
            *open = self.path.spare.pop().unwrap_or_default();
        }
        open.push_front(stretch);
    }

    /// Hands the last stretches of `open`, all that begin when `child` has, to that child. Gives
    /// the rest. Moves whichever side is shorter.
    fn pass_on(&mut self, child: Child, mut open: VecDeque<Stretch>) -> VecDeque<Stretch> {
        let before = open.partition_point(|stretch| stretch.0 < child.start);
        let mut passed = if before == 0 {
            std::mem::take(&mut open)
        } else if before < open.len() - before {
            let rest: VecDeque<Stretch> = open.drain(..before).collect();
            std::mem::replace(&mut open, rest)
        } else {
            open.drain(before..).collect()
        };
        // What the child has already lies later in time.
        let has = &mut self.path.open[child.span];
        if has.len() < passed.len() {
            passed.append(has);
            *has = passed;
        } else {
            while let Some(stretch) = passed.pop_back() {
                has.push_front(stretch);
            }
        }
        open
    }

    /// Tells one stretch of span `i`, walking back from its end.
    fn tell_stretch(&mut self, i: usize, (from, to): Stretch) {
        let mut at = to;
        while at > from {
            let index = &self.path.index;
            // Children are clipped to the stretch, so those that run past its end all end there.
            let past_end = index.latest_start_covering(at, to);
            let done = past_end.filter(|_| at == to).or_else(|| index.last_end_by(at, from));
            let done_at = done.map_or(from, |child| child.end.min(to));
            let next = if done_at == at { done } else { None };
            let across = || past_end.or_else(|| index.last_end_across(at));
            if let Some(child) = next.or_else(across) {
                // A child that runs across goes on until the next one ended, or it began itself.
                let floor = if next.is_some() { from } else { done_at };
                let begin = child.start.max(floor);
                self.give(child.span, (begin, at));
                at = begin;
            } else {
                self.own(i, (done_at, at));
                at = done_at;
            }
        }
    }

    /// Own time of span `i`, by category.
    fn own(&mut self, i: usize, stretch: Stretch) {
        let own_time = self.own_time;
        own_time.split(i, stretch, |(from, to), mark| {
            self.add(i, mark.unwrap_or(own_time.otherwise(i)), to - from);
        });
    }

    fn add(&mut self, i: usize, category: Category, length: Nanos) {
        if length != Nanos::ZERO {
            let span = self.trace.span(i);
            self.path.segments.push(Segment {
                request: self.trace.tree.request_of[i],
                service: span.service,
                operation: span.operation,
                category,
                length,
            });
        }
    }
}

/// Answers which child is next on the way back, each in logarithmic time, so that a comb of
/// overlapping children costs no more than its size times that.
#[derive(Debug, Default)]
struct ChildIndex {
    /// By (start, id descending): of equal starts the smaller id comes last.
    by_start: Vec<Child>,
    /// By (end, start, id descending), for the last child that ended by an instant.
    by_end: Vec<Child>,
    /// For each prefix of `by_start` the child with the latest (end, start, smaller id).
    last_end_of_prefix: Vec<Child>,
    /// The ends of `by_start`.
    ends: MaxTree<UnixNanos>,
}

#[derive(Clone, Copy, Debug)]
struct Child {
    span: usize,
    start: UnixNanos,
    end: UnixNanos,
}

impl ChildIndex {
    /// Puts the children of span `i` in the place of those that it held.
    fn fill(&mut self, trace: &Trace<'_>, i: usize) {
        let Self { by_start, by_end, last_end_of_prefix, ends } = self;
        let children = trace.children.of(i).iter();
        let children =
            children.map(|&span| Child { span, start: trace.start(span), end: trace.end(span) });
        by_start.clear();
        by_start.extend(children.filter(|child| child.start < child.end));
        let id_descending = |child: &Child| std::cmp::Reverse(trace.span(child.span).span_id);
        by_start.sort_unstable_by_key(|child| (child.start, id_descending(child)));
        by_end.clone_from(by_start);
        by_end.sort_unstable_by_key(|child| (child.end, child.start, id_descending(child)));
        last_end_of_prefix.clear();
        last_end_of_prefix.extend(by_start.iter().scan(
            None,
            |latest: &mut Option<Child>, &child| {
                // Later in this order is preferred where ends are equal.
                *latest = Some(latest.filter(|latest| latest.end > child.end).unwrap_or(child));
                *latest
            },
        ));
        ends.fill(by_start.iter().map(|child| child.end));
    }

    /// How many children start before `at`: the length of a prefix of `by_start`.
    fn started_before(&self, at: UnixNanos) -> usize {
        self.by_start.partition_point(|child| child.start < at)
    }

    /// The child that was the last to start before the end of `stretch`, if it covers all of it:
    /// then it tells the stretch, and every earlier one that begins when it has begun.
    fn covering(&self, (from, to): Stretch) -> Option<Child> {
        let last = self.by_start.get(self.started_before(to).checked_sub(1)?)?;
        (last.start <= from && last.end >= to).then_some(*last)
    }

    /// Of the children that start before `at` and end at or after `end`, that with the latest
    /// start.
    fn latest_start_covering(&self, at: UnixNanos, end: UnixNanos) -> Option<Child> {
        let place = self.ends.last_reaching(self.started_before(at), end)?;
        self.by_start.get(place).copied()
    }

    /// Of the children that ended by `at`, but after `from`, the last.
    fn last_end_by(&self, at: UnixNanos, from: UnixNanos) -> Option<Child> {
        let ended = self.by_end.partition_point(|child| child.end <= at);
        let last = self.by_end.get(ended.checked_sub(1)?)?;
        (last.end > from).then_some(*last)
    }

    /// Of the children that run across `at`, that with the latest end.
    fn last_end_across(&self, at: UnixNanos) -> Option<Child> {
        let prefix = self.started_before(at);
        let longest = self.last_end_of_prefix.get(prefix.checked_sub(1)?)?;
        (longest.end > at).then_some(*longest)
    }
}
