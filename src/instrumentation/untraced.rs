//! Calls of which only the client half is there, and how much of the path was spent in each.
//!
//! The path is told by service and name of a span, and clients of HTTP call all their spans `GET`: which
//! of several callees the time was spent in, the calls themselves have to tell.

use std::cmp::Reverse;
use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::span::{SpanId, Sym};
use crate::tables::{AttemptRow, HopRow};
use crate::units::Nanos;

/// The calls without a server half of one request, by their service and the name of their span.
pub(super) struct Untraced {
    calls: FxHashMap<(Option<Sym>, Sym), Vec<Call>>,
}

struct Call {
    /// Whom it goes to, as far as any attempt of the call tells.
    callee: Option<Sym>,
    /// What made its span.
    stack: Option<Sym>,
    /// How long it took.
    duration: Nanos,
    /// How much of that its caller would have waited for it, had it waited all the time.
    waited: Nanos,
}

/// What a call has of some time.
pub(super) struct Part {
    /// Whom it goes to.
    pub(super) callee: Option<Sym>,
    /// What made its span.
    pub(super) stack: Option<Sym>,
    /// Its part.
    pub(super) time: Nanos,
}

impl Untraced {
    pub(super) fn of(hops: &[HopRow], attempts: &[AttemptRow]) -> Self {
        let mut calls: FxHashMap<_, Vec<Call>> = FxHashMap::default();
        let is_wanted = |hop: &HopRow| hop.server_span_id.is_none() && hop.client_span_id.is_some();
        if !hops.iter().any(is_wanted) {
            return Self { calls };
        }
        let waited = waited(hops);
        let call_of: FxHashMap<SpanId, SpanId> =
            attempts.iter().map(|row| (row.span_id, row.call_id)).collect();
        let known = attempts.iter().filter_map(|row| Some((row.call_id, row.callee_service?)));
        let callees: FxHashMap<SpanId, Sym> = known.collect();
        for hop in hops.iter().filter(|hop| is_wanted(hop)) {
            let of_call = || callees.get(call_of.get(&hop.client_span_id?)?).copied();
            let call = Call {
                callee: hop.callee_service.or_else(of_call),
                stack: hop.stack,
                duration: hop.duration_ns,
                waited: waited.get(&hop.hop_id).copied().unwrap_or_default().at_least_zero(),
            };
            calls.entry((hop.caller_service, hop.operation)).or_default().push(call);
        }
        Self { calls }
    }

    /// The parts of so much time that the calls of a service with this name have: exact where all that
    /// they were waited for is on the path, else in proportion to that. They sum to the whole.
    pub(super) fn split(&self, service: Sym, name: Sym, time: Nanos) -> Vec<Part> {
        let calls = self.calls.get(&(Some(service), name)).map_or(&[][..], Vec::as_slice);
        let is_waited = calls.iter().any(|call| call.waited > Nanos::ZERO);
        let weight = |call: &Call| wide(if is_waited { call.waited } else { call.duration });
        let all: i128 = calls.iter().map(weight).sum();
        if all <= 0 {
            return vec![Part { callee: None, stack: None, time }];
        }
        let (mut weighed, mut given) = (0, Nanos::ZERO);
        let parts = calls.iter().map(|call| {
            weighed += weight(call);
            let upto = wide(time).saturating_mul(weighed) / all;
            let upto = Nanos::from_nanos(i64::try_from(upto).unwrap_or(i64::MAX));
            let part = Part { callee: call.callee, stack: call.stack, time: upto - given };
            given = upto;
            part
        });
        parts.filter(|part| part.time > Nanos::ZERO).collect()
    }
}

/// By hop how long its caller waited for it, less what its own calls were waited for: of calls at one
/// time those count that the path would tell (SEMANTICS §8).
fn waited(hops: &[HopRow]) -> Waited {
    let ends: FxHashMap<SpanId, Nanos> =
        hops.iter().filter_map(|hop| Some((hop.hop_id, work_end(hop)?))).collect();
    let calls = hops.iter().filter_map(|hop| {
        let (caller, start) = (hop.caller_hop_id?, hop.elapsed_at_send_ns?);
        let end = start + hop.duration_ns;
        let end = ends.get(&caller).map_or(end, |caller_end| end.min(*caller_end));
        Some((caller, Reverse(end), Reverse(start), hop.hop_id))
    });
    let mut calls: Vec<_> = calls.collect();
    calls.sort_unstable();
    let mut waited = Waited::default();
    for of_caller in calls.chunk_by(|one, next| one.0 == next.0) {
        let mut walk = Walk { at: Nanos::MAX, across: VecDeque::new() };
        for &(caller, Reverse(end), Reverse(start), hop) in of_caller {
            let call = Leg { caller, hop, start };
            if end > walk.at {
                walk.across.push_back(call);
            } else {
                walk.back_to(end, &mut waited);
                walk.take(call, start, &mut waited);
            }
        }
        walk.back_to(-Nanos::MAX, &mut waited);
    }
    waited
}

type Waited = FxHashMap<SpanId, Nanos>;

/// A call that a hop makes, from its start on.
#[derive(Clone, Copy)]
struct Leg {
    caller: SpanId,
    hop: SpanId,
    start: Nanos,
}

/// Back through the calls of one hop, those that ended last first.
struct Walk {
    /// How far back it came.
    at: Nanos,
    /// Calls that ended later than that, those that ended last first.
    across: VecDeque<Leg>,
}

impl Walk {
    /// Tells the time since `floor`, in which no call ended: it is that of calls that ran across.
    fn back_to(&mut self, floor: Nanos, waited: &mut Waited) {
        while let Some(&call) = self.across.front().filter(|_| self.at > floor) {
            if call.start >= self.at {
                self.across.pop_front();
            } else {
                self.take(call, floor, waited);
            }
        }
        self.at = self.at.min(floor);
    }

    /// Gives a call the time since `floor`, or since it began.
    fn take(&mut self, call: Leg, floor: Nanos, waited: &mut Waited) {
        let from = call.start.max(floor).min(self.at);
        let time = self.at - from;
        *waited.entry(call.hop).or_default() += time;
        *waited.entry(call.caller).or_default() += -time;
        self.at = from;
    }
}

/// When a hop's work ended: its server half, or its client half where there is none.
fn work_end(hop: &HopRow) -> Option<Nanos> {
    match hop.elapsed_at_send_ns {
        Some(sent) => Some(sent + hop.duration_ns - hop.return_ns.unwrap_or_default()),
        None => Some(hop.elapsed_at_receive_ns? + hop.duration_ns),
    }
}

pub(super) fn wide(length: Nanos) -> i128 {
    i128::from(length.as_nanos())
}
