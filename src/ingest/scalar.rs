//! Ids and numbers as people's exporters write them in text.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::span::{SpanId, TraceId};

const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// An id, and whether a hash stands for it because it is not written as ids are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Id<T> {
    /// The id; zero where it is absent.
    pub id: T,
    /// A hash stands for it.
    pub is_hashed: bool,
}

/// The trace id that `text` writes in hexadecimal or base64; `None` where it is neither.
pub(crate) fn trace_id(text: &str) -> Option<Id<TraceId>> {
    match hex(text, 32) {
        Some(id) => Some(Id { id: TraceId(id), is_hashed: false }),
        None => base64_bytes(text).map(|bytes| trace_id_of(&bytes)),
    }
}

/// The span id that `text` writes in hexadecimal or base64; `None` where it is neither.
pub(crate) fn span_id(text: &str) -> Option<Id<SpanId>> {
    match hex(text, 16) {
        Some(id) => Some(Id { id: SpanId(low_half(id)), is_hashed: false }),
        None => base64_bytes(text).map(|bytes| span_id_of(&bytes)),
    }
}

/// The trace id of raw bytes: 16, or 8 that are padded on the left; of others, a hash.
pub(crate) fn trace_id_of(bytes: &[u8]) -> Id<TraceId> {
    let is_hashed = !matches!(bytes.len(), 0 | 8 | 16);
    let id = if is_hashed { hash(bytes) } else { big_endian(bytes) };
    Id { id: TraceId(id), is_hashed }
}

/// The span id of raw bytes: 8; of others, a hash.
pub(crate) fn span_id_of(bytes: &[u8]) -> Id<SpanId> {
    let is_hashed = !matches!(bytes.len(), 0 | 8);
    let id = if is_hashed { hash(bytes) } else { big_endian(bytes) };
    Id { id: SpanId(low_half(id)), is_hashed }
}

/// A span id that stands for `bytes`.
pub(crate) fn hashed_span_id(bytes: &[u8]) -> SpanId {
    SpanId(low_half(hash(bytes)))
}

/// The trace id that `text` writes in hexadecimal; of any other text, a hash.
pub(crate) fn hex_trace_id(text: &str) -> Id<TraceId> {
    let id = hex(text, 32);
    Id { id: TraceId(id.unwrap_or_else(|| hash(text.as_bytes()))), is_hashed: id.is_none() }
}

/// The span id that `text` writes in hexadecimal; of any other text, a hash.
pub(crate) fn hex_span_id(text: &str) -> Id<SpanId> {
    let id = hex(text, 16);
    let or_hash = id.unwrap_or_else(|| hash(text.as_bytes()));
    Id { id: SpanId(low_half(or_hash)), is_hashed: id.is_none() }
}

/// The low 64 bits; they always fit.
fn low_half(id: u128) -> u64 {
    u64::try_from(id & u128::from(u64::MAX)).unwrap_or_default()
}

fn big_endian(bytes: &[u8]) -> u128 {
    bytes.iter().fold(0, |id, &byte| id << 8 | u128::from(byte))
}

/// FNV-1a in 128 bits: the same in every run, and good in its low 64 bits too.
fn hash(bytes: &[u8]) -> u128 {
    bytes.iter().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |hash, &byte| {
        (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    })
}

/// What is no hexadecimal digit.
const NO_DIGIT: u8 = u8::MAX;

/// The value of each byte as a hexadecimal digit of any case.
const DIGITS: [u8; 256] = {
    let mut digits = [NO_DIGIT; 256];
    let mut value = 0;
    while value < 16 {
        digits[b"0123456789abcdef"[value as usize] as usize] = value;
        digits[b"0123456789ABCDEF"[value as usize] as usize] = value;
        value += 1;
    }
    digits
};

/// Hexadecimal digits of any case, at most `max`; shorter ids lost zeros on the left.
fn hex(text: &str, max: usize) -> Option<u128> {
    if text.len() > max {
        return None;
    }
    text.bytes().try_fold(0, |id, byte| {
        let digit = DIGITS.get(usize::from(byte)).filter(|&&digit| digit != NO_DIGIT)?;
        Some(id << 4 | u128::from(*digit))
    })
}

/// The trace id in 32 hexadecimal digits.
pub(crate) fn whole_trace_id(digits: &[u8; 32]) -> Option<TraceId> {
    let ([high, low], []) = digits.as_chunks() else { return None };
    Some(TraceId(u128::from(whole_hex(high)?) << 64 | u128::from(whole_hex(low)?)))
}

/// The span id in 16 hexadecimal digits.
pub(crate) fn whole_span_id(digits: &[u8; 16]) -> Option<SpanId> {
    whole_hex(digits).map(SpanId)
}

/// The number in 16 hexadecimal digits.
fn whole_hex(digits: &[u8; 16]) -> Option<u64> {
    let mut number = 0;
    let mut all = 0;
    for &byte in digits {
        let digit = DIGITS.get(usize::from(byte)).copied().unwrap_or(NO_DIGIT);
        all |= digit;
        number = number << 4 | u64::from(digit);
    }
    (all != NO_DIGIT).then_some(number)
}

fn base64_bytes(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).or_else(|_| URL_SAFE.decode(text)).ok()
}

/// A decimal number: `digits` times a power of ten.
struct Decimal {
    digits: i128,
    exponent: i32,
}

impl Decimal {
    /// The number that `text` writes, perhaps with a fraction or an exponent; exact, or `None`.
    fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let fraction = fraction.trim_end_matches('0');
        let places = i32::try_from(fraction.len()).ok()?;
        let exponent = exponent.parse::<i32>().ok()?.checked_sub(places)?;
        let digits = format!("{whole}{fraction}").parse().ok()?;
        Some(Self { digits, exponent })
    }

    /// The whole part, and whether there is anything beside it; `None` beyond 64 bits.
    fn whole(&self) -> Option<(i64, bool)> {
        let scale = 10_i128.checked_pow(self.exponent.unsigned_abs());
        let (whole, rest) = match (self.digits, self.exponent) {
            (0, _) => (0, 0),
            (digits, 0..) => (digits.checked_mul(scale?)?, 0),
            (digits, _) => scale.map_or((0, digits), |scale| (digits / scale, digits % scale)),
        };
        Some((i64::try_from(whole).ok()?, rest != 0))
    }
}

/// The whole number that `text` writes in decimal, perhaps with a fraction of zeros or an
/// exponent: exact, or `None`.
pub(crate) fn whole_number(text: &str) -> Option<i64> {
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let (whole, has_rest) = Decimal::parse(text)?.whole()?;
    (!has_rest).then_some(whole)
}

/// The microseconds that `text` writes, in whole nanoseconds; what is less is cut.
pub(crate) fn micros_as_nanos(text: &str) -> Option<i64> {
    let Decimal { digits, exponent } = Decimal::parse(text)?;
    let nanos = Decimal { digits, exponent: exponent.checked_add(3)? };
    nanos.whole().map(|(whole, _)| whole)
}

/// The number that `text` writes, as protobuf's JSON does: `NaN` and the infinities are words.
pub(crate) fn real_number(text: &str) -> Option<f64> {
    match text {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        // Rust would also take other spellings of these words.
        _ if text.bytes().any(|byte| byte.is_ascii_digit()) => text.parse().ok(),
        _ => None,
    }
}

/// Nanoseconds since the epoch that `text` writes as a date and time of UTC, such as
/// `2026-08-06 23:53:45.5692573`, or as a number. Of a number the size tells the unit, s, ms, µs
/// or ns, from 1973 to 5138. Fractions of a nanosecond are cut.
pub(crate) fn unix_ns(text: &str) -> Option<i64> {
    if let Some((date, time)) = text.split_once([' ', 'T']) {
        return date_time(date, time.strip_suffix('Z').unwrap_or(time));
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let unit_ns = match whole.len() {
        0..=11 => NANOS_PER_SECOND,
        12..=14 => 1_000_000,
        15..=17 => 1_000,
        _ => 1,
    };
    let fraction_ns = nanos_of_fraction(fraction)? * unit_ns / NANOS_PER_SECOND;
    unsigned(whole)?.checked_mul(unit_ns)?.checked_add(fraction_ns)
}

fn date_time(date: &str, time: &str) -> Option<i64> {
    let [year, month, day] = parts(date, '-')?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, ""));
    let [hour, minute, second] = parts(time, ':')?;
    let is_possible = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    if !is_possible {
        return None;
    }
    let seconds = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    seconds.checked_mul(NANOS_PER_SECOND)?.checked_add(nanos_of_fraction(fraction)?)
}

/// Days from 1970 to a date. The year begins in March, so that what a leap year adds comes last.
const fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, months) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let day_of_year = (153 * months + 2) / 5 + day - 1;
    year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - 719_468
}

/// Three numbers, joined by `separator`.
fn parts(text: &str, separator: char) -> Option<[i64; 3]> {
    let numbers: Option<Vec<i64>> = text.split(separator).map(unsigned).collect();
    numbers?.try_into().ok()
}

/// The digits behind the point of a number of seconds, in nanoseconds.
fn nanos_of_fraction(digits: &str) -> Option<i64> {
    let nine = digits.get(..9).unwrap_or(digits);
    let are_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
    are_digits.then(|| unsigned(&format!("{nine:0<9}")))?
}

/// A number of digits alone.
fn unsigned(digits: &str) -> Option<i64> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}
