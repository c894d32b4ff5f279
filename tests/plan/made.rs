//! Spans of one trace, as admitted.

use dwindle::span::{Flags, Kind, Outcome, Span, SpanId, Spans, Target, TraceId};
use dwindle::units::{Nanos, UnixNanos};

/// When traces start.
const START: i64 = 1_788_600_000_000_000_000;

/// A span. Times in nanoseconds from the start of its trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made<'a> {
    pub id: u64,
    /// 0: none.
    pub parent: u64,
    pub service: &'a str,
    pub name: &'a str,
    pub kind: Kind,
    pub start: i64,
    pub end: i64,
    pub outcome: Outcome,
}

/// One trace on one clock. Calls of one name below one parent are tries of one call; they call what stands
/// before a slash in it.
pub(super) fn spans<'a>(made: impl IntoIterator<Item = Made<'a>>) -> Spans {
    let mut spans = Spans::default();
    for made in made {
        let row = admit(made, &mut spans);
        spans.rows.push(row);
    }
    spans
}

fn admit(made: Made<'_>, spans: &mut Spans) -> Span {
    let service = spans.strings.intern(made.service);
    Span {
        trace_id: TraceId(7),
        span_id: SpanId(made.id),
        parent_span_id: (made.parent > 0).then_some(SpanId(made.parent)),
        service,
        clock_domain: spans.strings.intern("host.name=one"),
        operation: spans.strings.intern(made.name),
        route_operation: None,
        kind: made.kind,
        start: UnixNanos::from_nanos(START + made.start),
        end: UnixNanos::from_nanos(START + made.end),
        outcome: made.outcome,
        http_status: None,
        grant: None,
        allowance: None,
        allowance_key: None,
        attempt_ordinal: None,
        ordinal_key: None,
        queued_before: Nanos::ZERO,
        queued_key: None,
        waited_inside: Nanos::ZERO,
        target: Some(Target::new(1)),
        peer_service: made.name.split('/').next().map(|name| spans.strings.intern(name)),
        split: None,
        stack: None,
        tries_inside: None,
        links: 0,
        weight: None,
        flags: Flags { repeat_safe: true, ..Flags::default() },
    }
}
