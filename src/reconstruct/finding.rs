//! What is wrong with a trace (SEMANTICS §11).

use std::cmp::Reverse;

use super::annotated::{Annotated, evidence_of_grant};
use super::attempt::Attempt;
use super::claim::{Claim, certainty};
use super::hop::Hop;
use super::max_tree::MaxTree;
use super::moment::Moment;
use crate::budget;
use crate::span::Outcome;
use crate::tables::{AttemptKind, Certainty, Evidence, FindingCode, Funding, Verdict};
use crate::units::Nanos;

/// A call may end so long after the reserve began to be spent.
const RESERVE_SLACK: Nanos = Nanos::from_millis(1);

/// One thing that is wrong.
#[derive(Debug)]
pub(super) struct Finding {
    /// What.
    pub code: FindingCode,
    /// The span that stands for the hop, attempt or request.
    pub span: usize,
    /// The request that it is told in.
    pub request: usize,
    /// By how much.
    pub excess: Nanos,
    /// Late and residual work that is told here and nowhere else; `None` if not about a hop.
    pub wasted: Option<Nanos>,
    /// What it rests on.
    pub evidence: Evidence,
    /// Whether it holds for all offsets that clocks may have.
    pub certainty: Certainty,
}

/// All findings of a trace but those that need several traces.
pub(super) fn findings(of: &Annotated<'_>) -> Vec<Finding> {
    let mut found = Found { of, findings: Vec::new() };
    of.hops.all.iter().for_each(|hop| found.hop(hop));
    (0..of.trace.len()).for_each(|span| found.side_effect(span));
    of.calls.calls().for_each(|attempts| found.call(attempts));
    found.layers();
    found.tell_waste();
    found.findings
}

/// Those of the requests that are told of retries in two layers.
pub(super) fn layered(of: &Annotated<'_>) -> Vec<Finding> {
    let mut found = Found { of, findings: Vec::new() };
    found.layers();
    found.findings
}

struct Found<'t, 'a> {
    of: &'t Annotated<'a>,
    findings: Vec<Finding>,
}

impl Found<'_, '_> {
    fn add(
        &mut self,
        code: FindingCode,
        span: usize,
        excess: Nanos,
        evidence: Evidence,
        claims: &[Claim],
    ) {
        if !self.of.work.long_lived[span] {
            let certainty = certainty(claims, &self.of.trace.clock);
            let request = self.of.trace.tree.request_of[span];
            let wasted = None;
            self.findings.push(Finding {
                code,
                span,
                request,
                excess,
                wasted,
                evidence,
                certainty,
            });
        }
    }

    /// The same, if all claims hold.
    fn add_if(
        &mut self,
        code: FindingCode,
        span: usize,
        excess: Nanos,
        evidence: Evidence,
        claims: &[Claim],
    ) -> bool {
        let holds = claims.iter().all(|claim| claim.holds());
        if holds {
            self.add(code, span, excess, evidence, claims);
        }
        holds
    }

    fn layers(&mut self) {
        for request in self.of.subjects.clone() {
            if self.of.retry_layered[request] {
                let root = self.of.trace.requests[request].root;
                self.add(FindingCode::RetryLayered, root, Nanos::ZERO, Evidence::Inferred, &[]);
            }
        }
    }

    fn hop(&mut self, hop: &Hop) {
        if !self.of.work.long_lived[hop.server.unwrap_or(hop.first)] {
            self.grant(hop);
            self.execution(hop);
            self.reserve(hop);
            self.cancellation(hop);
        }
    }

    fn grant(&mut self, hop: &Hop) {
        let (Some(grant), Some(deadline)) = (hop.grant, hop.deadline) else { return };
        let floor = self.of.tolerance_floor;
        let until = (
            hop.judged_at.0 + grant.value - budget::tolerance(grant.value, floor),
            hop.judged_at.1,
        );
        let beyond = |deadline: Moment| Claim::after(until, deadline);
        let evidence = evidence_of_grant(grant.kind);
        match hop.verdict {
            Verdict::Reset | Verdict::Overgrant => {
                let code = match hop.verdict {
                    Verdict::Reset => FindingCode::TimeoutReset,
                    _ => FindingCode::Overgrant,
                };
                let excess = hop.overgrant().unwrap_or(Nanos::ZERO);
                let known = hop.known_deadline.unwrap_or(deadline);
                self.add(code, hop.top, excess, evidence, &[beyond(deadline), beyond(known)]);
            }
            Verdict::ReserveInvading => {
                let spendable =
                    (deadline.0 - self.of.trace.request(hop.first).reserve(), deadline.1);
                let excess = hop.judged_at.0 + grant.value - spendable.0;
                let code = FindingCode::ReserveInvaded;
                let mut claims = vec![beyond(spendable)];
                let deadlines = self.of.deadlines_above(hop.first);
                // Where nothing was left, or less than the grant, it is another verdict.
                for deadline in deadlines {
                    claims.push(Claim::not_before(deadline, until));
                    claims.push(Claim::after(deadline, hop.judged_at));
                }
                self.add(code, hop.top, excess, evidence, &claims);
            }
            _ => {}
        }
    }

    fn execution(&mut self, hop: &Hop) {
        let Some((server, begun)) = hop.server.zip(hop.begun) else { return };
        let trace = &self.of.trace;
        let arrived = (trace.arrival(server), server);
        let worked = self.of.worked_after(server, begun);
        if let Some(deadline) = self.of.caller_deadline(server) {
            let evidence = self.of.evidence_of_deadline(deadline, server);
            let spendable = (deadline.0 - trace.request(server).reserve(), deadline.1);
            if hop.queue > Nanos::ZERO && begun.0 >= spendable.0 {
                let mut claims = vec![Claim::not_before(begun, spendable)];
                let deadlines = self.of.deadlines_above(server);
                claims.extend(deadlines.map(|deadline| Claim::after(deadline, arrived)));
                let request = trace.request(server);
                let before_root = trace.start(hop.first) - request.origin;
                let is_sent_here = request.root == hop.first && request.origin_told_by != hop.first;
                if is_sent_here && hop.queue == before_root {
                    // Nothing but the other clock tells that it waited at all.
                    let sent = (request.origin, request.origin_told_by);
                    claims.push(Claim::after((trace.start(hop.first), hop.first), sent));
                }
                let code = FindingCode::AdmittedUnfundable;
                self.add_if(code, hop.top, begun.0 - spendable.0, evidence, &claims);
            }
            if let Some(worked) = worked {
                let claims = [Claim::not_before(begun, deadline), worked];
                let code = FindingCode::StartedExpired;
                self.add_if(code, hop.top, begun.0 - deadline.0, evidence, &claims);
            }
        }
        if let (Some(left), Some(worked)) = (self.of.work.left_above[server], worked) {
            let mut claims = vec![Claim::after(begun, left), worked];
            let leavings = self.of.leavings_above(server);
            claims.extend(leavings.map(|left| Claim::not_before(left, arrived)));
            let code = FindingCode::RanAfterQueueCancel;
            self.add_if(code, hop.top, begun.0 - left.0, Evidence::Inferred, &claims);
        }
    }

    fn reserve(&mut self, hop: &Hop) {
        let trace = &self.of.trace;
        let request = trace.request(hop.first);
        let called = hop.caller.is_some() && hop.caller == request.admitting;
        if let Some(deadline) =
            request.deadline.filter(|_| called && request.reserve() > Nanos::ZERO)
        {
            let spendable = (deadline.0 - request.reserve(), deadline.1);
            let end = (trace.end(hop.first), hop.first);
            let claim = Claim::after(end, spendable).by(RESERVE_SLACK);
            let evidence = self.of.evidence_of_deadline(deadline, hop.first);
            let code = FindingCode::ReserveConsumed;
            self.add_if(code, hop.top, end.0 - spendable.0, evidence, &[claim]);
        }
    }

    fn cancellation(&mut self, hop: &Hop) {
        let trace = &self.of.trace;
        let request = trace.request(hop.first);
        if self.of.work.detached[hop.server.unwrap_or(hop.first)] {
            return;
        }
        let bound = request.residual_bound();
        let end_of = |i: usize| (trace.end(i), i);
        if let (Some(client), Some(server)) = (hop.client, hop.server)
            && trace.left(client)
            && let Some(worked) = self.of.worked_after(server, end_of(client))
        {
            let claims = [Claim::after(end_of(server), end_of(client)).by(bound), worked];
            let excess = trace.end(server) - trace.end(client);
            let code = FindingCode::CancelIgnored;
            if self.add_if(code, hop.top, excess, Evidence::Inferred, &claims) {
                return;
            }
        }
        let Some(parent) = trace.link(hop.first) else { return };
        let Some(left) = self.of.work.left_above[hop.first] else { return };
        let Some(worked) = self.of.worked_after(hop.top, left) else { return };
        // The parent still ran then, and noticed: it ended within the bound.
        let end = end_of(hop.first);
        let mut claims = vec![Claim::after(end, left).by(bound), worked];
        for left in self.of.leavings_above(hop.first) {
            claims.push(Claim::not_before(left, (trace.start(parent), parent)));
            claims.push(Claim::not_before((left.0 + bound, left.1), end_of(parent)));
        }
        claims.push(Claim::not_before(end_of(parent), left));
        let code = FindingCode::CancelDropped;
        self.add_if(code, hop.top, end.0 - left.0, Evidence::Inferred, &claims);
    }

    fn side_effect(&mut self, i: usize) {
        let trace = &self.of.trace;
        let request = trace.request(i);
        if let Some(deadline) = request.deadline
            && trace.span(i).flags.side_effect
            && !trace.is_call_span(i)
        {
            let claim = Claim::not_before((trace.start(i), i), deadline);
            let evidence = self.of.evidence_of_deadline(deadline, i);
            let code = FindingCode::SideEffectLate;
            self.add_if(code, i, trace.start(i) - deadline.0, evidence, &[claim]);
        }
    }

    fn call(&mut self, attempts: &[Attempt]) {
        let mut left_before = false;
        for attempt in attempts {
            self.funding(attempt);
            let repeat_safe = self.of.trace.span(attempt.span).flags.repeat_safe;
            if attempt.kind == AttemptKind::Retry && !repeat_safe && left_before {
                let code = FindingCode::BlindRetry;
                self.add(code, attempt.span, Nanos::ZERO, Evidence::Inferred, &[]);
            }
            left_before |= self.of.trace.left(attempt.span);
        }
        if attempts.len() > 1 {
            self.hedges(attempts);
        }
    }

    fn funding(&mut self, attempt: &Attempt) {
        let code = match attempt.kind {
            AttemptKind::Initial => FindingCode::AttemptUnfundable,
            AttemptKind::Retry => FindingCode::RetryUnfundable,
            AttemptKind::Hedge => FindingCode::HedgeUnfundable,
            AttemptKind::Resend => return,
        };
        let Some(deadline) = self.of.caller_deadline(attempt.span) else { return };
        let start = (self.of.trace.start(attempt.span), attempt.span);
        let reserve = self.of.trace.request(attempt.span).reserve();
        let needed = attempt.allowance.filter(|&allowance| allowance > Nanos::ZERO);
        let needed = needed.map(|allowance| {
            let until = (start.0 + reserve + allowance, start.1);
            (allowance, Claim::after(until, deadline))
        });
        let (excess, claim) = match (attempt.funding, needed) {
            (Funding::Funded | Funding::Unknown, _) | (Funding::Unfundable, None) => return,
            (Funding::Unfundable, Some((allowance, claim))) => {
                let available = budget::available(deadline.0 - start.0, reserve);
                (allowance - available, claim)
            }
            // Later than it was too late for the allowance: the weaker claim is the surer one, unless it
            // rests on what was measured.
            (Funding::Expired, needed) => {
                let expired = Claim::not_before(start, deadline);
                let surer = needed.filter(|_| !attempt.is_measured);
                (start.0 - deadline.0, surer.map_or(expired, |(_, claim)| claim))
            }
        };
        let evidence = if attempt.is_measured && attempt.funding == Funding::Unfundable {
            Evidence::Inferred
        } else {
            self.of.evidence_of_deadline(deadline, attempt.span)
        };
        self.add(code, attempt.span, excess, evidence, &[claim]);
    }

    fn hedges(&mut self, attempts: &[Attempt]) {
        let trace = &self.of.trace;
        let is_ok = |attempt: &&Attempt| trace.outcome(attempt.span) == Outcome::Ok;
        let mut won: Vec<usize> =
            attempts.iter().filter(is_ok).map(|attempt| attempt.span).collect();
        won.sort_by_key(|&span| Reverse((trace.end(span), trace.start(span))));
        let starts = MaxTree::new(won.iter().map(|&span| Reverse(trace.start(span))));
        let Some(bound) = won.first().map(|&span| trace.request(span).residual_bound()) else {
            return;
        };
        let mut going_on = Vec::new();
        for lost in attempts.iter().filter(|attempt| !is_ok(attempt)) {
            // The one that ended first, of those that ended after this began and began before it
            // ended.
            let lost = lost.span;
            let ended_after = won.partition_point(|&won| trace.end(won) > trace.start(lost));
            let before_end = Reverse(trace.end(lost) - Nanos::from_nanos(1));
            let winner = starts.last_reaching(ended_after, before_end);
            let winner_end =
                winner.and_then(|place| won.get(place)).map(|&won| (trace.end(won), won));
            let last_end = self.of.work.below[lost].last_end;
            if let (Some(winner_end), Some(last_end)) = (winner_end, last_end) {
                let claim = Claim::after(last_end, winner_end).by(bound);
                going_on.push((lost, last_end.0 - winner_end.0, claim));
            }
        }
        for (lost, excess, claim) in going_on {
            let code = FindingCode::HedgeNotCancelled;
            self.add_if(code, lost, excess, Evidence::Inferred, &[claim]);
        }
    }

    /// Late and residual work below each flagged hop, less that below the next flagged ones, on
    /// the first finding of the hop.
    fn tell_waste(&mut self) {
        let trace = &self.of.trace;
        self.findings.sort_by_key(|finding| (finding.code, trace.span(finding.span).span_id));
        if !self.findings.iter().any(|finding| is_about_hop(finding.code)) {
            return;
        }
        let mut flagged = vec![false; trace.len()];
        for finding in self.findings.iter().filter(|finding| is_about_hop(finding.code)) {
            flagged[finding.span] = true;
        }
        // By span: what the nearest flagged hops at or below it stand for.
        let mut told = vec![Nanos::ZERO; trace.len()];
        let mut wasted = vec![Nanos::ZERO; trace.len()];
        for &i in trace.tree.top_down.iter().rev() {
            if flagged[i] {
                let below = self.of.work.below[i];
                let all = below.late_work + below.residual_work;
                wasted[i] = all - told[i];
                told[i] = all;
            }
            if let Some(parent) = trace.link(i) {
                let amount = told[i];
                told[parent] += amount;
            }
        }
        for finding in self.findings.iter_mut().filter(|finding| is_about_hop(finding.code)) {
            finding.wasted = Some(std::mem::take(&mut wasted[finding.span]));
        }
    }
}

/// Whether it is wrong with a hop, and not with an attempt, a side effect or a request.
pub(super) fn is_about_hop(code: FindingCode) -> bool {
    use FindingCode as Code;
    matches!(
        code,
        Code::TimeoutReset
            | Code::Overgrant
            | Code::ReserveInvaded
            | Code::AdmittedUnfundable
            | Code::StartedExpired
            | Code::RanAfterQueueCancel
            | Code::ReserveConsumed
            | Code::CancelIgnored
            | Code::CancelDropped
            | Code::GraveyardFirst
    )
}
