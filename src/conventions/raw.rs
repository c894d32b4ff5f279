//! A span as its exporter wrote it: what every reader hands to the resolver. It borrows from the
//! reader's buffer and lives as long as one record.

use std::borrow::Cow;

use crate::span::{Kind, SpanId, TraceId};
use crate::units::UnixNanos;

/// The attribute under which Jaeger's API v3 answers its warnings.
const WARNINGS: &str = "@jaeger@warnings";

/// In a warning of Jaeger's: the query service has moved a span's times. Its warnings that speak of
/// skew and say that nothing was moved do not have it.
const MOVED: &str = "timestamps were adjusted";

/// Whether a warning of Jaeger's says that it moved a span's times.
pub fn tells_of_moved_times(warning: &str) -> bool {
    warning.to_ascii_lowercase().contains(MOVED)
}

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

/// A key and its value.
pub type Attribute<'a> = (Cow<'a, str>, Value<'a>);

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
    /// Attributes in their order; a key may come twice.
    pub attributes: Vec<Attribute<'a>>,
    /// Events in their order.
    pub events: Vec<RawEvent<'a>>,
    /// How many links.
    pub links: u32,
    /// It receives a call whose id it may have, as in Zipkin: the sending span has it too.
    pub may_share_id: bool,
    /// What stored it says that it moved its times.
    pub clock_adjusted: bool,
}

impl RawSpan<'_> {
    /// Whether what stored it moved its times, as its reader found or an attribute says.
    pub fn has_moved_times(&self) -> bool {
        let tells = |value: &Value<'_>| match value {
            Value::Text(warning) => tells_of_moved_times(warning),
            _ => false,
        };
        let warns = |(key, value): &Attribute<'_>| {
            key == WARNINGS
                && match value {
                    Value::List(warnings) => warnings.iter().any(tells),
                    warning => tells(warning),
                }
        };
        self.clock_adjusted || self.attributes.iter().any(warns)
    }
}
