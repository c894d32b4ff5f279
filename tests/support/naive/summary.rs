//! The evidence record (SEMANTICS §10).

use std::collections::BTreeSet;

use dwindle::span::Outcome;
use serde_json::{Value, json};

use super::request::Request;

impl Request<'_, '_> {
    /// The span that the request was admitted by.
    pub(super) fn admitting(&self) -> Option<usize> {
        if !self.trace.nodes[self.root].sends() {
            return Some(self.root);
        }
        let is_connected = |span: usize| {
            let mut chain = [vec![span], self.trace.ancestors(span)].concat();
            chain.retain(|&span| self.trace.nodes[span].attached);
            chain.is_empty()
        };
        let admits = |&&span: &&usize| self.trace.nodes[span].is_server && is_connected(span);
        self.spans.iter().find(admits).copied()
    }

    fn terminal_outcome(&self) -> &'static str {
        let root = &self.trace.nodes[self.root];
        let in_doubt = |&span: &usize| {
            let node = &self.trace.nodes[span];
            node.span.flags.side_effect && node.left()
        };
        if root.left() && self.spans.iter().any(in_doubt) {
            return "indeterminate";
        }
        match root.outcome {
            Outcome::Ok => "completed",
            Outcome::Error => "failed",
            Outcome::Rejected => "rejected",
            Outcome::Cancelled => "cancelled",
            Outcome::DeadlineExceeded => "deadline_exceeded",
        }
    }

    /// The largest grant that the admitting service sent on.
    fn downstream_budget_sent(&self) -> Option<i64> {
        let admitting = self.admitting()?;
        let service = self.trace.nodes[admitting].service;
        let holds = |hop: &&super::hops::Hop| [hop.client, hop.server].contains(&Some(admitting));
        let depth = self.depth(*self.hops.iter().find(holds)?);
        let hops = self.hops.iter().filter(|&&hop| {
            hop.client.is_some()
                && self.depth(hop) == depth + 1
                && self.caller_service(hop) == Some(service)
        });
        hops.filter_map(|&hop| self.given(hop)).map(|given| given.value).max()
    }

    fn return_reserve_used(&self) -> Option<i64> {
        let admitting = &self.trace.nodes[self.admitting()?];
        let ends = admitting.children.iter().map(|&child| self.trace.nodes[child].end);
        let last = ends.filter(|&end| end <= admitting.end).max()?;
        Some(admitting.end - last)
    }

    /// Time on the path of a category, of one service or of all.
    fn on_path(&self, category: &str, service: Option<&str>) -> i64 {
        let counts = |key: &(String, String, &str)| {
            key.2 == category && service.is_none_or(|service| key.0 == service)
        };
        self.segments.iter().filter(|(key, _)| counts(key)).map(|(_, duration)| duration).sum()
    }

    fn local_execution(&self) -> i64 {
        let service = self.admitting().map(|span| self.trace.nodes[span].service);
        service.map_or(0, |service| self.on_path("local", Some(service)))
    }

    fn attempts_of(&self, accept: impl Fn(&super::calls::Attempt) -> bool) -> usize {
        self.calls.iter().flatten().filter(|attempt| accept(attempt)).count()
    }

    pub(super) fn request_row(&self, of_trace: &BTreeSet<&'static str>) -> Value {
        let nodes = &self.trace.nodes;
        let root = &nodes[self.root];
        let mut blind_spots = of_trace.clone();
        if self.deadline.is_none() {
            blind_spots.insert("no_deadline");
        }
        let admitting = self.admitting();
        let left_at = |instant: i64| self.deadline.map(|deadline| deadline - instant);
        let begun = admitting.map(|span| self.trace.execution_start(span));
        let last_end = self.spans.iter().map(|&span| nodes[span].end).max().unwrap_or(root.end);
        let leavings = self.spans.iter().map(|&span| &nodes[span]).filter(|node| node.left());
        let first_leaving = leavings.map(|node| node.end).min();
        let outcome = self.terminal_outcome();
        let on_time = |deadline: i64| outcome == "completed" && root.end <= deadline;
        let lacks_funds = |funding: &str| ["unfundable", "expired"].contains(&funding);
        self.row(json!({
            "root_service": root.service,
            "root_operation": root.name,
            "start_unix_ns": root.start,
            "spans": self.spans.len(),
            "duration_ns": root.end - root.start,
            "deadline_source": self.deadline_source,
            "budget_at_origin_ns": self.deadline.map(|deadline| deadline - self.origin),
            "budget_at_admission_ns": admitting.and_then(|span| left_at(nodes[span].start)),
            "queue_ns": self.on_path("queue", None),
            "budget_at_start_ns": begun.and_then(left_at),
            "local_execution_ns": self.local_execution(),
            "downstream_budget_sent_ns": self.downstream_budget_sent(),
            "retry_count": self.attempts_of(|attempt| attempt.kind == "retry"),
            "hedge_count": self.attempts_of(|attempt| attempt.kind == "hedge"),
            "unfundable_attempts":
                self.attempts_of(|attempt| lacks_funds(self.funding(attempt.span))),
            "retry_layered": self.is_retry_layered(),
            "cancellation_observed_ns": first_leaving.map(|end| end - self.origin),
            "residual_work_after_cancel_ns": self.residual_work(self.root),
            "return_reserve_used_ns": self.return_reserve_used(),
            "terminal_outcome": outcome,
            "completed_before_deadline": self.deadline.map(on_time),
            "late_work_ns": self.late_work(self.root),
            "late_wait_ns": self.late_wait(self.root),
            "residual_wait_ns": self.residual_wait(self.root),
            "late_wall_ns": self.deadline.map(|deadline| (last_end - deadline).max(0)),
            "blind_spots": blind_spots,
        }))
    }
}
