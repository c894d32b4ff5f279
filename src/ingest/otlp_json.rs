//! OTLP in JSON, as the specification writes it and as exporters do: numbers as text or number,
//! enums as number or name, ids in hexadecimal or base64, either spelling of field names.

use super::admit::{Desk, Draft, MAX_LIST_DEPTH, instant, kind_of, status_of};
use super::document::{Document, Result, read_all};
use super::json::Shape;
use super::otlp_compact;
use super::outline::Outline;
use super::problems::Code;
use super::scalar;
use crate::conventions::raw::{Attribute, Key, RawEvent, Value};
use crate::conventions::{Carrier, Resource, Wanted};
use crate::otlp::fields::{
    ArrayField, EventField, KeyValueField, ResourceField, ResourceSpansField, ScopeField,
    ScopeSpansField, SpanField, StatusField, TracesField, ValueField,
};
use crate::span::Kind;

/// What the top-level keys of a message say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Signals {
    /// It holds spans, or says that it holds none.
    traces: bool,
    /// It holds logs, metrics or profiles.
    others: bool,
}

/// A top-level key that matters.
enum TopKey {
    Traces,
    Others,
    /// Jaeger's and Tempo's APIs put the message under this.
    Wrapped,
    /// Tempo says beside the message whether it is all of the trace.
    Status,
}

fn top_key(key: &str) -> Option<TopKey> {
    match key {
        "result" | "trace" => Some(TopKey::Wrapped),
        "status" => Some(TopKey::Status),
        // What Tempo's first API calls resource spans.
        "batches" => Some(TopKey::Traces),
        "resourceLogs" | "resource_logs" | "resourceMetrics" | "resource_metrics"
        | "resourceProfiles" | "resource_profiles" => Some(TopKey::Others),
        _ => TracesField::from_name(key).map(|TracesField::ResourceSpans| TopKey::Traces),
    }
}

/// Whether a value that looks so is an OTLP message, or a list of them.
pub(crate) fn claims(outline: &Outline<'_>) -> bool {
    outline.members.iter().any(|(key, member)| match top_key(key) {
        Some(TopKey::Traces | TopKey::Others) => true,
        Some(TopKey::Wrapped) => member.as_ref().is_some_and(|result| {
            let mut keys = result.members.iter();
            !result.in_array && keys.any(|(key, _)| is_signal(key))
        }),
        Some(TopKey::Status) | None => false,
    })
}

fn is_signal(key: &str) -> bool {
    matches!(top_key(key), Some(TopKey::Traces | TopKey::Others))
}

/// Reads a record that holds one document, or several.
pub(crate) fn read(bytes: &[u8], desk: &mut Desk<'_>) {
    read_all(bytes, desk, read_messages);
}

/// Nanoseconds since the epoch; `None` where it is no such number, zero where it is absent.
fn read_unix_ns(document: &mut Document<'_, '_, '_>) -> Result<Option<i64>> {
    let numeral = document.numeral()?;
    Ok(if numeral.is_empty() { Some(0) } else { scalar::whole_number(&numeral) })
}

/// A message, or a list of them, as `jq --slurp` makes of lines.
fn read_messages(document: &mut Document<'_, '_, '_>) -> Result<()> {
    if document.json.shape()? == Shape::Array {
        document.json.open()?;
        while document.json.next_element()? {
            read_messages(document)?;
        }
        return Ok(());
    }
    let begun = document.offset();
    let mut signals = Signals::default();
    read_message(document, &mut signals, true)?;
    if !signals.traces {
        let code = if signals.others { Code::OtherSignal } else { Code::RecordNotOtlp };
        document.desk.note(code, begun);
    }
    Ok(())
}

fn read_message(
    document: &mut Document<'_, '_, '_>,
    signals: &mut Signals,
    is_outermost: bool,
) -> Result<()> {
    if document.json.shape()? != Shape::Object {
        return document.json.skip();
    }
    document.json.open()?;
    while let Some(key) = document.next_key()? {
        match top_key(&key) {
            Some(TopKey::Traces) => {
                signals.traces = true;
                read_all_resource_spans(document)?;
            }
            Some(TopKey::Wrapped) if is_outermost => read_message(document, signals, false)?,
            Some(TopKey::Others) => {
                signals.others = true;
                document.json.skip()?;
            }
            Some(TopKey::Status) if is_outermost => {
                let offset = document.offset();
                let is_part = matches!(document.numeral()?.as_ref(), "PARTIAL" | "1");
                document.desk.note_many(Code::AnswerHasErrors, u64::from(is_part), offset);
            }
            _ => document.json.skip()?,
        }
    }
    Ok(())
}

fn read_all_resource_spans(document: &mut Document<'_, '_, '_>) -> Result<()> {
    document.each_element(read_resource_spans)
}

/// The spans of one resource. Those that stand before it are read once it is known.
fn read_resource_spans(document: &mut Document<'_, '_, '_>) -> Result<()> {
    let mut resource = None;
    let mut before_resource = Vec::new();
    if !document.open_object()? {
        return Ok(());
    }
    while let Some(key) = document.next_key()? {
        match (ResourceSpansField::from_name(&key), resource) {
            (Some(ResourceSpansField::Resource), _) => resource = Some(read_resource(document)?),
            (
                Some(ResourceSpansField::ScopeSpans | ResourceSpansField::LibrarySpans),
                Some(resource),
            ) => {
                read_all_scope_spans(document, resource)?;
            }
            (Some(_), None) => {
                let start = document.json.position();
                before_resource.push(document.json.again_at(start));
                document.json.skip()?;
            }
            (None, _) => document.json.skip()?,
        }
    }
    if before_resource.is_empty() {
        return Ok(());
    }
    let resource = match resource {
        Some(resource) => resource,
        None => document.desk.resource(&[]),
    };
    for json in before_resource {
        read_all_scope_spans(&mut document.again(json), resource)?;
    }
    Ok(())
}

fn read_resource(document: &mut Document<'_, '_, '_>) -> Result<Resource> {
    let mut attributes = Vec::new();
    if document.open_object()? {
        while let Some(key) = document.next_key()? {
            match ResourceField::from_name(&key) {
                Some(ResourceField::Attributes) => {
                    read_attributes(document, Carrier::Resource, &mut attributes)?;
                }
                None => document.json.skip()?,
            }
        }
    }
    Ok(document.desk.resource(&attributes))
}

fn read_all_scope_spans(document: &mut Document<'_, '_, '_>, resource: Resource) -> Result<()> {
    document.each_element(|document| read_scope_spans(document, resource))
}

fn read_scope_spans(document: &mut Document<'_, '_, '_>, resource: Resource) -> Result<()> {
    if !document.open_object()? {
        return Ok(());
    }
    while let Some(key) = document.next_key()? {
        match ScopeSpansField::from_name(&key) {
            Some(ScopeSpansField::Spans) => {
                let mut draft = Draft::new();
                document.each_element(|document| read_span(document, resource, &mut draft))?;
            }
            Some(ScopeSpansField::Scope) => read_scope(document)?,
            None => document.json.skip()?,
        }
    }
    Ok(())
}

/// What a scope says that is not about one span.
fn read_scope(document: &mut Document<'_, '_, '_>) -> Result<()> {
    let mut attributes = Vec::new();
    if document.open_object()? {
        while let Some(key) = document.next_key()? {
            match ScopeField::from_name(&key) {
                Some(ScopeField::Attributes) => {
                    read_attributes(document, Carrier::Scope, &mut attributes)?;
                }
                None => document.json.skip()?,
            }
        }
    }
    document.desk.scope(&attributes);
    Ok(())
}

/// Reads a span into `draft`, whatever is there from one before.
fn read_span<'a>(
    document: &mut Document<'a, '_, '_>,
    resource: Resource,
    draft: &mut Draft<'a>,
) -> Result<()> {
    let found = document.json.shape()?;
    let offset = document.offset();
    draft.clear();
    if found == Shape::Object {
        document.json.open()?;
        if otlp_compact::span_head(&mut document.json, draft).is_some() {
            read_span_field(document, SpanField::Attributes, draft)?;
            otlp_compact::span_tail(&mut document.json, draft);
        }
        while let Some(key) = document.next_key()? {
            match SpanField::from_name(&key) {
                Some(field) => read_span_field(document, field, draft)?,
                None => document.json.skip()?,
            }
        }
    } else {
        draft.blame(Code::SpanDamaged);
        document.json.skip()?;
    }
    document.desk.take(draft, resource, offset);
    Ok(())
}

fn read_span_field<'a>(
    document: &mut Document<'a, '_, '_>,
    field: SpanField,
    draft: &mut Draft<'a>,
) -> Result<()> {
    match field {
        SpanField::TraceId => draft.set_trace_id(document.id(scalar::trace_id)?),
        SpanField::SpanId => draft.set_span_id(document.id(scalar::span_id)?),
        SpanField::TraceState => draft.set_trace_state(document.text()?),
        SpanField::ParentSpanId => draft.set_parent_id(document.id(scalar::span_id)?),
        SpanField::Name => draft.raw.name = document.text()?,
        SpanField::Kind => {
            draft.raw.kind = kind_of(&document.numeral()?).unwrap_or(Kind::Internal);
        }
        SpanField::Start => draft.set_start(read_unix_ns(document)?),
        SpanField::End => draft.set_end(read_unix_ns(document)?),
        SpanField::Attributes => {
            read_attributes(document, Carrier::Span, &mut draft.raw.attributes)?;
        }
        SpanField::Events => {
            document.each_object(|document| read_event(document, &mut draft.raw.events))?;
        }
        SpanField::Links => document.each_element(|document| {
            draft.raw.links = draft.raw.links.saturating_add(1);
            document.json.skip()
        })?,
        SpanField::Status => read_status(document, draft)?,
    }
    Ok(())
}

fn read_event<'a>(
    document: &mut Document<'a, '_, '_>,
    events: &mut Vec<RawEvent<'a>>,
) -> Result<()> {
    let mut event = RawEvent::default();
    while let Some(key) = document.next_key()? {
        match EventField::from_name(&key) {
            Some(EventField::Time) => {
                event.time = instant(read_unix_ns(document)?).filter(|time| time.as_nanos() != 0);
            }
            Some(EventField::Name) => event.name = document.text()?,
            Some(EventField::Attributes) => {
                read_attributes(document, Carrier::Event, &mut event.attributes)?;
            }
            None => document.json.skip()?,
        }
    }
    events.push(event);
    Ok(())
}

fn read_status<'a>(document: &mut Document<'a, '_, '_>, draft: &mut Draft<'a>) -> Result<()> {
    if !document.open_object()? {
        return Ok(());
    }
    while let Some(key) = document.next_key()? {
        match StatusField::from_name(&key) {
            Some(StatusField::Message) => {
                draft.raw.status_message = document.text()?;
            }
            Some(StatusField::Code) => {
                draft.raw.status = status_of(&document.numeral()?).unwrap_or_default();
            }
            None => document.json.skip()?,
        }
    }
    Ok(())
}

/// Reads those attributes of `carrier` that anything depends on.
fn read_attributes<'a>(
    document: &mut Document<'a, '_, '_>,
    carrier: Carrier,
    attributes: &mut Vec<Attribute<'a>>,
) -> Result<()> {
    if !document.open_array()? {
        return Ok(());
    }
    loop {
        let Document { json, desk, .. } = document;
        otlp_compact::attributes(json, |key| desk.wanted(carrier, key), attributes);
        if !json.next_element()? {
            return Ok(());
        }
        if document.open_object()? {
            read_attribute(document, carrier, attributes)?;
        }
    }
}

/// An attribute, behind its opening bracket.
fn read_attribute<'a>(
    document: &mut Document<'a, '_, '_>,
    carrier: Carrier,
    attributes: &mut Vec<Attribute<'a>>,
) -> Result<()> {
    let mut attribute = (Key::from(""), Value::Other);
    while let Some(field) = document.next_key()? {
        match KeyValueField::from_name(&field) {
            Some(KeyValueField::Key) => attribute.0 = document.text()?.into(),
            Some(KeyValueField::Value) => attribute.1 = read_value(document, 0)?,
            None => document.json.skip()?,
        }
    }
    if document.desk.wanted(carrier, attribute.0.as_bytes()) != Wanted::No {
        attributes.push(attribute);
    }
    Ok(())
}

/// An attribute's value; of several the last. An empty object is a value too.
fn read_value<'a>(document: &mut Document<'a, '_, '_>, list_depth: usize) -> Result<Value<'a>> {
    let mut value = Value::Other;
    if !document.open_object()? {
        return Ok(value);
    }
    while let Some(key) = document.next_key()? {
        value = match ValueField::from_name(&key) {
            Some(ValueField::Text) => document.optional_text()?.map_or(Value::Other, Value::Text),
            Some(ValueField::Bool) => {
                if document.is(Shape::Bool)? {
                    Value::Bool(document.json.bool()?)
                } else {
                    Value::Other
                }
            }
            Some(ValueField::Int) => {
                scalar::whole_number(&document.numeral()?).map_or(Value::Other, Value::Int)
            }
            Some(ValueField::Double) => {
                scalar::real_number(&document.numeral()?).map_or(Value::Other, Value::Double)
            }
            Some(ValueField::Array) if list_depth < MAX_LIST_DEPTH => {
                read_list(document, list_depth)?
            }
            Some(ValueField::Array) | None => {
                document.json.skip()?;
                Value::Other
            }
        };
    }
    Ok(value)
}

fn read_list<'a>(document: &mut Document<'a, '_, '_>, list_depth: usize) -> Result<Value<'a>> {
    let mut elements = Vec::new();
    if document.open_object()? {
        while let Some(key) = document.next_key()? {
            match ArrayField::from_name(&key) {
                Some(ArrayField::Values) => document.each_element(|document| {
                    elements.push(read_value(document, list_depth + 1)?);
                    Ok(())
                })?,
                None => document.json.skip()?,
            }
        }
    }
    Ok(Value::List(elements))
}
