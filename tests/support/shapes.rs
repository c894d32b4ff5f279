//! Shapes of traces that are hard on tree algorithms, as spans ready to be reconstructed. The
//! benches take them from here too.

use dwindle::span::{Flags, Interner, Kind, Outcome, Span, SpanId, Spans, Target, TraceId};
use dwindle::units::{Nanos, UnixNanos};

/// A shape: its name and how to make it of a number of spans.
pub struct Shape {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is hard on.
    pub hard_on: &'static str,
    /// Makes it.
    pub make: fn(i64) -> Spans,
}

/// All shapes.
pub const SHAPES: &[Shape] = &[
    Shape { name: "chain", hard_on: "recursion, ancestors", make: chain },
    Shape {
        name: "granted-chain",
        hard_on: "earlier allowances of ancestors",
        make: granted_chain,
    },
    Shape { name: "fan", hard_on: "one parent of all", make: fan },
    Shape { name: "comb", hard_on: "overlapping children on the path", make: comb },
    Shape { name: "retries", hard_on: "attempts of one call", make: retries },
    Shape { name: "left-chain", hard_on: "ancestors that left", make: left_chain },
    Shape { name: "duplicates", hard_on: "records of one id", make: duplicates },
    Shape { name: "servers", hard_on: "one client of all servers", make: servers },
    Shape { name: "client-fan", hard_on: "one client of all, with gaps", make: client_fan },
    Shape { name: "chain-beside-fan", hard_on: "a subtree told in pieces", make: chain_beside_fan },
    Shape { name: "post-retries", hard_on: "retries of a side effect", make: post_retries },
    Shape { name: "hedges", hard_on: "losers and winners of one call", make: hedges },
    Shape {
        name: "nested-attempts",
        hard_on: "call spans below call spans",
        make: nested_attempts,
    },
];

/// Milliseconds since some instant.
fn at(millis: i64) -> UnixNanos {
    UnixNanos::from_nanos(1_700_000_000_000_000_000) + Nanos::from_millis(millis)
}

struct Maker {
    spans: Spans,
}

impl Maker {
    fn new() -> Self {
        Self { spans: Spans::default() }
    }

    fn strings(&mut self) -> &mut Interner {
        &mut self.spans.strings
    }

    fn add(&mut self, id: i64, parent: i64, kind: Kind, from: i64, to: i64) -> &mut Span {
        let service = self.strings().intern(if id % 2 == 0 { "even" } else { "odd" });
        let operation = self.strings().intern("call");
        let span_id = |id: i64| SpanId(id.unsigned_abs() + 1);
        self.spans.rows.push(Span {
            trace_id: TraceId(1),
            span_id: span_id(id),
            parent_span_id: (parent >= 0).then(|| span_id(parent)),
            service,
            clock_domain: service,
            operation,
            route_operation: None,
            kind,
            start: at(from),
            end: at(to),
            outcome: Outcome::Ok,
            http_status: None,
            grant: None,
            allowance: None,
            allowance_key: None,
            attempt_ordinal: None,
            ordinal_key: None,
            queued_before: Nanos::ZERO,
            queued_key: None,
            waited_inside: Nanos::ZERO,
            target: None,
            peer_service: None,
            split: None,
            stack: None,
            tries_inside: None,
            links: 0,
            weight: None,
            flags: Flags::default(),
        });
        let last = self.spans.rows.len() - 1;
        &mut self.spans.rows[last]
    }
}

/// Each span the child of the one before, alternately CLIENT and SERVER.
fn chain(n: i64) -> Spans {
    let mut maker = Maker::new();
    for i in 0..n {
        let kind = if i % 2 == 0 { Kind::Server } else { Kind::Client };
        maker.add(i, i - 1, kind, i, 2 * n - i);
    }
    maker.spans
}

/// The same, every hop given the full timeout again.
fn granted_chain(n: i64) -> Spans {
    let mut spans = chain(n);
    let key = spans.strings.intern("deadline.remaining_ms");
    for (i, span) in (0..).zip(&mut spans.rows) {
        span.grant = Some(dwindle::span::Grant {
            value: Nanos::from_millis(n * 3 + i * i % 997),
            kind: dwindle::span::GrantKind::Full,
            key,
            rule: key,
            from_start: true,
        });
    }
    spans
}

/// The same, every span cancelled while the one below goes on.
fn left_chain(n: i64) -> Spans {
    let mut spans = chain(n);
    for (i, span) in (0..).zip(&mut spans.rows) {
        span.end = at(n + i);
        span.outcome = Outcome::Cancelled;
    }
    spans
}

/// All spans children of one, one after another.
fn fan(n: i64) -> Spans {
    let mut maker = Maker::new();
    maker.add(0, -1, Kind::Server, 0, n);
    for i in 1..n {
        maker.add(i, 0, Kind::Client, i - 1, i);
    }
    maker.spans
}

/// All spans children of one, each overlapping half of the others, and long ones across all.
fn comb(n: i64) -> Spans {
    let mut maker = Maker::new();
    maker.add(0, -1, Kind::Server, 0, 2 * n);
    for i in 1..n {
        let (from, to) = if i % 3 == 0 { (i, 2 * n - i) } else { (i, i + n / 2) };
        maker.add(i, 0, Kind::Client, from, to);
    }
    maker.spans
}

/// One call, tried again and again.
fn retries(n: i64) -> Spans {
    let mut maker = Maker::new();
    maker.add(0, -1, Kind::Server, 0, 2 * n);
    for i in 1..n {
        let span = maker.add(2 * i, 0, Kind::Client, 2 * i, 2 * i + 1);
        span.target = Some(Target::new(1));
        span.outcome = Outcome::DeadlineExceeded;
    }
    maker.spans
}

/// Two records of each id, all children of one.
fn duplicates(n: i64) -> Spans {
    let mut maker = Maker::new();
    maker.add(0, -1, Kind::Server, 0, n);
    for i in 1..n {
        maker.add(i / 2 + 1, 0, Kind::Client, i - 1, i);
    }
    maker.spans
}

/// One CLIENT, all others servers of it that wait within.
fn servers(n: i64) -> Spans {
    let mut maker = Maker::new();
    maker.add(0, -1, Kind::Client, 0, 3 * n);
    for i in 1..n {
        maker.add(i, 0, Kind::Server, i, i + 2).waited_inside = Nanos::from_millis(1);
    }
    maker.spans
}

/// One CLIENT, all others work inside it, with gaps between them.
fn client_fan(n: i64) -> Spans {
    let mut maker = Maker::new();
    maker.add(0, -1, Kind::Server, 0, 3 * n);
    maker.add(2, 0, Kind::Client, 0, 3 * n);
    for i in 2..n {
        maker.add(2 * i, 2, Kind::Internal, 3 * i, 3 * i + 1);
    }
    maker.spans
}

/// Half of the spans a chain, the other half short siblings of its top, while it runs.
fn chain_beside_fan(n: i64) -> Spans {
    let mut maker = Maker::new();
    maker.add(0, -1, Kind::Server, 0, 4 * n);
    let half = n / 2;
    for i in 1..half {
        maker.add(2 * i, if i == 1 { 0 } else { 2 * i - 2 }, Kind::Internal, i, 3 * n - i);
    }
    for i in half..n {
        maker.add(2 * i, 0, Kind::Internal, 2 * i, 2 * i + 1);
    }
    // The last sibling ends after the chain, so that the chain is told in the gaps.
    if let Some(last) = maker.spans.rows.last_mut() {
        last.end = at(4 * n);
    }
    maker.spans
}

/// One call that is no safe repeat, tried again after plain errors.
fn post_retries(n: i64) -> Spans {
    let mut spans = retries(n);
    for span in spans.rows.iter_mut().skip(1) {
        span.outcome = Outcome::Error;
        span.flags.side_effect = true;
    }
    spans
}

/// One call of numbered attempts, every other one the winner over its neighbour.
fn hedges(n: i64) -> Spans {
    let mut spans = retries(n);
    for (ordinal, span) in (1..).zip(spans.rows.iter_mut().skip(1)) {
        span.attempt_ordinal = Some(ordinal);
        span.outcome = if ordinal % 2 == 0 { Outcome::Ok } else { Outcome::Error };
        span.end = at(i64::from(ordinal) * 2 + 3);
    }
    // One winner runs across all of them.
    if let Some(first) = spans.rows.get_mut(1) {
        first.outcome = Outcome::Ok;
        first.end = at(2 * n);
    }
    spans
}

/// Attempts below one another, each with a plain call beside.
fn nested_attempts(n: i64) -> Spans {
    let mut maker = Maker::new();
    maker.add(0, -1, Kind::Server, 0, 2 * n);
    for i in 1..n {
        let (parent, is_attempt) = if i % 2 == 1 { (i - 1, true) } else { (i - 1, false) };
        let above = if is_attempt { (parent - 1).max(0) } else { parent };
        maker.add(i, above, Kind::Client, i, 2 * n - i).flags.is_attempt = is_attempt;
    }
    maker.spans
}
