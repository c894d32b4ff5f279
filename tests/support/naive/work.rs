//! Late and residual work (SEMANTICS §9).

use dwindle::span::Kind;

use super::intervals::{Interval, length_after, minus};
use super::request::Request;

impl Request<'_, '_> {
    /// The time between attempts and their retries below a parent.
    pub(super) fn backoffs(&self, parent: usize) -> Vec<Interval> {
        let mut backoffs = Vec::new();
        for call in &self.calls {
            for pair in call.windows(2) {
                let [before, after] =
                    [&pair[0], &pair[1]].map(|tried| &self.trace.nodes[tried.span]);
                if pair[1].kind == "retry" && after.up == Some(parent) {
                    backoffs.push((before.end, after.start));
                }
            }
        }
        backoffs
    }

    /// The time of a span that none of its children covers.
    fn self_time(&self, span: usize) -> Vec<Interval> {
        let node = &self.trace.nodes[span];
        let children = node.children.iter().map(|&child| &self.trace.nodes[child]);
        let children: Vec<Interval> = children.map(|child| (child.start, child.end)).collect();
        minus(&[(node.start, node.end)], &children)
    }

    /// When a span worked.
    fn work(&self, span: usize) -> Vec<Interval> {
        let node = &self.trace.nodes[span];
        if node.sends() || node.is_wait {
            return Vec::new();
        }
        let idle = [self.queues(span), self.backoffs(span)].concat();
        minus(&self.self_time(span), &idle)
    }

    /// When a span may have kept somebody unseen at work.
    fn open_call(&self, span: usize) -> Vec<Interval> {
        let node = &self.trace.nodes[span];
        if !node.sends() || node.is_wait || !node.servers.is_empty() || self.has_clients(span) {
            return Vec::new();
        }
        minus(&self.self_time(span), &self.trace.waits(span))
    }

    /// Whether a span has CLIENT children that are no waits.
    pub(super) fn has_clients(&self, span: usize) -> bool {
        let children = self.trace.nodes[span].children.iter();
        let mut children = children.map(|&child| &self.trace.nodes[child]);
        children.any(|child| child.kind == Kind::Client && !child.is_wait)
    }

    /// Whether anything in a subtree worked after an instant.
    pub(super) fn worked_after(&self, top: usize, instant: i64) -> bool {
        let worked = |&span: &usize| length_after(&self.work(span), instant) > 0;
        self.trace.subtree(top).iter().any(worked)
    }

    /// The sum over a subtree of what lies after the deadline.
    fn late(&self, top: usize, when: impl Fn(usize) -> Vec<Interval>) -> Option<i64> {
        let deadline = self.deadline?;
        let spans = self.trace.subtree(top).into_iter();
        let spans = spans.filter(|&span| !self.is_long_lived(span));
        Some(spans.map(|span| length_after(&when(span), deadline)).sum())
    }

    /// The sum over a subtree of what lies after an ancestor left.
    fn residual(&self, top: usize, when: impl Fn(usize) -> Vec<Interval>) -> i64 {
        let spans = self.trace.subtree(top).into_iter();
        let spans = spans.filter(|&span| !self.is_long_lived(span) && !self.is_detached(span));
        let residual = |span: usize| {
            let left = self.leavings_above(span).into_iter().min();
            left.map_or(0, |left| length_after(&when(span), left))
        };
        spans.map(residual).sum()
    }

    pub(super) fn late_work(&self, top: usize) -> Option<i64> {
        self.late(top, |span| self.work(span))
    }

    pub(super) fn late_wait(&self, top: usize) -> Option<i64> {
        self.late(top, |span| self.open_call(span))
    }

    pub(super) fn residual_work(&self, top: usize) -> i64 {
        self.residual(top, |span| self.work(span))
    }

    pub(super) fn residual_wait(&self, top: usize) -> i64 {
        self.residual(top, |span| self.open_call(span))
    }
}
