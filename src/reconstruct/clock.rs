//! One clock for a trace: the offset of each clock domain, and outcomes that only aligned times
//! can tell (SEMANTICS §4, and §2 for wordless clients).

use super::memory::{refill, reset};
use super::numbers::Numbers;
use super::tree::{Children, Tree};
use crate::clocks::{Bounds, Interval, Offsets};
use crate::forest::Parent;
use crate::span::{Interner, Outcome, Sym};
use crate::tables::{BlindSpot, BlindSpots};
use crate::units::{Nanos, UnixNanos};

/// A wordless client is taken for cancelled if its server outlives it by more than this.
const WORDLESS_BOUND: Nanos = Nanos::from_millis(5);

/// What is known of a domain's offset against the root's clock.
#[derive(Clone, Copy, Debug, Default)]
struct Offset {
    chosen: Nanos,
    /// The largest that it may be where the domain above is as chosen.
    hi: Option<Nanos>,
    /// The domain of the caller by which it was settled.
    above: Option<usize>,
    /// How many stand above it.
    depth: usize,
    /// How far its times may move against those of the domain above.
    slack: Slack,
    /// The same against those of the root's.
    slack_to_root: Slack,
}

/// How far times may move from where the chosen offset puts them; no bound where there is none.
#[derive(Clone, Copy, Debug, Default)]
struct Slack {
    earlier: Option<Nanos>,
    later: Option<Nanos>,
}

impl Slack {
    const NONE: Self = Self { earlier: Some(Nanos::ZERO), later: Some(Nanos::ZERO) };

    fn of(chosen: Nanos, interval: Interval) -> Self {
        Self {
            earlier: interval.hi.map(|hi| (hi - chosen).at_least_zero()),
            later: interval.lo.map(|lo| (chosen - lo).at_least_zero()),
        }
    }

    fn plus(self, other: Self) -> Self {
        let sum = |one: Option<Nanos>, other: Option<Nanos>| Some(one? + other?);
        Self { earlier: sum(self.earlier, other.earlier), later: sum(self.later, other.later) }
    }
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
    pub(super) fn fill(&mut self, tree: &Tree<'_>, strings: &Interner, pooled: &Offsets) {
        self.blind_spots = BlindSpots::default();
        self.number_domains(tree);
        self.settle_domains(tree, strings, pooled);
        let corrected = self.offsets.iter().flatten().any(|offset| offset.chosen != Nanos::ZERO);
        self.blind_spots.insert_if(corrected, BlindSpot::ClockSkewCorrected);
        let shifted = (0..tree.forest.spans.len()).any(|child| match tree.forest.parents[child] {
            Parent::Of(parent) => {
                self.domain_of[child] == self.domain_of[parent]
                    && tree.forest.spans[child].start < tree.forest.spans[parent].start
            }
            _ => false,
        });
        self.blind_spots.insert_if(shifted, BlindSpot::ClockShift);

        let Self { start, end, outcome, domain_of, offsets, .. } = self;
        let chosen = |i: usize| offsets[domain_of[i]].unwrap_or_default().chosen;
        let spans = || tree.forest.spans.iter().enumerate();
        refill(start, spans().map(|(i, span)| span.start - chosen(i)));
        refill(end, spans().map(|(i, span)| span.end - chosen(i)));
        refill(outcome, spans().map(|(_, span)| span.outcome));
    }

    /// Whether any span was moved.
    pub(super) fn is_corrected(&self) -> bool {
        self.blind_spots.contains(BlindSpot::ClockSkewCorrected)
    }

    /// Where the offset of span `i`'s clock against the root's lies.
    pub(super) fn interval(&self, i: usize) -> Interval {
        let Offset { chosen, slack_to_root, .. } = self.offset(i);
        Interval {
            lo: slack_to_root.later.map(|later| chosen - later),
            hi: slack_to_root.earlier.map(|earlier| chosen + earlier),
        }
    }

    /// The offset by which span `i` was aligned.
    pub(super) fn chosen(&self, i: usize) -> Nanos {
        self.offset(i).chosen
    }

    fn offset(&self, i: usize) -> Offset {
        self.offsets[self.domain_of[i]].unwrap_or_default()
    }

    /// By how much the time from an instant of span `from` to one of span `to` may be shorter than
    /// the aligned times tell; `None` where nothing bounds it.
    pub(super) fn may_shrink(&self, from: usize, to: usize) -> Option<Nanos> {
        let (mut from, mut to) = (self.domain_of[from], self.domain_of[to]);
        let offset = |domain: usize| self.offsets[domain].unwrap_or_default();
        let mut sum = Nanos::ZERO;
        while from != to {
            if from == 0 {
                return Some(sum + offset(to).slack_to_root.earlier?);
            }
            if to == 0 {
                return Some(sum + offset(from).slack_to_root.later?);
            }
            if offset(to).depth >= offset(from).depth {
                sum += offset(to).slack.earlier?;
                to = offset(to).above?;
            } else {
                sum += offset(from).slack.later?;
                from = offset(from).above?;
            }
        }
        Some(sum)
    }

    /// The aligned instant at which span `i` arrived: its start less its queued-before.
    pub(super) fn arrival(&self, tree: &Tree<'_>, i: usize) -> UnixNanos {
        self.start[i] - tree.forest.spans[i].queued_before
    }

    /// Makes a wordless client `cancelled` if one of its servers surely went on after it.
    /// `is_server(i)` tells whether child `i` is a server of its parent.
    pub(super) fn settle_wordless(
        &mut self,
        tree: &Tree<'_>,
        children: &Children,
        is_server: impl Fn(usize) -> bool,
    ) {
        for client in
            (0..tree.forest.spans.len()).filter(|&i| tree.forest.spans[i].flags.is_wordless)
        {
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
        hi.is_some_and(|hi| tree.forest.spans[server].end - hi > bound)
    }

    /// Numbers the domains; that of the trace's root is 0.
    fn number_domains(&mut self, tree: &Tree<'_>) {
        let numbers = &mut self.numbers;
        numbers.clear();
        numbers.of(tree.forest.spans[tree.root].clock_domain);
        refill(
            &mut self.domain_of,
            tree.forest.spans.iter().map(|span| numbers.of(span.clock_domain)),
        );
    }

    /// Settles each domain when breadth-first order first meets it, by its edges from domains that
    /// are settled by then.
    fn settle_domains(&mut self, tree: &Tree<'_>, strings: &Interner, pooled: &Offsets) {
        let domains = self.numbers.len();
        reset(&mut self.offsets, domains, None);
        self.offsets[0] =
            Some(Offset { slack: Slack::NONE, slack_to_root: Slack::NONE, ..Offset::default() });
        if domains == 1 {
            return;
        }
        self.members.fill(domains, self.domain_of.iter().copied().zip(0..));
        self.walk_breadth_first(tree);
        for place in 0..self.breadth_first.len() {
            let domain = self.domain_of[self.breadth_first[place]];
            if self.offsets[domain].is_none() {
                self.offsets[domain] = Some(self.settle(tree, domain, strings, pooled));
            }
        }
    }

    /// Settles a domain: by what the whole input says where it does, else by this trace alone.
    fn settle(
        &mut self,
        tree: &Tree<'_>,
        domain: usize,
        strings: &Interner,
        pooled: &Offsets,
    ) -> Offset {
        let mut bounds = Bounds::default();
        // Of the whole input: by the first caller's domain, and by those of all callers.
        let mut above: Option<(usize, Option<Interval>)> = None;
        let mut all = Some(Interval::default());
        let mut last_caller = None;
        for &child in self.members.of(domain) {
            let Parent::Of(parent) = tree.forest.parents[child] else { continue };
            let caller = self.domain_of[parent];
            let Some(caller_offset) = self.offsets[caller] else { continue };
            let (child, parent) = (tree.forest.spans[child], tree.forest.spans[parent]);
            bounds = bounds.meet(Bounds::of_call(parent, child).shifted(caller_offset.chosen));
            // One call tells what all between the same clocks do.
            if last_caller != Some(caller) {
                last_caller = Some(caller);
                let of_input = pooled.of_call(strings, parent, child);
                let of_input = of_input.map(|interval| interval.shifted(caller_offset.chosen));
                above.get_or_insert((caller, of_input));
                all = all.zip(of_input).map(|(all, of_caller)| all.meet(of_caller));
            }
        }
        let Some((above, by_first)) = above else { return Offset::default() };
        // The callers' own offsets are no more than chosen: together they may leave nothing.
        let of_input = all.filter(|interval| !interval.is_empty()).or(by_first);
        let told = of_input.or_else(|| bounds.interval());
        self.blind_spots.insert_if(told.is_none(), BlindSpot::ClockConflict);
        let interval = told.unwrap_or(bounds.by_sending());
        let chosen = interval.chosen();
        let sure = |by: Interval| if of_input.is_some() { by.with_drift() } else { by };
        // A clock that was set meanwhile has no one offset: nothing is sure there.
        let slack =
            told.map_or(Slack::default(), |told| Slack::of(chosen, sure(by_first.unwrap_or(told))));
        let caller = self.offsets[above].unwrap_or_default();
        Offset {
            chosen,
            hi: sure(interval).hi,
            above: Some(above),
            depth: caller.depth + 1,
            slack,
            slack_to_root: caller.slack_to_root.plus(slack),
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
