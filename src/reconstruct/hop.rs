//! Hops, what each was given, and the verdict on it (SEMANTICS §5, §6).

use super::ancestors::{Ancestors, Multiset};
use super::attempt::Calls;
use super::deadline::Deadlines;
use super::memory::reset;
use super::moment::Moment;
use super::own_time::Union;
use super::trace::Trace;
use crate::budget;
use crate::span::{Grant, Interner, SpanId, Sym};
use crate::tables::Verdict;
use crate::units::Nanos;

/// So many ancestors are looked at one by one before all are gathered.
const NEAR: usize = 16;

/// One hop.
#[derive(Debug)]
pub(super) struct Hop {
    /// The client, else the server.
    pub first: usize,
    /// The CLIENT or PRODUCER half.
    pub client: Option<usize>,
    /// The SERVER or CONSUMER half.
    pub server: Option<usize>,
    /// The span that names it, below which its subtree lies.
    pub top: usize,
    /// How many hops stand above it.
    pub depth: usize,
    /// The request that it is told in.
    pub request: usize,
    /// The span that names the nearest hop above.
    pub above: Option<usize>,
    /// The parent of its first half, through a call span.
    pub caller: Option<usize>,
    /// What the callee was given.
    pub grant: Option<Grant>,
    /// From when R and K count: the grant's anchor, else the first half's start.
    pub judged_at: Moment,
    /// By what R counts: the effective deadline of the caller.
    pub deadline: Option<Moment>,
    /// By what K counts: what the caller could know.
    pub known_deadline: Option<Moment>,
    /// The grant compared with what was left.
    pub verdict: Verdict,
    /// Time in queues: the waits inside both halves, and before the callee.
    pub queue: Nanos,
    /// When the server began to execute.
    pub begun: Option<Moment>,
    /// The grant exceeds what was known to be left.
    is_suspect: bool,
    /// It is such a one, and equals an earlier allowance.
    repeats: bool,
}

impl Hop {
    /// Its id.
    pub(super) fn id(&self, trace: &Trace<'_>) -> SpanId {
        trace.span(self.top).span_id
    }

    /// Who calls: the client's service, else that of the parent.
    pub(super) fn caller_service(&self, trace: &Trace<'_>, strings: &Interner) -> Option<Sym> {
        trace.service(self.client.or(trace.link(self.first))?, strings)
    }

    /// The callee's name: the server's service, else what the client names.
    pub(super) fn callee_service(&self, trace: &Trace<'_>, strings: &Interner) -> Option<Sym> {
        let of_server = self.server.and_then(|server| trace.service(server, strings));
        of_server.or_else(|| trace.span(self.client?).peer_service)
    }

    /// R: what the caller had left at the grant's anchor.
    pub(super) fn left(&self) -> Option<Nanos> {
        self.deadline.map(|(deadline, _)| deadline - self.judged_at.0)
    }

    /// K: the same by what the caller could know.
    fn known_left(&self) -> Option<Nanos> {
        self.known_deadline.map(|(deadline, _)| deadline - self.judged_at.0)
    }

    /// By how much the grant exceeds what was left.
    pub(super) fn overgrant(&self) -> Option<Nanos> {
        Some((self.grant?.value - self.left()?.at_least_zero()).at_least_zero())
    }

    /// More than was left, beyond what rounding explains.
    fn exceeds(&self, left: Option<Nanos>, floor: Nanos) -> bool {
        self.grant
            .zip(left)
            .is_some_and(|(grant, left)| grant.value > left + budget::tolerance(grant.value, floor))
    }

    fn exceeds_left(&self, floor: Nanos) -> bool {
        self.exceeds(self.left().map(Nanos::at_least_zero), floor)
    }

    fn exceeds_known(&self, floor: Nanos) -> bool {
        self.exceeds(self.known_left(), floor)
    }
}

/// All hops of a trace.
#[derive(Debug, Default)]
pub(super) struct Hops {
    /// First halves from the roots down.
    pub all: Vec<Hop>,
    /// By span how many hops stand above it, itself not counted.
    above: Vec<usize>,
    /// By span the call span whose grant was handed down to it.
    handed: Vec<Option<usize>>,
    /// By span whether the nearest hop with a grant, at or above it, was dishonest.
    dishonest: Vec<Option<bool>>,
    /// By span the one that names the nearest hop at or above it.
    tops: Vec<Option<usize>>,
}

impl Hops {
    /// Finds the hops, and judges them.
    pub(super) fn fill(
        &mut self,
        trace: &Trace<'_>,
        deadlines: &Deadlines,
        calls: &Calls,
        tolerance_floor: Nanos,
    ) {
        self.all.clear();
        reset(&mut self.above, trace.len(), 0);
        self.hand_down(trace, calls);
        for &i in &trace.tree.top_down {
            if let Some(parent) = trace.link(i) {
                self.above[i] = self.above[parent] + usize::from(starts_hop(trace, parent));
            }
            if starts_hop(trace, i) {
                self.open(trace, deadlines, i);
            }
        }
        self.judge(trace, tolerance_floor);
        tell_queues(trace, &mut self.all);
    }

    /// The grant of a call span goes to its first attempt, where that has none.
    fn hand_down(&mut self, trace: &Trace<'_>, calls: &Calls) {
        reset(&mut self.handed, trace.len(), None);
        for attempts in calls.calls() {
            let Some(first) = attempts.first().map(|attempt| attempt.span) else { continue };
            let call_span = trace.link(first).filter(|&parent| {
                trace.is_call_span(parent) && super::trace::is_attempt(trace.span(first))
            });
            self.handed[first] = call_span.filter(|_| trace.own_grant(first).is_none());
        }
    }

    /// Adds the hops whose first half is span `i`.
    fn open(&mut self, trace: &Trace<'_>, deadlines: &Deadlines, i: usize) {
        let (depth, handed) = (self.above[i], self.handed[i]);
        let mut add = |client: Option<usize>, server: Option<usize>, top: usize| {
            let halves = Halves { first: i, client, server, top };
            self.all.push(hop(trace, deadlines, handed, halves, depth));
        };
        if !trace.is_client(i) {
            let root_client = trace.span(i).kind.sends() && !trace.span(i).flags.is_wait;
            return if root_client { add(Some(i), None, i) } else { add(None, Some(i), i) };
        }
        let mut servers = trace.servers(i);
        match (servers.next(), servers.next()) {
            (server, None) => add(Some(i), server, i),
            _ => trace.servers(i).for_each(|server| add(Some(i), Some(server), server)),
        }
    }

    /// Sets the verdicts, from the roots down.
    fn judge(&mut self, trace: &Trace<'_>, floor: Nanos) {
        let Self { all: hops, dishonest, tops, .. } = self;
        find_repeats(trace, hops, floor);
        // Set ahead for the servers of a client that has several: each is a hop of its own.
        reset(dishonest, trace.len(), None);
        reset(tops, trace.len(), None);
        let mut next = 0;
        for &i in &trace.tree.top_down {
            let above = trace.link(i).and_then(|parent| dishonest[parent]).unwrap_or(false);
            dishonest[i].get_or_insert(above);
            let top_above = trace.link(i).and_then(|parent| tops[parent]);
            tops[i] = tops[i].or(top_above);
            let mut first = true;
            while let Some(hop) = hops.get_mut(next).filter(|hop| hop.first == i) {
                hop.verdict = verdict(trace, hop, floor, above);
                hop.above = top_above;
                tops[hop.top] = Some(hop.top);
                let tainted =
                    matches!(hop.verdict, Verdict::Reset | Verdict::Overgrant | Verdict::Inherited);
                dishonest[hop.top] = Some(if hop.grant.is_some() { tainted } else { above });
                if first {
                    dishonest[i] = dishonest[hop.top];
                    tops[i] = Some(hop.top);
                }
                first = false;
                next += 1;
            }
        }
    }
}

/// Whether span `i` is the first half of a hop.
fn starts_hop(trace: &Trace<'_>, i: usize) -> bool {
    let Some(_) = trace.link(i) else { return true };
    let paired = trace.parent(i).is_some_and(|parent| trace.is_client(parent));
    trace.is_client(i) || (trace.is_server(i) && !paired)
}

/// The halves of a hop, and the span that names it.
#[derive(Clone, Copy)]
struct Halves {
    first: usize,
    client: Option<usize>,
    server: Option<usize>,
    top: usize,
}

fn hop(
    trace: &Trace<'_>,
    deadlines: &Deadlines,
    handed: Option<usize>,
    halves: Halves,
    depth: usize,
) -> Hop {
    let Halves { first, client, server, top } = halves;
    let given = |from: usize, judged_by: Option<usize>| {
        trace.grant(from).map(|(grant, anchor)| (grant, (anchor, from), judged_by))
    };
    let above = trace.link(first);
    let granted = client
        .and_then(|client| given(client, above))
        .map(|(grant, anchor, judge)| (within(trace, deadlines, first, grant), anchor, judge))
        .or_else(|| handed.and_then(|call_span| given(call_span, trace.link(call_span))))
        .or_else(|| server.and_then(|server| given(server, above)));
    let (judged_at, judge) =
        granted.map_or(((trace.start(first), first), above), |(_, anchor, judge)| (anchor, judge));
    let of_root = trace.request(first).deadline;
    let by = |deadlines: &[Option<Moment>]| judge.map_or(of_root, |judge| deadlines[judge]);
    Hop {
        first,
        client,
        server,
        top,
        depth,
        request: trace.tree.request_of[first],
        above: None,
        caller: trace.caller(first),
        grant: granted.map(|(grant, ..)| grant),
        judged_at,
        deadline: by(&deadlines.effective),
        known_deadline: by(&deadlines.known),
        verdict: Verdict::Undeclared,
        queue: Nanos::ZERO,
        begun: server.map(|server| trace.execution_start(server)),
        is_suspect: false,
        repeats: false,
    }
}

/// The grant of a client that may be known to wait no longer than its caller has left.
fn within(trace: &Trace<'_>, deadlines: &Deadlines, client: usize, grant: Grant) -> Grant {
    let is_within = trace.span(client).grant.is_none() && trace.terms(client).propagates;
    let deadline = trace.link(client).and_then(|parent| deadlines.effective[parent]);
    match deadline.filter(|_| is_within) {
        Some((deadline, _)) => {
            let left = (deadline - trace.start(client)).at_least_zero();
            Grant { value: grant.value.min(left), ..grant }
        }
        None => grant,
    }
}

/// Sets the time that each hop spent in queues. Hops of one client follow one another.
fn tell_queues(trace: &Trace<'_>, hops: &mut [Hop]) {
    for hops in hops.chunk_by_mut(|one, other| one.first == other.first) {
        let Some(first) = hops.first().map(|hop| hop.first) else { continue };
        // Those that hang under the trace's root wait for it.
        let attached: &[usize] = if first == trace.tree.root { &trace.attached } else { &[] };
        let attached = attached.iter().filter(|&&i| trace.span(i).flags.is_wait);
        let attached = attached.map(|&i| (trace.start(i), trace.wait_end(i).0));
        let waits = trace.has_waits.then(|| Union::of(trace.waits(first).chain(attached)));
        let is_root = trace.link(first).is_none();
        let before_root =
            if is_root { trace.start(first) - trace.request(first).origin } else { Nanos::ZERO };
        for hop in hops {
            // What a root that is its own server waited before its start is told already.
            let before = |server: usize| {
                if is_root && server == first {
                    Nanos::ZERO
                } else {
                    trace.span(server).queued_before
                }
            };
            let inside = waits.as_ref().map_or(Nanos::ZERO, |waits| {
                match hop.server.filter(|&server| server != first) {
                    Some(server) => waits.length_with(&Union::of(trace.waits(server))),
                    None => waits.length(),
                }
            });
            hop.queue = inside + before_root + hop.server.map_or(Nanos::ZERO, before);
        }
    }
}

fn verdict(trace: &Trace<'_>, hop: &Hop, floor: Nanos, below_dishonest: bool) -> Verdict {
    if trace.link(hop.first).is_none() {
        return Verdict::Origin;
    }
    let Some(grant) = hop.grant else {
        let left = hop.left().is_none_or(|left| left > Nanos::ZERO);
        return if left { Verdict::Undeclared } else { Verdict::Expired };
    };
    let Some(left) = hop.left() else { return Verdict::NoCallerDeadline };
    if hop.exceeds_left(floor) {
        return match (hop.exceeds_known(floor), below_dishonest, hop.repeats) {
            (false, true, _) => Verdict::Inherited,
            (false, false, _) => Verdict::Stretched,
            (true, _, true) => Verdict::Reset,
            (true, _, false) => Verdict::Overgrant,
        };
    }
    let tolerance = budget::tolerance(grant.value, floor);
    let spendable = left - trace.request(hop.first).reserve();
    if left <= Nanos::ZERO {
        Verdict::Expired
    } else if grant.value > spendable + tolerance {
        Verdict::ReserveInvading
    } else if grant.value >= spendable - tolerance {
        Verdict::Propagated
    } else {
        Verdict::Tightened
    }
}

/// Finds the hops whose grant exceeds what was known to be left and equals an earlier allowance (A
/// of SEMANTICS §6).
fn find_repeats(trace: &Trace<'_>, hops: &mut [Hop], floor: Nanos) {
    let (mut others_are_far, mut others) = (false, false);
    for hop in hops.iter_mut() {
        hop.is_suspect = hop.exceeds_left(floor) && hop.exceeds_known(floor);
        let Some(grant) = hop.grant.filter(|_| hop.is_suspect) else { continue };
        let equals = |allowance: Nanos| budget::is_equal(grant.value, allowance, floor);
        let mut above = std::iter::successors(hop.caller, |&i| trace.link(i));
        let mut near = above.by_ref().take(NEAR).filter_map(|i| trace.own_grant(i));
        hop.repeats = trace.request(hop.first).budget_at_origin().is_some_and(equals)
            || near.any(|grant| equals(grant.value));
        others |= !hop.repeats;
        others_are_far |= !hop.repeats && above.next().is_some();
    }
    if others_are_far {
        find_repeats_above(trace, hops, floor);
    }
    if others {
        find_repeats_beside(trace, hops, floor);
    }
}

/// The grants of the caller and its ancestors, however many.
fn find_repeats_above(trace: &Trace<'_>, hops: &mut [Hop], floor: Nanos) {
    let mut above = Ancestors::default();
    let mut next = 0;
    for &i in &trace.tree.top_down {
        above.come_below(trace.link(i));
        while let Some(hop) = hops.get_mut(next).filter(|hop| hop.first == i) {
            if let Some(grant) = hop.grant.filter(|_| hop.is_suspect && !hop.repeats) {
                // Call spans between caller and hop are not the caller's.
                let between = above.values_below(hop.caller);
                for &grant in &between {
                    above.values.remove(grant);
                }
                hop.repeats = holds_equal(&above.values, grant.value, floor);
                for grant in between {
                    above.values.add(grant);
                }
            }
            next += 1;
        }
        above.enter(i, trace.own_grant(i).map(|grant| grant.value));
    }
}

/// The grants of hops that the same caller opened strictly earlier.
fn find_repeats_beside(trace: &Trace<'_>, hops: &mut [Hop], floor: Nanos) {
    let opened = |(number, hop): (usize, &Hop)| Some((hop.caller?, trace.start(hop.first), number));
    let mut by_caller: Vec<_> = hops.iter().enumerate().filter_map(opened).collect();
    by_caller.sort_unstable();
    for siblings in by_caller.chunk_by(|one, other| one.0 == other.0) {
        let is_open = |&(.., hop): &(_, _, usize)| hops[hop].is_suspect && !hops[hop].repeats;
        if !siblings.iter().any(is_open) {
            continue;
        }
        let mut earlier = Multiset::default();
        for together in siblings.chunk_by(|one, other| one.1 == other.1) {
            for &(.., hop) in together {
                let hop = &mut hops[hop];
                if let Some(grant) = hop.grant.filter(|_| hop.is_suspect && !hop.repeats) {
                    hop.repeats = holds_equal(&earlier, grant.value, floor);
                }
            }
            let grants = together.iter().filter_map(|&(.., hop)| hops[hop].grant);
            grants.for_each(|grant| earlier.add(grant.value));
        }
    }
}

/// Whether one of the allowances equals `grant`.
fn holds_equal(allowances: &Multiset<Nanos>, grant: Nanos, floor: Nanos) -> bool {
    allowances.any_in(&budget::equal_allowances(grant, floor))
}
