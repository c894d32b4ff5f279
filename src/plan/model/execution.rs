//! What happened to a request: a tree of calls and of services that served them. Instants count from
//! the request's start.

use crate::span::Outcome;
use crate::tables::AttemptKind;
use crate::units::Nanos;

/// A service that serves a request, or an attempt.
#[derive(Clone, Debug)]
pub(super) struct Served {
    /// The number of its span, from 1; 0 before all are counted.
    pub id: u64,
    /// The service, by number.
    pub service: usize,
    /// When it began.
    pub start: Nanos,
    /// When it ended.
    pub end: Nanos,
    /// When its calls had ended, and its own share began.
    pub own_from: Nanos,
    /// How it ended.
    pub outcome: Outcome,
    /// What it had to keep to.
    pub deadline: Deadline,
    /// Its calls, arm by arm.
    pub calls: Vec<Call>,
}

/// An instant after which a result is of no use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline {
    /// The earliest that any caller above has.
    pub effective: Nanos,
    /// What the service itself knows of it: what it was given, counted from its own receipt.
    pub known: Nanos,
}

/// A call, as often as it was tried; not at all where nothing was left for it.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// Who is called, by number.
    pub callee: usize,
    /// The arm that it belongs to, from 1.
    pub arm: usize,
    /// Its step within the arm, from 1.
    pub step: usize,
    /// Of one attempt.
    pub timeout: Nanos,
    /// The retry budget that its attempts are counted in, by number.
    pub budget: usize,
    /// The attempts in their order.
    pub attempts: Vec<Attempt>,
}

/// One try.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    /// The number of its span; 0 before all are counted.
    pub id: u64,
    /// What it is within its call.
    pub kind: AttemptKind,
    /// When it was sent.
    pub start: Nanos,
    /// When its caller had the answer, or left.
    pub end: Nanos,
    /// How it ended for the caller.
    pub outcome: Outcome,
    /// What the callee was given.
    pub grant: Nanos,
    /// What the callee did; `None` where it was never asked.
    pub served: Option<Served>,
}

impl Served {
    /// Numbers all spans from `next` on, callers before callees. Gives the number after the last.
    pub(super) fn number(&mut self, mut next: u64) -> u64 {
        self.id = next;
        next += 1;
        for attempt in self.calls.iter_mut().flat_map(|call| &mut call.attempts) {
            attempt.id = next;
            next += 1;
            if let Some(served) = &mut attempt.served {
                next = served.number(next);
            }
        }
        next
    }

    /// How many attempts were made below it.
    pub(super) fn attempts(&self) -> u64 {
        let below = |attempt: &Attempt| 1 + attempt.served.as_ref().map_or(0, Self::attempts);
        self.calls.iter().flat_map(|call| &call.attempts).map(below).sum()
    }

    /// Its own share, as a stretch of time.
    pub(super) fn own(&self) -> (Nanos, Nanos) {
        (self.own_from, self.end)
    }
}

/// The length of the part of a stretch that lies after `instant`.
pub(super) fn after((from, to): (Nanos, Nanos), instant: Nanos) -> Nanos {
    (to - from.max(instant)).at_least_zero()
}
