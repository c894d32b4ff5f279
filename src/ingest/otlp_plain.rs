//! The parts of OTLP in protobuf as nearly every exporter writes them: fields in the order of their
//! numbers, short enough that a byte tells their length. They are matched by what is always the same
//! in them. Whatever is written otherwise is left where it stands, for the reader that takes
//! anything.

use super::admit::{Draft, kind_of_number};
use super::scalar::Id;
use crate::conventions::raw::Value;
use crate::otlp::fields::{KeyValueField, SpanField, ValueField};
use crate::otlp::wire::{Fields, short_field, varint};
use crate::span::{SpanId, TraceId};

/// The fields of a span that stand before its attributes.
#[inline]
pub(crate) fn span_head<'w>(fields: &mut Fields<'w>, draft: &mut Draft<'w>) {
    if let Some(id) = fields.pass_exactly(SpanField::TraceId.number()) {
        draft.set_trace_id(Some(plain_id(TraceId(u128::from_be_bytes(*id)))));
    }
    if let Some(id) = fields.pass_exactly(SpanField::SpanId.number()) {
        draft.set_span_id(Some(plain_id(SpanId(u64::from_be_bytes(*id)))));
    }
    if let Some(state) = fields.attempt(|fields| {
        let state = fields.pass_bytes(SpanField::TraceState.number())?;
        std::str::from_utf8(state.bytes).ok()
    }) {
        draft.set_trace_state(state.into());
    }
    if let Some(id) = fields.pass_exactly(SpanField::ParentSpanId.number()) {
        draft.set_parent_id(Some(plain_id(SpanId(u64::from_be_bytes(*id)))));
    }
    if let Some(name) = fields.attempt(|fields| {
        let name = fields.pass_bytes(SpanField::Name.number())?;
        std::str::from_utf8(name.bytes).ok()
    }) {
        draft.raw.name = name.into();
    }
    if let Some(number) = fields.pass_varint(SpanField::Kind.number()) {
        draft.raw.kind = kind_of_number(number.cast_signed());
    }
    if let Some(time) = fields.pass_fixed64(SpanField::Start.number()) {
        draft.set_start(i64::try_from(time).ok());
    }
    if let Some(time) = fields.pass_fixed64(SpanField::End.number()) {
        draft.set_end(i64::try_from(time).ok());
    }
}

/// An id that needed no hash.
const fn plain_id<T: Copy>(id: T) -> Id<T> {
    Id { id, is_hashed: false }
}

/// The value of an attribute, where it is a single text or whole number.
#[derive(Clone, Copy)]
pub(crate) enum PlainValue<'w> {
    Text(&'w [u8]),
    Int(i64),
}

impl<'w> PlainValue<'w> {
    /// Whether there is nothing but ASCII in it.
    #[inline]
    pub(crate) fn is_ascii(self) -> bool {
        match self {
            Self::Text(text) => text.is_ascii(),
            Self::Int(_) => true,
        }
    }

    /// The value, unless it is no text.
    #[inline]
    pub(crate) fn read(self) -> Option<Value<'w>> {
        match self {
            Self::Text(text) => Some(Value::Text(std::str::from_utf8(text).ok()?.into())),
            Self::Int(number) => Some(Value::Int(number)),
        }
    }
}

/// The key and the value of an attribute. `None` where there is anything else, or anything wrong.
#[inline]
pub(crate) fn attribute(message: &[u8]) -> Option<(&[u8], PlainValue<'_>)> {
    let (key, rest) = short_field(KeyValueField::Key.number(), message)?;
    let (value, []) = short_field(KeyValueField::Value.number(), rest)? else { return None };
    if let Some((text, rest)) = short_field(ValueField::Text.number(), value) {
        return rest.is_empty().then_some((key, PlainValue::Text(text)));
    }
    let (&tag, number) = value.split_first()?;
    let (number, len) = varint(number).ok()?;
    let is_all = u32::from(tag) == ValueField::Int.number() << 3 && len + 1 == value.len();
    is_all.then_some((key, PlainValue::Int(number.cast_signed())))
}
