//! One trace with everything that its rows are made of.

use std::ops::Range;

use super::Context;
use super::attempt::Calls;
use super::claim::Claim;
use super::deadline::Deadlines;
use super::finding::{Finding, findings};
use super::hop::Hops;
use super::late::Work;
use super::memory::reset;
use super::moment::Moment;
use super::own_time::OwnTime;
use super::path::Path;
use super::trace::Trace;
use crate::span::{GrantKind, Span, TraceId};
use crate::tables::{BlindSpot, BlindSpots, DeadlineSource, Evidence};
use crate::units::Nanos;

/// So many ancestors are asked.
const FAR_ENOUGH: usize = 64;

/// A trace, every section of SEMANTICS applied.
#[derive(Debug, Default)]
pub(super) struct Annotated<'a> {
    /// The spans, aligned, with their roles and requests.
    pub trace: Trace<'a>,
    /// Effective and known deadlines.
    pub deadlines: Deadlines,
    /// Calls and attempts.
    pub calls: Calls,
    /// Hops and verdicts.
    pub hops: Hops,
    /// What own time is spent on.
    pub own_time: OwnTime,
    /// Late and residual work.
    pub work: Work,
    /// Where the time went.
    pub path: Path,
    /// By request: whether two layers of it retried.
    pub retry_layered: Vec<bool>,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// The requests that are told: all, or those that a scope has put in their place.
    pub subjects: Range<usize>,
    /// The floor of [`crate::budget::tolerance`].
    pub tolerance_floor: Nanos,
}

impl<'a> Annotated<'a> {
    /// Annotates one trace in the place of the one before, its spans sorted by (start, id,
    /// content).
    pub(super) fn fill(&mut self, spans: &'a [Span], context: Context<'a, '_>) {
        let Context { strings, scope, .. } = context;
        self.fill_calls(spans, context);
        let Self { trace, calls, own_time, work, .. } = self;
        own_time.fill(trace, calls);
        work.fill(trace, own_time, strings);
        self.retry_layered = layers(&self.trace, &self.calls);
        self.findings = findings(self);
        if let Some(service) = scope {
            self.narrow(service, strings);
        }
        self.path.fill(&self.trace, &self.own_time, self.subjects.clone(), strings);
    }

    /// The same as far as calls and attempts are concerned: how long they took and how they ended.
    /// Nothing is told of work, of where the time went, or of what is wrong.
    pub(super) fn observe(&mut self, spans: &'a [Span], context: Context<'a, '_>) {
        self.fill_calls(spans, context);
        self.work.forget(self.trace.len());
        reset(&mut self.retry_layered, self.trace.requests.len(), false);
    }

    fn fill_calls(&mut self, spans: &'a [Span], context: Context<'a, '_>) {
        let Self { trace, deadlines, calls, hops, .. } = self;
        let floor = context.policy.tolerance;
        trace.fill(spans, context);
        deadlines.fill(trace);
        calls.fill(trace, deadlines, context);
        hops.fill(trace, deadlines, calls, floor);
        self.tolerance_floor = floor;
        self.subjects = 0..self.trace.requests.len();
    }

    /// The trace's id.
    pub(super) fn trace_id(&self) -> TraceId {
        self.trace.span(self.trace.tree.root).trace_id
    }

    /// What the trace cannot tell; `no_deadline` is for each request on its own.
    pub(super) fn blind_spots(&self) -> BlindSpots {
        let mut spots = self.trace.blind_spots();
        spots.insert_if(self.calls.attempts_missing, BlindSpot::AttemptsMissing);
        spots
    }

    /// The effective deadline of the parent of `i`; of a root's caller the request's.
    pub(super) fn caller_deadline(&self, i: usize) -> Option<Moment> {
        match self.trace.link(i) {
            Some(parent) => self.deadlines.effective[parent],
            None => self.trace.request(i).deadline,
        }
    }

    /// That the subtree of `top` worked after `instant`, told by its own work where that is enough
    /// to be sure of it, else by the last that was done.
    pub(super) fn worked_after(&self, top: usize, instant: Moment) -> Option<Claim> {
        let work = &self.work;
        let claims = [work.own_last[top], work.below[top].last_work];
        let claims = claims.into_iter().flatten().map(|last| Claim::after(last, instant));
        let clock = &self.trace.clock;
        let mut claims = claims.filter(|claim| claim.holds());
        let first = claims.next()?;
        Some(claims.find(|_| !first.is_sure(clock)).unwrap_or(first))
    }

    /// Every deadline of the caller of `i` and those above: another than the earliest may be the
    /// earliest where clocks stand elsewhere.
    pub(super) fn deadlines_above(&self, i: usize) -> impl Iterator<Item = Moment> {
        let trace = &self.trace;
        let granted = self
            .above(i)
            .filter_map(|i| trace.grant(i).map(|(grant, anchor)| (anchor + grant.value, i)));
        self.caller_deadline(i).into_iter().chain(trace.request(i).deadline).chain(granted)
    }

    /// Every instant at which an ancestor of `i` left, for the same reason; with the earliest first.
    pub(super) fn leavings_above(&self, i: usize) -> impl Iterator<Item = Moment> {
        let trace = &self.trace;
        let left = self.above(i).filter(|&i| trace.left(i)).map(|i| (trace.end(i), i));
        self.work.left_above[i].into_iter().chain(left)
    }

    /// The nearest ancestors of `i`.
    fn above(&self, i: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.trace.link(i), |&i| self.trace.link(i)).take(FAR_ENOUGH)
    }

    /// What the deadline of `of` rests on: a contract, or the grant that set it. The origin of a
    /// request may be told by a span of another.
    pub(super) fn evidence_of_deadline(&self, deadline: Moment, of: usize) -> Evidence {
        let (_, set_by) = deadline;
        let request = self.trace.request(of);
        let source = request.deadline_source;
        let is_own = request.deadline == Some(deadline);
        if is_own && source == DeadlineSource::Inferred {
            return Evidence::Inferred;
        }
        let by_contract = is_own && source == DeadlineSource::Contract;
        match self.trace.own_grant(set_by) {
            Some(grant) if !by_contract => evidence_of_grant(grant.kind),
            _ => Evidence::Configured,
        }
    }
}

/// What a finding rests on that comes from a grant of this kind.
pub(super) const fn evidence_of_grant(kind: GrantKind) -> Evidence {
    match kind {
        GrantKind::Full => Evidence::Configured,
        GrantKind::Remaining | GrantKind::Absolute => Evidence::Declared,
        GrantKind::Inferred => Evidence::Inferred,
    }
}

/// By request: whether an attempt of a call with several attempts lies below one of another such
/// call.
pub(super) fn layers(trace: &Trace<'_>, calls: &Calls) -> Vec<bool> {
    let mut layered = vec![false; trace.requests.len()];
    if !calls.calls().any(|attempts| attempts.len() > 1) {
        return layered;
    }
    let mut retried = vec![false; trace.len()];
    for attempts in calls.calls().filter(|attempts| attempts.len() > 1) {
        for attempt in attempts {
            retried[attempt.span] = true;
        }
    }
    let mut below = vec![false; trace.len()];
    for &i in &trace.tree.top_down {
        let request = trace.tree.request_of[i];
        if let Some(parent) = trace.link(i).filter(|&up| trace.tree.request_of[up] == request) {
            below[i] = below[parent] || retried[parent];
        }
        layered[request] |= below[i] && retried[i];
    }
    layered
}
