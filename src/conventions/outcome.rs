//! How a span ended: the first sign that speaks (SEMANTICS §2, Outcome).

use super::facts::Fact;
use super::found::{Found, Hit, HitValue};
use super::index::Index;
use super::pattern::Spellings;
use super::raw::{RawSpan, Status, Value};
use super::reading::{text_of, whole_number};
use super::rows::{Expected, OutcomeRow};
use crate::span::{Kind, Outcome};

/// The event that tells an exception.
const EXCEPTION_EVENT: &str = "exception";
/// Its attributes that are read: the type, and the message.
pub(super) const EXCEPTION_KEYS: [&str; 2] = ["exception.type", "exception.message"];

/// How the span ended.
pub(super) fn outcome(index: &Index, raw: &RawSpan<'_>, kind: Kind, found: &Found<'_>) -> Outcome {
    found
        .fact(Fact::GrpcStatus)
        .and_then(grpc_outcome)
        .or_else(|| found.outcomes.iter().find_map(|hit| marked(index, found, hit)))
        .or_else(|| described(index, raw, found))
        .unwrap_or_else(|| {
            let failed = raw.status == Status::Error || found.fact(Fact::ErrorType).is_some();
            if failed || http_failed(kind, found) { Outcome::Error } else { Outcome::Ok }
        })
}

/// The HTTP status code, if there is one.
pub(super) fn http_status(found: &Found<'_>) -> Option<u16> {
    whole_number(found.fact(Fact::HttpStatus)?).and_then(|status| u16::try_from(status).ok())
}

/// Whether the HTTP status is a failure; what a client did wrong is none of its server's.
fn http_failed(kind: Kind, found: &Found<'_>) -> bool {
    let least = if kind == Kind::Client { 400 } else { 500 };
    http_status(found).is_some_and(|status| least <= status)
}

/// The code that says so, as [`grpc_outcome`] reads it.
pub(super) const fn grpc_code(outcome: Outcome) -> i64 {
    match outcome {
        Outcome::Ok => 0,
        Outcome::Cancelled => 1,
        Outcome::Error => 2,
        Outcome::DeadlineExceeded => 4,
        Outcome::Rejected => 8,
    }
}

/// What a gRPC status says, as number or in any of the spellings in use; `None` for OK.
fn grpc_outcome(status: &Value<'_>) -> Option<Outcome> {
    if let Some(code) = whole_number(status) {
        return match code {
            0 => None,
            1 => Some(Outcome::Cancelled),
            4 => Some(Outcome::DeadlineExceeded),
            8 => Some(Outcome::Rejected),
            _ => Some(Outcome::Error),
        };
    }
    let name = text_of(status)?.trim().to_ascii_lowercase().replace('_', "");
    match name.strip_prefix("statuscode.").unwrap_or(&name) {
        "ok" => None,
        "cancelled" | "canceled" => Some(Outcome::Cancelled),
        // Dubbo tells which side ran out of time.
        "deadlineexceeded" | "servertimeout" | "clienttimeout" => Some(Outcome::DeadlineExceeded),
        "resourceexhausted" => Some(Outcome::Rejected),
        _ => Some(Outcome::Error),
    }
}

/// What an outcome row says of the value that it found.
fn marked(index: &Index, found: &Found<'_>, hit: &Hit<'_>) -> Option<Outcome> {
    let row = index.outcomes.get(hit.place.row)?;
    let speaks = match (hit.value, &row.is) {
        (HitValue::Event(_), _) | (HitValue::Attribute(_), None) => true,
        (HitValue::Attribute(value), Some(expected)) => is_one_of(value, expected),
    };
    (speaks && is_about(row, found)).then_some(row.means)
}

/// Whether the value, or a part of it between commas, is expected.
fn is_one_of(value: &Value<'_>, expected: &Expected) -> bool {
    let texts = &expected.texts;
    let is_expected = |part: &str| texts.iter().any(|text| text.eq_ignore_ascii_case(part));
    match value {
        Value::Int(number) => expected.numbers.contains(number),
        _ => text_of(value).is_some_and(|text| text.split(',').map(str::trim).any(is_expected)),
    }
}

/// Whether the row is about the span's database system, where it names one.
fn is_about(row: &OutcomeRow, found: &Found<'_>) -> bool {
    row.systems.is_empty()
        || found.fact(Fact::DatabaseSystem).and_then(text_of).is_none_or(|system| {
            row.systems.iter().any(|known| known.eq_ignore_ascii_case(&system))
        })
}

/// What error types, messages and exceptions say: exact types first, then words.
fn described(index: &Index, raw: &RawSpan<'_>, found: &Found<'_>) -> Option<Outcome> {
    let error_type = found.fact(Fact::ErrorType).and_then(text_of);
    if error_type.is_none() && raw.status != Status::Error {
        return None;
    }
    let mut types: Vec<String> = error_type.iter().map(|text| text.to_lowercase()).collect();
    let mut messages = Vec::new();
    if raw.status == Status::Error {
        messages.push(raw.status_message.to_lowercase());
        let exceptions = raw.events.iter().filter(|event| event.name == EXCEPTION_EVENT);
        for (key, value) in exceptions.flat_map(|event| &event.attributes) {
            let [of_type, of_message] = EXCEPTION_KEYS;
            let texts = match &**key {
                key if key == of_type => &mut types,
                key if key == of_message => &mut messages,
                _ => continue,
            };
            texts.extend(text_of(value).map(|text| text.to_lowercase()));
        }
    }
    let by_type = index
        .exceptions
        .iter()
        .find(|row| types.iter().any(|text| any(&row.types, |exception| is_type(text, exception))));
    let by_word = || {
        let texts = || types.iter().chain(&messages);
        index
            .words
            .iter()
            .find(|row| texts().any(|text| any(&row.words, |word| text.contains(word))))
    };
    by_type.map(|row| row.means).or_else(|| by_word().map(|row| row.means))
}

/// Whether `test` holds for any spelling.
fn any(spellings: &[Spellings], mut test: impl FnMut(&str) -> bool) -> bool {
    spellings.iter().flat_map(|spellings| &spellings.0).any(|text| test(text))
}

/// Whether `text` is `exception`, perhaps within a package or an outer type.
fn is_type(text: &str, exception: &str) -> bool {
    text.strip_suffix(exception)
        .is_some_and(|head| head.is_empty() || head.ends_with(['.', '/', '*', ':', '$']))
}
