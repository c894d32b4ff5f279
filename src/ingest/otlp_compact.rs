//! The parts of OTLP in JSON as nearly every exporter writes them: without white space, each
//! object's fields in the order of the specification, names in its spelling, texts without escapes.
//! They are matched by what is always the same in them, and only what anybody reads is looked at.
//! Whatever is written otherwise is left where it stands, for the reader that takes anything.

use super::admit::{Draft, kind_of, kind_of_number, status_of_number};
use super::json::Json;
use super::scalar::{self, Id};
use crate::conventions::Wanted;
use crate::conventions::raw::{Attribute, Key, Value};

/// The attributes that come next in an array, up to one that is written otherwise: those whose keys
/// are wanted.
pub(crate) fn attributes<'a, 'w>(
    json: &mut Json<'a>,
    wanted: impl Fn(&[u8]) -> Wanted<'w>,
    attributes: &mut Vec<Attribute<'a>>,
) {
    // An attribute is an object, and its value another.
    if json.has_room(2) {
        while json.attempt(|json| attribute(json, &wanted, attributes)).is_some() {}
    }
}

/// An attribute, which is kept if it is wanted. `None` where it is written otherwise.
#[inline]
fn attribute<'a, 'w>(
    json: &mut Json<'a>,
    wanted: impl Fn(&[u8]) -> Wanted<'w>,
    attributes: &mut Vec<Attribute<'a>>,
) -> Option<()> {
    json.pass_comma()?;
    json.pass(b"{\"key\":\"")?;
    let key = json.plain_text()?;
    let key = match wanted(key.as_bytes()) {
        Wanted::No => None,
        Wanted::Yes => Some(key.into()),
        Wanted::As(_, place) => Some(Key::known(key, place)),
    };
    let value = if json.pass(b",\"value\":{\"stringValue\":\"").is_some() {
        Value::Text(json.plain_text()?.into())
    } else {
        json.pass(b",\"value\":{\"")?;
        other_value(json)?
    };
    json.pass(b"}}")?;
    attributes.extend(key.map(|key| (key, value)));
    Some(())
}

/// A value that is no text, behind the quote of its type's name.
fn other_value<'a>(json: &mut Json<'a>) -> Option<Value<'a>> {
    match json.peek()? {
        b"i" => {
            json.pass(b"intValue\":")?;
            if json.pass(b"\"").is_some() {
                let number = json.plain_digits()?;
                json.pass(b"\"")?;
                return Some(Value::Int(number));
            }
            json.plain_number().map(Value::Int)
        }
        b"b" => {
            json.pass(b"boolValue\":")?;
            let is_true = json.pass(b"true").is_some();
            if !is_true {
                json.pass(b"false")?;
            }
            Some(Value::Bool(is_true))
        }
        b"d" => {
            json.pass(b"doubleValue\":")?;
            scalar::real_number(json.number().ok()?).map(Value::Double)
        }
        _ => None,
    }
}

/// The fields of a span that stand before its attributes, and the name of that field. It stands at
/// its value if that was there.
pub(crate) fn span_head<'a>(json: &mut Json<'a>, draft: &mut Draft<'a>) -> Option<()> {
    // Only what stands first has no comma before it.
    let id = json.attempt(|json| {
        json.pass(b"\"traceId\":\"")?;
        hex(json, scalar::whole_trace_id)
    })?;
    draft.set_trace_id(Some(id));
    if let Some(id) = json.attempt(|json| {
        json.pass(b",\"spanId\":\"")?;
        hex(json, scalar::whole_span_id)
    }) {
        draft.set_span_id(Some(id));
    }
    if let Some(state) = pass_text(json, b",\"traceState\":\"") {
        draft.set_trace_state(state.into());
    }
    if json.pass(b",\"parentSpanId\":\"\"").is_none()
        && let Some(id) = json.attempt(|json| {
            json.pass(b",\"parentSpanId\":\"")?;
            hex(json, scalar::whole_span_id)
        })
    {
        draft.set_parent_id(Some(id));
    }
    pass_number(json, b",\"flags\":");
    if let Some(name) = pass_text(json, b",\"name\":\"") {
        draft.raw.name = name.into();
    }
    if let Some(number) = pass_number(json, b",\"kind\":") {
        draft.raw.kind = kind_of_number(number);
    } else if let Some(kind) = json.attempt(|json| kind_of(pass_text(json, b",\"kind\":\"")?)) {
        draft.raw.kind = kind;
    }
    if let Some(start) = pass_time(json, b",\"startTimeUnixNano\":\"") {
        draft.set_start(Some(start));
    }
    if let Some(end) = pass_time(json, b",\"endTimeUnixNano\":\"") {
        draft.set_end(Some(end));
    }
    json.pass(b",\"attributes\":")
}

/// The fields of a span that stand behind its attributes.
pub(crate) fn span_tail<'a>(json: &mut Json<'a>, draft: &mut Draft<'a>) {
    pass_number(json, b",\"droppedAttributesCount\":");
    json.pass(b",\"events\":[]");
    pass_number(json, b",\"droppedEventsCount\":");
    json.pass(b",\"links\":[]");
    pass_number(json, b",\"droppedLinksCount\":");
    if let Some((message, code)) = json.attempt(|json| {
        json.has_room(1).then_some(())?;
        json.pass(b",\"status\":{")?;
        let message = pass_text(json, b"\"message\":\"");
        let code = match message {
            Some(_) => pass_number(json, b",\"code\":"),
            None => pass_number(json, b"\"code\":"),
        };
        json.pass(b"}")?;
        Some((message, code))
    }) {
        draft.raw.status_message = message.unwrap_or_default().into();
        draft.raw.status = code.map(status_of_number).unwrap_or_default();
    }
}

/// An id of hexadecimal digits alone, behind its opening quote.
#[inline]
fn hex<'a, const DIGITS: usize, T>(
    json: &mut Json<'a>,
    read: impl Fn(&'a [u8; DIGITS]) -> Option<T>,
) -> Option<Id<T>> {
    let id = read(json.take()?)?;
    json.pass(b"\"")?;
    Some(Id { id, is_hashed: false })
}

/// The text behind `name`.
#[inline]
fn pass_text<'a, const LEN: usize>(json: &mut Json<'a>, name: &[u8; LEN]) -> Option<&'a str> {
    json.attempt(|json| {
        json.pass(name)?;
        json.plain_text()
    })
}

/// The number behind `name`.
#[inline]
fn pass_number<const LEN: usize>(json: &mut Json<'_>, name: &[u8; LEN]) -> Option<i64> {
    json.attempt(|json| {
        json.pass(name)?;
        json.plain_number()
    })
}

/// The time behind `name`, which is written as a text.
#[inline]
fn pass_time<const LEN: usize>(json: &mut Json<'_>, name: &[u8; LEN]) -> Option<i64> {
    json.attempt(|json| {
        json.pass(name)?;
        let time = json.plain_digits()?;
        json.pass(b"\"")?;
        Some(time)
    })
}
