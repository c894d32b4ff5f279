//! The tree of one trace and the requests it falls into (SEMANTICS §1, §2 duplicates, §3).

use super::memory::{refill, reset};
use crate::forest::{Forest, Parent};
use crate::span::{Kind, Span};
use crate::tables::{BlindSpot, BlindSpots};
use crate::units::UnixNanos;

/// The spans of one trace, by (start, id) on their own clocks, and how they hang together.
///
/// A span is a number here: its place in `forest`. `link` is the parent within the span's request:
/// absent for the request's root, the trace's root for attached spans.
#[derive(Debug, Default)]
pub(super) struct Tree<'a> {
    /// The spans and their parents.
    pub forest: Forest<'a>,
    /// The trace's root.
    pub root: usize,
    /// Orphans that hang under the trace's root for budgets and late work only.
    pub attached: Vec<bool>,
    /// The roots of requests, the trace's own first, then by (start, id).
    pub request_roots: Vec<usize>,
    /// The request of each span, a place in `request_roots`.
    pub request_of: Vec<usize>,
    /// The parent within the request.
    pub link: Vec<Option<usize>>,
    /// The children of each span by (start, id) on their own clocks, whatever request they belong
    /// to. Spans without a parent in the trace stand among the root's children.
    pub around: Children,
    /// All spans depth first by `link`: parents before children, each subtree in one piece.
    pub top_down: Vec<usize>,
    /// What the tree itself cannot tell.
    pub blind_spots: BlindSpots,
    /// Spans that the walk has still to see.
    walk: Vec<usize>,
}

impl<'a> Tree<'a> {
    /// Fills in the tree of `spans`: one trace, sorted by (start, id, content).
    pub(super) fn fill(&mut self, spans: &'a [Span]) {
        self.forest.fill(spans.iter());
        self.blind_spots = BlindSpots::default();
        self.tell_flags();
        self.find_root();
        self.split_into_requests();
    }

    /// What the spans themselves cannot tell.
    fn tell_flags(&mut self) {
        let Self { forest: Forest { spans, has_duplicates, .. }, blind_spots, .. } = self;
        blind_spots.insert_if(*has_duplicates, BlindSpot::DuplicateSpans);
        blind_spots.insert_if(times_are_rounded(spans), BlindSpot::TimesRounded);
        for span in spans {
            let flags = span.flags;
            blind_spots.insert_if(flags.negative_duration, BlindSpot::NegativeDuration);
            blind_spots.insert_if(flags.clock_adjusted, BlindSpot::ClockAdjusted);
            blind_spots.insert_if(flags.trace_joined, BlindSpot::TraceJoined);
        }
    }

    /// Finds the trace's root.
    fn find_root(&mut self) {
        let Self { forest: Forest { spans, parents, cut, .. }, blind_spots, .. } = self;
        blind_spots.insert_if(!cut.is_empty(), BlindSpot::Cycle);
        let rootless = parents.iter().position(|&parent| parent == Parent::None);
        blind_spots.insert_if(rootless.is_none(), BlindSpot::MissingRoot);
        // After cutting cycles some span has no parent in the trace, so there is a root.
        let root = rootless
            .or_else(|| parents.iter().position(|&parent| parent == Parent::Absent))
            .unwrap_or(0);
        let others = |wanted: Parent| {
            let parents = &parents;
            (0..parents.len()).filter(move |&i| i != root && parents[i] == wanted)
        };
        blind_spots.insert_if(others(Parent::None).next().is_some(), BlindSpot::ExtraRoots);
        let orphans = others(Parent::Absent).any(|i| cut.binary_search(&i).is_err());
        blind_spots.insert_if(orphans, BlindSpot::Orphans);
        self.root = root;
        blind_spots.insert_if(weights_differ(spans, root), BlindSpot::SamplingDisagrees);
    }

    /// Whether span `i` asks for itself (SEMANTICS §1, Request).
    fn starts_request(&self, i: usize) -> bool {
        let span = self.forest.spans[i];
        if i == self.root {
            return true;
        }
        if span.flags.is_wait {
            return false;
        }
        match self.forest.parents[i] {
            Parent::None => true,
            Parent::Absent => span.kind == Kind::Consumer,
            Parent::Of(parent) => {
                span.kind == Kind::Consumer && self.forest.spans[parent].kind != Kind::Consumer
            }
        }
    }

    fn split_into_requests(&mut self) {
        let len = self.forest.spans.len();
        reset(&mut self.attached, len, false);
        reset(&mut self.request_of, len, 0);
        reset(&mut self.link, len, None);
        self.request_roots.clear();
        self.request_roots.push(self.root);
        for i in 0..len {
            if self.starts_request(i) {
                if i != self.root {
                    self.request_roots.push(i);
                }
            } else if let Parent::Of(parent) = self.forest.parents[i] {
                self.link[i] = Some(parent);
            } else {
                self.attached[i] = true;
                self.link[i] = Some(self.root);
            }
        }
        self.group_around();
        for (request, &root) in self.request_roots.iter().enumerate() {
            self.request_of[root] = request;
        }
        self.top_down.clear();
        let open = &mut self.walk;
        refill(open, self.request_roots.iter().rev().copied());
        while let Some(span) = open.pop() {
            self.top_down.push(span);
            for &child in self.around.of(span).iter().rev() {
                // The root of a request is no child within another.
                if self.link[child].is_some() {
                    self.request_of[child] = self.request_of[span];
                    open.push(child);
                }
            }
        }
    }

    fn group_around(&mut self) {
        let Self { around, forest: Forest { parents, .. }, root, .. } = self;
        let below_some = parents.iter().enumerate().filter(|(i, _)| i != root);
        let pairs = below_some.map(|(i, &parent)| match parent {
            Parent::Of(parent) => (parent, i),
            Parent::None | Parent::Absent => (*root, i),
        });
        around.fill(parents.len(), pairs);
    }

    /// Groups the real children of each span within its request (no attached ones), in the order in
    /// which `in_order` gives them.
    pub(super) fn group_children(&self, in_order: &[usize], children: &mut Children) {
        let real = in_order.iter().filter(|&&i| !self.attached[i]);
        children.fill(self.forest.spans.len(), real.filter_map(|&i| Some((self.link[i]?, i))));
    }
}

/// Whether a span says that it stands for another number of requests than the root does.
fn weights_differ(spans: &[&Span], root: usize) -> bool {
    let weight = spans[root].weight;
    weight.is_some() && spans.iter().any(|span| span.weight.is_some_and(|it| Some(it) != weight))
}

/// Whether all times went through a 64-bit floating-point number of nanoseconds, of which only every
/// 256th is one in this century, and not merely were whole microseconds.
fn times_are_rounded(spans: &[&Span]) -> bool {
    /// The distance of neighbouring floating-point numbers between 2^60 and 2^61.
    const STEP_NS: i64 = 256;
    /// Below this they lie closer together.
    const LEAST_UNIX_NS: i64 = 1 << 60;
    let mut times = spans.iter().flat_map(|span| [span.start, span.end]).map(UnixNanos::as_nanos);
    let micros = |time: i64| time % 1_000 == 0;
    spans.iter().any(|span| !micros(span.start.as_nanos()) || !micros(span.end.as_nanos()))
        && times.all(|time| time >= LEAST_UNIX_NS && time % STEP_NS == 0)
}

/// Lists of children in one block: those of parent `i` are `items[starts[i]..starts[i + 1]]`.
#[derive(Debug, Default)]
pub(super) struct Children {
    starts: Vec<usize>,
    items: Vec<usize>,
}

impl Children {
    /// Groups pairs of parent and child by parent, of which there are `parents`, keeping the order
    /// in which they come.
    pub(super) fn fill(
        &mut self,
        parents: usize,
        pairs: impl Iterator<Item = (usize, usize)> + Clone,
    ) {
        let Self { starts, items } = self;
        // One place ahead, so that each start has moved to its own place when all are put in.
        reset(starts, parents + 2, 0);
        for (parent, _) in pairs.clone() {
            starts[parent + 2] += 1;
        }
        let mut all = 0;
        for start in starts.iter_mut() {
            all += *start;
            *start = all;
        }
        reset(items, all, 0);
        for (parent, child) in pairs {
            let next = &mut starts[parent + 1];
            items[*next] = child;
            *next += 1;
        }
    }

    /// The children of parent `i`.
    pub(super) fn of(&self, i: usize) -> &[usize] {
        &self.items[self.starts[i]..self.starts[i + 1]]
    }
}
