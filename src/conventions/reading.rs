//! How values are written: units, grammars and the traps in them (conventions §1, §7). Exact
//! integers throughout; a number with a fraction is cut to the nanosecond below it.

use std::borrow::Cow;

use serde::Deserialize;

use super::instant;
use super::raw::Value;
use crate::units::{Nanos, UnixNanos};

const NANOS_PER_MICRO: i64 = 1_000;
const NANOS_PER_MILLI: i64 = 1_000_000;
const NANOS_PER_SECOND: i64 = 1_000_000_000;
/// Longer lengths are no time that anybody was given, and sums of them would overflow.
const MAX_LENGTH: i64 = i64::MAX / 4;
/// Numbers of more digits are read as floating point; this many times any unit fits 128 bits.
const MAX_DIGITS: usize = 25;

/// How a value is written; `conventions.toml` explains each name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Grammar {
    #[default]
    Ms,
    S,
    Us,
    Ns,
    LateMs,
    GrpcTimeout,
    GoDuration,
    GoDurationOrInstant,
    Instant,
    ContextDeadline,
    SdkRequest,
    TimeLimits,
    UrlTimeout,
    RequestStart,
}

/// What a value says. Of several the smallest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reading {
    /// A length of time.
    Length(Nanos),
    /// A plain number of nanoseconds: a length, or time since the epoch, as the row says.
    Number(i64),
    /// An instant.
    Instant(UnixNanos),
}

/// The value is not written as its convention says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unparsed;

/// What `value` says; `None` where it is well written but does not speak of what is looked for.
pub(super) fn read(grammar: Grammar, value: &Value<'_>) -> Result<Option<Reading>, Unparsed> {
    let mut smallest: Option<Reading> = None;
    let mut failure = None;
    for_each_scalar(value, grammar != Grammar::UrlTimeout, &mut |scalar| match read_scalar(
        grammar, scalar,
    ) {
        Ok(Some(reading)) => {
            smallest = Some(smallest.map_or(reading, |least| least.min(reading)));
        }
        Ok(None) => {}
        Err(unparsed) => failure = Some(unparsed),
    });
    match failure {
        Some(unparsed) if smallest.is_none() => Err(unparsed),
        _ => Ok(smallest),
    }
}

/// `value` with nothing left in it but what `grammar` reads there; `None` where that is nothing.
pub(super) fn bare(grammar: Grammar, value: &Value<'_>) -> Option<Value<'static>> {
    let mut parts = Vec::new();
    for_each_scalar(value, grammar != Grammar::UrlTimeout, &mut |scalar| match (grammar, scalar) {
        (Grammar::SdkRequest, Scalar::Text(text)) => {
            let mut kept = parameters(text, ';', &["ttl", "attempt"]);
            kept.retain(|part| {
                let part = Value::Text(part.into());
                matches!(read(grammar, &part), Ok(Some(_)))
                    || matches!(sdk_attempt(&part), Ok(Some(_)))
            });
            parts.extend((!kept.is_empty()).then(|| Value::Text(kept.join(";").into())));
        }
        (Grammar::UrlTimeout, Scalar::Text(url)) => {
            let kept = parameters(query_of(url), '&', &["timeout", "timeoutSeconds"]).into_iter();
            let first = kept.take(1).map(|part| Value::Text(part.into()));
            parts.extend(first.filter(|part| matches!(read(grammar, part), Ok(Some(_)))));
        }
        (_, scalar) => {
            if matches!(read_scalar(grammar, scalar), Ok(Some(_))) {
                parts.extend(scalar.to_value());
            }
        }
    });
    if parts.len() > 1 { Some(Value::List(parts)) } else { parts.pop() }
}

/// `name=value` of those of `names` that are among parts with `separator` between them.
fn parameters(text: &str, separator: char, names: &[&str]) -> Vec<String> {
    let of = |name: &&str| Some(format!("{name}={}", parameter(text, separator, name)?));
    names.iter().filter_map(of).collect()
}

/// A single value: captured headers come as lists of one, as JSON text, or joined by commas.
#[derive(Clone, Copy)]
enum Scalar<'a> {
    /// Text.
    Text(&'a str),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Double(f64),
    /// What no grammar reads.
    Other,
}

impl Scalar<'_> {
    /// It as a value by itself.
    fn to_value(self) -> Option<Value<'static>> {
        match self {
            Scalar::Text(text) => Some(Value::Text(text.to_owned().into())),
            Scalar::Int(number) => Some(Value::Int(number)),
            Scalar::Double(number) => Some(Value::Double(number)),
            Scalar::Other => None,
        }
    }
}

/// Visits at least one scalar; of lists within lists, none of theirs.
fn for_each_scalar(value: &Value<'_>, has_commas: bool, visit: &mut impl FnMut(Scalar<'_>)) {
    match value {
        Value::List(values) if !values.is_empty() => {
            for value in values {
                match value {
                    Value::List(_) => visit(Scalar::Other),
                    single => for_each_in_single(single, has_commas, visit),
                }
            }
        }
        Value::Text(text) if text.starts_with('[') => {
            match serde_json::from_str::<Vec<serde_json::Value>>(text) {
                Ok(values) => {
                    for value in &values {
                        for_each_in_json(value, has_commas, visit);
                    }
                }
                Err(_) => for_each_in_text(text, has_commas, visit),
            }
        }
        single => for_each_in_single(single, has_commas, visit),
    }
}

/// As [`for_each_scalar`] for a value that is no list.
fn for_each_in_single(value: &Value<'_>, has_commas: bool, visit: &mut impl FnMut(Scalar<'_>)) {
    match value {
        Value::Text(text) => for_each_in_text(text, has_commas, visit),
        Value::Int(number) => visit(Scalar::Int(*number)),
        Value::Double(number) => visit(Scalar::Double(*number)),
        Value::Bool(_) | Value::List(_) | Value::Other => visit(Scalar::Other),
    }
}

/// As [`for_each_scalar`] for a member of a list that was written as JSON text.
fn for_each_in_json(
    value: &serde_json::Value,
    has_commas: bool,
    visit: &mut impl FnMut(Scalar<'_>),
) {
    match value {
        serde_json::Value::String(text) => for_each_in_text(text, has_commas, visit),
        serde_json::Value::Number(number) => visit(match (number.as_i64(), number.as_f64()) {
            (Some(number), _) => Scalar::Int(number),
            (None, Some(number)) => Scalar::Double(number),
            (None, None) => Scalar::Other,
        }),
        _ => visit(Scalar::Other),
    }
}

/// A text, or its parts where several values were joined.
fn for_each_in_text(text: &str, has_commas: bool, visit: &mut impl FnMut(Scalar<'_>)) {
    if has_commas {
        text.split(',').for_each(|part| visit(Scalar::Text(part.trim())));
    } else {
        visit(Scalar::Text(text));
    }
}

/// As [`read`] for one value.
fn read_scalar(grammar: Grammar, scalar: Scalar<'_>) -> Result<Option<Reading>, Unparsed> {
    let text = match scalar {
        Scalar::Text(text) => Some(text),
        _ => None,
    };
    let some = |reading: Option<Reading>| reading.map(Some).ok_or(Unparsed);
    match grammar {
        Grammar::Ms => some(number(scalar, NANOS_PER_MILLI)),
        Grammar::S => some(number(scalar, NANOS_PER_SECOND)),
        Grammar::Us => some(number(scalar, NANOS_PER_MICRO)),
        Grammar::Ns => some(number(scalar, 1)),
        // However long ago it was, nothing was left.
        Grammar::LateMs => {
            some(number(scalar, NANOS_PER_MILLI).map(|_| Reading::Length(Nanos::ZERO)))
        }
        Grammar::GrpcTimeout => some(text.and_then(grpc_timeout)),
        Grammar::GoDuration => some(text.and_then(go_duration)),
        Grammar::GoDurationOrInstant => {
            some(text.and_then(|text| go_duration(text).or_else(|| instant(text))))
        }
        Grammar::Instant => some(text.and_then(instant)),
        Grammar::ContextDeadline => some(text.and_then(context_deadline)),
        Grammar::SdkRequest => text.map_or(Err(Unparsed), |text| {
            parameter(text, ';', "ttl").map_or(Ok(None), |ttl| some(instant(ttl)))
        }),
        Grammar::TimeLimits => time_limit(scalar),
        Grammar::UrlTimeout => text.map_or(Err(Unparsed), url_timeout),
        Grammar::RequestStart => some(request_start(scalar)),
    }
}

/// A number of units of `unit` nanoseconds, cut to the nanosecond below.
fn number(scalar: Scalar<'_>, unit: i64) -> Option<Reading> {
    let nanos = match scalar {
        Scalar::Int(number) => i128::from(number) * i128::from(unit),
        Scalar::Double(number) => double_times(number, unit)?,
        Scalar::Text(text) => decimal_times(text, unit)?,
        Scalar::Other => return None,
    };
    i64::try_from(nanos).ok().map(Reading::Number)
}

/// The length, unless it is absurd.
pub(super) fn length(nanos: i64) -> Option<Nanos> {
    (-MAX_LENGTH..=MAX_LENGTH).contains(&nanos).then(|| Nanos::from_nanos(nanos))
}

/// Exactly `number` times `unit`, rounded down: a double is a whole number times a power of two.
fn double_times(number: f64, unit: i64) -> Option<i128> {
    const FRACTION_BITS: u32 = f64::MANTISSA_DIGITS - 1;
    if !number.is_finite() {
        return None;
    }
    let bits = number.to_bits();
    let fraction = bits & ((1 << FRACTION_BITS) - 1);
    let biased = i32::try_from((bits >> FRACTION_BITS) & 0x7ff).ok()?;
    let hidden = u64::from(biased != 0) << FRACTION_BITS;
    // The exponent of the mantissa's last bit: the bias of 1023, and 52 bits of fraction.
    let exponent = biased.max(1) - 1_075;
    let magnitude = i128::from(fraction | hidden) * i128::from(unit);
    let scaled = if number.is_sign_negative() { -magnitude } else { magnitude };
    if exponent < 0 {
        // Beyond 127 places nothing but the sign is left, as an arithmetic shift has it.
        Some(scaled >> exponent.unsigned_abs().min(127))
    } else {
        1_i128.checked_shl(exponent.unsigned_abs()).and_then(|power| scaled.checked_mul(power))
    }
}

/// Exactly the decimal number `text` times `unit`, rounded down.
fn decimal_times(text: &str, unit: i64) -> Option<i128> {
    let text = text.trim();
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let digit_count = whole.len() + fraction.len();
    if !is_plain(whole) || !is_plain(fraction) || digit_count == 0 || digit_count > MAX_DIGITS {
        // An exponent; "inf" and "nan" are refused there.
        return text.parse().ok().and_then(|number| double_times(number, unit));
    }
    let numerator = [whole, fraction]
        .iter()
        .flat_map(|part| part.bytes())
        .fold(0_i128, |number, byte| number * 10 + i128::from(byte - b'0'));
    let scaled = numerator * i128::from(unit);
    let scale = 10_i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    Some(if is_negative { -scaled } else { scaled }.div_euclid(scale))
}

/// Digits and a unit letter. By the letter of the protocol at most 8 digits; some writers have
/// more, and some write `s` for seconds.
fn grpc_timeout(text: &str) -> Option<Reading> {
    let text = text.trim();
    let unit = match text.as_bytes().last()? {
        b'H' => 3_600 * NANOS_PER_SECOND,
        b'M' => 60 * NANOS_PER_SECOND,
        b'S' | b's' => NANOS_PER_SECOND,
        b'm' => NANOS_PER_MILLI,
        b'u' => NANOS_PER_MICRO,
        b'n' => 1,
        _ => return None,
    };
    let digits = text.get(..text.len() - 1)?;
    let is_number = (1..=19).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    let number: i64 = if is_number { digits.parse().ok()? } else { return None };
    length(number.checked_mul(unit)?).map(Reading::Length)
}

/// As Go prints one: `1m30.5s`, `-850µs`.
fn go_duration(text: &str) -> Option<Reading> {
    let text = text.trim();
    let (is_negative, magnitude) = match text.strip_prefix('-') {
        Some(magnitude) => (true, magnitude),
        None => (false, text),
    };
    let magnitude = if magnitude == "0" { Nanos::ZERO } else { Nanos::parse(magnitude).ok()? };
    length(magnitude.as_nanos())
        .map(|nanos| Reading::Length(if is_negative { -nanos } else { nanos }))
}

/// A date.
fn instant(text: &str) -> Option<Reading> {
    instant::parse(text).map(Reading::Instant)
}

/// When it was made and the deadline, both in nanoseconds since the epoch.
fn context_deadline(text: &str) -> Option<Reading> {
    let mut numbers = text.split_whitespace().map(str::parse::<i64>);
    let (Ok(_created), Ok(deadline), None) = (numbers.next()?, numbers.next()?, numbers.next())
    else {
        return None;
    };
    Some(Reading::Instant(UnixNanos::from_nanos(deadline)))
}

/// The value of `name=` among parts with `separator` between them.
fn parameter<'a>(text: &'a str, separator: char, name: &str) -> Option<&'a str> {
    text.split(separator).find_map(|part| {
        let (key, value) = part.split_once('=')?;
        (key.trim() == name).then(|| value.trim())
    })
}

/// One of the hard and the soft limit in seconds, either of which may be nothing.
fn time_limit(scalar: Scalar<'_>) -> Result<Option<Reading>, Unparsed> {
    let scalar = match scalar {
        Scalar::Text(text) => {
            let is_frame = |c: char| c.is_whitespace() || "()[]'\"".contains(c);
            match text.trim_matches(is_frame) {
                "" | "None" | "null" => return Ok(None),
                number => Scalar::Text(number),
            }
        }
        Scalar::Other => return Ok(None),
        number => number,
    };
    number(scalar, NANOS_PER_SECOND).map(Some).ok_or(Unparsed)
}

/// Whether a URL may say `timeout=` or `timeoutSeconds=`.
pub(super) fn mentions_timeout(url: &Value<'_>) -> bool {
    matches!(url, Value::Text(url) if url.contains("timeout"))
}

/// The query of a URL, or a bare query.
fn query_of(url: &str) -> &str {
    let query = url.split_once('?').map_or(url, |(_, query)| query);
    query.split_once('#').map_or(query, |(query, _)| query)
}

/// `timeout=34s` or `timeoutSeconds=34` in the query of a URL, or in a bare query.
fn url_timeout(url: &str) -> Result<Option<Reading>, Unparsed> {
    let query = query_of(url);
    if let Some(duration) = parameter(query, '&', "timeout") {
        return go_duration(duration).map(Some).ok_or(Unparsed);
    }
    parameter(query, '&', "timeoutSeconds").map_or(Ok(None), |seconds| {
        number(Scalar::Text(seconds), NANOS_PER_SECOND).map(Some).ok_or(Unparsed)
    })
}

/// An epoch time whose unit is told by its whole digits, perhaps after `t=`.
fn request_start(scalar: Scalar<'_>) -> Option<Reading> {
    let text = match scalar {
        Scalar::Text(text) => Cow::Borrowed(text),
        Scalar::Int(number) => Cow::Owned(number.to_string()),
        Scalar::Double(number) => Cow::Owned(number.to_string()),
        Scalar::Other => return None,
    };
    let text = text.trim();
    let text = text.strip_prefix("t=").unwrap_or(text);
    let unit = match text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()) {
        10 => NANOS_PER_SECOND,
        13 => NANOS_PER_MILLI,
        16 => NANOS_PER_MICRO,
        19 => 1,
        _ => return None,
    };
    let nanos = i64::try_from(decimal_times(text, unit)?).ok()?;
    Some(Reading::Instant(UnixNanos::from_nanos(nanos)))
}

/// The `attempt=` of an AWS SDK's request header; of several the smallest.
pub(super) fn sdk_attempt(value: &Value<'_>) -> Result<Option<i64>, Unparsed> {
    let mut smallest: Option<i64> = None;
    let mut failed = false;
    for_each_scalar(value, true, &mut |scalar| {
        let Scalar::Text(text) = scalar else {
            failed = true;
            return;
        };
        let Some(number) = parameter(text, ';', "attempt") else { return };
        match number.parse() {
            Ok(number) => smallest = Some(smallest.map_or(number, |least| least.min(number))),
            Err(_) => failed = true,
        }
    });
    if failed && smallest.is_none() { Err(Unparsed) } else { Ok(smallest) }
}

/// A whole number, as number or text; of several the smallest.
pub(super) fn whole_number(value: &Value<'_>) -> Option<i64> {
    let mut smallest: Option<i64> = None;
    for_each_scalar(value, true, &mut |scalar| {
        let number = match scalar {
            Scalar::Int(number) => Some(number),
            Scalar::Text(text) => text.trim().parse().ok(),
            Scalar::Double(number) => whole_double(number),
            Scalar::Other => None,
        };
        smallest = smallest.map_or(number, |least| Some(number.map_or(least, |n| n.min(least))));
    });
    smallest
}

/// A number, as number or text.
pub(super) fn real_number(value: &Value<'_>) -> Option<f64> {
    let number = match value {
        Value::Double(number) => *number,
        value => text_of(value)?.trim().parse().ok()?,
    };
    number.is_finite().then_some(number)
}

/// The number, if it has no fraction: then rounding it down and up gives the same.
fn whole_double(number: f64) -> Option<i64> {
    let (down, up) = (double_times(number, 1)?, -double_times(-number, 1)?);
    if down == up { i64::try_from(down).ok() } else { None }
}

/// The value as text, the first where there are several; `None` where there is nothing to read.
pub(super) fn text_of<'a>(value: &'a Value<'_>) -> Option<Cow<'a, str>> {
    match value {
        Value::Text(text) => (!text.is_empty()).then_some(Cow::Borrowed(text)),
        Value::Int(number) => Some(Cow::Owned(number.to_string())),
        Value::Double(number) => Some(Cow::Owned(number.to_string())),
        Value::Bool(is_true) => Some(Cow::Borrowed(if *is_true { "true" } else { "false" })),
        Value::List(values) => match values.first()? {
            Value::List(_) => None,
            first => text_of(first),
        },
        Value::Other => None,
    }
}

/// Whether the value is a yes.
pub(super) fn is_true(value: &Value<'_>) -> bool {
    text_of(value).is_some_and(|text| text.eq_ignore_ascii_case("true") || text == "1")
}
