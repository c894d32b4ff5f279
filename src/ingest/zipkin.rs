//! Zipkin's JSON, version 2: spans in a list, lists of traces, or either on a line each. Times are
//! microseconds, tags are texts, and both halves of a call may have one id: `shared_ids` parts them.

use std::borrow::Cow;
use std::net::IpAddr;

use super::admit::{Desk, Draft, instant};
use super::document::{Document, Micros, Result, read_all};
use super::json::Shape;
use super::outline::Outline;
use super::problems::Code;
use super::scalar;
use crate::conventions::Resource;
use crate::conventions::raw::{Attribute, RawEvent, Status, Value};
use crate::span::Kind;

/// The resource attribute under which the host's address tells the clock.
const HOST_KEY: &str = "host.name";
/// The tag whose presence tells a failure, whatever it says.
pub(super) const ERROR_TAG: &str = "error";

/// Whether a value that looks so is a Zipkin span, or a list of them.
pub(crate) fn claims(outline: &Outline<'_>) -> bool {
    outline.has("traceId") && outline.has("id")
}

/// Reads a record: spans, or lists of them.
pub(crate) fn read(bytes: &[u8], desk: &mut Desk<'_>) {
    read_all(bytes, desk, |document| spans(document, &span));
}

/// Reads spans in lists of any depth, each by `span`.
pub(super) fn spans<'a>(
    document: &mut Document<'a, '_, '_>,
    span: &impl Fn(&mut Document<'a, '_, '_>) -> Result<()>,
) -> Result<()> {
    match document.json.shape()? {
        Shape::Array => {
            document.json.open()?;
            while document.json.next_element()? {
                spans(document, span)?;
            }
            Ok(())
        }
        Shape::Object => span(document),
        _ => {
            let offset = document.offset();
            document.json.skip()?;
            let mut draft = Draft::new();
            draft.blame(Code::SpanDamaged);
            let resource = document.desk.resource(&[]);
            document.desk.take(&draft, resource, offset);
            Ok(())
        }
    }
}

/// Where a service can be reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Endpoint<'a> {
    /// Its name; empty where there is none.
    pub service: Cow<'a, str>,
    /// Its address.
    pub address: Option<IpAddr>,
    /// Its port.
    port: Option<i64>,
}

impl<'a> Endpoint<'a> {
    /// The endpoint that comes next; `None` where it is absent.
    pub(super) fn read(document: &mut Document<'a, '_, '_>) -> Result<Option<Self>> {
        if !document.open_object()? {
            return Ok(None);
        }
        let mut endpoint = Self::default();
        let mut v6 = None;
        while let Some(key) = document.next_key()? {
            match key.as_ref() {
                "serviceName" => endpoint.service = document.text()?,
                "ipv4" => endpoint.address = address(&document.text()?),
                "ipv6" => v6 = address(&document.text()?),
                "port" => {
                    let port = scalar::whole_number(&document.numeral()?);
                    endpoint.port = port.filter(|&port| port != 0);
                }
                _ => document.json.skip()?,
            }
        }
        endpoint.address = endpoint.address.or(v6);
        Ok(Some(endpoint))
    }

    /// What it tells of its spans. An address that every host has says nothing about clocks.
    pub(super) fn resource(&self, desk: &mut Desk<'_>) -> Resource {
        let service = ("service.name".into(), Value::Text(self.service.clone()));
        let of_one_host = |address: &IpAddr| !address.is_loopback() && !address.is_unspecified();
        let host = self.address.filter(of_one_host);
        let host = host.map(|address| (HOST_KEY.into(), Value::Text(address.to_string().into())));
        let attributes: Vec<Attribute<'_>> = [Some(service), host].into_iter().flatten().collect();
        desk.resource(&attributes)
    }

    /// What it tells of the span that called it. The address only where it has no name: each
    /// instance of a service has another.
    pub(super) fn describe_callee(self, attributes: &mut Vec<Attribute<'a>>) {
        if !self.service.is_empty() {
            attributes.push(("peer.service".into(), Value::Text(self.service)));
            return;
        }
        let address = self.address.map(|address| Value::Text(address.to_string().into()));
        attributes.extend(address.map(|address| ("network.peer.address".into(), address)));
        attributes.extend(self.port.map(|port| ("net.peer.port".into(), Value::Int(port))));
    }
}

/// The address that `text` writes, if it is one; the same for both ways to write one of version 4.
fn address(text: &str) -> Option<IpAddr> {
    text.parse().ok().map(|address: IpAddr| address.to_canonical())
}

/// The fields that spans of both versions have.
#[derive(Debug)]
pub(super) struct Common<'a> {
    /// Ids, name, attributes and events.
    pub draft: Draft<'a>,
    /// When it started.
    pub start: Micros,
    /// How long it took.
    pub duration: Micros,
}

impl<'a> Common<'a> {
    /// Nothing found yet.
    pub(super) fn new() -> Self {
        Self { draft: Draft::new(), start: Micros::Absent, duration: Micros::Absent }
    }

    /// Reads the field, or goes past it.
    pub(super) fn read_field(
        &mut self,
        key: &str,
        document: &mut Document<'a, '_, '_>,
    ) -> Result<()> {
        match key {
            "traceId" => self.draft.set_trace_id(document.id(scalar::trace_id)?),
            "id" => self.draft.set_span_id(document.id(scalar::span_id)?),
            "parentId" => self.draft.set_parent_id(document.id(scalar::span_id)?),
            "name" => self.draft.raw.name = document.text()?,
            "timestamp" => self.start = document.micros()?,
            "duration" => self.duration = document.micros()?,
            _ => document.json.skip()?,
        }
        Ok(())
    }
}

/// Sets start and end.
pub(super) fn set_times(draft: &mut Draft<'_>, start: Micros, duration: Micros) {
    draft.set_start(start.nanos_or_zero());
    match duration {
        Micros::Absent => draft.lack_end(),
        Micros::Invalid => draft.blame(Code::EndInvalid),
        Micros::Nanos(nanos) => {
            let start_ns = draft.raw.start.as_nanos();
            draft.set_end(start_ns.checked_add(nanos));
        }
    }
}

/// The status that tags tell. Zipkin's own instrumentation writes an HTTP status only where that is
/// no success, so that silence means success. OpenTelemetry's exporters tell what they are, and the
/// status as OpenTelemetry has it.
pub(super) fn set_status(draft: &mut Draft<'_>) {
    let raw = &mut draft.raw;
    let text_of = |wanted: &str| {
        raw.attributes.iter().find(|(key, _)| *key == *wanted).map(|(_, value)| match value {
            Value::Text(text) => text.clone(),
            _ => Cow::Borrowed(""),
        })
    };
    let error = text_of(ERROR_TAG);
    let code = text_of("otel.status_code").unwrap_or_default();
    let is_opentelemetry = raw.attributes.iter().any(|(key, _)| key.starts_with("otel."));
    raw.status = if error.is_some() || code.eq_ignore_ascii_case("ERROR") {
        Status::Error
    } else if !is_opentelemetry || code.eq_ignore_ascii_case("OK") {
        Status::Ok
    } else {
        Status::Unset
    };
    let description = text_of("otel.status_description");
    raw.status_message = error.or(description).unwrap_or_default();
}

/// The event behind an annotation. OpenTelemetry's SDKs write attributes as `"name": {...}`, its
/// collector as `name|{...}|dropped`.
pub(super) fn event(text: Cow<'_, str>, time: Micros) -> RawEvent<'_> {
    let time = instant(time.nanos_or_zero()).filter(|time| time.as_nanos() != 0);
    let of_sdk = || {
        let named: serde_json::Map<String, serde_json::Value> =
            text.starts_with('"').then(|| serde_json::from_str(&format!("{{{text}}}")).ok())??;
        let (name, attributes) = named.into_iter().next()?;
        Some((name, attributes.as_object()?.clone()))
    };
    let of_collector = || {
        let (name, rest) = text.split_once("|{")?;
        let (attributes, _) = rest.rsplit_once('|')?;
        let attributes = serde_json::from_str(&format!("{{{attributes}")).ok()?;
        Some((name.to_owned(), attributes))
    };
    match of_sdk().or_else(of_collector) {
        Some((name, attributes)) => RawEvent {
            name: name.into(),
            time,
            attributes: attributes.into_iter().map(attribute).collect(),
        },
        None => RawEvent { name: text, time, attributes: Vec::new() },
    }
}

fn attribute((key, value): (String, serde_json::Value)) -> Attribute<'static> {
    let value = match value {
        serde_json::Value::String(text) => Value::Text(text.into()),
        serde_json::Value::Bool(truth) => Value::Bool(truth),
        serde_json::Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(number), _) => Value::Int(number),
            (None, Some(number)) => Value::Double(number),
            (None, None) => Value::Other,
        },
        _ => Value::Other,
    };
    (key.into(), value)
}

/// The kind that `name` names.
fn kind(name: &str) -> Kind {
    let kinds = [
        ("CLIENT", Kind::Client),
        ("SERVER", Kind::Server),
        ("PRODUCER", Kind::Producer),
        ("CONSUMER", Kind::Consumer),
    ];
    let found = kinds.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map_or(Kind::Internal, |&(_, kind)| kind)
}

/// One span of version 2.
fn span(document: &mut Document<'_, '_, '_>) -> Result<()> {
    let offset = document.offset();
    let mut common = Common::new();
    let mut local = None;
    let mut remote = None;
    let mut is_shared = false;
    document.json.open()?;
    while let Some(key) = document.next_key()? {
        match key.as_ref() {
            "kind" => common.draft.raw.kind = kind(&document.text()?),
            "localEndpoint" => local = Endpoint::read(document)?,
            "remoteEndpoint" => remote = Endpoint::read(document)?,
            "shared" => is_shared = document.truth()?,
            "tags" => tags(document, &mut common.draft.raw.attributes)?,
            "annotations" => annotations(document, &mut common.draft.raw.events)?,
            key => common.read_field(key, document)?,
        }
    }
    let Common { mut draft, start, duration } = common;
    // Only who receives a call takes its sender's id.
    if is_shared && draft.raw.kind == Kind::Internal {
        draft.raw.kind = Kind::Server;
    }
    draft.raw.may_share_id = draft.raw.kind.receives();
    if let Some(remote) = remote.filter(|_| draft.raw.kind.sends()) {
        remote.describe_callee(&mut draft.raw.attributes);
    }
    set_status(&mut draft);
    set_times(&mut draft, start, duration);
    let resource = local.unwrap_or_default().resource(document.desk);
    document.desk.take(&draft, resource, offset);
    Ok(())
}

fn tags<'a>(
    document: &mut Document<'a, '_, '_>,
    attributes: &mut Vec<Attribute<'a>>,
) -> Result<()> {
    if document.open_object()? {
        while let Some(key) = document.next_key()? {
            attributes.push((key.into(), document.value()?));
        }
    }
    Ok(())
}

fn annotations<'a>(
    document: &mut Document<'a, '_, '_>,
    events: &mut Vec<RawEvent<'a>>,
) -> Result<()> {
    document.each_object(|document| {
        let mut text = Cow::Borrowed("");
        let mut time = Micros::Absent;
        while let Some(key) = document.next_key()? {
            match key.as_ref() {
                "value" => text = document.text()?,
                "timestamp" => time = document.micros()?,
                _ => document.json.skip()?,
            }
        }
        events.push(event(text, time));
        Ok(())
    })
}
