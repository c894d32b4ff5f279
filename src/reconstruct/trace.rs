//! One trace on one clock, with the role of each span and the request it belongs to: what every
//! later section of SEMANTICS reads.

use super::Context;
use super::clock::Clock;
use super::memory::refill;
use super::moment::{Moment, Stretch};
use super::request::Request;
use super::terms::{Known, Terms};
use super::tree::{Children, Tree};
use crate::span::{Grant, Interner, Kind, Outcome, Span, Sym};
use crate::stats::Weight;
use crate::tables::BlindSpots;
use crate::units::{Nanos, UnixNanos};

/// A trace, aligned. Spans are numbers: places in `tree.forest.spans`.
#[derive(Debug, Default)]
pub(super) struct Trace<'a> {
    /// How its spans hang together.
    pub tree: Tree<'a>,
    /// Their times on one clock.
    pub clock: Clock,
    /// Real children within the request, by aligned (start, id).
    pub children: Children,
    /// Orphans attached under the trace's root, by aligned (start, id).
    pub attached: Vec<usize>,
    /// All spans by aligned (start, id).
    pub in_order: Vec<usize>,
    /// Its requests; the first is that of the trace's root.
    pub requests: Vec<Request<'a>>,
    is_server: Vec<bool>,
    is_call_span: Vec<bool>,
    caller: Vec<Option<usize>>,
    terms: Terms,
    /// By span: whether it, or a span above it, is attached.
    apart: Vec<bool>,
    /// Whether anything in it waits; in most traces nothing does, which spares a look at each hop.
    pub has_waits: bool,
}

impl<'a> Trace<'a> {
    /// Fills in the trace of `spans`, sorted by (start, id, content).
    pub(super) fn fill(&mut self, spans: &'a [Span], context: Context<'a, '_>) {
        let Context { strings, policy, offsets, .. } = context;
        self.tree.fill(spans);
        self.clock.fill(&self.tree, strings, offsets);
        self.order();
        self.tell_roles();
        let is_server = &self.is_server;
        self.clock.settle_wordless(&self.tree, &self.children, |child| is_server[child]);
        let Self { tree, children, is_server, is_call_span, .. } = self;
        self.terms.fill(tree, context, |i| {
            let is_one = !is_call_span[i] && !tree.attached[i] && tree.link[i].is_some();
            is_one.then(|| children.of(i).iter().copied().filter(|&child| is_server[child]))
        });
        self.requests.clear();
        for request in 0..self.tree.request_roots.len() {
            let root = self.tree.request_roots[request];
            self.requests.push(Request::open(self, root, strings, policy));
        }
        self.tell_apart();
        self.take_in(0);
    }

    /// Takes the spans of all requests from `first` on into them.
    pub(super) fn take_in(&mut self, first: usize) {
        for &i in &self.in_order {
            let number = self.tree.request_of[i];
            let Some(request) = self.requests.get_mut(number).filter(|_| number >= first) else {
                continue;
            };
            let may_admit = self.is_server[i] && i != request.root && !self.apart[i];
            request.take(&self.tree, &self.clock, i, may_admit);
        }
    }

    fn order(&mut self) {
        let Self { tree, clock, in_order, attached, .. } = self;
        refill(in_order, 0..tree.forest.spans.len());
        if clock.is_corrected() {
            in_order.sort_unstable_by_key(|&i| (clock.start[i], tree.forest.spans[i].span_id));
        }
        refill(attached, in_order.iter().copied().filter(|&i| tree.attached[i]));
        tree.group_children(in_order, &mut self.children);
    }

    fn tell_roles(&mut self) {
        let Self { tree, children, is_server, is_call_span, caller, has_waits, .. } = self;
        let len = tree.forest.spans.len();
        let waits = |span: &&Span| span.flags.is_wait || span.waited_inside > Nanos::ZERO;
        *has_waits = tree.forest.spans.iter().any(waits);
        refill(is_server, (0..len).map(|i| stands_for_server(tree, i)));
        let holds_attempts = |i: usize| {
            let span = tree.forest.spans[i];
            let is_attempt = |&child: &usize| is_attempt(tree.forest.spans[child]);
            span.kind == Kind::Client
                && !span.flags.is_wait
                && children.of(i).iter().any(is_attempt)
        };
        refill(is_call_span, (0..len).map(holds_attempts));
        caller.clone_from(&tree.link);
        for &i in &tree.top_down {
            if let Some(call_span) = caller[i].filter(|&parent| is_call_span[parent]) {
                caller[i] = caller[call_span];
            }
        }
    }

    fn tell_apart(&mut self) {
        let Self { tree, apart, .. } = self;
        apart.clone_from(&tree.attached);
        for &i in &tree.top_down {
            apart[i] |= tree.link[i].is_some_and(|parent| apart[parent]);
        }
    }

    /// How many spans.
    pub(super) fn len(&self) -> usize {
        self.tree.forest.spans.len()
    }

    /// The span itself, on its own clock.
    pub(super) fn span(&self, i: usize) -> &'a Span {
        self.tree.forest.spans[i]
    }

    /// Aligned start.
    pub(super) fn start(&self, i: usize) -> UnixNanos {
        self.clock.start[i]
    }

    /// Aligned end.
    pub(super) fn end(&self, i: usize) -> UnixNanos {
        self.clock.end[i]
    }

    /// Aligned arrival: the start less the time in a queue before it.
    pub(super) fn arrival(&self, i: usize) -> UnixNanos {
        self.clock.arrival(&self.tree, i)
    }

    /// How it ended.
    pub(super) fn outcome(&self, i: usize) -> Outcome {
        self.clock.outcome[i]
    }

    /// Whether it left while what it had asked for may still run.
    pub(super) fn left(&self, i: usize) -> bool {
        self.outcome(i).left()
    }

    /// The service of span `i`, if it named one.
    pub(super) fn service(&self, i: usize, strings: &Interner) -> Option<Sym> {
        Some(self.span(i).service).filter(|&service| !strings.get(service).is_empty())
    }

    /// Its request.
    pub(super) fn request(&self, i: usize) -> &Request<'a> {
        &self.requests[self.tree.request_of[i]]
    }

    /// The parent within its request; the trace's root for an attached span.
    pub(super) fn link(&self, i: usize) -> Option<usize> {
        self.tree.link[i]
    }

    /// The real parent within its request.
    pub(super) fn parent(&self, i: usize) -> Option<usize> {
        self.link(i).filter(|_| !self.tree.attached[i])
    }

    /// The parent, through a call span: the call span's parent.
    pub(super) fn caller(&self, i: usize) -> Option<usize> {
        self.caller[i]
    }

    /// SERVER or CONSUMER, or an INTERNAL span that stands for one; no wait span.
    pub(super) fn is_server(&self, i: usize) -> bool {
        self.is_server[i]
    }

    /// The CLIENT parent of attempts.
    pub(super) fn is_call_span(&self, i: usize) -> bool {
        self.is_call_span[i]
    }

    /// CLIENT or PRODUCER half of a hop: no call span, no wait span.
    pub(super) fn is_client(&self, i: usize) -> bool {
        let span = self.span(i);
        span.kind.sends() && !span.flags.is_wait && !self.is_call_span(i)
    }

    /// A try of a call: a CLIENT half that is no request's root and no orphan.
    pub(super) fn is_try(&self, i: usize) -> bool {
        self.span(i).kind == Kind::Client && self.is_client(i) && self.parent(i).is_some()
    }

    /// The servers of client half `i`.
    pub(super) fn servers(&self, i: usize) -> impl Iterator<Item = usize> + '_ {
        self.children.of(i).iter().copied().filter(|&child| self.is_server(child))
    }

    /// The grant of `i` and the aligned instant from which it counts.
    pub(super) fn grant(&self, i: usize) -> Option<(Grant, UnixNanos)> {
        let grant = self.own_grant(i)?;
        Some((grant, if grant.from_start { self.start(i) } else { self.arrival(i) }))
    }

    /// The grant of `i`: what its attributes declare, else what is known of calls of its kind.
    pub(super) fn own_grant(&self, i: usize) -> Option<Grant> {
        self.span(i).grant.or_else(|| self.terms.of(i).grant)
    }

    /// What is known of calls such as client half `i`.
    pub(super) fn terms(&self, i: usize) -> Known {
        self.terms.of(i)
    }

    /// When a wait span stops to wait: when its first child begins, else when it ends.
    pub(super) fn wait_end(&self, i: usize) -> Moment {
        let (start, end) = (self.start(i), self.end(i));
        match self.children.of(i).first() {
            Some(&child) if self.start(child) <= start => (start, i),
            Some(&child) if self.start(child) < end => (self.start(child), child),
            _ => (end, i),
        }
    }

    /// The waits inside span `i`: told by an event, or child wait spans; by start, clipped to it.
    pub(super) fn waits(&self, i: usize) -> impl Iterator<Item = Stretch> + '_ {
        self.waits_by_clock(i).map(|(from, (to, _))| (from, to))
    }

    /// The same, with whose clock told when each ended.
    fn waits_by_clock(&self, i: usize) -> impl Iterator<Item = (UnixNanos, Moment)> + '_ {
        let (start, end) = (self.start(i), self.end(i));
        let own = (start, (start + self.span(i).waited_inside, i));
        let children = if self.has_waits { self.children.of(i) } else { &[] };
        let children = children.iter().filter(|&&child| self.span(child).flags.is_wait);
        std::iter::once(own)
            .chain(children.map(|&child| (self.start(child), self.wait_end(child))))
            .map(move |(from, to)| (from.max(start), to.min((end, i))))
            .filter(|(from, (to, _))| from < to)
    }

    /// When span `i` began to execute, and whose clock told it: its start, moved to the end of each
    /// wait that begins within a millisecond of it.
    pub(super) fn execution_start(&self, i: usize) -> Moment {
        let wait = self.span(i).flags.is_wait;
        let mut begun = if wait { self.wait_end(i) } else { (self.start(i), i) };
        for (from, to) in self.waits_by_clock(i) {
            if from <= begun.0 + Nanos::from_millis(1) {
                begun = begun.max(to);
            }
        }
        begun
    }

    /// How many requests of the population those of the trace stand for: it was kept or not as a
    /// whole, so that its root's word counts.
    pub(super) fn weight(&self) -> Option<Weight> {
        self.span(self.tree.root).weight
    }

    /// What the whole trace cannot tell, but for attempts.
    pub(super) fn blind_spots(&self) -> BlindSpots {
        self.tree.blind_spots.union(self.clock.blind_spots)
    }
}

/// Whether a span says that it is one try of a call.
pub(super) fn is_attempt(span: &Span) -> bool {
    span.flags.is_attempt && span.kind == Kind::Client && !span.flags.is_wait
}

fn stands_for_server(tree: &Tree<'_>, i: usize) -> bool {
    let span = tree.forest.spans[i];
    let elsewhere =
        || tree.link[i].is_some_and(|parent| tree.forest.spans[parent].service != span.service);
    !span.flags.is_wait && (span.kind.receives() || (span.kind == Kind::Internal && elsewhere()))
}
