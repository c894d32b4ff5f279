//! Jaeger's own JSON: answers of its query API, which are also what its UI downloads, and traces
//! by themselves, in lists or in lines.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::admit::{Desk, Draft, instant};
use super::document::{Document, Micros, Result, read_all};
use super::json::{Json, Shape};
use super::outline::Outline;
use super::problems::Code;
use super::scalar::{self, Id};
use crate::conventions::raw::{Attribute, Key, RawEvent, Status, Value};
use crate::conventions::{Resource, tells_of_moved_times};
use crate::span::{Kind, SpanId, TraceId};

/// Under this attribute Jaeger puts warnings where it answers in OTLP.
const WARNINGS: &str = "@jaeger@warnings";

/// What an answer of its API holds.
const ANSWER_KEYS: [&str; 5] = ["data", "total", "limit", "offset", "errors"];

/// Whether a value that looks so holds traces of Jaeger's, or is an answer without any.
pub(crate) fn claims(outline: &Outline<'_>) -> bool {
    let has_only_answer_keys =
        || outline.members.iter().all(|(key, _)| ANSWER_KEYS.contains(&key.as_ref()));
    let is_answer = || match outline.member("data") {
        Some(data) => {
            let is_empty = data.in_array && data.members.is_empty();
            is_trace(data) || is_empty && has_only_answer_keys()
        }
        None => outline.has("data") && outline.has("errors"),
    };
    is_trace(outline) || is_answer()
}

fn is_trace(outline: &Outline<'_>) -> bool {
    outline.member("spans").is_some_and(|spans| {
        let is_named = outline.has("traceID") || outline.has("processes");
        spans.in_array && (is_named || spans.has("operationName"))
    })
}

/// Reads a record.
pub(crate) fn read(bytes: &[u8], desk: &mut Desk<'_>) {
    read_all(bytes, desk, answers);
}

/// An answer, a trace, or a list of either.
fn answers(document: &mut Document<'_, '_, '_>) -> Result<()> {
    match document.json.shape()? {
        Shape::Object => answer_or_trace(document),
        Shape::Array => {
            document.json.open()?;
            while document.json.next_element()? {
                answers(document)?;
            }
            Ok(())
        }
        _ => {
            document.desk.note(Code::RecordNotJaeger, document.offset());
            document.json.skip()
        }
    }
}

/// What a trace says of all its spans, which stand before most of it.
#[derive(Debug, Default)]
struct Trace<'a> {
    /// Its id, for spans that have none.
    id: Option<Id<TraceId>>,
    /// Where its spans are.
    spans: Vec<Json<'a>>,
    /// What made them, by the name that they use.
    processes: FxHashMap<Cow<'a, str>, Resource>,
    /// What Jaeger remarks on all of them.
    warnings: Vec<Value<'a>>,
    /// It breaks off, so processes may be missing.
    breaks_off: bool,
}

fn answer_or_trace(document: &mut Document<'_, '_, '_>) -> Result<()> {
    let begun = document.offset();
    let mut trace = Trace::default();
    let mut is_answer = false;
    let outcome = members(document, &mut trace, &mut is_answer);
    if outcome.is_ok() && trace.spans.is_empty() && !is_answer {
        document.desk.note(Code::RecordNotJaeger, begun);
    }
    trace.breaks_off = outcome.is_err();
    for json in std::mem::take(&mut trace.spans) {
        let read = document.again(json).each_element(|document| span(document, &trace));
        // What breaks off here broke off before.
        if read.is_err() {
            break;
        }
    }
    outcome
}

/// Reads all of an answer, or all of a trace but its spans.
fn members<'a>(
    document: &mut Document<'a, '_, '_>,
    trace: &mut Trace<'a>,
    is_answer: &mut bool,
) -> Result<()> {
    document.json.open()?;
    while let Some(key) = document.next_key()? {
        match key.as_ref() {
            "data" => {
                *is_answer = true;
                match document.json.shape()? {
                    Shape::Null => document.json.skip()?,
                    _ => answers(document)?,
                }
            }
            "errors" => *is_answer |= errors(document)?,
            "traceID" => trace.id = document.id(trace_id)?,
            "spans" => {
                let start = document.json.position();
                trace.spans.push(document.json.again_at(start));
                document.json.skip()?;
            }
            "processes" => {
                if document.open_object()? {
                    while let Some(name) = document.next_key()? {
                        let process = process(document)?;
                        trace.processes.insert(name, process);
                    }
                }
            }
            "warnings" => {
                warnings(document, &mut trace.warnings)?;
                // One that matters is enough for all spans.
                trace.warnings.retain(tells_of_moved_times);
                trace.warnings.truncate(1);
            }
            _ => document.json.skip()?,
        }
    }
    Ok(())
}

/// Whether there are any; they are counted and not read, since content may be private.
fn errors(document: &mut Document<'_, '_, '_>) -> Result<bool> {
    let offset = document.offset();
    let mut count = 0;
    document.each_element(|document| {
        count += 1;
        document.json.skip()
    })?;
    document.desk.note_many(Code::AnswerHasErrors, count, offset);
    Ok(count > 0)
}

fn process(document: &mut Document<'_, '_, '_>) -> Result<Resource> {
    let mut attributes = Vec::new();
    if document.open_object()? {
        while let Some(key) = document.next_key()? {
            match key.as_ref() {
                "serviceName" => {
                    // Before any tag of that name.
                    let service = document.text()?;
                    attributes.insert(0, ("service.name".into(), Value::Text(service)));
                }
                "tags" => tags(document, &mut attributes)?,
                _ => document.json.skip()?,
            }
        }
    }
    Ok(document.desk.resource(&attributes))
}

fn warnings<'a>(document: &mut Document<'a, '_, '_>, warnings: &mut Vec<Value<'a>>) -> Result<()> {
    document.each_element(|document| {
        warnings.push(Value::Text(document.text()?));
        Ok(())
    })
}

/// What else a span says than fits a draft at once.
#[derive(Debug, Default)]
struct Rest<'a> {
    references: Vec<Reference>,
    /// The parent as older versions name it.
    parent_id: Option<Id<SpanId>>,
    start: Micros,
    duration: Micros,
    /// The name of its process.
    process_id: Cow<'a, str>,
    /// Its process, where that stands in the span.
    process: Option<Resource>,
    warnings: Vec<Value<'a>>,
}

fn span<'a>(document: &mut Document<'a, '_, '_>, trace: &Trace<'a>) -> Result<()> {
    let found = document.json.shape()?;
    let offset = document.offset();
    let mut draft = Draft::new();
    let mut rest = Rest::default();
    if found == Shape::Object {
        document.json.open()?;
        while let Some(key) = document.next_key()? {
            span_field(document, &key, &mut draft, &mut rest)?;
        }
        if draft.raw.trace_id == TraceId(0) && trace.id.is_some() {
            draft.set_trace_id(trace.id);
        }
        rest.warnings.extend(trace.warnings.iter().cloned());
        if !rest.warnings.is_empty() {
            let warnings = Value::List(std::mem::take(&mut rest.warnings));
            draft.raw.attributes.push((WARNINGS.into(), warnings));
        }
        set_times(&mut draft, &rest);
        set_parent(&mut draft, &rest);
        heed_tags(&mut draft);
    } else {
        draft.blame(Code::SpanDamaged);
        document.json.skip()?;
    }
    let known = trace.processes.get(&rest.process_id).copied().or(rest.process);
    if known.is_none() && trace.breaks_off {
        draft.blame(Code::ProcessesLost);
    }
    let resource = known.unwrap_or_else(|| document.desk.resource(&[]));
    document.desk.take(&draft, resource, offset);
    Ok(())
}

fn span_field<'a>(
    document: &mut Document<'a, '_, '_>,
    key: &str,
    draft: &mut Draft<'a>,
    rest: &mut Rest<'a>,
) -> Result<()> {
    match key {
        "traceID" => draft.set_trace_id(document.id(trace_id)?),
        "spanID" => draft.set_span_id(document.id(span_id)?),
        "parentSpanID" => rest.parent_id = document.id(span_id)?,
        "operationName" => draft.raw.name = document.text()?,
        "references" => document.each_element(|document| {
            rest.references.push(reference(document)?);
            Ok(())
        })?,
        "startTime" => rest.start = document.micros()?,
        "duration" => rest.duration = document.micros()?,
        "tags" => tags(document, &mut draft.raw.attributes)?,
        "logs" => document.each_element(|document| {
            draft.raw.events.push(log(document)?);
            Ok(())
        })?,
        "processID" => rest.process_id = document.text()?,
        "process" => rest.process = Some(process(document)?),
        "warnings" => warnings(document, &mut rest.warnings)?,
        _ => document.json.skip()?,
    }
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "other formats have texts that are no ids")]
fn trace_id(text: &str) -> Option<Id<TraceId>> {
    Some(scalar::hex_trace_id(text))
}

#[expect(clippy::unnecessary_wraps, reason = "other formats have texts that are no ids")]
fn span_id(text: &str) -> Option<Id<SpanId>> {
    Some(scalar::hex_span_id(text))
}

/// A span that another refers to.
#[derive(Debug, Default)]
struct Reference {
    is_child_of: bool,
    is_follows_from: bool,
    /// `None` where it names no trace, and means its own.
    trace: Option<Id<TraceId>>,
    span: Option<Id<SpanId>>,
}

impl Reference {
    fn is_into(&self, trace: TraceId) -> bool {
        self.trace.is_none_or(|named| named.id == trace || named.id == TraceId(0))
    }
}

fn reference(document: &mut Document<'_, '_, '_>) -> Result<Reference> {
    let mut reference = Reference::default();
    if document.open_object()? {
        while let Some(key) = document.next_key()? {
            match key.as_ref() {
                "refType" => {
                    let kind = document.text()?;
                    reference.is_child_of = kind.eq_ignore_ascii_case("CHILD_OF");
                    reference.is_follows_from = kind.eq_ignore_ascii_case("FOLLOWS_FROM");
                }
                "traceID" => reference.trace = document.id(trace_id)?,
                "spanID" => reference.span = document.id(span_id)?,
                _ => document.json.skip()?,
            }
        }
    }
    Ok(reference)
}

/// Takes one reference as the parent, if any will do; the others are links.
fn set_parent(draft: &mut Draft<'_>, rest: &Rest<'_>) {
    let trace = draft.raw.trace_id;
    let first = |is_wanted: &dyn Fn(&Reference) -> bool| {
        let mut references = rest.references.iter().filter(|reference| is_wanted(reference));
        references.find_map(|reference| reference.span.filter(|span| span.id != SpanId(0)))
    };
    let referred = first(&|reference| reference.is_child_of && reference.is_into(trace))
        .or_else(|| first(&|reference| reference.is_child_of))
        .or_else(|| first(&|reference| reference.is_follows_from && reference.is_into(trace)));
    let links = rest.references.len() - usize::from(referred.is_some());
    draft.raw.links = u32::try_from(links).unwrap_or(u32::MAX);
    if let Some(parent) = referred.or(rest.parent_id) {
        draft.set_parent_id(Some(parent));
    }
}

/// Times are microseconds. Some traces count them from zero, where zero is a start.
fn set_times(draft: &mut Draft<'_>, rest: &Rest<'_>) {
    if rest.start == Micros::Absent {
        return;
    }
    let start = rest.start.nanos();
    draft.set_start_from_zero(start);
    match rest.duration {
        Micros::Absent => draft.lack_end(),
        duration => {
            let both = start.zip(duration.nanos());
            draft.set_end(both.and_then(|(start, duration)| start.checked_add(duration)));
        }
    }
}

/// Takes what other formats have fields for from the tags.
fn heed_tags(draft: &mut Draft<'_>) {
    let raw = &mut draft.raw;
    let mut failed = false;
    let mut error = None;
    for (key, value) in &raw.attributes {
        match (key.as_ref(), value) {
            ("span.kind", Value::Text(name)) => raw.kind = kind(name),
            ("error", Value::Bool(is_error)) => failed |= is_error,
            ("error", Value::Text(text)) if text.eq_ignore_ascii_case("true") => failed = true,
            ("error", Value::Text(text)) if text.eq_ignore_ascii_case("false") => {}
            ("error", Value::Text(text)) => error = Some(text.clone()),
            ("otel.status_code", Value::Text(code)) if code.eq_ignore_ascii_case("ERROR") => {
                failed = true;
            }
            ("otel.status_code", Value::Text(code)) if code.eq_ignore_ascii_case("OK") => {
                raw.status = Status::Ok;
            }
            ("otel.status_description", Value::Text(text)) => raw.status_message = text.clone(),
            _ => {}
        }
    }
    if failed {
        raw.status = Status::Error;
    }
    // A text says what went wrong, as `error.type` does.
    if let Some(error) = error {
        raw.attributes.push(("error.type".into(), Value::Text(error)));
    }
}

fn kind(name: &str) -> Kind {
    let kinds = [
        ("server", Kind::Server),
        ("client", Kind::Client),
        ("producer", Kind::Producer),
        ("consumer", Kind::Consumer),
    ];
    let mut known = kinds.into_iter();
    known.find(|(word, _)| name.eq_ignore_ascii_case(word)).map_or(Kind::Internal, |(_, kind)| kind)
}

fn log<'a>(document: &mut Document<'a, '_, '_>) -> Result<RawEvent<'a>> {
    let mut event = RawEvent::default();
    if document.open_object()? {
        while let Some(key) = document.next_key()? {
            match key.as_ref() {
                "timestamp" => {
                    let time = instant(document.micros()?.nanos());
                    event.time = time.filter(|time| time.as_nanos() != 0);
                }
                "fields" => tags(document, &mut event.attributes)?,
                _ => document.json.skip()?,
            }
        }
    }
    let named = ["event", "message"].iter().find_map(|name| {
        event.attributes.iter().find_map(|(key, value)| match value {
            Value::Text(text) if *key == **name => Some(text.clone()),
            _ => None,
        })
    });
    event.name = named.unwrap_or_default();
    if event.name == "error" {
        become_exception(&mut event);
    }
    Ok(event)
}

/// An error as older clients tell it, under the names that OpenTelemetry has for an exception.
fn become_exception(event: &mut RawEvent<'_>) {
    event.name = Cow::Borrowed("exception");
    for (key, _) in &mut event.attributes {
        match &**key {
            "error.kind" => *key = "exception.type".into(),
            "error.object" | "message" => *key = "exception.message".into(),
            _ => {}
        }
    }
}

fn tags<'a>(
    document: &mut Document<'a, '_, '_>,
    attributes: &mut Vec<Attribute<'a>>,
) -> Result<()> {
    document.each_object(|document| {
        let mut attribute = (Key::from(""), Value::Other);
        let mut written_type = Cow::Borrowed("");
        while let Some(key) = document.next_key()? {
            match key.as_ref() {
                "key" => attribute.0 = document.text()?.into(),
                "type" => written_type = document.text()?,
                "value" => attribute.1 = document.value()?,
                _ => document.json.skip()?,
            }
        }
        attribute.1 = of_type(attribute.1, &written_type);
        attributes.push(attribute);
        Ok(())
    })
}

/// A value that is written as text though its type is another; a text that is none of its type
/// stays.
fn of_type<'a>(value: Value<'a>, written_type: &str) -> Value<'a> {
    let Value::Text(text) = &value else { return value };
    let is = |known: &str| written_type.eq_ignore_ascii_case(known);
    let typed = if is("int64") {
        scalar::whole_number(text).map(Value::Int)
    } else if is("float64") {
        scalar::real_number(text).map(Value::Double)
    } else if is("bool") {
        let is_word = |word: &str| text.eq_ignore_ascii_case(word);
        (is_word("true") || is_word("false")).then(|| Value::Bool(is_word("true")))
    } else if is("binary") {
        Some(Value::Other)
    } else {
        None
    };
    typed.unwrap_or(value)
}
