//! One trace span by span, for those who want it explained: nothing here is computed anew.

use super::annotated::Annotated;
use super::late::for_each_gap;
use super::moment::Moment;
use crate::span::TraceId;
use crate::tables::{Category, OutlineSpan, OwnStretch};
use crate::units::UnixNanos;

/// A trace as a person names it: by its whole id, by the right half of it, or by its first digits.
#[derive(Clone, Copy, Debug)]
pub struct TraceChoice {
    whole: Option<TraceId>,
    first: Option<FirstDigits>,
}

/// Hexadecimal digits with which an id begins.
#[derive(Clone, Copy, Debug)]
struct FirstDigits {
    /// Left-aligned.
    bits: u128,
    /// How many digits.
    len: u32,
}

/// So few digits do not tell one trace from others.
const LEAST_DIGITS: usize = 8;

impl TraceChoice {
    /// The trace that `text` names, which is the id `whole` if it is a whole one; `None` where it
    /// is neither that nor enough hexadecimal digits.
    pub fn new(text: &str, whole: Option<TraceId>) -> Option<Self> {
        let is_digits = (LEAST_DIGITS..=32).contains(&text.len())
            && text.bytes().all(|digit| digit.is_ascii_hexdigit());
        let bits = u128::from_str_radix(text, 16).ok().filter(|_| is_digits);
        let first = bits.zip(u32::try_from(text.len()).ok());
        let first = first.map(|(bits, len)| FirstDigits { bits: bits << (128 - 4 * len), len });
        (whole.is_some() || first.is_some()).then_some(Self { whole, first })
    }

    /// Whether the id is the whole of what was said, or its right half is.
    pub fn is(&self, id: TraceId) -> bool {
        let half = |id: TraceId| id.0 << 64;
        self.whole.is_some_and(|whole| {
            id == whole || (whole.0 >> 64 == 0 && whole.0 != 0 && half(id) == half(whole))
        })
    }

    /// Whether the id may be meant.
    pub fn matches(&self, id: TraceId) -> bool {
        self.is(id) || self.first.is_some_and(|first| first.agreeing(id) == first.len)
    }

    /// How many digits of the id are as they were said: the more, the more likely a slip.
    pub fn likeness(&self, id: TraceId) -> u32 {
        let whole = |whole: TraceId| FirstDigits { bits: whole.0, len: 32 };
        let said = self.first.or(self.whole.map(whole));
        said.map_or(0, |said| said.agreeing(id))
    }
}

impl FirstDigits {
    /// How many of the digits the id has in the same place; one of 64 bits without the zeros that
    /// stand for its left half too.
    fn agreeing(self, id: TraceId) -> u32 {
        let in_place = |id: u128| {
            let differing = self.bits ^ id;
            let place = |digit: u32| differing << (4 * digit) >> 124;
            (0..self.len).map(|digit| u32::from(place(digit) == 0)).sum()
        };
        let short = if id.0 >> 64 == 0 { in_place(id.0 << 64) } else { 0 };
        in_place(id.0).max(short)
    }
}

/// Appends the spans of a trace, by aligned (start, id).
pub(super) fn append(of: &Annotated<'_>, outline: &mut Vec<OutlineSpan>) {
    outline.extend(of.trace.in_order.iter().map(|&i| span(of, i)));
}

fn span(of: &Annotated<'_>, i: usize) -> OutlineSpan {
    let (trace, span) = (&of.trace, of.trace.span(i));
    let request = trace.request(i);
    let since = |instant: UnixNanos| instant - request.origin;
    let mut own = Vec::new();
    let mut add = |from: UnixNanos, to: UnixNanos, category| {
        if from < to {
            own.push(OwnStretch { from: since(from), to: since(to), category });
        }
    };
    if i == request.root {
        add(request.origin, trace.start(i), Category::Queue);
    }
    for_each_gap(trace, i, |gap| {
        of.own_time.split(i, gap, |(from, to), mark| {
            add(from, to, mark.unwrap_or(of.own_time.otherwise(i)));
        });
    });
    let (late_from, residual_from) = of.work.wasted_from(trace, i);
    let since_moment = |(instant, _): Moment| since(instant);
    OutlineSpan {
        trace_id: span.trace_id,
        root_span_id: trace.span(request.root).span_id,
        span_id: span.span_id,
        parent_span_id: trace.link(i).map(|parent| trace.span(parent).span_id),
        is_attached: trace.link(i).is_some() && trace.parent(i).is_none(),
        is_wait: span.flags.is_wait,
        kind: span.kind,
        service: span.service,
        operation: span.operation,
        outcome: trace.outcome(i),
        start: since(trace.start(i)),
        end: since(trace.end(i)),
        late_from: late_from.map(since_moment),
        residual_from: residual_from.map(since_moment),
        own,
    }
}
