//! One clock for a trace: the offset of each clock domain, and outcomes that only aligned times
//! can tell (SEMANTICS §4, and §2 for wordless clients).

use super::memory::{refill, reset};
use super::numbers::Numbers;
use super::tree::{Children, Parent, Tree};
use crate::span::{Kind, Outcome, Sym};
use crate::tables::{BlindSpot, BlindSpots};
use crate::units::{Nanos, UnixNanos};

/// Servers end their span a little after sending the answer.
const ANSWER_SLACK: Nanos = Nanos::from_millis(1);

/// A wordless client is taken for cancelled if its server outlives it by more than this.
const WORDLESS_BOUND: Nanos = Nanos::from_millis(5);

/// What the trace knows of a domain's offset: an interval whose ends may be open.
#[derive(Clone, Copy, Debug, Default)]
struct Offset {
    chosen: Nanos,
    hi: Option<Nanos>,
}

/// The times of all spans on the clock of the trace's root.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// Aligned starts.
    pub start: Vec<UnixNanos>,
    /// Aligned ends.
    pub end: Vec<UnixNanos>,
    /// Outcomes, those of wordless clients settled.
    pub outcome: Vec<Outcome>,
    /// What could not be told.
    pub blind_spots: BlindSpots,
    domain_of: Vec<usize>,
    /// By domain; `None` until it is settled.
    offsets: Vec<Option<Offset>>,
    numbers: Numbers<Sym>,
    /// By domain its spans.
    members: Children,
    /// All spans in breadth-first order.
    breadth_first: Vec<usize>,
}

impl Clock {
    /// Settles all domains of the trace and aligns its spans.
    pub(super) fn fill(&mut self, tree: &Tree<'_>) {
        self.blind_spots = BlindSpots::default();
        self.number_domains(tree);
        self.settle_domains(tree);
        let corrected = self.offsets.iter().flatten().any(|offset| offset.chosen != Nanos::ZERO);
        self.blind_spots.insert_if(corrected, BlindSpot::ClockSkewCorrected);
        let shifted = (0..tree.spans.len()).any(|child| match tree.parents[child] {
            Parent::Of(parent) => {
                self.domain_of[child] == self.domain_of[parent]
                    && tree.spans[child].start < tree.spans[parent].start
            }
            _ => false,
        });
        self.blind_spots.insert_if(shifted, BlindSpot::ClockShift);

        let Self { start, end, outcome, domain_of, offsets, .. } = self;
        let chosen = |i: usize| offsets[domain_of[i]].unwrap_or_default().chosen;
        let spans = || tree.spans.iter().enumerate();
        refill(start, spans().map(|(i, span)| span.start - chosen(i)));
        refill(end, spans().map(|(i, span)| span.end - chosen(i)));
        refill(outcome, spans().map(|(_, span)| span.outcome));
    }

    /// Whether any span was moved.
    pub(super) fn is_corrected(&self) -> bool {
        self.blind_spots.contains(BlindSpot::ClockSkewCorrected)
    }

    /// The aligned instant at which span `i` arrived: its start less its queued-before.
    pub(super) fn arrival(&self, tree: &Tree<'_>, i: usize) -> UnixNanos {
        self.start[i] - tree.spans[i].queued_before
    }

    /// Makes a wordless client `cancelled` if one of its servers surely went on after it.
    /// `is_server(i)` tells whether child `i` is a server of its parent.
    pub(super) fn settle_wordless(
        &mut self,
        tree: &Tree<'_>,
        children: &Children,
        is_server: impl Fn(usize) -> bool,
    ) {
        for client in (0..tree.spans.len()).filter(|&i| tree.spans[i].flags.is_wordless) {
            let mut servers = children.of(client).iter().filter(|&&child| is_server(child));
            if servers.any(|&server| self.surely_outlives(tree, client, server)) {
                self.outcome[client] = Outcome::Cancelled;
            }
        }
    }

    fn surely_outlives(&self, tree: &Tree<'_>, client: usize, server: usize) -> bool {
        let bound = self.end[client] + WORDLESS_BOUND;
        if self.domain_of[client] == self.domain_of[server] {
            return self.end[server] > bound;
        }
        // The largest offset moves the server's end furthest back.
        let hi = self.offsets[self.domain_of[server]].and_then(|offset| offset.hi);
        hi.is_some_and(|hi| tree.spans[server].end - hi > bound)
    }

    /// Numbers the domains; that of the trace's root is 0.
    fn number_domains(&mut self, tree: &Tree<'_>) {
        let numbers = &mut self.numbers;
        numbers.clear();
        numbers.of(tree.spans[tree.root].clock_domain);
        refill(&mut self.domain_of, tree.spans.iter().map(|span| numbers.of(span.clock_domain)));
    }

    /// Settles each domain when breadth-first order first meets it, by its edges from domains that
    /// are settled by then.
    fn settle_domains(&mut self, tree: &Tree<'_>) {
        let domains = self.numbers.len();
        reset(&mut self.offsets, domains, None);
        self.offsets[0] = Some(Offset::default());
        if domains == 1 {
            return;
        }
        self.members.fill(domains, self.domain_of.iter().copied().zip(0..));
        self.walk_breadth_first(tree);
        for &span in &self.breadth_first {
            let domain = self.domain_of[span];
            if self.offsets[domain].is_none() {
                let members = self.members.of(domain).iter();
                let edges = members
                    .filter_map(|&child| Edge::into(tree, &self.domain_of, &self.offsets, child));
                self.offsets[domain] = Some(settle(edges, &mut self.blind_spots));
            }
        }
    }

    /// Lists all spans in breadth-first order from the trace's root, children by raw (start, id).
    fn walk_breadth_first(&mut self, tree: &Tree<'_>) {
        let order = &mut self.breadth_first;
        order.clear();
        order.push(tree.root);
        let mut next = 0;
        while let Some(&span) = order.get(next) {
            order.extend_from_slice(tree.around.of(span));
            next += 1;
        }
    }
}

/// What one edge from a settled domain says of a child's offset θ.
struct Edge {
    /// Nothing starts before it was sent: θ ≤ this.
    hi: Nanos,
    /// The answer had to get back: θ ≥ this.
    lo: Option<Nanos>,
    /// The same for an HTTP client, whose span ends at the response's head.
    weak_lo: Option<Nanos>,
}

impl Edge {
    fn into(
        tree: &Tree<'_>,
        domain_of: &[usize],
        offsets: &[Option<Offset>],
        child: usize,
    ) -> Option<Self> {
        let Parent::Of(parent) = tree.parents[child] else { return None };
        let parent_offset = offsets[domain_of[parent]]?.chosen;
        let (child, parent) = (tree.spans[child], tree.spans[parent]);
        let parent_end = parent.end - parent_offset;
        let synchronous = parent.kind != Kind::Producer && child.kind != Kind::Consumer;
        let came_back = synchronous
            && !parent.outcome.left()
            && !parent.flags.is_wordless
            && child.duration() <= parent.duration();
        let lo = came_back.then(|| child.end - parent_end - ANSWER_SLACK);
        let weak = came_back && parent.flags.has_http_method;
        Some(Self {
            hi: child.start - (parent.start - parent_offset),
            lo,
            weak_lo: if weak { Some(child.start - parent_end) } else { lo },
        })
    }
}

fn settle(edges: impl Iterator<Item = Edge>, blind_spots: &mut BlindSpots) -> Offset {
    let (mut hi, mut strong, mut weak) = (None, None, None);
    for edge in edges {
        hi = Some(hi.map_or(edge.hi, |hi: Nanos| hi.min(edge.hi)));
        strong = strong.max(edge.lo);
        weak = weak.max(edge.weak_lo);
    }
    let fits = |lo: &Option<Nanos>| lo.is_none() || *lo <= hi;
    let lo = [strong, weak].into_iter().find(fits).unwrap_or_else(|| {
        blind_spots.insert(BlindSpot::ClockConflict);
        None
    });
    let zero_fits = lo.is_none_or(|lo| lo <= Nanos::ZERO) && hi.is_none_or(|hi| hi >= Nanos::ZERO);
    let chosen = match (lo, hi) {
        _ if zero_fits => Nanos::ZERO,
        (Some(lo), Some(hi)) => lo + (hi - lo).div_floor(2),
        (lo, hi) => lo.or(hi).unwrap_or(Nanos::ZERO),
    };
    Offset { chosen, hi }
}
