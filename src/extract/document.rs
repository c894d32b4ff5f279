//! Spans as an OTLP JSON document, as the specification writes it.

use serde_json::{Map, Value as Json, json};

use super::ExtractError;
use crate::conventions::raw::{Attribute, RawEvent, RawSpan, Status, Value};
use crate::ingest::WrittenSpan;
use crate::span::Kind;

/// The document. Spans that follow one another in one resource share it.
pub(super) fn of(spans: &[WrittenSpan]) -> Result<Json, ExtractError> {
    let mut all = Vec::new();
    for group in spans.chunk_by(|one, next| one.resource == next.resource) {
        let resource = group.first().map(|first| attributes(&first.resource));
        let spans =
            group.iter().map(|written| span(&written.raw)).collect::<Result<Vec<_>, _>>()?;
        all.push(json!({
            "resource": { "attributes": resource },
            "scopeSpans": [{ "spans": spans }],
        }));
    }
    Ok(json!({ "resourceSpans": all }))
}

fn span(raw: &RawSpan<'_>) -> Result<Json, ExtractError> {
    if raw.start.as_nanos() == 0 {
        return Err(ExtractError::StartsAtZero(raw.span_id));
    }
    let mut span = Map::new();
    let mut set = |key: &str, value: Json| {
        span.insert(key.to_owned(), value);
    };
    set("traceId", raw.trace_id.to_string().into());
    set("spanId", raw.span_id.to_string().into());
    if let Some(parent) = raw.parent_span_id {
        set("parentSpanId", parent.to_string().into());
    }
    if !raw.trace_state.is_empty() {
        set("traceState", format!("ot={}", raw.trace_state).into());
    }
    set("name", raw.name.as_ref().into());
    set("kind", kind_number(raw.kind).into());
    set("startTimeUnixNano", raw.start.as_nanos().to_string().into());
    set("endTimeUnixNano", raw.end.as_nanos().to_string().into());
    if !raw.attributes.is_empty() {
        set("attributes", attributes(&raw.attributes));
    }
    if !raw.events.is_empty() {
        set("events", raw.events.iter().map(event).collect());
    }
    if raw.links > 0 {
        set("links", (0..raw.links).map(|_| json!({})).collect());
    }
    if raw.status != Status::Unset || !raw.status_message.is_empty() {
        set("status", status(raw));
    }
    Ok(span.into())
}

/// OTLP's number of a kind; INTERNAL for spans without one, which count as such.
const fn kind_number(kind: Kind) -> u8 {
    match kind {
        Kind::Internal => 1,
        Kind::Server => 2,
        Kind::Client => 3,
        Kind::Producer => 4,
        Kind::Consumer => 5,
    }
}

fn status(raw: &RawSpan<'_>) -> Json {
    let code = match raw.status {
        Status::Unset => 0,
        Status::Ok => 1,
        Status::Error => 2,
    };
    if raw.status_message.is_empty() {
        json!({ "code": code })
    } else {
        json!({ "code": code, "message": raw.status_message })
    }
}

fn event(event: &RawEvent<'_>) -> Json {
    let time = event.time.map_or(0, crate::units::UnixNanos::as_nanos);
    let mut json = json!({ "timeUnixNano": time.to_string(), "name": event.name });
    if !event.attributes.is_empty() {
        json["attributes"] = attributes(&event.attributes);
    }
    json
}

fn attributes(attributes: &[Attribute<'_>]) -> Json {
    let attribute =
        |(key, value): &Attribute<'_>| json!({ "key": &**key, "value": any_value(value) });
    attributes.iter().map(attribute).collect()
}

fn any_value(value: &Value<'_>) -> Json {
    match value {
        Value::Text(text) => json!({ "stringValue": text }),
        Value::Int(number) => json!({ "intValue": number.to_string() }),
        Value::Double(number) if number.is_finite() => json!({ "doubleValue": number }),
        // What is no number in JSON is a text, by protobuf's own mapping.
        Value::Double(number) if number.is_nan() => json!({ "doubleValue": "NaN" }),
        Value::Double(number) if *number > 0.0 => json!({ "doubleValue": "Infinity" }),
        Value::Double(_) => json!({ "doubleValue": "-Infinity" }),
        Value::Bool(is_true) => json!({ "boolValue": is_true }),
        Value::List(values) => {
            let values: Vec<Json> = values.iter().map(any_value).collect();
            json!({ "arrayValue": { "values": values } })
        }
        Value::Other => json!({}),
    }
}
