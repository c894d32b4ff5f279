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

use rustc_hash::{FxHashMap, FxHashSet};

use super::scalar::hashed_span_id;
use crate::span::{Interner, Span, SpanId, Spans, Sym, TraceId};
use crate::units::UnixNanos;

/// A call, by the id that its halves have.
type CallId = (TraceId, SpanId);

/// How much is asked of where a span ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    /// Its service and its clock.
    Site(Sym, Sym),
    /// Its service.
    Service(Sym),
    /// Nothing.
    Anywhere,
}

impl Place {
    fn site(span: &Span) -> Self {
        Self::Site(span.service, span.clock_domain)
    }

    /// Those where a span ran, the nearest first.
    fn all(span: &Span) -> [Self; 3] {
        [Self::site(span), Self::Service(span.service), Self::Anywhere]
    }
}

/// One who received a call.
#[derive(Clone, Copy, Debug)]
struct Receiver {
    start: UnixNanos,
    id: SpanId,
    site: Place,
}

/// The calls both of whose halves are known.
#[derive(Debug, Default)]
struct Calls {
    /// The places where each was sent.
    senders: FxHashSet<(CallId, Place)>,
    /// Who received each at a place, by start.
    receivers: FxHashMap<(CallId, Place), Vec<Receiver>>,
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
    let received: FxHashSet<CallId> =
        rows.iter().filter_map(|span| received_call(span, strings)).collect();
    if received.is_empty() {
        return;
    }
    let mut calls = Calls::default();
    for span in rows.iter().filter(|span| span.kind.sends()) {
        let call = (span.trace_id, span.span_id);
        if received.contains(&call) {
            calls.senders.extend(Place::all(span).map(|place| (call, place)));
        }
    }
    let mut receivers: Vec<&mut Span> = Vec::new();
    for span in rows.iter_mut() {
        if let Some(call) = received_call(span, strings)
            && calls.senders.contains(&(call, Place::Anywhere))
        {
            if span.span_id == call.1 {
                part(span, strings);
            }
            receivers.push(span);
        }
    }
    receivers.sort_unstable_by_key(|span| (span.start, span.span_id));
    for span in receivers {
        calls.add_receiver(span);
    }
    for span in rows {
        if let Some(receiver) = calls.receiver_above(span, strings) {
            span.parent_span_id = Some(receiver);
        }
    }
}

/// The call that a span received, if it may share its id, whether it has parted from the sender or
/// not.
fn received_call(span: &Span, strings: &Interner) -> Option<CallId> {
    if !span.flags.may_share_id {
        return None;
    }
    let parted = |&call: &SpanId| span.span_id == own_id(call, span, strings);
    Some((span.trace_id, span.parent_span_id.filter(parted).unwrap_or(span.span_id)))
}

/// The id of the span that received `call`.
fn own_id(call: SpanId, span: &Span, strings: &Interner) -> SpanId {
    let mut bytes = Vec::with_capacity(128);
    // Of an id that lost its left half on the way the other is the same.
    bytes.extend_from_slice(&span.trace_id.right_half().0.to_be_bytes());
    bytes.extend_from_slice(&call.0.to_be_bytes());
    bytes.extend_from_slice(&span.start.as_nanos().to_be_bytes());
    bytes.extend_from_slice(strings.get(span.service).as_bytes());
    // No text holds this byte, so that the two cannot be taken for two others.
    bytes.push(0xff);
    bytes.extend_from_slice(strings.get(span.clock_domain).as_bytes());
    hashed_span_id(&bytes)
}

impl Calls {
    /// Adds a span that has parted from its sender. They come by start.
    fn add_receiver(&mut self, span: &Span) {
        let Some(call) = span.parent_span_id else { return };
        let receiver = Receiver { start: span.start, id: span.span_id, site: Place::site(span) };
        for place in Place::all(span) {
            self.receivers.entry(((span.trace_id, call), place)).or_default().push(receiver);
        }
    }

    /// The receiver that `child` hangs below; `None` where it names no shared id, where the span
    /// above it is the sender, or where it is itself a half of this call.
    fn receiver_above(&self, child: &Span, strings: &Interner) -> Option<SpanId> {
        let call = (child.trace_id, child.parent_span_id?);
        let anywhere = self.receivers.get(&(call, Place::Anywhere))?;
        let is_sender = child.span_id == call.1;
        if is_sender || received_call(child, strings) == Some(call) {
            return None;
        }
        let [site, service, _] = Place::all(child);
        for place in [site, service] {
            if let Some(here) = self.receivers.get(&(call, place)) {
                return latest_before(here, child.start);
            }
            if self.senders.contains(&(call, place)) {
                return None;
            }
        }
        // Of receivers in several places nothing tells which one it is.
        let at_first = self.receivers.get(&(call, anywhere.first()?.site))?;
        let is_one_place = at_first.len() == anywhere.len();
        is_one_place.then(|| latest_before(anywhere, child.start)).flatten()
    }
}

/// The last that had started by `start`, else the first.
fn latest_before(receivers: &[Receiver], start: UnixNanos) -> Option<SpanId> {
    let started = receivers.partition_point(|receiver| receiver.start <= start);
    receivers.get(started.saturating_sub(1)).map(|receiver| receiver.id)
}
