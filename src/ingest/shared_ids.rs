//! Zipkin gives one id to both halves of a call. Here the halves part: the sending span (CLIENT or
//! PRODUCER) keeps the id, and each receiving one becomes its child under an id of its own
//! (SEMANTICS §2, Duplicates).
//!
//! The halves may lie in different records and files, so this is done once whole traces are
//! together, and before anything looks for duplicates. `inspect` does without it: it counts records
//! as they are written.
//!
//! - The receiver's own id is a hash of trace id, span id, its service, clock domain and start:
//!   the same in every run, whatever else is read. Several receivers of one call stay apart, and a
//!   record that was sent twice stays one.
//! - A receiver without a sender keeps its id and its parent: the root of a trace, or the rest of a
//!   call whose other half was not recorded.
//! - A span that names the shared id as its parent belongs to either half, as a rule to the
//!   receiving one. It stays with the sender if that has its service and no receiver has; services
//!   on the same host come before those on others. A service that neither half has is another name
//!   for the receiver's: no caller's own work stands in a call under a third name.

use rustc_hash::FxHashMap;

use super::scalar::hashed_span_id;
use crate::span::{Interner, Span, SpanId, Spans, Sym, TraceId};
use crate::units::UnixNanos;

/// Where a span ran: its service and its clock.
type Site = (Sym, Sym);

/// A call with a receiver that may have its id.
#[derive(Debug, Default)]
struct Call {
    /// Where it was sent.
    senders: Vec<Site>,
    /// Who received it, by start.
    receivers: Vec<Receiver>,
}

/// One who received a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Receiver {
    start: UnixNanos,
    id: SpanId,
    site: Site,
}

/// Gives the receiving half of a call its own id, and the sending half as its parent.
pub(super) fn part(span: &mut Span, strings: &Interner) {
    let call = span.span_id;
    span.span_id = own_id(call, span, strings);
    span.parent_span_id = Some(call);
}

/// Parts the halves of all calls in a partition, which holds whole traces.
pub(super) fn split(spans: &mut Spans) {
    let Spans { strings, rows } = spans;
    let mut calls: FxHashMap<(TraceId, SpanId), Call> = FxHashMap::default();
    for span in rows.iter().filter(|span| span.flags.may_share_id) {
        calls.entry((span.trace_id, call_of(span, strings))).or_default();
    }
    if calls.is_empty() {
        return;
    }
    for span in rows.iter().filter(|span| span.kind.sends()) {
        if let Some(call) = calls.get_mut(&(span.trace_id, span.span_id)) {
            call.senders.push(site(span));
        }
    }
    calls.retain(|_, call| !call.senders.is_empty());
    for span in rows.iter_mut().filter(|span| span.flags.may_share_id) {
        let id = call_of(span, strings);
        if let Some(call) = calls.get_mut(&(span.trace_id, id)) {
            if span.span_id == id {
                part(span, strings);
            }
            let receiver = Receiver { start: span.start, id: span.span_id, site: site(span) };
            call.receivers.push(receiver);
        }
    }
    for call in calls.values_mut() {
        call.receivers.sort_unstable_by_key(|receiver| (receiver.start, receiver.id));
        call.receivers.dedup();
    }
    for span in rows {
        if let Some(parent) = span.parent_span_id
            && let Some(call) = calls.get(&(span.trace_id, parent))
            && let Some(receiver) = call.receiver_above(span)
        {
            span.parent_span_id = Some(receiver);
        }
    }
}

const fn site(span: &Span) -> Site {
    (span.service, span.clock_domain)
}

/// The id of the call that a span received, whether it has parted from the sender or not.
fn call_of(span: &Span, strings: &Interner) -> SpanId {
    let parted = |&call: &SpanId| span.span_id == own_id(call, span, strings);
    span.parent_span_id.filter(parted).unwrap_or(span.span_id)
}

/// The id of the span that received `call`.
fn own_id(call: SpanId, span: &Span, strings: &Interner) -> SpanId {
    let mut bytes = Vec::with_capacity(128);
    bytes.extend_from_slice(&span.trace_id.0.to_be_bytes());
    bytes.extend_from_slice(&call.0.to_be_bytes());
    bytes.extend_from_slice(&span.start.as_nanos().to_be_bytes());
    bytes.extend_from_slice(strings.get(span.service).as_bytes());
    // No text holds this byte, so that the two cannot be taken for two others.
    bytes.push(0xff);
    bytes.extend_from_slice(strings.get(span.clock_domain).as_bytes());
    hashed_span_id(&bytes)
}

impl Call {
    /// The receiver that `child`, a span below the shared id, hangs below; `None` where that is the
    /// sender, or `child` itself received this call.
    fn receiver_above(&self, child: &Span) -> Option<SpanId> {
        if self.receivers.iter().any(|receiver| receiver.id == child.span_id) {
            return None;
        }
        let at = site(child);
        let is_here = |site: Site| site == at;
        let is_ours = |(service, _): Site| service == child.service;
        for is_near in [&is_here as &dyn Fn(Site) -> bool, &is_ours] {
            if let Some(receiver) = self.latest_before(child.start, is_near) {
                return Some(receiver);
            }
            if self.senders.iter().any(|&sender| is_near(sender)) {
                return None;
            }
        }
        // Of receivers in several places nothing tells which one it is.
        let first = self.receivers.first()?;
        let is_one_place = self.receivers.iter().all(|receiver| receiver.site == first.site);
        self.latest_before(child.start, |_| is_one_place)
    }

    /// Of the receivers at some sites the last that had started by `start`, else the first.
    fn latest_before(&self, start: UnixNanos, is_wanted: impl Fn(Site) -> bool) -> Option<SpanId> {
        let wanted = || self.receivers.iter().filter(|receiver| is_wanted(receiver.site));
        let started = wanted().rfind(|receiver| receiver.start <= start);
        started.or_else(|| wanted().next()).map(|receiver| receiver.id)
    }
}
