//! Findings and what they waste (SEMANTICS §11).

use dwindle::span::Outcome;
use serde_json::{Value, json};

use super::MS;
use super::calls::Attempt;
use super::hops::Hop;
use super::request::Request;

/// A code and by how much.
type Finding = (&'static str, i64);

impl Request<'_, '_> {
    pub(super) fn finding_rows(&self) -> Vec<Value> {
        let mut rows = Vec::new();
        let mut add = |span: usize, (code, excess): Finding, wasted: Option<i64>| {
            rows.push(self.row(json!({
                "code": code,
                "span_id": self.id(Some(span)),
                "excess_ns": excess,
                "wasted_ns": wasted,
            })));
        };
        for &hop in &self.hops {
            for (place, finding) in self.hop_findings(hop).into_iter().enumerate() {
                let wasted = if place == 0 { self.wasted(hop) } else { 0 };
                add(hop.top, finding, Some(wasted));
            }
        }
        for call in &self.calls {
            for place in 0..call.len() {
                for finding in self.attempt_findings(call, place) {
                    add(call[place].span, finding, None);
                }
            }
        }
        if self.is_retry_layered() && !self.is_long_lived(self.root) {
            add(self.root, ("retry-layered", 0), None);
        }
        for &span in &self.spans {
            if let Some(late) = self.side_effect_late(span) {
                add(span, ("side-effect-late", late), None);
            }
        }
        rows
    }

    /// The findings on a hop, in the order of the table of codes.
    fn hop_findings(&self, hop: Hop) -> Vec<Finding> {
        if self.is_long_lived(hop.last) {
            return Vec::new();
        }
        let cancel_ignored = self.cancel_ignored(hop);
        let cancel_dropped = if cancel_ignored.is_none() { self.cancel_dropped(hop) } else { None };
        let candidates = [
            ("timeout-reset", self.overgrant(hop).filter(|_| self.verdict(hop) == "reset")),
            ("overgrant", self.overgrant(hop).filter(|_| self.verdict(hop) == "overgrant")),
            ("reserve-invaded", self.reserve_invaded(hop)),
            ("admitted-unfundable", self.admitted_unfundable(hop)),
            ("started-expired", self.started_expired(hop)),
            ("ran-after-queue-cancel", self.ran_after_queue_cancel(hop)),
            ("reserve-consumed", self.reserve_consumed(hop)),
            ("cancel-ignored", cancel_ignored),
            ("cancel-dropped", cancel_dropped),
        ];
        candidates.into_iter().filter_map(|(code, excess)| Some((code, excess?))).collect()
    }

    fn reserve_invaded(&self, hop: Hop) -> Option<i64> {
        let (left, _) = self.left_at_anchor(hop)?;
        let excess = self.given(hop)?.value - (left - self.reserve);
        (self.verdict(hop) == "reserve_invading").then_some(excess)
    }

    /// When a span came into the queue before it.
    fn arrival(&self, span: usize) -> i64 {
        self.trace.nodes[span].start - self.trace.nodes[span].queued
    }

    /// The server of a hop, its deadline, and when it began to execute.
    fn server_times(&self, hop: Hop) -> Option<(usize, i64, i64)> {
        let server = hop.server?;
        let deadline = self.effective_deadline(self.trace.nodes[server].up)?;
        Some((server, deadline, self.trace.execution_start(server)))
    }

    fn admitted_unfundable(&self, hop: Hop) -> Option<i64> {
        let (server, deadline, begun) = self.server_times(hop)?;
        let some_was_left = self.arrival(server) < deadline;
        let late = begun - (deadline - self.reserve);
        (some_was_left && self.queue(hop) > 0 && late >= 0).then_some(late)
    }

    fn started_expired(&self, hop: Hop) -> Option<i64> {
        let (server, deadline, begun) = self.server_times(hop)?;
        (begun >= deadline && self.worked_after(server, begun)).then_some(begun - deadline)
    }

    fn ran_after_queue_cancel(&self, hop: Hop) -> Option<i64> {
        let server = hop.server?;
        let begun = self.trace.execution_start(server);
        let left = self.leavings_above(server).into_iter().min()?;
        let was_queued = self.arrival(server) <= left && left < begun;
        (was_queued && self.worked_after(server, begun)).then_some(begun - left)
    }

    fn reserve_consumed(&self, hop: Hop) -> Option<i64> {
        let caller = self.caller(hop)?;
        let excess = self.trace.nodes[hop.first].end - (self.deadline? - self.reserve);
        let applies = self.reserve > 0 && self.admitting() == Some(caller);
        (applies && excess > MS).then_some(excess)
    }

    fn cancel_ignored(&self, hop: Hop) -> Option<i64> {
        let (client, server) = (hop.client?, hop.server?);
        let client = &self.trace.nodes[client];
        let excess = self.trace.nodes[server].end - client.end;
        let ignored = client.left() && excess > self.bound && self.worked_after(server, client.end);
        (ignored && !self.is_detached(hop.last)).then_some(excess)
    }

    fn cancel_dropped(&self, hop: Hop) -> Option<i64> {
        let parent = &self.trace.nodes[self.parent(hop)?];
        let left = self.leavings_above(hop.first).into_iter().min()?;
        let excess = self.trace.nodes[hop.first].end - left;
        let parent_heard =
            parent.start <= left && left <= parent.end && parent.end <= left + self.bound;
        let dropped = parent_heard && excess > self.bound && self.worked_after(hop.top, left);
        (dropped && !self.is_detached(hop.last)).then_some(excess)
    }

    fn attempt_findings(&self, call: &[Attempt], place: usize) -> Vec<Finding> {
        let attempt = &call[place];
        let node = &self.trace.nodes[attempt.span];
        if self.is_long_lived(attempt.span) {
            return Vec::new();
        }
        let mut findings = Vec::new();
        let code = match attempt.kind {
            "retry" => Some("retry-unfundable"),
            "hedge" => Some("hedge-unfundable"),
            "initial" => Some("attempt-unfundable"),
            _ => None,
        };
        if let (Some(code), Some(lack)) = (code, self.lack(attempt.span)) {
            findings.push((code, lack));
        }
        let left_before = call[..place].iter().any(|earlier| self.trace.nodes[earlier.span].left());
        if attempt.kind == "retry" && !node.span.flags.repeat_safe && left_before {
            findings.push(("blind-retry", 0));
        }
        if let Some(excess) = self.hedge_not_cancelled(call, attempt.span) {
            findings.push(("hedge-not-cancelled", excess));
        }
        findings
    }

    /// What an attempt lacked that was not funded.
    fn lack(&self, attempt: usize) -> Option<i64> {
        let remaining = self.remaining_at_start(attempt)?;
        match self.funding(attempt) {
            "expired" => Some(-remaining),
            "unfundable" => Some(self.allowance(attempt)? - self.available(remaining)),
            _ => None,
        }
    }

    fn hedge_not_cancelled(&self, call: &[Attempt], loser: usize) -> Option<i64> {
        let nodes = &self.trace.nodes;
        if nodes[loser].outcome == Outcome::Ok {
            return None;
        }
        let overlaps = |winner: usize| {
            nodes[winner].start < nodes[loser].end && nodes[loser].start < nodes[winner].end
        };
        let winners = call.iter().map(|attempt| attempt.span);
        let winners =
            winners.filter(|&winner| nodes[winner].outcome == Outcome::Ok && overlaps(winner));
        let won = winners.map(|winner| nodes[winner].end).min()?;
        let last = self.trace.subtree(loser).into_iter().map(|span| nodes[span].end).max()?;
        (last - won > self.bound).then_some(last - won)
    }

    fn side_effect_late(&self, span: usize) -> Option<i64> {
        let node = &self.trace.nodes[span];
        let late = node.start - self.deadline?;
        let counts = node.span.flags.side_effect && !node.is_call_span;
        (counts && late >= 0 && !self.is_long_lived(span)).then_some(late)
    }

    /// Late and residual work below a hop that the next flagged hops below do not account for.
    fn wasted(&self, hop: Hop) -> i64 {
        let flagged = self.hops.iter().filter(|&&hop| !self.hop_findings(hop).is_empty());
        let flagged: Vec<usize> = flagged.map(|hop| hop.top).collect();
        let below = flagged.iter().filter(|&&other| {
            let above = self.trace.ancestors(other);
            above.into_iter().find(|above| flagged.contains(above)) == Some(hop.top)
        });
        let below: i64 = below.map(|&other| self.late_and_residual(other)).sum();
        self.late_and_residual(hop.top) - below
    }

    fn late_and_residual(&self, top: usize) -> i64 {
        self.late_work(top).unwrap_or(0) + self.residual_work(top)
    }
}
