//! How many requests a span that was kept stands for, as samplers say it (conventions §5).

use super::raw::{RawSpan, Value};
use super::reading::{Unparsed, real_number, text_of};
use super::rows::{JAEGER_PARAM, SamplingGrammar, SamplingRow};
use crate::stats::Weight;

/// A sampling threshold is a part of 2^56, written as up to 14 hexadecimal digits.
const THRESHOLD_DIGITS: usize = 14;
const THRESHOLD_WHOLE: u64 = 1 << (4 * THRESHOLD_DIGITS);

/// The exponent that says that a span stands for none.
const KEPT_OTHERWISE: u32 = 63;

/// The types of Jaeger's samplers that say with which probability a span was kept.
const PROBABILISTIC: &str = "probabilistic";
const CONST: &str = "const";

/// The weight that the `ot` member of a trace state tells. `None` where there is none.
fn of_trace_state(state: &str) -> Option<Weight> {
    of_member(member_of(state)?)
}

/// The weight that such a member tells: by a threshold, or in its older form by an exponent.
pub(super) fn of_member(member: &str) -> Option<Weight> {
    let value = |name: &str| {
        let mut fields = member.split(';').filter_map(|field| field.split_once(':'));
        fields.find(|(key, _)| *key == name).map(|(_, value)| value)
    };
    match value("th") {
        Some(threshold) => of_threshold(threshold),
        None => of_exponent(value("p")?),
    }
}

/// What OpenTelemetry has put into a trace state. Others put there what they like.
pub(crate) fn member_of(state: &str) -> Option<&str> {
    state.split(',').find_map(|member| member.trim().strip_prefix("ot="))
}

fn of_threshold(digits: &str) -> Option<Weight> {
    let is_one = (1..=THRESHOLD_DIGITS).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = is_one.then(|| u64::from_str_radix(digits, 16).ok())??;
    let rejected = number << (4 * (THRESHOLD_DIGITS - digits.len()));
    Weight::new(float(THRESHOLD_WHOLE) / float(THRESHOLD_WHOLE - rejected))
}

fn of_exponent(digits: &str) -> Option<Weight> {
    match digits.parse().ok()? {
        KEPT_OTHERWISE => Weight::new(0.0),
        exponent if exponent < KEPT_OTHERWISE => Weight::new(float(1 << exponent)),
        _ => None,
    }
}

/// The weight that the attribute of a row tells. `Ok(None)` where it says that nothing is known.
pub(super) fn of_attribute(
    row: &SamplingRow,
    value: &Value<'_>,
    raw: &RawSpan<'_>,
) -> Result<Option<Weight>, Unparsed> {
    match row.read {
        SamplingGrammar::TraceState => Ok(text_of(value).and_then(|state| of_trace_state(&state))),
        SamplingGrammar::OneIn => {
            let number = real_number(value).ok_or(Unparsed)?;
            // What counts such spans takes no rate for every one.
            Weight::new(number.max(1.0)).map(Some).ok_or(Unparsed)
        }
        SamplingGrammar::Probability => {
            let mut probability = real_number(value).ok_or(Unparsed)?;
            for key in &row.times {
                if let Some(factor) = raw.value_of(key) {
                    probability *= real_number(factor).ok_or(Unparsed)?;
                }
            }
            Weight::of_probability(probability).map(Some).ok_or(Unparsed)
        }
        SamplingGrammar::Jaeger => match text_of(value).as_deref() {
            Some(PROBABILISTIC) => {
                let param = raw.value_of(JAEGER_PARAM).and_then(real_number).ok_or(Unparsed)?;
                Weight::of_probability(param).map(Some).ok_or(Unparsed)
            }
            Some(CONST) => Ok(Weight::new(1.0)),
            _ => Ok(None),
        },
    }
}

/// What tells the same weight and nothing else.
pub(super) fn member_of_weight(weight: Weight) -> String {
    if weight.is_zero() {
        return format!("p:{KEPT_OTHERWISE}");
    }
    // The threshold that rejects all but one in so many.
    let kept = float(THRESHOLD_WHOLE) / weight.requests();
    let rejected = THRESHOLD_WHOLE.saturating_sub(whole(kept));
    format!("th:{rejected:0THRESHOLD_DIGITS$x}")
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is at most 2^56")]
const fn whole(number: f64) -> u64 {
    number as u64
}

#[expect(clippy::cast_precision_loss, reason = "a weight is told to the millionth")]
const fn float(number: u64) -> f64 {
    number as f64
}
