//! The traces of planted hops: an edge calls the caller, which calls the callee. Every host has a clock
//! of its own.

use dwindle::span::{Flags, Kind, Outcome, Span, SpanId, Spans, Sym, TraceId};
use dwindle::units::{Nanos, UnixNanos};

use super::dice::Dice;
use super::hop::{Attempt, Ended, Hop};

const MS: f64 = 1e6;
const MILLISECOND: i64 = 1_000_000;
/// When the first request begins.
const START: i64 = 1_790_000_000_000_000_000;
/// Hosts of each service.
const HOSTS: u64 = 3;

/// The spans of hops, each request a trace of its own.
pub struct Fleet<'d> {
    dice: &'d mut Dice,
    spans: Spans,
    traces: u64,
}

/// Where a span ran: its service, and its host's clock.
#[derive(Clone, Copy)]
struct Place {
    service: Sym,
    host: Sym,
    ahead: i64,
}

/// A service and its hosts.
struct Service {
    places: Vec<Place>,
}

/// What all spans of a trace share.
#[derive(Clone, Copy)]
struct Trace {
    id: TraceId,
    start: i64,
    is_rounded: bool,
}

impl<'d> Fleet<'d> {
    /// None yet.
    pub fn new(dice: &'d mut Dice) -> Self {
        Self { dice, spans: Spans::default(), traces: 0 }
    }

    /// The spans of `hops`: hop number i is called by `caller-i`, in the words of [`operation`].
    pub fn spans(mut self, hops: &[Hop]) -> Spans {
        let edge = self.service("edge");
        for (number, hop) in hops.iter().enumerate() {
            let caller = self.service(&caller(number));
            let callee = self.service(&format!("callee-{number}"));
            let unseen = self.dice.pick(&[0.0, 0.0, 0.1, 0.5]);
            let sampled = self.dice.pick(&[1.0, 1.0, 0.7, 0.4]);
            let names: Vec<Sym> = (0..3).map(|class| self.name(&class_of(number, class))).collect();
            let called = self.name(&operation(number));
            for attempt in &hop.attempts {
                // A trace is sampled whole; of those that are, some have lost their callee.
                if !self.dice.happens(sampled) {
                    continue;
                }
                let name = names[attempt.class];
                let [edge, caller, callee] =
                    [&edge, &caller, &callee].map(|service| self.dice.pick(&service.places));
                let is_seen = !self.dice.happens(unseen);
                let callee = is_seen.then_some(callee);
                self.request(attempt, hop.is_rounded, [name, called], edge, caller, callee);
            }
        }
        self.spans.sort();
        self.spans
    }

    fn name(&mut self, name: &str) -> Sym {
        self.spans.strings.intern(name)
    }

    fn service(&mut self, name: &str) -> Service {
        let service = self.name(name);
        let places = (0..HOSTS).map(|host| {
            let host = self.name(&format!("{name}-{host}"));
            let ahead = whole(self.dice.between(-200.0, 200.0) * MS);
            Place { service, host, ahead }
        });
        Service { places: places.collect() }
    }

    fn request(
        &mut self,
        attempt: &Attempt,
        is_rounded: bool,
        [class, called]: [Sym; 2],
        edge: Place,
        caller: Place,
        callee: Option<Place>,
    ) {
        self.traces += 1;
        // The two halves of the id make traces of one hop not follow each other.
        let id = TraceId(u128::from(self.traces.wrapping_mul(0x9e37_79b9_7f4a_7c15)) | 1 << 100);
        let start = START + i64::try_from(self.traces).unwrap_or_default() * 50 * MILLISECOND;
        let trace = Trace { id, start, is_rounded };
        let mut way = || self.dice.between(0.1, 0.6) * MS;
        let [there, back, on, off] = [way(), way(), way(), way()];
        let spent = attempt.upstream.max(there);
        let begins = spent + attempt.since_caller;
        let ends = begins + attempt.duration;
        let (outcome, late) = match attempt.ended {
            Ended::Ok => (Outcome::Ok, -off),
            Ended::TimedOut => (Outcome::DeadlineExceeded, self.dice.between(0.1, 30.0) * MS),
            Ended::Cancelled => (Outcome::Cancelled, self.dice.between(0.1, 30.0) * MS),
        };
        let answers = ends + self.dice.between(0.05, 1.0) * MS;
        let done = answers + back;
        let root = done + self.dice.between(0.05, 1.0) * MS;
        let server = (class, Kind::Server, Outcome::Ok);
        self.add(trace, 1, edge, server, (0.0, root));
        self.add(trace, 2, edge, (class, Kind::Client, Outcome::Ok), (spent - there, done));
        self.add(trace, 3, caller, server, (spent, answers));
        self.add(trace, 4, caller, (called, Kind::Client, outcome), (begins, ends));
        if let Some(callee) = callee {
            let begun = (begins + on).min(ends);
            let ended = (ends + late).max(begun);
            self.add(trace, 5, callee, (called, Kind::Server, Outcome::Ok), (begun, ended));
        }
    }

    /// A span below the one before it.
    fn add(
        &mut self,
        trace: Trace,
        id: u64,
        at: Place,
        (operation, kind, outcome): (Sym, Kind, Outcome),
        (from, to): (f64, f64),
    ) {
        let told = |time: f64| {
            let time = trace.start + at.ahead + whole(time);
            let unit = if trace.is_rounded { MILLISECOND } else { 1 };
            UnixNanos::from_nanos(time.div_euclid(unit) * unit)
        };
        self.spans.rows.push(Span {
            trace_id: trace.id,
            span_id: SpanId(id),
            parent_span_id: (id > 1).then(|| SpanId(id - 1)),
            service: at.service,
            clock_domain: at.host,
            operation,
            route_operation: None,
            kind,
            start: told(from),
            end: told(to),
            outcome,
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
    }
}

/// Who calls over a hop.
pub fn caller(hop: usize) -> String {
    format!("caller-{hop}")
}

/// What it calls.
pub fn operation(hop: usize) -> String {
    format!("Fetch{hop}")
}

fn class_of(hop: usize, class: usize) -> String {
    format!("GET /{hop}/{class}")
}

/// To the nanosecond.
#[expect(clippy::cast_possible_truncation, reason = "planted lengths are minutes at most")]
fn whole(length: f64) -> i64 {
    length as i64
}
