//! Spans as exporters write them, told tersely.

use std::borrow::Cow;
use std::sync::LazyLock;

use dwindle::conventions::raw::{Attribute, RawEvent, RawSpan, Status, Value};
use dwindle::conventions::{Conventions, Seen, Tally};
use dwindle::span::{Interner, Kind, Span, SpanId, TraceId};
use dwindle::units::UnixNanos;

/// When every span starts, unless told otherwise.
pub const START_NS: i64 = 1_788_600_000_000_000_000;
/// How long every span lasts, unless told otherwise.
pub const DURATION_NS: i64 = 100_000_000;

/// An empty span of a kind.
pub fn span(kind: Kind) -> RawSpan<'static> {
    RawSpan {
        trace_id: TraceId(1),
        span_id: SpanId(2),
        parent_span_id: Some(SpanId(3)),
        name: "op".into(),
        kind,
        start: UnixNanos::from_nanos(START_NS),
        end: UnixNanos::from_nanos(START_NS + DURATION_NS),
        status: Status::Unset,
        status_message: "".into(),
        attributes: Vec::new(),
        events: Vec::new(),
        links: 0,
        trace_state: "".into(),
        may_share_id: false,
    }
}

pub trait Build {
    fn name(self, name: &'static str) -> Self;
    fn with(self, key: &'static str, value: impl Into<V>) -> Self;
    fn event(self, name: &'static str, offset_ns: i64) -> Self;
    fn event_with(self, name: &'static str, attributes: &[(&'static str, &'static str)]) -> Self;
    fn status(self, status: Status, message: &'static str) -> Self;
}

impl Build for RawSpan<'static> {
    fn name(mut self, name: &'static str) -> Self {
        self.name = name.into();
        self
    }

    fn with(mut self, key: &'static str, value: impl Into<V>) -> Self {
        self.attributes.push((key.into(), value.into().0));
        self
    }

    /// An event that long after the start.
    fn event(mut self, name: &'static str, offset_ns: i64) -> Self {
        let time = Some(UnixNanos::from_nanos(START_NS + offset_ns));
        self.events.push(RawEvent { name: name.into(), time, attributes: Vec::new() });
        self
    }

    fn event_with(
        mut self,
        name: &'static str,
        attributes: &[(&'static str, &'static str)],
    ) -> Self {
        let attributes = attributes.iter().map(|&(key, text)| attribute(key, text)).collect();
        self.events.push(RawEvent { name: name.into(), time: None, attributes });
        self
    }

    fn status(mut self, status: Status, message: &'static str) -> Self {
        self.status = status;
        self.status_message = message.into();
        self
    }
}

/// An attribute.
pub fn attribute(key: &'static str, value: impl Into<V>) -> Attribute<'static> {
    (key.into(), value.into().0)
}

/// A value, from whatever a test writes.
#[derive(Clone, Debug)]
pub struct V(pub Value<'static>);

impl From<&'static str> for V {
    fn from(text: &'static str) -> Self {
        Self(Value::Text(Cow::Borrowed(text)))
    }
}

impl From<String> for V {
    fn from(text: String) -> Self {
        Self(Value::Text(Cow::Owned(text)))
    }
}

impl From<i64> for V {
    fn from(number: i64) -> Self {
        Self(Value::Int(number))
    }
}

impl From<f64> for V {
    fn from(number: f64) -> Self {
        Self(Value::Double(number))
    }
}

impl From<bool> for V {
    fn from(truth: bool) -> Self {
        Self(Value::Bool(truth))
    }
}

impl<const N: usize> From<[&'static str; N]> for V {
    fn from(texts: [&'static str; N]) -> Self {
        Self(Value::List(texts.map(|text| V::from(text).0).to_vec()))
    }
}

impl From<Value<'static>> for V {
    fn from(value: Value<'static>) -> Self {
        Self(value)
    }
}

/// A span as resolved, with what its numbers stand for.
pub struct Resolved {
    pub span: Span,
    pub strings: Interner,
    pub seen: Seen,
}

impl Resolved {
    /// Value in ns, kind, key, and whether it counts from the start.
    pub fn grant(&self) -> Option<(i64, &'static str, String, bool)> {
        let grant = self.span.grant?;
        let key = self.strings.get(grant.key).to_owned();
        Some((grant.value.as_nanos(), grant.kind.name(), key, grant.from_start))
    }

    pub fn unparsed(&self, key: &str) -> u64 {
        self.seen.keys.get(key).map_or(0, |count| count.unparsed)
    }

    pub fn peer_service(&self) -> Option<&str> {
        self.span.peer_service.map(|peer| self.strings.get(peer))
    }
}

/// Resolves a span by the embedded conventions.
pub fn resolve(raw: &RawSpan<'_>) -> Resolved {
    static EMBEDDED: LazyLock<Conventions> = LazyLock::new(|| Conventions::embedded().unwrap());
    resolve_by(&EMBEDDED, raw)
}

/// Resolves a span by given conventions.
pub fn resolve_by(conventions: &Conventions, raw: &RawSpan<'_>) -> Resolved {
    let mut strings = Interner::default();
    let mut tally = Tally::default();
    let resource = conventions.resource(&[attribute("service.name", "shop")], &mut strings);
    let span = conventions.resolve(raw, &resource, &mut strings, &mut tally);
    Resolved { span, strings, seen: tally.into_seen() }
}
