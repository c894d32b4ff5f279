//! The consumption path: where the time from origin to root end went (SEMANTICS §8).
//!
//! Spans are told from the roots down. What a span has to tell is a row of stretches; it passes on
//! to its children what these cover, whole runs at once where one child covers them, so that a
//! deep chain beside many siblings costs no more than its size.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::max_tree::MaxTree;
use super::own_time::{OwnTime, Stretch};
use super::trace::Trace;
use crate::span::Sym;
use crate::tables::Category;
use crate::units::{Nanos, UnixNanos};

/// Service, operation and category of a stretch of own time.
pub(super) type SegmentKey = (Sym, Sym, Category);

/// The segments of each request: together exactly root end − origin.
pub(super) fn segments(trace: &Trace<'_>, own_time: &OwnTime) -> Vec<FxHashMap<SegmentKey, Nanos>> {
    let mut path = Path {
        trace,
        own_time,
        segments: trace.requests.iter().map(|_| FxHashMap::default()).collect(),
        open: vec![VecDeque::new(); trace.len()],
    };
    for request in &trace.requests {
        let root = request.root;
        path.add(root, Category::Queue, trace.start(root) - request.origin);
        path.open[root].push_back((trace.start(root), trace.end(root)));
    }
    for &i in &trace.tree.top_down {
        path.tell(i);
    }
    path.segments
}

struct Path<'t, 'a> {
    trace: &'t Trace<'a>,
    own_time: &'t OwnTime,
    segments: Vec<FxHashMap<SegmentKey, Nanos>>,
    /// By span the stretches that it still has to tell: disjoint, by time.
    open: Vec<VecDeque<Stretch>>,
}

impl Path<'_, '_> {
    /// Tells what span `i` did in its stretches; parts that its children have to tell become
    /// theirs.
    fn tell(&mut self, i: usize) {
        let mut open = std::mem::take(&mut self.open[i]);
        if open.is_empty() {
            return;
        }
        let index = ChildIndex::new(self.trace, i);
        while let Some(&last) = open.back() {
            if let Some(child) = index.covering(last) {
                open = self.pass_on(child, open);
            } else {
                open.pop_back();
                self.tell_stretch(i, &index, last);
            }
        }
    }

    /// Hands the last stretches of `open`, all that begin when `child` has, to that child. Gives
    /// the rest. Moves whichever side is shorter.
    fn pass_on(&mut self, child: Child, mut open: VecDeque<Stretch>) -> VecDeque<Stretch> {
        let before = open.partition_point(|stretch| stretch.0 < child.start);
        let mut passed = if before < open.len() - before {
            let rest: VecDeque<Stretch> = open.drain(..before).collect();
            std::mem::replace(&mut open, rest)
        } else {
            open.drain(before..).collect()
        };
        // What the child has already lies later in time.
        let has = &mut self.open[child.span];
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
    fn tell_stretch(&mut self, i: usize, index: &ChildIndex, (from, to): Stretch) {
        let mut at = to;
        while at > from {
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
                self.open[child.span].push_front((begin, at));
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
            let segments = &mut self.segments[self.trace.tree.request_of[i]];
            *segments.entry((span.service, span.operation, category)).or_default() += length;
        }
    }
}

/// Answers which child is next on the way back, each in logarithmic time, so that a comb of
/// overlapping children costs no more than its size times that.
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

#[derive(Clone, Copy)]
struct Child {
    span: usize,
    start: UnixNanos,
    end: UnixNanos,
}

impl ChildIndex {
    fn new(trace: &Trace<'_>, i: usize) -> Self {
        let mut by_start: Vec<Child> = trace
            .children
            .of(i)
            .iter()
            .map(|&span| Child { span, start: trace.start(span), end: trace.end(span) })
            .filter(|child| child.start < child.end)
            .collect();
        let id_descending = |child: &Child| std::cmp::Reverse(trace.span(child.span).span_id);
        by_start.sort_unstable_by_key(|child| (child.start, id_descending(child)));
        let mut by_end = by_start.clone();
        by_end.sort_unstable_by_key(|child| (child.end, child.start, id_descending(child)));
        let last_end_of_prefix = by_start
            .iter()
            .scan(None, |latest: &mut Option<Child>, &child| {
                // Later in this order is preferred where ends are equal.
                *latest = Some(latest.filter(|latest| latest.end > child.end).unwrap_or(child));
                *latest
            })
            .collect();
        let ends = MaxTree::new(by_start.iter().map(|child| child.end));
        Self { by_start, by_end, last_end_of_prefix, ends }
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
