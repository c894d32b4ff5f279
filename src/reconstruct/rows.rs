//! The rows of an annotated trace, in the order of the tables.

use super::annotated::Annotated;
use super::attempt::Attempt;
use super::class::Classes;
use super::finding::Finding;
use super::hop::Hop;
use super::memory::take_leading;
use super::path::Segment;
use super::request::Request;
use super::stay::stay;
use crate::budget;
use crate::span::{Interner, SpanId, Sym, TraceId};
use crate::stats::Weight;
use crate::tables::{
    AttemptKind, AttemptRow, BlindSpot, Category, FindingRow, Funding, HopRow, RequestRow,
    SegmentRow, Stay, Tables,
};
use crate::units::{Nanos, UnixNanos};

/// The rows of a partition, while they grow trace by trace.
#[derive(Debug)]
pub(super) struct Rows {
    /// The rows so far. Their strings extend those of the spans.
    pub tables: Tables,
    classes: Classes,
}

impl Rows {
    /// No rows yet; `strings` are those of the spans, of which there are so many.
    pub(super) fn new(strings: Interner, spans: usize) -> Self {
        // Most traces have fewer of each; what is not used is never touched.
        let tables = Tables {
            strings,
            hops: Vec::with_capacity(spans),
            attempts: Vec::with_capacity(spans),
            segments: Vec::with_capacity(spans),
            ..Tables::default()
        };
        Self { tables, classes: Classes::default() }
    }

    /// Appends the rows of one trace.
    pub(super) fn append(&mut self, of: &Annotated<'_>) {
        let trace = &of.trace;
        let order = Order::of(of);
        let request_of = |span: usize| trace.tree.request_of[span];
        let calls = of.calls.calls();
        let attempts = calls.flat_map(|call| call.iter().map(move |attempt| (call, attempt)));
        let attempts = attempts.filter(|(_, attempt)| of.is_within_request(attempt));
        let hops = order.sorted(of.hops.all.iter(), |hop| (hop.request, hop.first));
        let attempts =
            order.sorted(attempts, |(_, attempt)| (request_of(attempt.span), attempt.span));
        let mut findings =
            order.sorted(of.findings.iter(), |finding| (finding.request, finding.span));
        findings.sort_by_key(|finding| (order.rank(finding.request), finding.code));
        let (mut hops, mut attempts, mut findings) = (&*hops, &*attempts, &*findings);
        for &number in &order.requests {
            let request = &trace.requests[number];
            let root = trace.span(request.root);
            let tables = &mut self.tables;
            let class = self.classes.of(&mut tables.strings, request, root);
            let contract = request.contract.map(|contract| tables.strings.intern(&contract.name));
            let subject = Subject {
                of,
                request,
                strings: &tables.strings,
                trace_id: root.trace_id,
                class,
                contract,
                root_span_id: root.span_id,
            };
            let segments = of.path.segments(number);
            let hops = take_leading(&mut hops, |hop| hop.request == number);
            let attempts =
                take_leading(&mut attempts, |(_, attempt)| request_of(attempt.span) == number);
            let findings = take_leading(&mut findings, |finding| finding.request == number);

            tables.requests.push(subject.request(segments, hops, attempts, number));
            tables.segments.extend(segments.iter().map(|segment| subject.segment(segment)));
            for hop in hops {
                tables.stays.extend(stay(of, hop, tables.hops.len()));
                tables.hops.push(subject.hop(hop));
            }
            tables
                .attempts
                .extend(attempts.iter().map(|&(call, attempt)| subject.attempt(call, attempt)));
            tables.findings.extend(findings.iter().map(|finding| subject.finding(finding)));
        }
        // Those that are not told wait in queues too.
        let others = of.hops.all.iter().filter(|hop| order.rank(hop.request).is_none());
        let waiting = others.filter_map(|hop| stay(of, hop, 0));
        self.tables.stays.extend(waiting.map(|stay| Stay { expired: None, ..stay }));
    }
}

/// The order of rows: by request, and within one by (start, id) of their span.
struct Order {
    /// The requests that are told, by (start, id) of their roots.
    requests: Vec<usize>,
    /// The first of them by number.
    first: usize,
    /// By number, from the first, its place among them.
    ranks: Vec<usize>,
    /// By span its place among all.
    places: Vec<usize>,
}

impl Order {
    fn of(of: &Annotated<'_>) -> Self {
        let trace = &of.trace;
        let mut requests: Vec<usize> = of.subjects.clone().collect();
        requests.sort_unstable_by_key(|&request| {
            let root = trace.requests[request].root;
            (trace.start(root), trace.span(root).span_id)
        });
        let first = of.subjects.start;
        let ranks = places(requests.iter().map(|&request| request - first), requests.len());
        let places = places(trace.in_order.iter().copied(), trace.len());
        Self { requests, first, ranks, places }
    }

    /// The place of a request; `None` of one that is not told.
    fn rank(&self, request: usize) -> Option<usize> {
        self.ranks.get(request.checked_sub(self.first)?).copied()
    }

    /// Things that are told, in the order of the requests and spans that they belong to.
    fn sorted<T>(
        &self,
        things: impl Iterator<Item = T>,
        of: impl Fn(&T) -> (usize, usize),
    ) -> Vec<T> {
        let mut things: Vec<T> = things.filter(|thing| self.rank(of(thing).0).is_some()).collect();
        things.sort_by_key(|thing| {
            let (request, span) = of(thing);
            (self.rank(request), self.places[span])
        });
        things
    }
}

/// By number its place in `order`, which holds each of the first `len` numbers once.
fn places(order: impl Iterator<Item = usize>, len: usize) -> Vec<usize> {
    let mut places = vec![0; len];
    for (place, number) in order.enumerate() {
        places[number] = place;
    }
    places
}

/// The request whose rows are being made, and what they all carry.
struct Subject<'t, 'a> {
    of: &'t Annotated<'a>,
    request: &'t Request<'a>,
    strings: &'t Interner,
    trace_id: TraceId,
    class: Sym,
    contract: Option<Sym>,
    root_span_id: SpanId,
}

impl Subject<'_, '_> {
    /// Since the origin.
    fn elapsed(&self, instant: UnixNanos) -> Nanos {
        instant - self.request.origin
    }

    fn segment(&self, segment: &Segment) -> SegmentRow {
        SegmentRow {
            trace_id: self.trace_id,
            request_class: self.class,
            root_span_id: self.root_span_id,
            service: segment.service,
            operation: segment.operation,
            category: segment.category,
            duration_ns: segment.length,
        }
    }

    fn request(
        &self,
        segments: &[Segment],
        hops: &[&Hop],
        attempts: &[(&[Attempt], &Attempt)],
        number: usize,
    ) -> RequestRow {
        let (of, trace, request) = (self.of, &self.of.trace, self.request);
        let root = request.root;
        let admitting = request.admitting;
        let count = |wanted: fn(&Attempt) -> bool| {
            let counted = attempts.iter().filter(|(_, attempt)| wanted(attempt)).count();
            i32::try_from(counted).unwrap_or(i32::MAX)
        };
        let on_path = |wanted: &dyn Fn(&Segment) -> bool| -> Nanos {
            segments.iter().filter(|segment| wanted(segment)).map(|segment| segment.length).sum()
        };
        let outcome = request.terminal_outcome(trace.outcome(root));
        let deadline = request.deadline_at();
        let in_time = deadline.map(|deadline| {
            trace.outcome(root) == crate::span::Outcome::Ok && trace.end(root) <= deadline
        });
        let mut blind_spots = of.blind_spots();
        blind_spots.insert_if(request.deadline.is_none(), BlindSpot::NoDeadline);
        let below = of.work.below[root];
        RequestRow {
            trace_id: self.trace_id,
            request_class: self.class,
            root_span_id: self.root_span_id,
            root_service: trace.span(root).service,
            root_operation: trace.span(root).operation,
            start_unix_ns: trace.start(root),
            spans: i32::try_from(request.spans).unwrap_or(i32::MAX),
            duration_ns: trace.span(root).duration(),
            elapsed_ns: self.elapsed(trace.end(root)),
            contract: self.contract,
            deadline_source: request.deadline_source,
            budget_at_origin_ns: request.budget_at_origin(),
            budget_at_admission_ns: admitting
                .and_then(|i| budget::remaining(deadline, trace.start(i))),
            queue_ns: on_path(&|segment| segment.category == Category::Queue),
            budget_at_start_ns: admitting
                .and_then(|i| budget::remaining(deadline, trace.execution_start(i).0)),
            local_execution_ns: on_path(&|segment| {
                let service = admitting.map(|i| trace.span(i).service);
                segment.category == Category::Local && Some(segment.service) == service
            }),
            downstream_budget_sent_ns: admitting.and_then(|i| self.largest_grant_sent(hops, i)),
            retry_count: count(|attempt| attempt.kind == AttemptKind::Retry),
            hedge_count: count(|attempt| attempt.kind == AttemptKind::Hedge),
            unfundable_attempts: count(|attempt| {
                matches!(attempt.funding, Funding::Unfundable | Funding::Expired)
            }),
            retry_layered: of.retry_layered[number],
            cancellation_observed_ns: request.first_left.map(|instant| self.elapsed(instant)),
            residual_work_after_cancel_ns: below.residual_work,
            return_reserve_used_ns: admitting.and_then(|i| self.return_reserve_used(i)),
            terminal_outcome: outcome,
            completed_before_deadline: in_time,
            late_work_ns: request.deadline.map(|_| below.late_work),
            late_work_min_ns: request.deadline.map(|_| below.late_work_min),
            late_work_max_ns: request.deadline.map(|_| below.late_work_max),
            late_wait_ns: request.deadline.map(|_| below.late_wait),
            residual_wait_ns: below.residual_wait,
            late_wall_ns: deadline.map(|d| (request.last_end - d).at_least_zero()),
            weight: trace.weight().map(Weight::requests),
            split: trace.span(root).split,
            blind_spots,
        }
    }

    /// The largest grant of hops with a client half, one deeper than the admitting span, called
    /// by its service.
    fn largest_grant_sent(&self, hops: &[&Hop], admitting: usize) -> Option<Nanos> {
        let trace = &self.of.trace;
        let depth = hops
            .iter()
            .find(|hop| hop.client == Some(admitting) || hop.server == Some(admitting))?
            .depth;
        hops.iter()
            .filter(|hop| hop.depth == depth + 1)
            .filter(|hop| {
                let service = hop.client.map(|client| trace.span(client).service);
                service == Some(trace.span(admitting).service)
            })
            .filter_map(|hop| hop.grant.map(|grant| grant.value))
            .max()
    }

    /// From the end of the last child that ended by then to the end of the admitting span.
    fn return_reserve_used(&self, admitting: usize) -> Option<Nanos> {
        let trace = &self.of.trace;
        let end = trace.end(admitting);
        let ends = trace.children.of(admitting).iter().map(|&child| trace.end(child));
        ends.filter(|&child| child <= end).max().map(|last| end - last)
    }

    fn hop(&self, hop: &Hop) -> HopRow {
        let (of, trace, request) = (self.of, &self.of.trace, self.request);
        let sent = hop.client.map(|i| trace.start(i));
        let received = hop.server.map(|i| trace.start(i));
        let caller_deadline = of.caller_deadline(hop.first).map(|(deadline, _)| deadline);
        let remaining =
            |at: Option<UnixNanos>| at.and_then(|at| budget::remaining(caller_deadline, at));
        // Nothing sends to a root: even a root that sends has no caller with time left.
        let remaining_at_send = remaining(sent);
        let remaining_at_receive = remaining(received);
        let below = of.work.below[hop.top];
        let half = hop.client.or(hop.server).unwrap_or(hop.first);
        let clock = trace.clock.interval(hop.server.unwrap_or(half));
        HopRow {
            trace_id: self.trace_id,
            request_class: self.class,
            root_span_id: self.root_span_id,
            hop_id: hop.id(trace),
            client_span_id: hop.client.map(|i| trace.span(i).span_id),
            server_span_id: hop.server.map(|i| trace.span(i).span_id),
            caller_hop_id: hop.above.map(|i| trace.span(i).span_id),
            caller_service: hop.caller_service(trace, self.strings),
            callee_service: hop.callee_service(trace, self.strings),
            operation: trace.span(hop.server.unwrap_or(half)).operation,
            depth: i32::try_from(hop.depth).unwrap_or(i32::MAX),
            elapsed_at_send_ns: sent.map(|at| self.elapsed(at)),
            elapsed_at_receive_ns: received.map(|at| self.elapsed(at)),
            remaining_at_send_ns: remaining_at_send,
            remaining_at_receive_ns: remaining_at_receive,
            available_ns: remaining_at_send
                .or(remaining_at_receive)
                .map(|left| budget::available(left, request.reserve())),
            granted_ns: hop.grant.map(|grant| grant.value),
            grant_key: hop.grant.map(|grant| grant.key),
            grant_kind: hop.grant.map(|grant| grant.kind),
            grant_rule: hop.grant.map(|grant| grant.rule),
            verdict: hop.verdict,
            overgrant_ns: hop.overgrant(),
            transit_ns: received.zip(sent).map(|(received, sent)| received - sent),
            queue_ns: hop.queue,
            queue_key: hop
                .server
                .or_else(|| trace.link(hop.first).is_none().then_some(hop.first))
                .and_then(|i| trace.span(i).queued_key),
            remaining_at_start_ns: remaining(hop.begun.map(|(begun, _)| begun)),
            duration_ns: trace.span(half).duration(),
            outcome: trace.outcome(half),
            callee_outcome: hop.server.map(|server| trace.outcome(server)),
            return_ns: hop
                .client
                .zip(hop.server)
                .map(|(client, server)| trace.end(client) - trace.end(server)),
            stack: trace.span(hop.server.unwrap_or(half)).stack,
            late_work_ns: request.deadline.map(|_| below.late_work),
            late_work_min_ns: request.deadline.map(|_| below.late_work_min),
            late_work_max_ns: request.deadline.map(|_| below.late_work_max),
            residual_work_ns: below.residual_work,
            late_wait_ns: request.deadline.map(|_| below.late_wait),
            residual_wait_ns: below.residual_wait,
            proxy: hop.client.into_iter().chain(hop.server).any(|i| trace.span(i).flags.is_proxy),
            clock_lo_ns: clock.lo,
            clock_hi_ns: clock.hi,
            split: trace.span(hop.server.unwrap_or(half)).split,
        }
    }

    fn attempt(&self, call: &[Attempt], attempt: &Attempt) -> AttemptRow {
        let trace = &self.of.trace;
        let i = attempt.span;
        let span = trace.span(i);
        let server = trace.servers(i).next();
        let first = call.first().map_or(i, |first| first.span);
        AttemptRow {
            trace_id: self.trace_id,
            request_class: self.class,
            root_span_id: self.root_span_id,
            call_id: trace.span(first).span_id,
            span_id: span.span_id,
            ordinal: attempt.ordinal,
            ordinal_key: span.ordinal_key,
            attempts: i32::try_from(call.len()).unwrap_or(i32::MAX),
            kind: attempt.kind,
            caller_service: trace.service(i, self.strings),
            callee_service: server
                .and_then(|i| trace.service(i, self.strings))
                .or(span.peer_service),
            operation: span.operation,
            elapsed_at_start_ns: self.elapsed(trace.start(i)),
            backoff_ns: attempt.backoff,
            remaining_at_start_ns: attempt.remaining,
            available_at_start_ns: attempt
                .remaining
                .map(|left| budget::available(left, self.request.reserve())),
            allowance_ns: attempt.allowance,
            allowance_key: attempt.allowance_key,
            funding: attempt.funding,
            duration_ns: span.duration(),
            outcome: trace.outcome(i),
            tries_inside: self.tries_inside(i),
        }
    }

    /// How many tries a span holds that have none of their own: each call below it that its service made
    /// too is one of those that it tells.
    fn tries_inside(&self, i: usize) -> Option<i32> {
        let trace = &self.of.trace;
        let told = trace.span(i).tries_inside?;
        let is_own = |child: &usize| trace.span(*child).service == trace.span(i).service;
        let tries = trace.children.of(i).iter().filter(|&&child| trace.is_try(child));
        let seen = i32::try_from(tries.filter(|child| is_own(child)).count()).unwrap_or(i32::MAX);
        Some(told.saturating_sub(seen.max(1)).max(0).saturating_add(1))
    }

    fn finding(&self, finding: &Finding) -> FindingRow {
        FindingRow {
            trace_id: self.trace_id,
            request_class: self.class,
            root_span_id: self.root_span_id,
            code: finding.code,
            span_id: self.of.trace.span(finding.span).span_id,
            excess_ns: finding.excess,
            wasted_ns: finding.wasted,
            evidence: finding.evidence,
            certainty: finding.certainty,
        }
    }
}
