//! What is wrong with a trace (SEMANTICS §11).

use std::cmp::Reverse;

use super::annotated::Annotated;
use super::attempt::Attempt;
use super::hop::Hop;
use super::max_tree::MaxTree;
use crate::budget;
use crate::span::Outcome;
use crate::tables::{AttemptKind, FindingCode, Funding, Verdict};
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
    /// By how much.
    pub excess: Nanos,
    /// Late and residual work that is told here and nowhere else; `None` if not about a hop.
    pub wasted: Option<Nanos>,
}

/// All findings of a trace but those that need several traces.
pub(super) fn findings(of: &Annotated<'_>) -> Vec<Finding> {
    let mut found = Found { of, findings: Vec::new() };
    of.hops.all.iter().for_each(|hop| found.hop(hop));
    (0..of.trace.len()).for_each(|span| found.side_effect(span));
    of.calls.calls().for_each(|attempts| found.call(attempts));
    for (request, &layered) in of.retry_layered.iter().enumerate() {
        if layered {
            found.add(FindingCode::RetryLayered, of.trace.requests[request].root, Nanos::ZERO);
        }
    }
    found.tell_waste();
    found.findings
}

struct Found<'t, 'a> {
    of: &'t Annotated<'a>,
    findings: Vec<Finding>,
}

impl Found<'_, '_> {
    fn add(&mut self, code: FindingCode, span: usize, excess: Nanos) {
        if !self.of.work.long_lived[span] {
            self.findings.push(Finding { code, span, excess, wasted: None });
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
        let excess = hop.overgrant().unwrap_or(Nanos::ZERO);
        match hop.verdict {
            Verdict::Reset => self.add(FindingCode::TimeoutReset, hop.top, excess),
            Verdict::Overgrant => self.add(FindingCode::Overgrant, hop.top, excess),
            Verdict::ReserveInvading => {
                if let (Some(grant), Some(left)) = (hop.grant, hop.left) {
                    let spendable = left - self.of.trace.request(hop.first).reserve();
                    self.add(FindingCode::ReserveInvaded, hop.top, grant.value - spendable);
                }
            }
            _ => {}
        }
    }

    fn execution(&mut self, hop: &Hop) {
        let Some((server, begun)) = hop.server.zip(hop.begun) else { return };
        let trace = &self.of.trace;
        let arrived = trace.arrival(server);
        let worked = self.of.work.below[server].worked_after(begun);
        if let Some(deadline) = self.of.caller_deadline(server) {
            let spendable = deadline - trace.request(server).reserve();
            if deadline > arrived && hop.queue > Nanos::ZERO && begun >= spendable {
                self.add(FindingCode::AdmittedUnfundable, hop.top, begun - spendable);
            }
            if begun >= deadline && worked {
                self.add(FindingCode::StartedExpired, hop.top, begun - deadline);
            }
        }
        if let Some(left) = self.of.work.left_above[server]
            && arrived <= left
            && left < begun
            && worked
        {
            self.add(FindingCode::RanAfterQueueCancel, hop.top, begun - left);
        }
    }

    fn reserve(&mut self, hop: &Hop) {
        let trace = &self.of.trace;
        let request = trace.request(hop.first);
        let called = hop.caller.is_some() && hop.caller == request.admitting;
        if let Some(deadline) =
            request.deadline.filter(|_| called && request.reserve() > Nanos::ZERO)
        {
            let spendable = deadline - request.reserve();
            let end = trace.end(hop.first);
            if end > spendable + RESERVE_SLACK {
                self.add(FindingCode::ReserveConsumed, hop.top, end - spendable);
            }
        }
    }

    fn cancellation(&mut self, hop: &Hop) {
        let trace = &self.of.trace;
        let request = trace.request(hop.first);
        if self.of.work.detached[hop.server.unwrap_or(hop.first)] {
            return;
        }
        let bound = request.residual_bound();
        if let (Some(client), Some(server)) = (hop.client, hop.server)
            && trace.left(client)
            && trace.end(server) > trace.end(client) + bound
            && self.of.work.below[server].worked_after(trace.end(client))
        {
            let excess = trace.end(server) - trace.end(client);
            return self.add(FindingCode::CancelIgnored, hop.top, excess);
        }
        let Some(parent) = trace.link(hop.first) else { return };
        let Some(left) = self.of.work.left_above[hop.first] else { return };
        // The parent still ran then, and noticed: it ended within the bound.
        let noticed = trace.start(parent) <= left
            && left <= trace.end(parent)
            && trace.end(parent) <= left + bound;
        let end = trace.end(hop.first);
        if noticed && end > left + bound && self.of.work.below[hop.top].worked_after(left) {
            self.add(FindingCode::CancelDropped, hop.top, end - left);
        }
    }

    fn side_effect(&mut self, i: usize) {
        let trace = &self.of.trace;
        if let Some(deadline) = trace.request(i).deadline
            && trace.span(i).flags.side_effect
            && !trace.is_call_span(i)
            && trace.start(i) >= deadline
        {
            self.add(FindingCode::SideEffectLate, i, trace.start(i) - deadline);
        }
    }

    fn call(&mut self, attempts: &[Attempt]) {
        let mut left_before = false;
        for attempt in attempts {
            self.funding(attempt);
            let repeat_safe = self.of.trace.span(attempt.span).flags.repeat_safe;
            if attempt.kind == AttemptKind::Retry && !repeat_safe && left_before {
                self.add(FindingCode::BlindRetry, attempt.span, Nanos::ZERO);
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
        let Some(remaining) = attempt.remaining else { return };
        let excess = match attempt.funding {
            Funding::Expired => Some(-remaining),
            Funding::Unfundable => {
                let reserve = self.of.trace.request(attempt.span).reserve();
                attempt.allowance.map(|needed| needed - budget::available(remaining, reserve))
            }
            Funding::Funded | Funding::Unknown => None,
        };
        if let Some(excess) = excess {
            self.add(code, attempt.span, excess);
        }
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
            let winner_end = winner.and_then(|place| won.get(place)).map(|&won| trace.end(won));
            let last_end = self.of.work.below[lost].last_end;
            if let (Some(winner_end), Some(last_end)) = (winner_end, last_end)
                && last_end > winner_end + bound
            {
                going_on.push((lost, last_end - winner_end));
            }
        }
        for (lost, excess) in going_on {
            self.add(FindingCode::HedgeNotCancelled, lost, excess);
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

fn is_about_hop(code: FindingCode) -> bool {
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
