//! OTLP in JSON, as the specification writes it and as exporters do: numbers as text or number,
//! enums as number or name, ids in hexadecimal or base64, either spelling of field names.

use std::borrow::Cow;

use super::admit::{Desk, Draft, MAX_LIST_DEPTH, instant, kind_of_number, status_of_number};
use super::json::{Json, JsonError, Shape, without_mark};
use super::outline::Outline;
use super::problems::Code;
use super::scalar;
use crate::conventions::Resource;
use crate::conventions::raw::{Attribute, RawEvent, Value};
use crate::otlp::fields::{
    ArrayField, EventField, KeyValueField, ResourceField, ResourceSpansField, ScopeSpansField,
    SpanField, StatusField, TracesField, ValueField,
};

type Result<T> = std::result::Result<T, JsonError>;

/// The kinds by name, each at its number.
const KINDS: &[&str] = &["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"];
/// The status codes by name, each at its number.
const STATUSES: &[&str] = &["UNSET", "OK", "ERROR"];

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
    /// Jaeger's API puts the message under this.
    Result,
}

fn top_key(key: &str) -> Option<TopKey> {
    match key {
        "result" => Some(TopKey::Result),
        "resourceLogs" | "resource_logs" | "resourceMetrics" | "resource_metrics"
        | "resourceProfiles" | "resource_profiles" => Some(TopKey::Others),
        _ => TracesField::from_name(key).map(|TracesField::ResourceSpans| TopKey::Traces),
    }
}

/// Whether a value that looks so is an OTLP message, or a list of them.
pub(crate) fn claims(outline: &Outline<'_>) -> bool {
    outline.members.iter().any(|(key, member)| match top_key(key) {
        Some(TopKey::Traces | TopKey::Others) => true,
        Some(TopKey::Result) => member.as_ref().is_some_and(|result| {
            let mut keys = result.members.iter();
            !result.in_array && keys.any(|(key, _)| is_signal(key))
        }),
        None => false,
    })
}

fn is_signal(key: &str) -> bool {
    matches!(top_key(key), Some(TopKey::Traces | TopKey::Others))
}

/// Reads a record that holds one document; where that breaks, goes on at the next line that opens
/// an object.
pub(crate) fn read(bytes: &[u8], desk: &mut Desk<'_>) {
    let mut start = bytes.len() - without_mark(bytes).len();
    while let Some(rest) = bytes.get(start..) {
        let mut reader = Reader { json: Json::new(rest), desk, base: start };
        if reader.json.at_end() {
            return;
        }
        let begun = reader.offset();
        let outcome = reader.document();
        let stopped = reader.offset();
        match outcome {
            Ok(()) => {}
            Err(JsonError::CutOff) => desk.note(Code::RecordCutOff, begun),
            Err(JsonError::Syntax) => desk.note(Code::RecordDamaged, stopped),
            Err(JsonError::TooDeep) => desk.note(Code::RecordTooDeep, stopped),
        }
        if outcome.is_ok() {
            start = stopped;
            continue;
        }
        let behind = bytes.get(stopped..).unwrap_or_default();
        match behind.windows(2).position(|pair| pair == b"\n{") {
            Some(at) => start = stopped + at + 1,
            None => return,
        }
    }
}

/// Reads one document.
struct Reader<'a, 'd, 'w> {
    json: Json<'a>,
    desk: &'d mut Desk<'w>,
    /// Where the document's bytes begin in the record.
    base: usize,
}

impl<'a> Reader<'a, '_, '_> {
    /// Where in the record the next byte to be read is.
    const fn offset(&self) -> usize {
        self.base + self.json.position()
    }

    /// Stands at a value that has to be of `shape`. Otherwise goes past it, and counts it unless
    /// it is null, which means absent.
    fn is(&mut self, shape: Shape) -> Result<bool> {
        let found = self.json.shape()?;
        if found == shape {
            return Ok(true);
        }
        self.skip_unexpected(found)?;
        Ok(false)
    }

    fn skip_unexpected(&mut self, found: Shape) -> Result<()> {
        if found != Shape::Null {
            self.desk.note(Code::FieldWrongType, self.offset());
        }
        self.json.skip()
    }

    /// Enters an object.
    fn open_object(&mut self) -> Result<bool> {
        let is_object = self.is(Shape::Object)?;
        if is_object {
            self.json.open()?;
        }
        Ok(is_object)
    }

    /// Enters an array.
    fn open_array(&mut self) -> Result<bool> {
        let is_array = self.is(Shape::Array)?;
        if is_array {
            self.json.open()?;
        }
        Ok(is_array)
    }

    fn text(&mut self) -> Result<Option<Cow<'a, str>>> {
        if !self.is(Shape::Text)? {
            return Ok(None);
        }
        let offset = self.offset();
        let text = self.json.text()?;
        let mended = self.json.take_mended();
        self.desk.note_many(Code::TextNotUtf8, mended, offset);
        Ok(Some(text))
    }

    /// A number or the text of one, as written. Nothing is written as an empty text.
    fn numeral(&mut self) -> Result<Cow<'a, str>> {
        Ok(match self.json.shape()? {
            Shape::Number => Cow::Borrowed(self.json.number()?),
            Shape::Text => self.text()?.unwrap_or_default(),
            found => {
                self.skip_unexpected(found)?;
                Cow::Borrowed("")
            }
        })
    }

    /// Nanoseconds since the epoch; `None` where it is no such number, zero where it is absent.
    fn unix_ns(&mut self) -> Result<Option<i64>> {
        let numeral = self.numeral()?;
        Ok(if numeral.is_empty() { Some(0) } else { scalar::whole_number(&numeral) })
    }

    /// A value of an enum, as number or name, the latter with or without `prefix`; 0 is unset.
    fn enumerator(&mut self, prefix: &str, names: &[&str]) -> Result<i64> {
        let text = self.numeral()?;
        let name = without_prefix(&text, prefix);
        let at = names.iter().position(|known| name.eq_ignore_ascii_case(known));
        let number = at.and_then(|at| i64::try_from(at).ok());
        Ok(number.or_else(|| scalar::whole_number(name)).unwrap_or(0))
    }

    /// A message, or a list of them, as `jq --slurp` makes of lines.
    fn document(&mut self) -> Result<()> {
        if self.json.shape()? == Shape::Array {
            self.json.open()?;
            while self.json.next_element()? {
                self.document()?;
            }
            return Ok(());
        }
        let begun = self.offset();
        let mut signals = Signals::default();
        self.message(&mut signals, true)?;
        if !signals.traces {
            let code = if signals.others { Code::OtherSignal } else { Code::RecordNotOtlp };
            self.desk.note(code, begun);
        }
        Ok(())
    }

    fn message(&mut self, signals: &mut Signals, is_outermost: bool) -> Result<()> {
        if self.json.shape()? != Shape::Object {
            return self.json.skip();
        }
        self.json.open()?;
        while let Some(key) = self.json.next_key()? {
            match top_key(&key) {
                Some(TopKey::Traces) => {
                    signals.traces = true;
                    self.all_resource_spans()?;
                }
                Some(TopKey::Result) if is_outermost => self.message(signals, false)?,
                Some(TopKey::Others) => {
                    signals.others = true;
                    self.json.skip()?;
                }
                _ => self.json.skip()?,
            }
        }
        Ok(())
    }

    fn all_resource_spans(&mut self) -> Result<()> {
        if self.open_array()? {
            while self.json.next_element()? {
                self.resource_spans()?;
            }
        }
        Ok(())
    }

    /// The spans of one resource. Those that stand before it are read once it is known.
    fn resource_spans(&mut self) -> Result<()> {
        let mut resource = None;
        let mut before_resource = Vec::new();
        if !self.open_object()? {
            return Ok(());
        }
        while let Some(key) = self.json.next_key()? {
            match (ResourceSpansField::from_name(&key), resource) {
                (Some(ResourceSpansField::Resource), _) => resource = Some(self.resource()?),
                (
                    Some(ResourceSpansField::ScopeSpans | ResourceSpansField::LibrarySpans),
                    Some(resource),
                ) => {
                    self.all_scope_spans(resource)?;
                }
                (Some(_), None) => {
                    before_resource.push(self.json.position());
                    self.json.skip()?;
                }
                (None, _) => self.json.skip()?,
            }
        }
        if before_resource.is_empty() {
            return Ok(());
        }
        let resource = match resource {
            Some(resource) => resource,
            None => self.desk.resource(&[]),
        };
        for position in before_resource {
            let json = self.json.again_at(position);
            Reader { json, desk: &mut *self.desk, base: self.base }.all_scope_spans(resource)?;
        }
        Ok(())
    }

    fn resource(&mut self) -> Result<Resource> {
        let mut attributes = Vec::new();
        if self.open_object()? {
            while let Some(key) = self.json.next_key()? {
                match ResourceField::from_name(&key) {
                    Some(ResourceField::Attributes) => self.attributes(&mut attributes)?,
                    None => self.json.skip()?,
                }
            }
        }
        Ok(self.desk.resource(&attributes))
    }

    fn all_scope_spans(&mut self, resource: Resource) -> Result<()> {
        if self.open_array()? {
            while self.json.next_element()? {
                self.scope_spans(resource)?;
            }
        }
        Ok(())
    }

    fn scope_spans(&mut self, resource: Resource) -> Result<()> {
        if !self.open_object()? {
            return Ok(());
        }
        while let Some(key) = self.json.next_key()? {
            match ScopeSpansField::from_name(&key) {
                Some(ScopeSpansField::Spans) => {
                    if self.open_array()? {
                        while self.json.next_element()? {
                            self.span(resource)?;
                        }
                    }
                }
                None => self.json.skip()?,
            }
        }
        Ok(())
    }

    fn span(&mut self, resource: Resource) -> Result<()> {
        let found = self.json.shape()?;
        let offset = self.offset();
        let mut draft = Draft::new();
        if found == Shape::Object {
            self.json.open()?;
            while let Some(key) = self.json.next_key()? {
                match SpanField::from_name(&key) {
                    Some(field) => self.span_field(field, &mut draft)?,
                    None => self.json.skip()?,
                }
            }
        } else {
            draft.blame(Code::SpanDamaged);
            self.json.skip()?;
        }
        self.desk.take(&draft, resource, offset);
        Ok(())
    }

    fn span_field(&mut self, field: SpanField, draft: &mut Draft<'a>) -> Result<()> {
        match field {
            SpanField::TraceId => draft.set_trace_id(self.id(scalar::trace_id)?),
            SpanField::SpanId => draft.set_span_id(self.id(scalar::span_id)?),
            SpanField::ParentSpanId => draft.set_parent_id(self.id(scalar::span_id)?),
            SpanField::Name => draft.raw.name = self.text()?.unwrap_or_default(),
            SpanField::Kind => {
                draft.raw.kind = kind_of_number(self.enumerator("SPAN_KIND_", KINDS)?);
            }
            SpanField::Start => draft.set_start(self.unix_ns()?),
            SpanField::End => draft.set_end(self.unix_ns()?),
            SpanField::Attributes => self.attributes(&mut draft.raw.attributes)?,
            SpanField::Events => {
                if self.open_array()? {
                    while self.json.next_element()? {
                        self.event(&mut draft.raw.events)?;
                    }
                }
            }
            SpanField::Links => {
                if self.open_array()? {
                    while self.json.next_element()? {
                        draft.raw.links = draft.raw.links.saturating_add(1);
                        self.json.skip()?;
                    }
                }
            }
            SpanField::Status => self.status(draft)?,
        }
        Ok(())
    }

    /// An id; absent ids are zero, what is no text is no id.
    fn id<T>(
        &mut self,
        read: impl Fn(&str) -> Option<scalar::Id<T>>,
    ) -> Result<Option<scalar::Id<T>>> {
        match self.json.shape()? {
            Shape::Text => Ok(read(&self.json.text()?)),
            Shape::Null => self.json.skip().map(|()| read("")),
            _ => self.json.skip().map(|()| None),
        }
    }

    fn event(&mut self, events: &mut Vec<RawEvent<'a>>) -> Result<()> {
        if !self.open_object()? {
            return Ok(());
        }
        let mut event = RawEvent::default();
        while let Some(key) = self.json.next_key()? {
            match EventField::from_name(&key) {
                Some(EventField::Time) => {
                    event.time = instant(self.unix_ns()?).filter(|time| time.as_nanos() != 0);
                }
                Some(EventField::Name) => event.name = self.text()?.unwrap_or_default(),
                Some(EventField::Attributes) => self.attributes(&mut event.attributes)?,
                None => self.json.skip()?,
            }
        }
        events.push(event);
        Ok(())
    }

    fn status(&mut self, draft: &mut Draft<'a>) -> Result<()> {
        if !self.open_object()? {
            return Ok(());
        }
        while let Some(key) = self.json.next_key()? {
            match StatusField::from_name(&key) {
                Some(StatusField::Message) => {
                    draft.raw.status_message = self.text()?.unwrap_or_default();
                }
                Some(StatusField::Code) => {
                    draft.raw.status = status_of_number(self.enumerator("STATUS_CODE_", STATUSES)?);
                }
                None => self.json.skip()?,
            }
        }
        Ok(())
    }

    fn attributes(&mut self, attributes: &mut Vec<Attribute<'a>>) -> Result<()> {
        if !self.open_array()? {
            return Ok(());
        }
        while self.json.next_element()? {
            if !self.open_object()? {
                continue;
            }
            let mut attribute = (Cow::Borrowed(""), Value::Other);
            while let Some(key) = self.json.next_key()? {
                match KeyValueField::from_name(&key) {
                    Some(KeyValueField::Key) => attribute.0 = self.text()?.unwrap_or_default(),
                    Some(KeyValueField::Value) => attribute.1 = self.value(0)?,
                    None => self.json.skip()?,
                }
            }
            attributes.push(attribute);
        }
        Ok(())
    }

    /// An attribute's value; of several the last. An empty object is a value too.
    fn value(&mut self, list_depth: usize) -> Result<Value<'a>> {
        let mut value = Value::Other;
        if !self.open_object()? {
            return Ok(value);
        }
        while let Some(key) = self.json.next_key()? {
            value = match ValueField::from_name(&key) {
                Some(ValueField::Text) => self.text()?.map_or(Value::Other, Value::Text),
                Some(ValueField::Bool) => {
                    if self.is(Shape::Bool)? {
                        Value::Bool(self.json.bool()?)
                    } else {
                        Value::Other
                    }
                }
                Some(ValueField::Int) => {
                    scalar::whole_number(&self.numeral()?).map_or(Value::Other, Value::Int)
                }
                Some(ValueField::Double) => {
                    scalar::real_number(&self.numeral()?).map_or(Value::Other, Value::Double)
                }
                Some(ValueField::Array) if list_depth < MAX_LIST_DEPTH => self.list(list_depth)?,
                Some(ValueField::Array) | None => {
                    self.json.skip()?;
                    Value::Other
                }
            };
        }
        Ok(value)
    }

    fn list(&mut self, list_depth: usize) -> Result<Value<'a>> {
        let mut elements = Vec::new();
        if self.open_object()? {
            while let Some(key) = self.json.next_key()? {
                match ArrayField::from_name(&key) {
                    Some(ArrayField::Values) => {
                        if self.open_array()? {
                            while self.json.next_element()? {
                                elements.push(self.value(list_depth + 1)?);
                            }
                        }
                    }
                    None => self.json.skip()?,
                }
            }
        }
        Ok(Value::List(elements))
    }
}

/// `text` without `prefix`, whatever its case.
fn without_prefix<'t>(text: &'t str, prefix: &str) -> &'t str {
    match text.split_at_checked(prefix.len()) {
        Some((start, rest)) if start.eq_ignore_ascii_case(prefix) => rest,
        _ => text,
    }
}
