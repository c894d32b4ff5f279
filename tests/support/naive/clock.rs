//! SEMANTICS §4, and what wordless clients turn out to be (§2).

use std::collections::BTreeMap;

use dwindle::span::{Kind, Outcome};

use super::{MS, Trace};

/// What is settled of the domains met so far: the offset and, of those with edges, its upper
/// bound.
type Settled<'a> = BTreeMap<&'a str, (i64, Option<i64>)>;

impl<'a> Trace<'a> {
    pub(super) fn settle_clocks(&mut self) {
        let mut settled: Settled<'a> = BTreeMap::new();
        settled.insert(self.nodes[self.root].domain, (0, None));
        let mut queue = vec![self.root];
        while !queue.is_empty() {
            let span = queue.remove(0);
            let domain = self.nodes[span].domain;
            if !settled.contains_key(domain) {
                let offset = self.settle_domain(domain, &settled);
                settled.insert(domain, offset);
            }
            // Spans are in raw order already.
            queue.extend(self.ids().filter(|&other| self.follows(other, span)));
        }
        for span in self.ids() {
            let (offset, _) = settled[self.nodes[span].domain];
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
        self.settle_wordless(&settled);
    }

    /// Whether a span is met below another: its child, or without a parent and below the root.
    fn follows(&self, span: usize, above: usize) -> bool {
        match self.nodes[span].parent {
            Some(parent) => parent == above,
            None => above == self.root && span != self.root,
        }
    }

    /// The offset of a domain by its edges from settled ones, and the most that it may be.
    fn settle_domain(&mut self, domain: &str, settled: &Settled<'a>) -> (i64, Option<i64>) {
        let mut lower = Vec::new();
        let mut weaker = Vec::new();
        let mut upper = Vec::new();
        for child in self.nodes.iter().filter(|node| node.domain == domain) {
            let Some(parent) = child.parent.map(|parent| &self.nodes[parent]) else { continue };
            let Some((offset, _)) = settled.get(parent.domain) else { continue };
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
        (offset, hi)
    }

    /// A client that ended without a word had left if a server of it surely went on.
    fn settle_wordless(&mut self, settled: &Settled<'a>) {
        for span in self.ids() {
            let client = &self.nodes[span];
            let went_on = |&server: &usize| {
                let server = &self.nodes[server];
                if server.domain == client.domain {
                    return server.end - client.end > 5 * MS;
                }
                let (_, hi) = settled[server.domain];
                hi.is_some_and(|hi| server.raw_end - hi - client.end > 5 * MS)
            };
            if client.span.flags.is_wordless && client.servers.iter().any(went_on) {
                self.nodes[span].outcome = Outcome::Cancelled;
            }
        }
    }
}
