//! A span as its exporter wrote it: what every reader hands to the resolver. It borrows from the
//! reader's buffer and lives as long as one record.

use std::borrow::Cow;
use std::ops::Deref;

use crate::span::{Kind, SpanId, TraceId};
use crate::units::UnixNanos;

/// An attribute's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// Text.
    Text(Cow<'a, str>),
    /// A whole number.
    Int(i64),
    /// Any other number; may be infinite or not a number.
    Double(f64),
    /// True or false.
    Bool(bool),
    /// A list, as captured headers are.
    List(Vec<Value<'a>>),
    /// Anything else: maps, bytes, nothing.
    Other,
}

impl Value<'_> {
    /// The same, kept beyond the buffer it was read from.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Self::Text(text) => Value::Text(text.into_owned().into()),
            Self::Int(number) => Value::Int(number),
            Self::Double(number) => Value::Double(number),
            Self::Bool(is_true) => Value::Bool(is_true),
            Self::List(values) => Value::List(values.into_iter().map(Value::into_owned).collect()),
            Self::Other => Value::Other,
        }
    }
}

/// An attribute's key; and where the conventions have it, if its reader has looked.
#[derive(Clone, Debug)]
pub struct Key<'a> {
    text: Cow<'a, str>,
    place: Option<KeyPlace>,
}

/// Where the conventions that were asked have the key of a span's attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyPlace(pub(super) u32);

impl<'a> Key<'a> {
    /// The key `text`, which the conventions have at `place`.
    #[inline]
    pub const fn known(text: &'a str, place: KeyPlace) -> Self {
        Self { text: Cow::Borrowed(text), place: Some(place) }
    }

    /// Where the conventions have it; `None` where that is to be looked up.
    #[inline]
    pub(super) const fn place(&self) -> Option<KeyPlace> {
        self.place
    }
}

impl Deref for Key<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl<'a, T: Into<Cow<'a, str>>> From<T> for Key<'a> {
    fn from(text: T) -> Self {
        Self { text: text.into(), place: None }
    }
}

impl PartialEq for Key<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl PartialEq<str> for Key<'_> {
    fn eq(&self, text: &str) -> bool {
        self.text == text
    }
}

/// A key and its value.
pub type Attribute<'a> = (Key<'a>, Value<'a>);

/// The same attributes, kept beyond the buffer they were read from.
pub fn owned(attributes: &[Attribute<'_>]) -> Vec<Attribute<'static>> {
    let own = |(key, value): &Attribute<'_>| (key.to_string().into(), value.clone().into_owned());
    attributes.iter().map(own).collect()
}

/// Something that happened within a span, or before it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawEvent<'a> {
    /// Its name.
    pub name: Cow<'a, str>,
    /// When; `None` where absent or zero.
    pub time: Option<UnixNanos>,
    /// What else it says.
    pub attributes: Vec<Attribute<'a>>,
}

/// The status that the exporter set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// Nobody said.
    #[default]
    Unset,
    /// Explicitly fine.
    Ok,
    /// An error.
    Error,
}

/// A span as written.
#[derive(Clone, Debug, PartialEq)]
pub struct RawSpan<'a> {
    /// Never all zeros.
    pub trace_id: TraceId,
    /// Never zero.
    pub span_id: SpanId,
    /// `None` where absent, empty or zero.
    pub parent_span_id: Option<SpanId>,
    /// The name.
    pub name: Cow<'a, str>,
    /// The kind as written.
    pub kind: Kind,
    /// Start.
    pub start: UnixNanos,
    /// End as written; may lie before the start.
    pub end: UnixNanos,
    /// Status code.
    pub status: Status,
    /// Status message.
    pub status_message: Cow<'a, str>,
    /// What OpenTelemetry has put into the trace state; empty where that is nothing.
    pub trace_state: Cow<'a, str>,
    /// Attributes in their order; a key may come twice.
    pub attributes: Vec<Attribute<'a>>,
    /// Events in their order.
    pub events: Vec<RawEvent<'a>>,
    /// How many links.
    pub links: u32,
    /// It receives a call whose id it may have, as in Zipkin: the sending span has it too.
    pub may_share_id: bool,
}

impl<'a> RawSpan<'a> {
    /// The value of the first attribute that is called so in any case.
    pub fn value_of(&self, key: &str) -> Option<&Value<'a>> {
        let mut attributes = self.attributes.iter();
        attributes.find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, value)| value)
    }

    /// The same, kept beyond the buffer it was read from.
    pub fn to_static(&self) -> RawSpan<'static> {
        let own_event = |event: &RawEvent<'_>| RawEvent {
            name: event.name.clone().into_owned().into(),
            time: event.time,
            attributes: owned(&event.attributes),
        };
        RawSpan {
            name: self.name.clone().into_owned().into(),
            status_message: self.status_message.clone().into_owned().into(),
            trace_state: self.trace_state.clone().into_owned().into(),
            attributes: owned(&self.attributes),
            events: self.events.iter().map(own_event).collect(),
            ..*self
        }
    }
}
