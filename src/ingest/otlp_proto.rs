//! OTLP in protobuf: only the fields that matter, without a copy of the message in between.

use std::borrow::Cow;

use super::admit::{Desk, Draft, MAX_LIST_DEPTH, instant, kind_of_number, status_of_number};
use super::otlp_plain;
use super::problems::Code;
use super::scalar;
use crate::conventions::raw::{Attribute, Key, RawEvent, Value};
use crate::conventions::{Carrier, Resource, Wanted};
use crate::otlp::fields::{
    ArrayField, EventField, KeyValueField, ResourceField, ResourceSpansField, ScopeField,
    ScopeSpansField, SpanField, StatusField, TracesField, ValueField,
};
use crate::otlp::shape::{self, Signal};
use crate::otlp::wire::{self, Fields, Message, WireError};

type Result<T> = std::result::Result<T, WireError>;

/// Reads a record that holds one message, or a part of one between top-level fields; where it is
/// cut off, the spans before the cut.
pub(crate) fn read<'w>(bytes: &'w [u8], desk: &mut Desk<'w>) {
    let mut reader = Reader { desk };
    let mut signals = Vec::new();
    let mut fields = Fields::with_part(Message { bytes, at: 0 });
    let mut offset = 0;
    loop {
        // The error behind a part is told where the part begins.
        if fields.position() < bytes.len() {
            offset = fields.position();
        }
        let outcome = match fields.next() {
            None => break,
            Some(Ok((number, wire::Value::Bytes(entry))))
                if TracesField::from_number(number).is_some() =>
            {
                let signal = shape::signal(entry.bytes);
                signals.push(signal);
                if signal == Signal::Traces { reader.resource_spans(entry) } else { Ok(()) }
            }
            Some(field) => field.map(|_| ()),
        };
        match outcome {
            Ok(()) => {}
            Err(WireError::CutOff) => return reader.desk.note(Code::RecordCutOff, offset),
            Err(WireError::Damaged) => return reader.desk.note(Code::RecordDamaged, offset),
        }
    }
    if signals.is_empty() && !bytes.is_empty() {
        reader.desk.note(Code::RecordNotOtlp, 0);
    } else if signals.contains(&Signal::Others) && !signals.contains(&Signal::Traces) {
        reader.desk.note(Code::OtherSignal, 0);
    }
}

/// Reads messages; what is odd within them goes over the desk.
struct Reader<'d, 'w> {
    desk: &'d mut Desk<'w>,
}

impl<'w> Reader<'_, 'w> {
    /// The spans of one resource, which may stand behind them.
    fn resource_spans(&mut self, message: Message<'w>) -> Result<()> {
        let mut attributes = None;
        for field in Fields::new(message) {
            let (number, value) = match field {
                Ok(field) => field,
                // Spans before the cut are read if it is known whose they are.
                Err(_) if attributes.is_some() => break,
                Err(error) => return Err(error),
            };
            if ResourceSpansField::from_number(number) == Some(ResourceSpansField::Resource)
                && let Some(message) = self.message(value, message.at)
            {
                self.resource(message, attributes.get_or_insert_default())?;
            }
        }
        let resource = self.desk.resource(&attributes.unwrap_or_default());
        for field in Fields::with_part(message) {
            let (number, value) = field?;
            if let Some(ResourceSpansField::ScopeSpans | ResourceSpansField::LibrarySpans) =
                ResourceSpansField::from_number(number)
                && let Some(message) = self.message(value, message.at)
            {
                self.scope_spans(message, resource)?;
            }
        }
        Ok(())
    }

    fn resource(
        &mut self,
        message: Message<'w>,
        attributes: &mut Vec<Attribute<'w>>,
    ) -> Result<()> {
        for field in Fields::new(message) {
            let (number, value) = field?;
            match ResourceField::from_number(number) {
                Some(ResourceField::Attributes) => {
                    if let Some(attribute) = self.message(value, message.at) {
                        self.attribute(Carrier::Resource, attribute, attributes)?;
                    }
                }
                None => {}
            }
        }
        Ok(())
    }

    fn scope_spans(&mut self, message: Message<'w>, resource: Resource) -> Result<()> {
        let mut draft = Draft::new();
        for field in Fields::new(message) {
            let (number, value) = field?;
            match ScopeSpansField::from_number(number) {
                Some(ScopeSpansField::Scope) => {
                    if let Some(scope) = self.message(value, message.at) {
                        self.scope(scope)?;
                    }
                }
                Some(ScopeSpansField::Spans) => {
                    if let Some(span) = self.message(value, message.at) {
                        self.span(span, resource, &mut draft);
                    }
                }
                None => {}
            }
        }
        Ok(())
    }

    /// What a scope says that is not about one span.
    fn scope(&mut self, message: Message<'w>) -> Result<()> {
        let mut attributes = Vec::new();
        for field in Fields::new(message) {
            let (number, value) = field?;
            match ScopeField::from_number(number) {
                Some(ScopeField::Attributes) => {
                    if let Some(attribute) = self.message(value, message.at) {
                        self.attribute(Carrier::Scope, attribute, &mut attributes)?;
                    }
                }
                None => {}
            }
        }
        self.desk.scope(&attributes);
        Ok(())
    }

    /// One span, read into `draft`. Where it is damaged it alone is lost: its neighbours' bounds are
    /// known.
    fn span(&mut self, message: Message<'w>, resource: Resource, draft: &mut Draft<'w>) {
        draft.clear();
        let mut fields = Fields::new(message);
        otlp_plain::span_head(&mut fields, draft);
        loop {
            let outcome = if let Some(attribute) = fields.pass_bytes(SpanField::Attributes.number())
            {
                self.attribute(Carrier::Span, attribute, &mut draft.raw.attributes)
            } else {
                let Some(field) = fields.next() else { break };
                field.and_then(|(number, value)| match SpanField::from_number(number) {
                    Some(field) => self.span_field(field, value, message.at, draft),
                    None => Ok(()),
                })
            };
            if outcome.is_err() {
                draft.blame(Code::SpanDamaged);
            }
        }
        self.desk.take(draft, resource, message.at);
    }

    fn span_field(
        &mut self,
        field: SpanField,
        value: wire::Value<'w>,
        at: usize,
        draft: &mut Draft<'w>,
    ) -> Result<()> {
        match (field, value) {
            (SpanField::TraceId, wire::Value::Bytes(id)) => {
                draft.set_trace_id(Some(scalar::trace_id_of(id.bytes)));
            }
            (SpanField::SpanId, wire::Value::Bytes(id)) => {
                draft.set_span_id(Some(scalar::span_id_of(id.bytes)));
            }
            (SpanField::TraceState, wire::Value::Bytes(text)) => {
                let state = self.text(text);
                draft.set_trace_state(state);
            }
            (SpanField::ParentSpanId, wire::Value::Bytes(id)) => {
                draft.set_parent_id(Some(scalar::span_id_of(id.bytes)));
            }
            (SpanField::Name, wire::Value::Bytes(text)) => draft.raw.name = self.text(text),
            (SpanField::Kind, wire::Value::Varint(number)) => {
                draft.raw.kind = kind_of_number(number.cast_signed());
            }
            (SpanField::Start, wire::Value::Fixed64(time)) => {
                draft.set_start(i64::try_from(time).ok());
            }
            (SpanField::End, wire::Value::Fixed64(time)) => draft.set_end(i64::try_from(time).ok()),
            (SpanField::Attributes, wire::Value::Bytes(attribute)) => {
                self.attribute(Carrier::Span, attribute, &mut draft.raw.attributes)?;
            }
            (SpanField::Events, wire::Value::Bytes(event)) => {
                let event = self.event(event)?;
                draft.raw.events.push(event);
            }
            (SpanField::Links, wire::Value::Bytes(_)) => {
                draft.raw.links = draft.raw.links.saturating_add(1);
            }
            (SpanField::Status, wire::Value::Bytes(status)) => self.status(status, draft)?,
            _ => self.desk.note(Code::FieldWrongType, at),
        }
        Ok(())
    }

    fn event(&mut self, message: Message<'w>) -> Result<RawEvent<'w>> {
        let mut event = RawEvent::default();
        for field in Fields::new(message) {
            let (number, value) = field?;
            match (EventField::from_number(number), value) {
                (Some(EventField::Time), wire::Value::Fixed64(time)) => {
                    let time = instant(i64::try_from(time).ok());
                    event.time = time.filter(|time| time.as_nanos() != 0);
                }
                (Some(EventField::Name), wire::Value::Bytes(text)) => event.name = self.text(text),
                (Some(EventField::Attributes), wire::Value::Bytes(attribute)) => {
                    self.attribute(Carrier::Event, attribute, &mut event.attributes)?;
                }
                (Some(_), _) => self.desk.note(Code::FieldWrongType, message.at),
                (None, _) => {}
            }
        }
        Ok(event)
    }

    fn status(&mut self, message: Message<'w>, draft: &mut Draft<'w>) -> Result<()> {
        for field in Fields::new(message) {
            let (number, value) = field?;
            match (StatusField::from_number(number), value) {
                (Some(StatusField::Message), wire::Value::Bytes(text)) => {
                    draft.raw.status_message = self.text(text);
                }
                (Some(StatusField::Code), wire::Value::Varint(code)) => {
                    draft.raw.status = status_of_number(code.cast_signed());
                }
                (Some(_), _) => self.desk.note(Code::FieldWrongType, message.at),
                (None, _) => {}
            }
        }
        Ok(())
    }

    /// Reads an attribute of `carrier`. One that nothing depends on is not kept.
    #[inline]
    fn attribute(
        &mut self,
        carrier: Carrier,
        message: Message<'w>,
        attributes: &mut Vec<Attribute<'w>>,
    ) -> Result<()> {
        if let Some((key, value)) = otlp_plain::attribute(message.bytes) {
            let key = match self.desk.wanted(carrier, key) {
                Wanted::As(key, place) => Some(Key::known(key, place)),
                Wanted::Yes => std::str::from_utf8(key).ok().map(Key::from),
                // What is not UTF-8 is told even there.
                Wanted::No if key.is_ascii() && value.is_ascii() => return Ok(()),
                Wanted::No => None,
            };
            if let Some(attribute) = key.and_then(|key| Some((key, value.read()?))) {
                attributes.push(attribute);
                return Ok(());
            }
        }
        self.odd_attribute(carrier, message, attributes)
    }

    /// The same, however it is written.
    fn odd_attribute(
        &mut self,
        carrier: Carrier,
        message: Message<'w>,
        attributes: &mut Vec<Attribute<'w>>,
    ) -> Result<()> {
        let mut attribute = (Key::from(""), Value::Other);
        for field in Fields::new(message) {
            let (number, value) = field?;
            match (KeyValueField::from_number(number), value) {
                (Some(KeyValueField::Key), wire::Value::Bytes(key)) => {
                    attribute.0 = self.text(key).into();
                }
                (Some(KeyValueField::Value), wire::Value::Bytes(value)) => {
                    attribute.1 = self.value(value, 0)?;
                }
                (Some(_), _) => self.desk.note(Code::FieldWrongType, message.at),
                (None, _) => {}
            }
        }
        if self.desk.wanted(carrier, attribute.0.as_bytes()) != Wanted::No {
            attributes.push(attribute);
        }
        Ok(())
    }

    /// An attribute's value; of several the last. An empty message is a value too.
    fn value(&mut self, message: Message<'w>, list_depth: usize) -> Result<Value<'w>> {
        let mut found = Value::Other;
        for field in Fields::new(message) {
            let (number, value) = field?;
            found = match (ValueField::from_number(number), value) {
                (Some(ValueField::Text), wire::Value::Bytes(text)) => Value::Text(self.text(text)),
                (Some(ValueField::Bool), wire::Value::Varint(number)) => Value::Bool(number != 0),
                (Some(ValueField::Int), wire::Value::Varint(number)) => {
                    Value::Int(number.cast_signed())
                }
                (Some(ValueField::Double), wire::Value::Fixed64(bits)) => {
                    Value::Double(f64::from_bits(bits))
                }
                (Some(ValueField::Array), wire::Value::Bytes(list))
                    if list_depth < MAX_LIST_DEPTH =>
                {
                    self.list(list, list_depth)?
                }
                _ => Value::Other,
            };
        }
        Ok(found)
    }

    fn list(&mut self, message: Message<'w>, list_depth: usize) -> Result<Value<'w>> {
        let mut elements = Vec::new();
        for field in Fields::new(message) {
            let (number, value) = field?;
            match ArrayField::from_number(number) {
                Some(ArrayField::Values) => {
                    if let Some(element) = self.message(value, message.at) {
                        elements.push(self.value(element, list_depth + 1)?);
                    }
                }
                None => {}
            }
        }
        Ok(Value::List(elements))
    }

    /// The message that `value` has to be; otherwise it is counted, at `at`.
    fn message(&mut self, value: wire::Value<'w>, at: usize) -> Option<Message<'w>> {
        if let wire::Value::Bytes(message) = value {
            return Some(message);
        }
        self.desk.note(Code::FieldWrongType, at);
        None
    }

    fn text(&mut self, message: Message<'w>) -> Cow<'w, str> {
        if let Ok(text) = std::str::from_utf8(message.bytes) {
            return Cow::Borrowed(text);
        }
        self.desk.note(Code::TextNotUtf8, message.at);
        Cow::Owned(String::from_utf8_lossy(message.bytes).into_owned())
    }
}
