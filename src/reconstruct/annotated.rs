//! One trace with everything that its rows are made of.

use super::Policy;
use super::attempt::Calls;
use super::deadline::Deadlines;
use super::hop::Hops;
use super::late::Work;
use super::own_time::OwnTime;
use super::path::Path;
use super::trace::Trace;
use crate::span::{Interner, Span, TraceId};
use crate::tables::{BlindSpot, BlindSpots};
use crate::units::UnixNanos;

/// A trace, every section of SEMANTICS applied but the findings.
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
}

impl<'a> Annotated<'a> {
    /// Annotates one trace in the place of the one before, its spans sorted by (start, id,
    /// content).
    pub(super) fn fill(&mut self, spans: &[&'a Span], strings: &Interner, policy: &'a Policy) {
        let Self { trace, deadlines, calls, hops, own_time, work, path, retry_layered } = self;
        trace.fill(spans, strings, policy);
        deadlines.fill(trace);
        calls.fill(trace, deadlines, strings);
        hops.fill(trace, deadlines, calls, policy.tolerance);
        own_time.fill(trace, calls);
        work.fill(trace, own_time, strings);
        path.fill(trace, own_time, strings);
        *retry_layered = layers(trace, calls);
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
    pub(super) fn caller_deadline(&self, i: usize) -> Option<UnixNanos> {
        match self.trace.link(i) {
            Some(parent) => self.deadlines.effective[parent],
            None => self.trace.request(i).deadline,
        }
    }
}

/// By request: whether an attempt of a call with several attempts lies below one of another such
/// call.
fn layers(trace: &Trace<'_>, calls: &Calls) -> Vec<bool> {
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
        if let Some(parent) = trace.link(i) {
            below[i] = below[parent] || retried[parent];
        }
        layered[trace.tree.request_of[i]] |= below[i] && retried[i];
    }
    layered
}
