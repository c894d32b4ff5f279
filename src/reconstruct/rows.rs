//! The rows of an annotated trace, in the order of the tables.

use rustc_hash::FxHashMap;

use super::annotated::Annotated;
use super::attempt::{Attempt, Call};
use super::finding::{Finding, findings};
use super::hop::Hop;
use super::path::{SegmentKey, segments};
use super::request::Request;
use crate::budget;
use crate::span::{SpanId, Sym, TraceId};
use crate::tables::{
    AttemptKind, AttemptRow, BlindSpot, Category, FindingRow, Funding, HopRow, RequestRow,
    SegmentRow, Tables,
};
use crate::units::{Nanos, UnixNanos};

/// What stands for the key of an allowance that the contract tells.
const CONTRACT: &str = "contract";

/// Appends the rows of one trace. The strings of `tables` extend those of the spans.
pub(super) fn append(of: &Annotated<'_>, tables: &mut Tables) {
    let trace = &of.trace;
    let findings = findings(of);
    let attempts =
        of.calls.calls.iter().flat_map(|call| {
            call.attempts.iter().map(move |attempt| (attempt.span, (call, attempt)))
        });
    // Rows come by request, and within one by (start, id) of their span.
    let hops = by_request(of, of.hops.iter().map(|hop| (hop.first, hop)));
    let attempts = by_request(of, attempts);
    let findings = by_request(of, findings.iter().map(|finding| (finding.span, finding)));

    let mut path = segments(trace, &of.own_time);

    let mut order: Vec<usize> = (0..trace.requests.len()).collect();
    order.sort_unstable_by_key(|&request| start_and_id(of, trace.requests[request].root));
    for number in order {
        let request = &trace.requests[number];
        let subject = Subject {
            of,
            request,
            trace_id: trace.span(request.root).trace_id,
            class: tables.strings.intern(&request.class),
            contract: request.contract.map(|contract| tables.strings.intern(&contract.name)),
            by_contract: tables.strings.intern(CONTRACT),
            root_span_id: trace.span(request.root).span_id,
        };
        let segments = subject.segments(std::mem::take(&mut path[number]));
        tables.requests.push(subject.request(&segments, &hops[number], &attempts[number], number));
        tables.segments.extend(segments);
        tables.hops.extend(hops[number].iter().map(|hop| subject.hop(hop)));
        tables
            .attempts
            .extend(attempts[number].iter().map(|&(call, one)| subject.attempt(call, one)));
        let mut found = findings[number].clone();
        found.sort_by_key(|finding| finding.code);
        tables.findings.extend(found.into_iter().map(|finding| subject.finding(finding)));
    }
}

fn start_and_id(of: &Annotated<'_>, i: usize) -> (UnixNanos, SpanId) {
    (of.trace.start(i), of.trace.span(i).span_id)
}

/// Sorts things by the (start, id) of their spans into the requests that these belong to.
fn by_request<T>(of: &Annotated<'_>, things: impl Iterator<Item = (usize, T)>) -> Vec<Vec<T>> {
    let mut things: Vec<(usize, T)> = things.collect();
    things.sort_by_key(|&(span, _)| start_and_id(of, span));
    let mut by_request: Vec<Vec<T>> = of.trace.requests.iter().map(|_| Vec::new()).collect();
    for (span, thing) in things {
        by_request[of.trace.tree.request_of[span]].push(thing);
    }
    by_request
}

/// The request whose rows are being made, and what they all carry.
struct Subject<'t, 'a> {
    of: &'t Annotated<'a>,
    request: &'t Request<'a>,
    trace_id: TraceId,
    class: Sym,
    contract: Option<Sym>,
    /// [`CONTRACT`].
    by_contract: Sym,
    root_span_id: SpanId,
}

impl Subject<'_, '_> {
    /// Since the origin.
    fn elapsed(&self, instant: UnixNanos) -> Nanos {
        instant - self.request.origin
    }

    fn segments(&self, segments: FxHashMap<SegmentKey, Nanos>) -> Vec<SegmentRow> {
        let strings = self.of.trace.strings;
        let mut rows: Vec<SegmentRow> = segments
            .into_iter()
            .map(|((service, operation, category), duration_ns)| SegmentRow {
                trace_id: self.trace_id,
                request_class: self.class,
                root_span_id: self.root_span_id,
                service,
                operation,
                category,
                duration_ns,
            })
            .collect();
        rows.sort_unstable_by(|one, other| {
            let key = |row: &SegmentRow| {
                (strings.get(row.service), strings.get(row.operation), row.category)
            };
            key(one).cmp(&key(other))
        });
        rows
    }

    fn request(
        &self,
        segments: &[SegmentRow],
        hops: &[&Hop],
        attempts: &[(&Call, &Attempt)],
        number: usize,
    ) -> RequestRow {
        let (of, trace, request) = (self.of, &self.of.trace, self.request);
        let root = request.root;
        let admitting = request.admitting;
        let count = |wanted: fn(&Attempt) -> bool| {
            let counted = attempts.iter().filter(|(_, attempt)| wanted(attempt)).count();
            i32::try_from(counted).unwrap_or(i32::MAX)
        };
        let on_path = |wanted: &dyn Fn(&SegmentRow) -> bool| -> Nanos {
            segments.iter().filter(|row| wanted(row)).map(|row| row.duration_ns).sum()
        };
        let outcome = request.terminal_outcome(trace.outcome(root));
        let in_time = request.deadline.map(|deadline| {
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
                .and_then(|i| budget::remaining(request.deadline, trace.start(i))),
            queue_ns: on_path(&|row| row.category == Category::Queue),
            budget_at_start_ns: admitting
                .and_then(|i| budget::remaining(request.deadline, trace.execution_start(i))),
            local_execution_ns: on_path(&|row| {
                let service = admitting.map(|i| trace.span(i).service);
                row.category == Category::Local && Some(row.service) == service
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
            late_wait_ns: request.deadline.map(|_| below.late_wait),
            residual_wait_ns: below.residual_wait,
            late_wall_ns: request.deadline.map(|d| (request.last_end - d).at_least_zero()),
            weight: None,
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
        let caller_deadline = of.caller_deadline(hop.first);
        let remaining =
            |at: Option<UnixNanos>| at.and_then(|at| budget::remaining(caller_deadline, at));
        // Nothing sends to a root: even a root that sends has no caller with time left.
        let remaining_at_send = remaining(sent);
        let remaining_at_receive = remaining(received);
        let below = of.work.below[hop.top];
        let half = hop.client.or(hop.server).unwrap_or(hop.first);
        let caller = hop.client.or(trace.link(hop.first));
        HopRow {
            trace_id: self.trace_id,
            request_class: self.class,
            root_span_id: self.root_span_id,
            hop_id: hop.id(trace),
            client_span_id: hop.client.map(|i| trace.span(i).span_id),
            server_span_id: hop.server.map(|i| trace.span(i).span_id),
            caller_service: caller.and_then(|i| trace.service(i)),
            callee_service: of.callee_service(hop),
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
            remaining_at_start_ns: remaining(hop.server.map(|i| trace.execution_start(i))),
            duration_ns: trace.span(half).duration(),
            outcome: trace.outcome(half),
            late_work_ns: request.deadline.map(|_| below.late_work),
            residual_work_ns: below.residual_work,
            late_wait_ns: request.deadline.map(|_| below.late_wait),
            residual_wait_ns: below.residual_wait,
            proxy: hop.client.into_iter().chain(hop.server).any(|i| trace.span(i).flags.is_proxy),
            clock_lo_ns: None,
            clock_hi_ns: None,
        }
    }

    fn attempt(&self, call: &Call, attempt: &Attempt) -> AttemptRow {
        let trace = &self.of.trace;
        let i = attempt.span;
        let span = trace.span(i);
        let server = trace.servers(i).next();
        let first = call.attempts.first().map_or(i, |first| first.span);
        AttemptRow {
            trace_id: self.trace_id,
            request_class: self.class,
            root_span_id: self.root_span_id,
            call_id: trace.span(first).span_id,
            span_id: span.span_id,
            ordinal: attempt.ordinal,
            ordinal_key: span.ordinal_key,
            attempts: i32::try_from(call.attempts.len()).unwrap_or(i32::MAX),
            kind: attempt.kind,
            caller_service: trace.service(i),
            callee_service: server.and_then(|i| trace.service(i)).or(span.peer_service),
            operation: span.operation,
            elapsed_at_start_ns: self.elapsed(trace.start(i)),
            backoff_ns: attempt.backoff,
            remaining_at_start_ns: attempt.remaining,
            available_at_start_ns: attempt
                .remaining
                .map(|left| budget::available(left, self.request.reserve())),
            allowance_ns: attempt.allowance,
            allowance_key: span.allowance_key.or(attempt.allowance.map(|_| self.by_contract)),
            funding: attempt.funding,
            duration_ns: span.duration(),
            outcome: trace.outcome(i),
        }
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
            evidence: None,
            certainty: None,
        }
    }
}
