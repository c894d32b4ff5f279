//! What tables show of calls and requests, gathered partition by partition: how long attempts took, and
//! which of them were cut off.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::sampled::Sampled;
use crate::budget::{TOLERANCE_FLOOR, tolerance};
use crate::distributions::{Call, Name, Names};
use crate::span::{Outcome, SpanId, Sym, TraceId};
use crate::tables::{
    AttemptRow, DeadlineSource, HopRow, Races, RequestRow, Tables, TerminalOutcome,
};
use crate::units::Nanos;

/// So many attempts that were cut off are kept of each call, and so many requests of each class: enough
/// for every judgement.
pub(super) const CUT: usize = 1 << 12;

/// So many values of other kinds.
const VALUES: usize = 1 << 13;

/// What was seen of calls and of classes of requests.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Observed {
    /// By caller, callee and the name of the caller's span.
    pub calls: BTreeMap<Call, CallObserved>,
    /// By class, whatever attribute splits it.
    pub classes: BTreeMap<Name, ClassObserved>,
    /// Whether requests say what they stand for by their sampling.
    pub is_sampled: bool,
}

/// What was seen of the attempts of one call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CallObserved {
    /// How many attempts, without those that lost against a hedge: they ended because another was
    /// answered.
    pub attempts: u64,
    /// How long those took that succeeded.
    pub succeeded: Sampled<Nanos>,
    /// Those that were cut off: they ended as `deadline_exceeded` or `cancelled`, or failed while their
    /// callee went on for more than 5 ms; without those that their callee answered.
    pub cut: Sampled<Cut>,
    /// Of those that were cut off, these whose callee went on and ended well, which nobody heard.
    pub unheard: u64,
    /// Those that ended so, but were answered: their callee ended before, and not well.
    pub answered: u64,
    /// How long the longest of all took.
    pub longest: Nanos,
    /// Those that had a deadline, by what was left.
    pub began: Sampled<Began>,
    /// How many of all that had a deadline paid.
    pub paid: u64,
}

/// An attempt that was cut off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// How long it took.
    pub duration: Nanos,
    /// From the origin of its request to its start.
    pub elapsed: Nanos,
    /// From when its caller was called to its start; `None` where nobody called it.
    pub since_caller: Option<Nanos>,
    /// The class of its request.
    pub class: Name,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether its callee ended after it; `None` where the callee was not traced.
    pub went_on: Option<bool>,
    /// Whether something else was cut off right before, and it with that: the call that its caller
    /// served, or another call of its caller.
    pub by_others: bool,
}

/// An attempt that had a deadline when it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Began {
    /// What was left, less the return reserve, not below zero.
    pub available: Nanos,
    /// Whether it succeeded, and took no longer than was left: what comes later pays for nothing.
    pub paid: bool,
}

/// A request that was cut off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutRequest {
    /// From its origin to its end.
    pub elapsed: Nanos,
    /// The call of the root's service that was cut off when it ended, if one was, and how long that took:
    /// what it waited for.
    pub with: Option<(Call, Nanos)>,
}

/// What was seen of the requests of one class.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClassObserved {
    /// The service of their roots.
    pub service: Name,
    /// The name of their roots; method and route where the class tells these.
    pub operation: Name,
    /// How many.
    pub requests: u64,
    /// How long those took whose root ended as `deadline_exceeded` or `cancelled`.
    pub cut: Sampled<CutRequest>,
    /// How long the others took.
    pub others: Sampled<Nanos>,
    /// Those of the others that completed, though a call in them was cut off and not tried again, by
    /// the call.
    pub masked: BTreeMap<Call, u64>,
    /// The longest of all.
    pub longest: Nanos,
    /// How many declare a budget at their root.
    pub declared: u64,
    /// The least and the most that they declare.
    pub declared_range: Option<(Nanos, Nanos)>,
    /// How long they took to return.
    pub returned: Sampled<Nanos>,
}

impl Default for CallObserved {
    fn default() -> Self {
        Self {
            attempts: 0,
            succeeded: Sampled::new(VALUES),
            cut: Sampled::new(CUT),
            unheard: 0,
            answered: 0,
            longest: Nanos::ZERO,
            began: Sampled::new(VALUES),
            paid: 0,
        }
    }
}

impl Observed {
    /// Adds a partition of whole traces.
    pub fn add(&mut self, tables: &Tables) {
        let mut names = Names::of(&tables.strings);
        let hops = Hops::of(tables);
        let races = Races::of(&tables.attempts);
        let mut last_cuts = LastCuts::default();
        // Whoever loses a race is cut off because somebody else answered.
        for row in tables.attempts.iter().filter(|row| !races.is_lost(row)) {
            let call = names.call(row.caller_service, row.callee_service, row.operation);
            let class = names.get(row.request_class);
            let seen = self.calls.entry(call).or_default();
            if seen.add(row, &hops, &class) {
                last_cuts.add(row);
            }
        }
        for row in &tables.requests {
            self.add_request(row, &mut names, tables, &last_cuts);
        }
    }

    fn add_request(
        &mut self,
        row: &RequestRow,
        names: &mut Names<'_>,
        tables: &Tables,
        last_cuts: &LastCuts<'_>,
    ) {
        self.is_sampled |= row.weight.is_some();
        let class = names.get(row.request_class);
        let split = row.split.map(|split| format!(" · {}", tables.strings.get(split)));
        let whole = split.and_then(|split| class.strip_suffix(split.as_str())).unwrap_or(&class);
        let of = self.classes.entry(whole.into()).or_insert_with(|| {
            let service = names.get(row.root_service);
            // The class names the route where the span itself names no more than a method.
            let named = whole.strip_prefix(&*service);
            let operation = match named.and_then(|named| named.strip_prefix(' ')) {
                Some(named) => named.into(),
                None => names.get(row.root_operation),
            };
            ClassObserved::new(service, operation)
        });
        let mut call =
            |cut: &AttemptRow| names.call(cut.caller_service, cut.callee_service, cut.operation);
        let ends_with_it = |cut: &&&AttemptRow| {
            let after = row.elapsed_ns - end_of(cut);
            -TOLERANCE_FLOOR <= after && after <= tolerance(row.elapsed_ns, TOLERANCE_FLOOR)
        };
        let of_root = last_cuts.of_caller.get(&(row.trace_id, row.root_span_id, row.root_service));
        let with = of_root.filter(ends_with_it).map(|cut| (call(cut), cut.duration_ns));
        let any = last_cuts.of_request.get(&(row.trace_id, row.root_span_id));
        let for_good = any.filter(|cut| cut.attempts <= cut.ordinal).map(|cut| call(cut));
        of.add(row, with, for_good);
    }

    /// Adds what another has seen.
    pub fn merge(&mut self, other: Self) {
        self.is_sampled |= other.is_sampled;
        for (call, seen) in other.calls {
            self.calls.entry(call).or_default().merge(seen);
        }
        for (class, seen) in other.classes {
            match self.classes.get_mut(&class) {
                Some(own) => own.merge(seen),
                None => {
                    self.classes.insert(class, seen);
                }
            }
        }
    }

    /// The same, where attempts of whom nobody knows whom they call go to the only callee that their
    /// caller is known to call by that name: what is cut off seldom tells who was called.
    #[must_use]
    pub fn with_callees(mut self) -> Self {
        let key = |call: &Call| (call.caller.clone(), call.operation.clone());
        let mut known: BTreeMap<_, Vec<Call>> = BTreeMap::new();
        for call in self.calls.keys().filter(|call| call.callee.is_some()) {
            known.entry(key(call)).or_default().push(call.clone());
        }
        let nobody: Vec<Call> =
            self.calls.keys().filter(|call| call.callee.is_none()).cloned().collect();
        for call in nobody {
            if let Some([only]) = known.get(&key(&call)).map(Vec::as_slice)
                && let Some(seen) = self.calls.remove(&call)
            {
                self.calls.entry(only.clone()).or_default().merge(seen);
            }
        }
        self
    }
}

impl CallObserved {
    /// Adds an attempt, and tells whether it was cut off.
    fn add(&mut self, row: &AttemptRow, hops: &Hops<'_>, class: &Name) -> bool {
        self.attempts += 1;
        self.longest = self.longest.max(row.duration_ns);
        let (trace, span) = (row.trace_id, row.span_id);
        let hop = hops.of_client(trace, span);
        let outcome = hop.and_then(|hop| hops.told_by_caller(hop, row)).unwrap_or(row.outcome);
        if outcome == Outcome::Ok {
            self.succeeded.push(trace, span, row.duration_ns);
        }
        if let Some(available) = row.available_at_start_ns {
            let is_in_time = row.remaining_at_start_ns.is_some_and(|left| row.duration_ns <= left);
            let paid = outcome == Outcome::Ok && is_in_time;
            self.paid += u64::from(paid);
            self.began.push(trace, span, Began { available, paid });
        }
        let returned = hop.and_then(|hop| hop.return_ns);
        let callee_outcome = hop.and_then(|hop| hop.callee_outcome);
        let failed_there = callee_outcome.is_some_and(|it| it != Outcome::Ok);
        let is_answered = returned.is_some_and(|returned| returned >= Nanos::ZERO) && failed_there;
        if outcome.left() && is_answered {
            self.answered += 1;
            return false;
        }
        let went_on = returned.is_some_and(|returned| returned < -TOLERANCE_FLOOR);
        if !(outcome.left() || (outcome != Outcome::Ok && went_on)) {
            return false;
        }
        let went_on = returned.map(|returned| returned < Nanos::ZERO);
        self.unheard += u64::from(went_on == Some(true) && callee_outcome == Some(Outcome::Ok));
        let cut = Cut {
            duration: row.duration_ns,
            elapsed: row.elapsed_at_start_ns,
            since_caller: hop.and_then(|hop| hops.since_caller(hop, row)),
            class: class.clone(),
            outcome,
            went_on,
            by_others: hop.is_some_and(|hop| hops.is_cut_by_others(hop, row)),
        };
        self.cut.push(trace, span, cut);
        true
    }

    fn merge(&mut self, other: Self) {
        self.attempts += other.attempts;
        self.succeeded.merge(other.succeeded);
        self.cut.merge(other.cut);
        self.unheard += other.unheard;
        self.answered += other.answered;
        self.longest = self.longest.max(other.longest);
        self.began.merge(other.began);
        self.paid += other.paid;
    }
}

impl ClassObserved {
    fn new(service: Name, operation: Name) -> Self {
        Self {
            service,
            operation,
            requests: 0,
            cut: Sampled::new(CUT),
            others: Sampled::new(VALUES),
            masked: BTreeMap::new(),
            longest: Nanos::ZERO,
            declared: 0,
            declared_range: None,
            returned: Sampled::new(VALUES),
        }
    }

    /// Adds a request; `with` is the call of its root's service that was cut off when it ended,
    /// `for_good` the one that was cut off last of all, if it was not tried again.
    fn add(&mut self, row: &RequestRow, with: Option<(Call, Nanos)>, for_good: Option<Call>) {
        use TerminalOutcome as Ended;
        let (trace, root) = (row.trace_id, row.root_span_id);
        self.requests += 1;
        self.longest = self.longest.max(row.elapsed_ns);
        let ended = row.terminal_outcome;
        if matches!(ended, Ended::Cancelled | Ended::DeadlineExceeded | Ended::Indeterminate) {
            self.cut.push(trace, root, CutRequest { elapsed: row.elapsed_ns, with });
        } else {
            self.others.push(trace, root, row.elapsed_ns);
            if let Some(cut) = for_good.filter(|_| ended == Ended::Completed) {
                *self.masked.entry(cut).or_default() += 1;
            }
        }
        let is_declared = row.deadline_source == DeadlineSource::Declared;
        if let Some(budget) = row.budget_at_origin_ns.filter(|_| is_declared) {
            self.declared += 1;
            self.declared_range = widest(self.declared_range, Some((budget, budget)));
        }
        // Who was cut off returned nothing.
        let has_returned = ended == Ended::Completed;
        if let Some(returned) = row.return_reserve_used_ns.filter(|_| has_returned) {
            self.returned.push(trace, root, returned);
        }
    }

    fn merge(&mut self, other: Self) {
        self.requests += other.requests;
        self.cut.merge(other.cut);
        self.others.merge(other.others);
        for (call, times) in other.masked {
            *self.masked.entry(call).or_default() += times;
        }
        self.longest = self.longest.max(other.longest);
        self.declared += other.declared;
        self.declared_range = widest(self.declared_range, other.declared_range);
        self.returned.merge(other.returned);
    }
}

/// The least and the most of two ranges.
fn widest(one: Option<(Nanos, Nanos)>, other: Option<(Nanos, Nanos)>) -> Option<(Nanos, Nanos)> {
    let ends = |(least, most): (Nanos, Nanos), (low, high): (Nanos, Nanos)| {
        (least.min(low), most.max(high))
    };
    one.zip(other).map(|(one, other)| ends(one, other)).or(one).or(other)
}

/// The attempts that were cut off last.
#[derive(Default)]
struct LastCuts<'t> {
    /// Of a request.
    of_request: FxHashMap<(TraceId, SpanId), &'t AttemptRow>,
    /// Of those that one service made for it.
    of_caller: FxHashMap<(TraceId, SpanId, Sym), &'t AttemptRow>,
}

impl<'t> LastCuts<'t> {
    fn add(&mut self, row: &'t AttemptRow) {
        let later = |last: &mut &'t AttemptRow| {
            if end_of(last) < end_of(row) {
                *last = row;
            }
        };
        let (trace, root) = (row.trace_id, row.root_span_id);
        later(self.of_request.entry((trace, root)).or_insert(row));
        if let Some(caller) = row.caller_service {
            later(self.of_caller.entry((trace, root, caller)).or_insert(row));
        }
    }
}

/// From the origin of its request to the end of an attempt.
fn end_of(row: &AttemptRow) -> Nanos {
    row.elapsed_at_start_ns + row.duration_ns
}

/// The hops of a partition, by the span of their client and by their id.
struct Hops<'t> {
    of_client: FxHashMap<(TraceId, SpanId), &'t HopRow>,
    by_id: FxHashMap<(TraceId, SpanId), &'t HopRow>,
    /// By caller, when its attempts ended that left, in order, and the call of each.
    left: FxHashMap<(TraceId, SpanId), Vec<(Nanos, SpanId)>>,
}

impl<'t> Hops<'t> {
    fn of(tables: &'t Tables) -> Self {
        let clients = tables.hops.iter().filter_map(|hop| Some((hop.client_span_id?, hop)));
        // Of several servers of one client the first counts.
        let of_client = clients.rev().map(|(span, hop)| ((hop.trace_id, span), hop));
        let by_id = tables.hops.iter().map(|hop| ((hop.trace_id, hop.hop_id), hop));
        let (of_client, by_id) = (of_client.collect(), by_id.collect());
        let mut hops = Self { of_client, by_id, left: FxHashMap::default() };
        for row in tables.attempts.iter().filter(|row| row.outcome.left()) {
            let hop = hops.of_client(row.trace_id, row.span_id);
            if let Some(caller) = hop.and_then(|hop| hop.caller_hop_id) {
                let of_caller = hops.left.entry((row.trace_id, caller)).or_default();
                of_caller.push((end_of(row), row.call_id));
            }
        }
        hops.left.values_mut().for_each(|ends| ends.sort_unstable());
        hops
    }

    /// Whether an attempt ended with the call that its caller served, or with another call of its caller
    /// that was cut off before it: neither tells a limit of its own.
    fn is_cut_by_others(&self, hop: &HopRow, row: &AttemptRow) -> bool {
        let Some(caller_id) = hop.caller_hop_id else { return false };
        let (end, within) = (end_of(row), tolerance(row.duration_ns, TOLERANCE_FLOOR));
        let is_with = |other: Nanos| other <= end && end - other <= within;
        let by_caller = self.by_id.get(&(hop.trace_id, caller_id)).is_some_and(|caller| {
            let called = caller.elapsed_at_send_ns.map(|sent| sent + caller.duration_ns);
            let gave_up = caller.outcome.left() && called.is_some_and(is_with);
            // What a caller itself gives up it tells as a timeout, not as a cancellation.
            let is_told = (row.outcome, caller.callee_outcome)
                == (Outcome::Cancelled, Some(Outcome::Cancelled));
            let served = caller.elapsed_at_send_ns.or(caller.elapsed_at_receive_ns);
            let served = served
                .map(|start| start + caller.duration_ns - caller.return_ns.unwrap_or_default());
            gave_up
                || (is_told
                    && served.is_some_and(|served| is_with(served) || is_with(end + end - served)))
        });
        let beside = self.left.get(&(hop.trace_id, caller_id)).map_or(&[][..], Vec::as_slice);
        let before = beside.partition_point(|&(other, _)| other < end);
        let before = before.checked_sub(1).and_then(|at| beside.get(at));
        let by_sibling = before.is_some_and(|&(other, call)| call != row.call_id && is_with(other));
        by_caller || (row.outcome == Outcome::Cancelled && by_sibling)
    }

    fn of_client(&self, trace: TraceId, span: SpanId) -> Option<&'t HopRow> {
        self.of_client.get(&(trace, span)).copied()
    }

    /// From when the caller of `hop` was called, as it saw that, to the start of its attempt.
    fn since_caller(&self, hop: &HopRow, row: &AttemptRow) -> Option<Nanos> {
        let caller = self.by_id.get(&(hop.trace_id, hop.caller_hop_id?))?;
        let called = caller.elapsed_at_send_ns.or(caller.elapsed_at_receive_ns)?;
        Some(row.elapsed_at_start_ns - called)
    }

    /// How an attempt ended that says nothing itself, by what its caller says: where that timed out
    /// with it and the callee went on, the attempt is what timed out. Envoy tells so of its own side
    /// only.
    fn told_by_caller(&self, hop: &HopRow, row: &AttemptRow) -> Option<Outcome> {
        let went_on = hop.return_ns.is_some_and(|returned| returned < Nanos::ZERO);
        let caller = self.by_id.get(&(hop.trace_id, hop.caller_hop_id?))?;
        let outcome = caller.callee_outcome.filter(|outcome| outcome.left())?;
        let start = caller.elapsed_at_send_ns.or(caller.elapsed_at_receive_ns)?;
        let end = start + caller.duration_ns - caller.return_ns.unwrap_or_default();
        let after = end - end_of(row);
        let is_together = -TOLERANCE_FLOOR <= after && after <= TOLERANCE_FLOOR;
        (row.outcome == Outcome::Ok && went_on && is_together).then_some(outcome)
    }
}
