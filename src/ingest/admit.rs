//! The one step behind every reader: a span is admitted, resolved and put into its partition, or
//! rejected with its reason in the ledger. Every span that a reader meets takes one way or the
//! other, so that read = admitted + rejected.

use std::borrow::Cow;

use super::harvest::Harvest;
use super::problems::{Code, Place};
use super::scalar::{self, Id};
use super::shared_ids;
use super::stream::newlines;
use crate::conventions::raw::{Attribute, RawSpan, Status};
use crate::conventions::{Carrier, Conventions, Resource, Wanted, member_of_trace_state};
use crate::span::{Interner, Kind, Span, SpanId, TraceId};
use crate::units::UnixNanos;

/// Lists within lists beyond this are `Other`: no convention looks so deep.
pub(crate) const MAX_LIST_DEPTH: usize = 4;

/// The kinds by name, each at its number.
const KINDS: &[&str] = &["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"];
/// The status codes by name, each at its number.
const STATUSES: &[&str] = &["UNSET", "OK", "ERROR"];

/// Instants beyond this are no instants: sums and differences of a few stay within 64 bits.
const LATEST_UNIX_NS: i64 = i64::MAX / 2;

/// A span as a reader finds it, field by field, before it is known to be right.
#[derive(Clone, Debug)]
pub(crate) struct Draft<'a> {
    /// What was found; ids and times are zero until they are.
    pub raw: RawSpan<'a>,
    /// What is wrong with it, the first that was met.
    pub fault: Option<Code>,
    /// A hash stands for one of its ids.
    has_hashed_id: bool,
    /// It has no end.
    has_no_end: bool,
    /// Zero is an instant like any other, and not an absent one.
    zero_is_instant: bool,
}

impl<'a> Draft<'a> {
    /// Nothing found yet.
    pub(crate) fn new() -> Self {
        let raw = RawSpan {
            trace_id: TraceId(0),
            span_id: SpanId(0),
            parent_span_id: None,
            name: Cow::Borrowed(""),
            kind: Kind::Internal,
            start: UnixNanos::from_nanos(0),
            end: UnixNanos::from_nanos(0),
            status: Status::Unset,
            status_message: Cow::Borrowed(""),
            trace_state: Cow::Borrowed(""),
            attributes: Vec::new(),
            events: Vec::new(),
            links: 0,
            may_share_id: false,
        };
        Self { raw, fault: None, has_hashed_id: false, has_no_end: false, zero_is_instant: false }
    }

    /// Makes it as good as new; what it has room for stays. All fields are listed, so that a new one is
    /// not forgotten.
    pub(crate) fn clear(&mut self) {
        let Self { raw, fault, has_hashed_id, has_no_end, zero_is_instant } = self;
        let RawSpan {
            trace_id,
            span_id,
            parent_span_id,
            name,
            kind,
            start,
            end,
            status,
            status_message,
            trace_state,
            attributes,
            events,
            links,
            may_share_id,
        } = raw;
        (*trace_id, *span_id, *parent_span_id) = (TraceId(0), SpanId(0), None);
        for text in [name, status_message, trace_state] {
            *text = Cow::Borrowed("");
        }
        (*start, *end) = (UnixNanos::from_nanos(0), UnixNanos::from_nanos(0));
        (*kind, *status) = (Kind::Internal, Status::Unset);
        attributes.clear();
        events.clear();
        *links = 0;
        *may_share_id = false;
        *fault = None;
        (*has_hashed_id, *has_no_end, *zero_is_instant) = (false, false, false);
    }

    /// Remembers what is wrong with it.
    pub(crate) fn blame(&mut self, code: Code) {
        self.fault.get_or_insert(code);
    }

    /// The value behind `id`, or a fault where there is none.
    fn take_id<T>(&mut self, id: Option<Id<T>>, code: Code) -> Option<T> {
        if id.is_none() {
            self.blame(code);
        }
        let Id { id, is_hashed } = id?;
        self.has_hashed_id |= is_hashed;
        Some(id)
    }

    /// Its trace id as read; `None` where that is no id.
    pub(crate) fn set_trace_id(&mut self, id: Option<Id<TraceId>>) {
        if let Some(id) = self.take_id(id, Code::TraceIdInvalid) {
            self.raw.trace_id = id;
        }
    }

    /// Its span id as read; `None` where that is no id.
    pub(crate) fn set_span_id(&mut self, id: Option<Id<SpanId>>) {
        if let Some(id) = self.take_id(id, Code::SpanIdInvalid) {
            self.raw.span_id = id;
        }
    }

    /// Its trace state, of which others have a part too.
    #[inline]
    pub(crate) fn set_trace_state(&mut self, state: Cow<'a, str>) {
        if state.is_empty() {
            return;
        }
        self.raw.trace_state = match state {
            Cow::Borrowed(state) => member_of_trace_state(state).unwrap_or_default().into(),
            Cow::Owned(state) => {
                member_of_trace_state(&state).unwrap_or_default().to_owned().into()
            }
        };
    }

    /// Its parent's id as read; `None` where that is no id, zero where there is no parent.
    pub(crate) fn set_parent_id(&mut self, id: Option<Id<SpanId>>) {
        let id = self.take_id(id, Code::ParentIdInvalid);
        self.raw.parent_span_id = id.filter(|id| id.0 != 0);
    }

    /// Its start as read; `None` where that is no instant, zero where it is absent.
    pub(crate) fn set_start(&mut self, unix_ns: Option<i64>) {
        match instant(unix_ns) {
            Some(start) => self.raw.start = start,
            None => self.blame(Code::StartInvalid),
        }
    }

    /// Its end as read; `None` where that is no instant, zero where it is absent.
    pub(crate) fn set_end(&mut self, unix_ns: Option<i64>) {
        match instant(unix_ns) {
            Some(end) => self.raw.end = end,
            None => self.blame(Code::EndInvalid),
        }
    }

    /// It has no end, even where zero is an instant.
    pub(crate) const fn lack_end(&mut self) {
        self.has_no_end = true;
    }

    /// Its start as read, and zero is an instant like any other from now on: `None` where it is none.
    pub(crate) fn set_start_from_zero(&mut self, start_ns: Option<i64>) {
        self.zero_is_instant = true;
        self.set_start(start_ns);
    }

    /// Whether that instant stands for none.
    const fn is_absent(&self, instant: UnixNanos) -> bool {
        !self.zero_is_instant && instant.as_nanos() == 0
    }

    /// What keeps it from being admitted.
    fn reason_to_reject(&self) -> Option<Code> {
        let absent = [
            (self.raw.trace_id.0 == 0, Code::TraceIdAbsent),
            (self.raw.span_id.0 == 0, Code::SpanIdAbsent),
            (self.is_absent(self.raw.start), Code::StartAbsent),
        ];
        self.fault
            .or_else(|| absent.into_iter().find_map(|(is_absent, code)| is_absent.then_some(code)))
    }
}

/// The kind of a number, in either encoding.
pub(crate) const fn kind_of_number(number: i64) -> Kind {
    match number {
        2 => Kind::Server,
        3 => Kind::Client,
        4 => Kind::Producer,
        5 => Kind::Consumer,
        _ => Kind::Internal,
    }
}

/// The status of a number, in either encoding.
pub(crate) const fn status_of_number(number: i64) -> Status {
    match number {
        1 => Status::Ok,
        2 => Status::Error,
        _ => Status::Unset,
    }
}

/// The kind that `text` writes as a name, with or without its prefix, or as a number; `None` where
/// it is neither.
pub(crate) fn kind_of(text: &str) -> Option<Kind> {
    enumerator(text, "SPAN_KIND_", KINDS).map(kind_of_number)
}

/// The status that `text` writes as a name, with or without its prefix, or as a number; `None`
/// where it is neither.
pub(crate) fn status_of(text: &str) -> Option<Status> {
    enumerator(text, "STATUS_CODE_", STATUSES).map(status_of_number)
}

/// The number that `text` writes by one of `names`, each at its number, or by itself; 0 where it
/// is empty.
fn enumerator(text: &str, prefix: &str, names: &[&str]) -> Option<i64> {
    let name = match text.split_at_checked(prefix.len()) {
        Some((start, rest)) if start.eq_ignore_ascii_case(prefix) => rest,
        _ => text,
    };
    if name.is_empty() {
        return Some(0);
    }
    match names.iter().position(|known| name.eq_ignore_ascii_case(known)) {
        Some(at) => i64::try_from(at).ok(),
        None => scalar::whole_number(name),
    }
}

/// The instant that `unix_ns` is, if it is one; 1970 itself stands for none given.
pub(crate) fn instant(unix_ns: Option<i64>) -> Option<UnixNanos> {
    unix_ns.filter(|unix_ns| (0..=LATEST_UNIX_NS).contains(unix_ns)).map(UnixNanos::from_nanos)
}

/// A record as it lies in its file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    /// Its bytes, without frame.
    pub bytes: &'a [u8],
    /// Where they begin.
    pub place: Place,
    /// They were compressed by themselves: offsets within mean nothing in the file.
    pub is_unpacked: bool,
}

impl Record<'_> {
    /// Where its byte `offset` is in the file.
    fn byte_at(&self, offset: usize) -> Option<u64> {
        let offset = if self.is_unpacked { 0 } else { offset as u64 };
        self.place.byte.map(|byte| byte + offset)
    }

    /// The place of its byte `offset`.
    fn place_at(&self, offset: usize) -> Place {
        let before = self.bytes.get(..offset).unwrap_or(self.bytes);
        Place {
            byte: self.byte_at(offset),
            record: self.place.record,
            line: self.place.line.map(|line| line + newlines(before)),
        }
    }
}

/// Where a reader hands over what it finds in one record.
#[derive(Debug)]
pub(crate) struct Desk<'w> {
    /// What attributes mean.
    pub conventions: &'w Conventions,
    /// What is handed over goes there.
    pub harvest: &'w mut Harvest,
    /// The record.
    pub record: Record<'w>,
}

impl<'w> Desk<'w> {
    /// What a resource says.
    pub(crate) fn resource(&mut self, attributes: &[Attribute<'_>]) -> Resource {
        let Harvest { spans, collected, .. } = &mut *self.harvest;
        let mut resource = self.conventions.resource(attributes, &mut spans.strings);
        if let Some(collected) = collected {
            collected.add_resource(&mut resource, attributes);
        }
        resource
    }

    /// What a scope says: who chose the traces, if anybody did.
    pub(crate) fn scope(&mut self, attributes: &[Attribute<'_>]) {
        self.conventions.scope(attributes, &mut self.harvest.found.tally);
    }

    /// Whether the attribute `key` of `carrier` is wanted; one that nothing depends on is not kept.
    #[inline]
    pub(crate) fn wanted(&self, carrier: Carrier, key: &[u8]) -> Wanted<'w> {
        if self.harvest.collected.is_some() {
            return Wanted::Yes;
        }
        self.conventions.wanted(carrier, key)
    }

    /// Counts trouble that begins at byte `offset` of the record.
    pub(crate) fn note(&mut self, code: Code, offset: usize) {
        self.note_many(code, 1, offset);
    }

    /// Counts `count` times trouble, if any, first met at byte `offset` of the record.
    pub(crate) fn note_many(&mut self, code: Code, count: u64, offset: usize) {
        if count > 0 {
            let record = self.record;
            let byte = record.byte_at(offset);
            self.harvest.found.ledger.note(code, count, byte, || record.place_at(offset));
        }
    }

    /// Admits or rejects the span that begins at byte `offset` of the record.
    pub(crate) fn take(&mut self, draft: &Draft<'_>, resource: Resource, offset: usize) {
        self.harvest.found.read += 1;
        if let Some(code) = draft.reason_to_reject() {
            self.harvest.found.rejected += 1;
            self.note(code, offset);
            return;
        }
        self.note_many(Code::IdHashed, u64::from(draft.has_hashed_id), offset);
        self.note_end(draft, offset);
        self.keep(draft, resource, offset, |_, _| {});
        self.harvest.found.admitted += 1;
    }

    /// Counts a span without an end.
    fn note_end(&mut self, draft: &Draft<'_>, offset: usize) {
        let has_no_end = draft.has_no_end || draft.is_absent(draft.raw.end);
        self.note_many(Code::EndAbsent, u64::from(has_no_end), offset);
    }

    /// Keeps the receiving half of a record, at byte `offset` of it, that told both halves of a call.
    /// The record was counted with its sending half, and is rejected with it.
    pub(crate) fn take_receiving_half(
        &mut self,
        draft: &Draft<'_>,
        resource: Resource,
        offset: usize,
    ) {
        match draft.reason_to_reject() {
            None => {
                self.note_end(draft, offset);
                self.keep(draft, resource, offset, shared_ids::part);
            }
            Some(code) => self.note(code, offset),
        }
    }

    /// Keeps the span at byte `offset` of the record, changed by `finish`; where only one trace is
    /// wanted, only if it may be of that one.
    fn keep(
        &mut self,
        draft: &Draft<'_>,
        resource: Resource,
        offset: usize,
        finish: impl FnOnce(&mut Span, &Interner),
    ) {
        let Self { conventions, harvest: Harvest { spans, found, collected }, record } = self;
        if let Some(collected) = collected {
            if !collected.wants(draft.raw.trace_id) {
                return;
            }
            collected.add(&draft.raw, resource);
        }
        let strings = &mut spans.strings;
        let mut span = conventions.resolve(&draft.raw, &resource, strings, &mut found.tally);
        for key in found.tally.take_unparsed() {
            let byte = record.byte_at(offset);
            found.ledger.note_unparsed(key, byte, || record.place_at(offset));
        }
        finish(&mut span, strings);
        spans.push(span);
    }
}
