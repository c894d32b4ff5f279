//! The consumption path: where the time from origin to root end went (SEMANTICS §8).

use rustc_hash::FxHashMap;

use super::own_time::{Marks, Stretch};
use super::trace::Trace;
use crate::span::{Kind, Sym};
use crate::tables::Category;
use crate::units::{Nanos, UnixNanos};

/// Service, operation and category of a stretch of own time.
pub(super) type SegmentKey = (Sym, Sym, Category);

/// The segments of one request: together exactly root end − origin.
pub(super) fn segments(
    trace: &Trace<'_>,
    marks: &Marks,
    request: usize,
) -> FxHashMap<SegmentKey, Nanos> {
    let root = trace.requests[request].root;
    let mut path =
        Path { trace, marks, segments: FxHashMap::default(), index: FxHashMap::default() };
    path.add(root, Category::Queue, trace.start(root) - trace.requests[request].origin);
    let mut open = vec![(root, (trace.start(root), trace.end(root)))];
    while let Some((span, stretch)) = open.pop() {
        path.tell(span, stretch, &mut open);
    }
    path.segments
}

struct Path<'t, 'a> {
    trace: &'t Trace<'a>,
    marks: &'t Marks,
    segments: FxHashMap<SegmentKey, Nanos>,
    /// Lookup structures of spans that were told before.
    index: FxHashMap<usize, ChildIndex>,
}

impl Path<'_, '_> {
    /// Tells what span `i` did in `stretch`, walking back from its end; parts that its children
    /// have to tell are pushed onto `open`.
    fn tell(&mut self, i: usize, (from, to): Stretch, open: &mut Vec<(usize, Stretch)>) {
        let trace = self.trace;
        if trace.children.of(i).is_empty() {
            self.own(i, (from, to));
            return;
        }
        let mut own = Vec::new();
        let index = self.index.entry(i).or_insert_with(|| ChildIndex::new(trace, i));
        let mut at = to;
        while at > from {
            // Children are clipped to the stretch, so those that run past its end all end there.
            let past_end = index.latest_start_covering(at, to);
            let done = past_end.filter(|_| at == to).or_else(|| index.last_end_by(at, from));
            let done_at = done.map_or(from, |child| trace.end(child).min(to));
            if done_at == at
                && let Some(child) = done
            {
                let begin = trace.start(child).max(from);
                open.push((child, (begin, at)));
                at = begin;
                continue;
            }
            let across = past_end.or_else(|| index.last_end_across(at));
            let begin = across.map_or(done_at, |child| trace.start(child).max(done_at));
            match across {
                Some(child) => open.push((child, (begin, at))),
                None => own.push((begin, at)),
            }
            at = begin;
        }
        for stretch in own {
            self.own(i, stretch);
        }
    }

    /// Own time of span `i`, by category.
    fn own(&mut self, i: usize, stretch: Stretch) {
        let marks = self.marks;
        let otherwise = own_category(self.trace, i);
        marks.split(i, stretch, |(from, to), mark| {
            self.add(i, mark.unwrap_or(otherwise), to - from);
        });
    }

    fn add(&mut self, i: usize, category: Category, length: Nanos) {
        if length != Nanos::ZERO {
            let span = self.trace.span(i);
            *self.segments.entry((span.service, span.operation, category)).or_default() += length;
        }
    }
}

/// What a span's own time is where nothing marks it.
fn own_category(trace: &Trace<'_>, i: usize) -> Category {
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

/// Answers which child is next on the way back, each in logarithmic time, so that a comb of
/// overlapping children costs no more than its size times that.
struct ChildIndex {
    /// By (start, id descending): of equal starts the smaller id comes last.
    by_start: Vec<Child>,
    /// By (end, start, id descending), for the last child that ended by an instant.
    by_end: Vec<Child>,
    /// For each prefix of `by_start` the child with the latest (end, start, smaller id).
    last_end_of_prefix: Vec<Child>,
    /// The latest end within each node of a binary tree over `by_start`, leaves last.
    latest_end: Vec<UnixNanos>,
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
        let leaves = by_start.len().next_power_of_two();
        let mut latest_end = vec![UnixNanos::MIN; 2 * leaves];
        for (place, child) in by_start.iter().enumerate() {
            latest_end[leaves + place] = child.end;
        }
        for node in (1..leaves).rev() {
            latest_end[node] = latest_end[2 * node].max(latest_end[2 * node + 1]);
        }
        Self { by_start, by_end, last_end_of_prefix, latest_end }
    }

    /// How many children start before `at`: the length of a prefix of `by_start`.
    fn started_before(&self, at: UnixNanos) -> usize {
        self.by_start.partition_point(|child| child.start < at)
    }

    /// Of the children that start before `at` and end at or after `end`, that with the latest
    /// start.
    fn latest_start_covering(&self, at: UnixNanos, end: UnixNanos) -> Option<usize> {
        let prefix = self.started_before(at);
        let longest = self.last_end_of_prefix.get(prefix.checked_sub(1)?)?;
        let covering = (longest.end >= end).then(|| self.last_with_end(prefix, end))?;
        self.by_start.get(covering).map(|child| child.span)
    }

    /// The last place below `prefix` whose child ends at or after `end`; there must be one.
    fn last_with_end(&self, prefix: usize, end: UnixNanos) -> usize {
        let leaves = self.latest_end.len() / 2;
        // Up to the nearest subtree left of the prefix's end that holds one; the root if the
        // prefix is everything. Then down to its last such leaf.
        let mut node = leaves + prefix;
        while node > 1 && (node.is_multiple_of(2) || self.latest_end[node - 1] < end) {
            node /= 2;
        }
        node = (node - 1).max(1);
        while node < leaves {
            node = 2 * node + usize::from(self.latest_end[2 * node + 1] >= end);
        }
        node - leaves
    }

    /// Of the children that ended by `at`, but after `from`, the last.
    fn last_end_by(&self, at: UnixNanos, from: UnixNanos) -> Option<usize> {
        let ended = self.by_end.partition_point(|child| child.end <= at);
        let last = self.by_end.get(ended.checked_sub(1)?)?;
        (last.end > from).then_some(last.span)
    }

    /// Of the children that run across `at`, that with the latest end.
    fn last_end_across(&self, at: UnixNanos) -> Option<usize> {
        let prefix = self.started_before(at);
        let longest = self.last_end_of_prefix.get(prefix.checked_sub(1)?)?;
        (longest.end > at).then_some(longest.span)
    }
}
