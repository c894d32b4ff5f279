//! SEMANTICS §4, and what wordless clients turn out to be (§2).

use dwindle::span::{Kind, Outcome};

use super::{MS, Trace};

/// A clock domain as settled.
pub(crate) struct Domain<'a> {
    pub(crate) name: &'a str,
    offset: i64,
    /// The bounds of its offset that were kept, where it has edges.
    pub(crate) lo: Option<i64>,
    pub(crate) hi: Option<i64>,
}

impl<'a> Trace<'a> {
    pub(super) fn settle_clocks(&mut self) {
        let root = self.nodes[self.root].domain;
        self.domains.push(Domain { name: root, offset: 0, lo: None, hi: None });
        let mut queue = vec![self.root];
        while !queue.is_empty() {
            let span = queue.remove(0);
            let name = self.nodes[span].domain;
            if self.domain(name).is_none() {
                let domain = self.settle_domain(name);
                self.domains.push(domain);
            }
            // Spans are in raw order already.
            queue.extend(self.ids().filter(|&other| self.follows(other, span)));
        }
        for span in self.ids() {
            let offset = self.domain(self.nodes[span].domain).map_or(0, |domain| domain.offset);
            let node = &mut self.nodes[span];
            node.start = node.raw_start - offset;
            node.end = node.raw_end - offset;
        }
        for span in self.ids() {
            let node = &self.nodes[span];
            if let Some(parent) = node.parent.map(|parent| &self.nodes[parent])
                && parent.domain == node.domain
                && node.raw_start < parent.raw_start
            {
                self.blind_spots.insert("clock_shift");
            }
        }
    }

    /// A domain, where it is settled.
    fn domain(&self, name: &str) -> Option<&Domain<'a>> {
        self.domains.iter().find(|domain| domain.name == name)
    }

    /// Whether a span is met below another: its child, or without a parent and below the root.
    fn follows(&self, span: usize, above: usize) -> bool {
        match self.nodes[span].parent {
            Some(parent) => parent == above,
            None => above == self.root && span != self.root,
        }
    }

    /// Settles a domain by its edges from those settled before.
    fn settle_domain(&mut self, name: &'a str) -> Domain<'a> {
        let mut lower = Vec::new();
        let mut weaker = Vec::new();
        let mut upper = Vec::new();
        for child in self.nodes.iter().filter(|node| node.domain == name) {
            let Some(parent) = child.parent.map(|parent| &self.nodes[parent]) else { continue };
            let Some(offset) = self.domain(parent.domain).map(|domain| domain.offset) else {
                continue;
            };
            let (parent_start, parent_end) = (parent.raw_start - offset, parent.raw_end - offset);
            upper.push(child.raw_start - parent_start);
            let synchronous = parent.kind != Kind::Producer && child.kind != Kind::Consumer;
            let waited_for = !parent.span.outcome.left() && !parent.span.flags.is_wordless;
            let fits = child.raw_end - child.raw_start <= parent.raw_end - parent.raw_start;
            if synchronous && waited_for && fits {
                let bound = child.raw_end - parent_end - MS;
                lower.push(bound);
                let http = parent.span.flags.has_http_method;
                weaker.push(if http { child.raw_start - parent_end } else { bound });
            }
        }
        let hi = upper.into_iter().min();
        let mut lo = lower.into_iter().max();
        let is_empty = |lo: Option<i64>| lo.zip(hi).is_some_and(|(lo, hi)| lo > hi);
        if is_empty(lo) {
            lo = weaker.into_iter().max();
        }
        if is_empty(lo) {
            lo = None;
            self.blind_spots.insert("clock_conflict");
        }
        let zero_is_inside = lo.is_none_or(|lo| lo <= 0) && hi.is_none_or(|hi| 0 <= hi);
        let offset = match (lo, hi) {
            _ if zero_is_inside => 0,
            (Some(lo), Some(hi)) => lo + (hi - lo).div_euclid(2),
            (Some(bound), None) | (None, Some(bound)) => bound,
            (None, None) => 0,
        };
        if offset != 0 {
            self.blind_spots.insert("clock_skew_corrected");
        }
        Domain { name, offset, lo, hi }
    }

    /// A client that ended without a word had left if a server of it surely went on.
    pub(super) fn settle_wordless(&mut self) {
        for span in self.ids() {
            let client = &self.nodes[span];
            let went_on = |&server: &usize| {
                let server = &self.nodes[server];
                if !server.is_server {
                    return false;
                }
                if server.domain == client.domain {
                    return server.end - client.end > 5 * MS;
                }
                let hi = self.domain(server.domain).and_then(|domain| domain.hi);
                hi.is_some_and(|hi| server.raw_end - hi - client.end > 5 * MS)
            };
            if client.span.flags.is_wordless && client.children.iter().any(went_on) {
                self.nodes[span].outcome = Outcome::Cancelled;
            }
        }
    }
}
