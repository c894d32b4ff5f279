//! Protobuf says nothing of what a message is. Traces, logs and metrics look alike on the outside
//! (resources, scopes, records); this tells them from other data and from one another by what
//! their fields look like.

use super::wire::{Fields, Message, Value, WireError, varint};

/// What the records below one resource are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Spans, or nothing.
    Traces,
    /// Logs, metrics or profiles.
    Others,
}

/// How many entries and fields are looked at.
const LOOK: usize = 8;

/// A field of which the end may be missing.
struct Glimpse<'a> {
    number: u32,
    wire_type: u8,
    /// Its content, as far as it is there.
    content: &'a [u8],
    /// What follows it.
    rest: &'a [u8],
}

/// The field at the start of `bytes`.
fn glimpse(bytes: &[u8]) -> Result<Glimpse<'_>, WireError> {
    let (tag, tag_len) = varint(bytes)?;
    let number = u32::try_from(tag >> 3).map_err(|_| WireError::Damaged)?;
    let bytes = bytes.get(tag_len..).unwrap_or_default();
    let wire_type = (tag & 7) as u8;
    let (skip, len) = match wire_type {
        0 => (0, varint(bytes)?.1),
        1 => (0, 8),
        2 => {
            let (len, len_len) = varint(bytes)?;
            (len_len, usize::try_from(len).map_err(|_| WireError::Damaged)?)
        }
        5 => (0, 4),
        _ => return Err(WireError::Damaged),
    };
    let bytes = bytes.get(skip..).unwrap_or_default();
    let (content, rest) = bytes.split_at(len.min(bytes.len()));
    Ok(Glimpse { number, wire_type, content, rest })
}

/// Whether all fields of `bytes` that are looked at suit `suits`; the end may be missing.
fn all_fields(bytes: &[u8], suits: impl Fn(u32, u8, &[u8]) -> bool) -> bool {
    let mut rest = bytes;
    for _ in 0..LOOK {
        if rest.is_empty() {
            break;
        }
        match glimpse(rest) {
            Ok(field) if suits(field.number, field.wire_type, field.content) => rest = field.rest,
            Ok(_) | Err(WireError::Damaged) => return false,
            Err(WireError::CutOff) => break,
        }
    }
    true
}

/// Whether `bytes` start like an OTLP message of any signal: the first entry with anything in it
/// decides. Their end may be missing.
pub fn looks_like_message(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let Ok(Glimpse { number: 1, wire_type: 2, content, rest: behind }) = glimpse(rest) {
        if !content.is_empty() {
            return all_fields(content, is_resource_or_scope);
        }
        rest = behind;
    }
    false
}

/// A field of `ResourceSpans` and its like.
fn is_resource_or_scope(number: u32, wire_type: u8, content: &[u8]) -> bool {
    let is_resource =
        |number, wire_type, _: &[u8]| matches!((number, wire_type), (1 | 3, 2) | (2, 0));
    let is_scope = |number, wire_type, _: &[u8]| matches!((number, wire_type), (1..=3, 2));
    match number {
        1 => wire_type == 2 && all_fields(content, is_resource),
        2 | 1000 => wire_type == 2 && all_fields(content, is_scope),
        3 => wire_type == 2,
        _ => false,
    }
}

/// What the records in an entry of a message (`ResourceSpans` and its like) are, by the first that
/// tells. The entry's end may be missing.
pub fn signal(entry: &[u8]) -> Signal {
    messages(entry, 2)
        .flat_map(|scope| messages(scope, 2))
        .find_map(record_signal)
        .unwrap_or(Signal::Traces)
}

/// The messages in fields `wanted` of `bytes`, as far as they can be read.
fn messages(bytes: &[u8], wanted: u32) -> impl Iterator<Item = &[u8]> {
    let fields = Fields::with_part(Message { bytes, at: 0 }).map_while(Result::ok);
    fields.filter_map(move |(number, value)| match value {
        Value::Bytes(message) if number == wanted => Some(message.bytes),
        _ => None,
    })
}

/// What one record is, if its fields tell. Spans alone have fixed 64-bit fields 7 and 8 and varints
/// in 6 and others; log records alone have fixed 64-bit fields 1 and 11 and varints in 2 and 7;
/// metrics have neither and start with a name, where spans have 16 bytes that are seldom text.
fn record_signal(record: &[u8]) -> Option<Signal> {
    let mut first: Option<&[u8]> = None;
    let mut has_metric_data = false;
    for (number, value) in Fields::new(Message { bytes: record, at: 0 }).map_while(Result::ok) {
        match (number, value) {
            (7 | 8, Value::Fixed64(_))
            | (6 | 10 | 12 | 14, Value::Varint(_))
            | (16, Value::Fixed32(_)) => return Some(Signal::Traces),
            (1 | 11, Value::Fixed64(_))
            | (2 | 7, Value::Varint(_))
            | (8, Value::Fixed32(_))
            | (6 | 12, Value::Bytes(_)) => return Some(Signal::Others),
            (1, Value::Bytes(content)) => first = Some(content.bytes),
            (7, Value::Bytes(_)) => has_metric_data = true,
            _ => {}
        }
    }
    let is_text = std::str::from_utf8(first?).is_ok();
    Some(if is_text || has_metric_data { Signal::Others } else { Signal::Traces })
}
