//! A second implementation of SEMANTICS sections 3 to 11, written from the text alone in the most
//! obvious way: every question is answered by looking at all spans again. It shares no logic with
//! the crate (plain data types and names only) and is far too slow for anything but tests.

mod calls;
mod clock;
mod findings;
mod hops;
mod intervals;
mod path;
mod request;
mod summary;
mod terms;
mod tree;
mod waits;
mod work;

use std::collections::BTreeSet;

use dwindle::contract::CallTerms;
use dwindle::reconstruct::Policy;
use dwindle::span::{Interner, Kind, Outcome, Span, Spans, TraceId};
use serde_json::Value;

use crate::support::tables::Json;
use clock::Domain;
use request::Request;

/// One millisecond, in the unit of everything here.
const MS: i64 = 1_000_000;

/// What SEMANTICS says of these spans.
pub(crate) fn tables(spans: &Spans, policy: &Policy) -> Json {
    let traces: BTreeSet<TraceId> = spans.rows.iter().map(|span| span.trace_id).collect();
    let names = ["requests", "hops", "attempts", "segments", "findings"];
    let mut tables: Json = names.into_iter().map(|name| (name, Vec::new())).collect();
    for id in traces {
        for (name, rows) in Trace::new(spans, policy, id).rows() {
            tables.entry(name).or_default().extend(rows);
        }
    }
    tables
}

/// The bounds of the offset of every clock domain but the root's, in the order in which they are
/// settled.
pub(crate) fn clock_bounds(spans: &Spans) -> Vec<(String, Option<i64>, Option<i64>)> {
    let policy = Policy::default();
    let traces: BTreeSet<TraceId> = spans.rows.iter().map(|span| span.trace_id).collect();
    let bounds = |domain: &Domain<'_>| (domain.name.to_owned(), domain.lo, domain.hi);
    let of_trace = |id| {
        let trace = Trace::new(spans, &policy, id);
        trace.domains.iter().skip(1).map(bounds).collect::<Vec<_>>()
    };
    traces.into_iter().flat_map(of_trace).collect()
}

/// A trace being understood: its spans by raw (start, id).
struct Trace<'a> {
    strings: &'a Interner,
    policy: &'a Policy,
    nodes: Vec<Node<'a>>,
    /// The trace's root.
    root: usize,
    /// Its clock domains in the order in which they are settled, the root's first.
    domains: Vec<Domain<'a>>,
    blind_spots: BTreeSet<&'static str>,
}

/// A span and what is learnt of it.
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact")]
struct Node<'a> {
    span: &'a Span,
    id: u64,
    service: &'a str,
    name: &'a str,
    /// `METHOD ROUTE`, where that is known and the name is only a method.
    route: Option<&'a str>,
    domain: &'a str,
    kind: Kind,
    is_wait: bool,
    raw_start: i64,
    raw_end: i64,
    queued: i64,
    /// What it declares, else what is known of such calls.
    grant: Option<i64>,
    /// What is known of such calls, where that is its grant.
    timed: Option<&'a CallTerms>,
    /// The parent that is there, once cycles are cut.
    parent: Option<usize>,
    /// A cycle was cut here.
    was_cycle: bool,
    /// Counts as a child of the trace's root for budgets and work, and for nothing else.
    attached: bool,
    /// A request starts here.
    heads_request: bool,
    /// The parent within the request; the root for attached spans.
    up: Option<usize>,
    /// Children within the request, without attached ones.
    children: Vec<usize>,
    /// The CLIENT above attempts.
    is_call_span: bool,
    /// A SERVER, CONSUMER, or something of another service that stands for one.
    is_server: bool,
    /// The servers that it is paired with.
    servers: Vec<usize>,
    /// Start and end on the root's clock.
    start: i64,
    end: i64,
    /// After wordless clients are settled.
    outcome: Outcome,
}

impl Node<'_> {
    /// Whether its work, or the place for it, lies at the other end of a call.
    fn sends(&self) -> bool {
        matches!(self.kind, Kind::Client | Kind::Producer)
    }

    /// Whether it is the first half of a hop: a wait span and a call span are not.
    fn opens_hop(&self) -> bool {
        self.sends() && !self.is_wait && !self.is_call_span
    }

    fn left(&self) -> bool {
        matches!(self.outcome, Outcome::DeadlineExceeded | Outcome::Cancelled)
    }
}

impl<'a> Trace<'a> {
    fn new(spans: &'a Spans, policy: &'a Policy, id: TraceId) -> Self {
        let mut trace = Self {
            strings: &spans.strings,
            policy,
            nodes: Vec::new(),
            root: 0,
            domains: Vec::new(),
            blind_spots: BTreeSet::new(),
        };
        trace.admit(spans, id);
        trace.build_tree();
        trace.settle_clocks();
        trace.settle_wordless();
        trace.apply_terms();
        trace
    }

    /// Keeps one span of each id, the smallest.
    fn admit(&mut self, spans: &'a Spans, id: TraceId) {
        let mut all: Vec<&Span> = spans.rows.iter().filter(|span| span.trace_id == id).collect();
        all.sort_by(|a, b| a.content_order(b, &spans.strings));
        let mut kept: Vec<&Span> = Vec::new();
        for span in all {
            if kept.iter().any(|other| other.span_id == span.span_id) {
                self.blind_spots.insert("duplicate_spans");
            } else {
                kept.push(span);
            }
        }
        kept.sort_by_key(|span| (span.start, span.span_id));
        if kept.iter().any(|span| span.flags.negative_duration) {
            self.blind_spots.insert("negative_duration");
        }
        if kept.iter().any(|span| span.flags.clock_adjusted) {
            self.blind_spots.insert("clock_adjusted");
        }
        let times: Vec<i64> =
            kept.iter().flat_map(|span| [span.start.as_nanos(), span.end.as_nanos()]).collect();
        if times.iter().any(|time| time % 1_000 != 0)
            && times.iter().all(|time| *time >= 1 << 60 && time % 256 == 0)
        {
            self.blind_spots.insert("times_rounded");
        }
        if kept.iter().any(|span| span.flags.trace_joined) {
            self.blind_spots.insert("trace_joined");
        }
        self.nodes = kept.iter().map(|span| node(spans, span)).collect();
    }

    fn ids(&self) -> std::ops::Range<usize> {
        0..self.nodes.len()
    }

    /// The spans above one, nearest first, within its request.
    fn ancestors(&self, span: usize) -> Vec<usize> {
        match self.nodes[span].up {
            None => Vec::new(),
            Some(up) => [vec![up], self.ancestors(up)].concat(),
        }
    }

    /// A span and all below it within its request, attached ones too.
    fn subtree(&self, top: usize) -> Vec<usize> {
        self.ids().filter(|&span| span == top || self.ancestors(span).contains(&top)).collect()
    }

    /// Orders spans by corrected (start, id).
    fn in_order(&self, mut spans: Vec<usize>) -> Vec<usize> {
        spans.sort_by_key(|&span| (self.nodes[span].start, self.nodes[span].id));
        spans
    }

    /// The rows of its requests, table by table.
    fn rows(&self) -> Vec<(&'static str, Vec<Value>)> {
        let heads = self.ids().filter(|&span| self.nodes[span].heads_request);
        let requests: Vec<_> = heads.map(|head| Request::new(self, head)).collect();
        // What one request finds missing is a blind spot of the trace.
        let mut blind_spots = self.blind_spots.clone();
        if requests.iter().any(|request| request.attempts_missing) {
            blind_spots.insert("attempts_missing");
        }
        let mut rows = Vec::new();
        for request in &requests {
            rows.push(("requests", vec![request.request_row(&blind_spots)]));
            rows.push(("hops", request.hop_rows()));
            rows.push(("attempts", request.attempt_rows()));
            rows.push(("segments", request.segment_rows()));
            rows.push(("findings", request.finding_rows()));
        }
        rows
    }
}

fn node<'a>(spans: &'a Spans, span: &'a Span) -> Node<'a> {
    Node {
        span,
        id: span.span_id.0,
        service: spans.strings.get(span.service),
        name: spans.strings.get(span.operation),
        route: span.route_operation.map(|route| spans.strings.get(route)),
        domain: spans.strings.get(span.clock_domain),
        kind: span.kind,
        is_wait: span.flags.is_wait,
        raw_start: span.start.as_nanos(),
        raw_end: span.end.as_nanos(),
        queued: span.queued_before.as_nanos(),
        grant: span.grant.map(|grant| grant.value.as_nanos()),
        timed: None,
        parent: None,
        was_cycle: false,
        attached: false,
        heads_request: false,
        up: None,
        children: Vec::new(),
        is_call_span: false,
        is_server: false,
        servers: Vec::new(),
        start: span.start.as_nanos(),
        end: span.end.as_nanos(),
        outcome: span.outcome,
    }
}
