//! OTLP as `prost` derives it: the reference that our readers are compared with.

use prost::{Enumeration, Message, Oneof};
use serde_json::Value as Json;

#[derive(Clone, PartialEq, Message)]
pub(super) struct TracesData {
    #[prost(message, repeated, tag = "1")]
    pub resource_spans: Vec<ResourceSpans>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ResourceSpans {
    #[prost(message, optional, tag = "1")]
    pub resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    pub scope_spans: Vec<ScopeSpans>,
    #[prost(string, tag = "3")]
    pub schema_url: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Resource {
    #[prost(message, repeated, tag = "1")]
    pub attributes: Vec<KeyValue>,
    #[prost(uint32, tag = "2")]
    pub dropped_attributes_count: u32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ScopeSpans {
    #[prost(message, optional, tag = "1")]
    pub scope: Option<Scope>,
    #[prost(message, repeated, tag = "2")]
    pub spans: Vec<Span>,
    #[prost(string, tag = "3")]
    pub schema_url: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Scope {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub version: String,
    #[prost(message, repeated, tag = "3")]
    pub attributes: Vec<KeyValue>,
}

#[expect(clippy::struct_field_names, reason = "the names of the specification")]
#[derive(Clone, PartialEq, Message)]
pub(super) struct Span {
    #[prost(bytes = "vec", tag = "1")]
    pub trace_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub span_id: Vec<u8>,
    #[prost(string, tag = "3")]
    pub trace_state: String,
    #[prost(bytes = "vec", tag = "4")]
    pub parent_span_id: Vec<u8>,
    #[prost(string, tag = "5")]
    pub name: String,
    #[prost(enumeration = "SpanKind", tag = "6")]
    pub kind: i32,
    #[prost(fixed64, tag = "7")]
    pub start_time_unix_nano: u64,
    #[prost(fixed64, tag = "8")]
    pub end_time_unix_nano: u64,
    #[prost(message, repeated, tag = "9")]
    pub attributes: Vec<KeyValue>,
    #[prost(uint32, tag = "10")]
    pub dropped_attributes_count: u32,
    #[prost(message, repeated, tag = "11")]
    pub events: Vec<Event>,
    #[prost(message, repeated, tag = "13")]
    pub links: Vec<Link>,
    #[prost(message, optional, tag = "15")]
    pub status: Option<Status>,
    #[prost(fixed32, tag = "16")]
    pub flags: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub(super) enum SpanKind {
    Unspecified = 0,
    Internal = 1,
    Server = 2,
    Client = 3,
    Producer = 4,
    Consumer = 5,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Event {
    #[prost(fixed64, tag = "1")]
    pub time_unix_nano: u64,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(message, repeated, tag = "3")]
    pub attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Link {
    #[prost(bytes = "vec", tag = "1")]
    pub trace_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub span_id: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Status {
    #[prost(string, tag = "2")]
    pub message: String,
    #[prost(int32, tag = "3")]
    pub code: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct KeyValue {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(message, optional, tag = "2")]
    pub value: Option<AnyValue>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct AnyValue {
    #[prost(oneof = "Value", tags = "1, 2, 3, 4, 5, 6, 7")]
    pub value: Option<Value>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(super) enum Value {
    #[prost(string, tag = "1")]
    Text(String),
    #[prost(bool, tag = "2")]
    Bool(bool),
    #[prost(int64, tag = "3")]
    Int(i64),
    #[prost(double, tag = "4")]
    Double(f64),
    #[prost(message, tag = "5")]
    Array(AnyValues),
    #[prost(message, tag = "6")]
    Map(KeyValues),
    #[prost(bytes, tag = "7")]
    Bytes(Vec<u8>),
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct AnyValues {
    #[prost(message, repeated, tag = "1")]
    pub values: Vec<AnyValue>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct KeyValues {
    #[prost(message, repeated, tag = "1")]
    pub values: Vec<KeyValue>,
}

/// `ExportMetricsServiceRequest`, as far as it takes to be one.
#[derive(Clone, PartialEq, Message)]
pub(super) struct MetricsData {
    #[prost(message, repeated, tag = "1")]
    pub resource_metrics: Vec<ResourceMetrics>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ResourceMetrics {
    #[prost(message, optional, tag = "1")]
    pub resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    pub scope_metrics: Vec<ScopeMetrics>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ScopeMetrics {
    #[prost(message, repeated, tag = "2")]
    pub metrics: Vec<Metric>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Metric {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub description: String,
    #[prost(string, tag = "3")]
    pub unit: String,
    /// A sum, whose content does not matter here.
    #[prost(bytes = "vec", tag = "7")]
    pub sum: Vec<u8>,
}

/// `ExportLogsServiceRequest`, as far as it takes to be one.
#[derive(Clone, PartialEq, Message)]
pub(super) struct LogsData {
    #[prost(message, repeated, tag = "1")]
    pub resource_logs: Vec<ResourceLogs>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ResourceLogs {
    #[prost(message, optional, tag = "1")]
    pub resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    pub scope_logs: Vec<ScopeLogs>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ScopeLogs {
    #[prost(message, repeated, tag = "2")]
    pub log_records: Vec<LogRecord>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct LogRecord {
    #[prost(fixed64, tag = "1")]
    pub time_unix_nano: u64,
    #[prost(string, tag = "3")]
    pub severity_text: String,
    #[prost(message, optional, tag = "5")]
    pub body: Option<AnyValue>,
    #[prost(message, repeated, tag = "6")]
    pub attributes: Vec<KeyValue>,
    #[prost(bytes = "vec", tag = "9")]
    pub trace_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "10")]
    pub span_id: Vec<u8>,
}

/// An attribute.
pub(super) fn attribute(key: &str, value: Value) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }) }
}

/// The message that OTLP JSON writes in its usual form.
pub(super) fn traces_of_json(json: &Json) -> TracesData {
    let resource_spans = each(json, "resourceSpans", |of_resource| ResourceSpans {
        resource: Some(Resource {
            attributes: each(&of_resource["resource"], "attributes", attribute_of_json),
            dropped_attributes_count: 0,
        }),
        scope_spans: each(of_resource, "scopeSpans", |scope| ScopeSpans {
            scope: None,
            spans: each(scope, "spans", span_of_json),
            schema_url: String::new(),
        }),
        schema_url: String::new(),
    });
    TracesData { resource_spans }
}

fn span_of_json(json: &Json) -> Span {
    Span {
        trace_id: bytes(&json["traceId"]),
        span_id: bytes(&json["spanId"]),
        parent_span_id: bytes(&json["parentSpanId"]),
        name: text(&json["name"]),
        kind: i32::try_from(json["kind"].as_i64().unwrap()).unwrap(),
        start_time_unix_nano: text(&json["startTimeUnixNano"]).parse().unwrap(),
        end_time_unix_nano: text(&json["endTimeUnixNano"]).parse().unwrap(),
        attributes: each(json, "attributes", attribute_of_json),
        events: each(json, "events", |event| Event {
            time_unix_nano: text(&event["timeUnixNano"]).parse().unwrap(),
            name: text(&event["name"]),
            attributes: each(event, "attributes", attribute_of_json),
        }),
        links: each(json, "links", |link| Link {
            trace_id: bytes(&link["traceId"]),
            span_id: bytes(&link["spanId"]),
        }),
        status: json.get("status").map(|status| Status {
            message: text(&status["message"]),
            code: i32::try_from(status["code"].as_i64().unwrap()).unwrap(),
        }),
        ..Span::default()
    }
}

fn attribute_of_json(json: &Json) -> KeyValue {
    attribute(&text(&json["key"]), value_of_json(&json["value"]))
}

fn value_of_json(json: &Json) -> Value {
    let (kind, value) = json.as_object().unwrap().iter().next().unwrap();
    match kind.as_str() {
        "boolValue" => Value::Bool(value.as_bool().unwrap()),
        "intValue" => Value::Int(text(value).parse().unwrap()),
        "doubleValue" => Value::Double(value.as_f64().unwrap()),
        "arrayValue" => Value::Array(AnyValues {
            values: each(value, "values", |one| AnyValue { value: Some(value_of_json(one)) }),
        }),
        _ => Value::Text(text(value)),
    }
}

/// What `make` makes of each element of a list; of an absent list nothing.
fn each<T>(json: &Json, key: &str, make: impl Fn(&Json) -> T) -> Vec<T> {
    json[key].as_array().into_iter().flatten().map(make).collect()
}

/// A text, empty where it is absent.
fn text(json: &Json) -> String {
    json.as_str().unwrap_or_default().to_owned()
}

/// The bytes that hexadecimal digits write.
fn bytes(json: &Json) -> Vec<u8> {
    let digits = text(json);
    let pairs = (0..digits.len()).step_by(2).map(|at| &digits[at..at + 2]);
    pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}

/// A message of one resource and scope.
pub(super) fn traces(service: &str, spans: Vec<Span>) -> TracesData {
    let service = attribute("service.name", Value::Text(service.to_owned()));
    let resource = Resource { attributes: vec![service], dropped_attributes_count: 0 };
    let scope = ScopeSpans { scope: None, spans, schema_url: String::new() };
    let of_resource = ResourceSpans {
        resource: Some(resource),
        scope_spans: vec![scope],
        schema_url: String::new(),
    };
    TracesData { resource_spans: vec![of_resource] }
}

/// A SERVER span of a quarter second, a child of `parent` unless that is 0.
pub(super) fn span(id: u64, parent: u64) -> Span {
    let parent = if parent == 0 { Vec::new() } else { parent.to_be_bytes().to_vec() };
    Span {
        trace_id: 0x5b8e_fff7_9803_8103_d269_b633_813f_c60c_u128.to_be_bytes().to_vec(),
        span_id: id.to_be_bytes().to_vec(),
        parent_span_id: parent,
        name: "op".to_owned(),
        kind: SpanKind::Server.into(),
        start_time_unix_nano: 1_700_000_000_000_000_001,
        end_time_unix_nano: 1_700_000_000_250_000_002,
        ..Span::default()
    }
}

/// A metrics message.
pub(super) fn metrics() -> MetricsData {
    // A name and a description as long as ids are.
    let metric = Metric {
        name: "process.cpu.time".to_owned(),
        description: "cpu time".to_owned(),
        unit: "s".to_owned(),
        sum: vec![0x10, 0x02],
    };
    let scope = ScopeMetrics { metrics: vec![metric] };
    MetricsData {
        resource_metrics: vec![ResourceMetrics { resource: None, scope_metrics: vec![scope] }],
    }
}

/// A logs message.
pub(super) fn logs() -> LogsData {
    let record = LogRecord {
        time_unix_nano: 1_700_000_000_000_000_000,
        severity_text: "INFO".to_owned(),
        trace_id: vec![1; 16],
        span_id: vec![1; 8],
        ..LogRecord::default()
    };
    let scope = ScopeLogs { log_records: vec![record] };
    LogsData { resource_logs: vec![ResourceLogs { resource: None, scope_logs: vec![scope] }] }
}

/// The message as OTLP JSON.
pub(super) fn to_json(message: &TracesData) -> serde_json::Value {
    let of_resource = |of_resource: &ResourceSpans| {
        let resource = of_resource.resource.clone().unwrap_or_default();
        let scopes = of_resource.scope_spans.iter().map(|scope| {
            serde_json::json!({ "spans": scope.spans.iter().map(span_json).collect::<Vec<_>>() })
        });
        serde_json::json!({
            "resource": { "attributes": attributes_json(&resource.attributes) },
            "scopeSpans": scopes.collect::<Vec<_>>(),
        })
    };
    let all: Vec<_> = message.resource_spans.iter().map(of_resource).collect();
    serde_json::json!({ "resourceSpans": all })
}

fn digit(nibble: u8) -> char {
    char::from_digit(nibble.into(), 16).unwrap()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(digit).collect()
}

fn span_json(span: &Span) -> serde_json::Value {
    let event = |event: &Event| {
        serde_json::json!({
            "timeUnixNano": event.time_unix_nano.to_string(),
            "name": event.name,
            "attributes": attributes_json(&event.attributes),
        })
    };
    let link = |link: &Link| serde_json::json!({ "traceId": hex(&link.trace_id), "spanId": hex(&link.span_id) });
    let status = span.status.clone().unwrap_or_default();
    serde_json::json!({
        "traceId": hex(&span.trace_id),
        "spanId": hex(&span.span_id),
        "parentSpanId": hex(&span.parent_span_id),
        "traceState": span.trace_state,
        "name": span.name,
        "kind": span.kind,
        "startTimeUnixNano": span.start_time_unix_nano.to_string(),
        "endTimeUnixNano": span.end_time_unix_nano,
        "attributes": attributes_json(&span.attributes),
        "events": span.events.iter().map(event).collect::<Vec<_>>(),
        "links": span.links.iter().map(link).collect::<Vec<_>>(),
        "status": { "code": status.code, "message": status.message },
    })
}

fn attributes_json(attributes: &[KeyValue]) -> serde_json::Value {
    let pair = |pair: &KeyValue| {
        serde_json::json!({
            "key": pair.key,
            "value": value_json(&pair.value.clone().unwrap_or_default()),
        })
    };
    attributes.iter().map(pair).collect()
}

fn value_json(value: &AnyValue) -> serde_json::Value {
    match &value.value {
        None => serde_json::json!({}),
        Some(Value::Text(text)) => serde_json::json!({ "stringValue": text }),
        Some(Value::Bool(value)) => serde_json::json!({ "boolValue": value }),
        Some(Value::Int(number)) => serde_json::json!({ "intValue": number.to_string() }),
        Some(Value::Double(number)) if number.is_finite() => {
            serde_json::json!({ "doubleValue": number })
        }
        Some(Value::Double(number)) if number.is_nan() => {
            serde_json::json!({ "doubleValue": "NaN" })
        }
        Some(Value::Double(number)) => {
            let word = if *number > 0.0 { "Infinity" } else { "-Infinity" };
            serde_json::json!({ "doubleValue": word })
        }
        Some(Value::Array(list)) => {
            let values: Vec<_> = list.values.iter().map(value_json).collect();
            serde_json::json!({ "arrayValue": { "values": values } })
        }
        Some(Value::Map(map)) => {
            serde_json::json!({ "kvlistValue": { "values": attributes_json(&map.values) } })
        }
        Some(Value::Bytes(bytes)) => serde_json::json!({ "bytesValue": hex(bytes) }),
    }
}
