//! Where the budget went (SEMANTICS §8).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::intervals::{Interval, clip, length, minus};
use super::request::Request;

/// How long, by service, operation and category.
pub(super) type Segments = BTreeMap<(String, String, &'static str), i64>;

/// A child as far as it lies in the part of its parent that is told.
#[derive(Clone, Copy)]
struct Part {
    start: i64,
    end: i64,
    /// When the child itself started, wherever the part does.
    own_start: i64,
    id: u64,
    span: usize,
}

impl Part {
    /// Least for the latest end, then the later start, then the smaller id.
    fn rank(&self) -> (Reverse<(i64, i64)>, u64) {
        (Reverse((self.end, self.own_start)), self.id)
    }
}

impl Request<'_, '_> {
    pub(super) fn find_segments(&mut self) {
        let root = &self.trace.nodes[self.root];
        let (start, end) = (root.start, root.end);
        self.count(self.root, "queue", start - self.origin);
        self.tell(self.root, start, end);
    }

    fn count(&mut self, span: usize, category: &'static str, duration: i64) {
        let node = &self.trace.nodes[span];
        let key = (node.service.to_owned(), node.name.to_owned(), category);
        *self.segments.entry(key).or_insert(0) += duration;
    }

    /// Tells what a part of a span was spent on.
    fn tell(&mut self, span: usize, from: i64, to: i64) {
        let part = |&child: &usize| {
            let node = &self.trace.nodes[child];
            let (start, end) = (node.start.max(from), node.end.min(to));
            Part { start, end, own_start: node.start, id: node.id, span: child }
        };
        let parts = self.trace.nodes[span].children.iter().map(part);
        let parts: Vec<Part> = parts.filter(|part| part.start < part.end).collect();
        let mut cursor = to;
        while cursor > from {
            let done =
                parts.iter().filter(|part| part.end <= cursor).min_by_key(|part| part.rank());
            let gap_start = done.map_or(from, |part| part.end);
            while cursor > gap_start {
                let running = parts.iter().filter(|part| part.start < cursor && cursor < part.end);
                let Some(running) = running.min_by_key(|part| part.rank()) else { break };
                let start = running.start.max(gap_start);
                self.tell(running.span, start, cursor);
                cursor = start;
            }
            self.tell_own(span, (gap_start, cursor));
            cursor = gap_start;
            if let Some(done) = done {
                self.tell(done.span, done.start, done.end);
                cursor = done.start;
            }
        }
    }

    /// Tells what a span's own time was spent on.
    fn tell_own(&mut self, span: usize, own: Interval) {
        let own = clip(&[own], own);
        let without_queue = minus(&own, &self.queues(span));
        let rest = minus(&without_queue, &self.backoffs(span));
        self.count(span, "queue", length(&own) - length(&without_queue));
        self.count(span, "backoff", length(&without_queue) - length(&rest));
        self.count(span, self.category(span), length(&rest));
    }

    /// When a span, or a server below it, was waiting its turn.
    pub(super) fn queues(&self, span: usize) -> Vec<Interval> {
        let node = &self.trace.nodes[span];
        let mut queues = self.trace.waits(span);
        if node.is_wait {
            queues.push((node.start, self.trace.waiting_end(span)));
        }
        let children = node.children.iter().map(|&child| &self.trace.nodes[child]);
        let servers = children.filter(|child| child.is_server);
        queues.extend(servers.map(|server| (server.start - server.queued, server.start)));
        queues
    }

    fn category(&self, span: usize) -> &'static str {
        let node = &self.trace.nodes[span];
        if !node.sends() {
            "local"
        } else if node.children.iter().any(|&child| self.trace.nodes[child].is_server) {
            "network"
        } else if self.has_clients(span) {
            "local"
        } else {
            "downstream"
        }
    }

    pub(super) fn segment_rows(&self) -> Vec<Value> {
        let rows = self.segments.iter().filter(|(_, duration)| **duration != 0);
        rows.map(|((service, operation, category), duration)| {
            self.row(json!({
                "service": service,
                "operation": operation,
                "category": category,
                "duration_ns": duration,
            }))
        })
        .collect()
    }
}
