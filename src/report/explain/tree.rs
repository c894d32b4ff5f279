//! The call tree of a request: hops, each with both halves, and the spans that are no half of one.

use rustc_hash::FxHashMap;

use super::request::Request;
use crate::span::{Outcome, SpanId};
use crate::tables::{AttemptKind, AttemptRow, FindingRow, Funding, HopRow, OutlineSpan, Verdict};
use crate::units::Nanos;

/// A hop, or a span that is no half of one.
pub(super) struct Node<'t> {
    /// The client half of a hop, else the server, else the span itself.
    pub(super) first: &'t OutlineSpan,
    /// The server half of a hop that has both.
    pub(super) second: Option<&'t OutlineSpan>,
    pub(super) hop: Option<&'t HopRow>,
    pub(super) attempt: Option<&'t AttemptRow>,
    pub(super) findings: Vec<&'t FindingRow>,
    pub(super) children: Vec<usize>,
    parent: Option<usize>,
}

/// All of a request, callers before callees, else by (start, id).
pub(super) struct Tree<'t> {
    pub(super) nodes: Vec<Node<'t>>,
    /// From the root down; the children of one in their order.
    pub(super) top_down: Vec<usize>,
}

impl Node<'_> {
    /// The spans of it.
    pub(super) fn spans(&self) -> impl Iterator<Item = &OutlineSpan> {
        std::iter::once(self.first).chain(self.second)
    }

    /// What it had for itself, its queues included.
    pub(super) fn own_time(&self) -> Nanos {
        let own = self.spans().flat_map(|span| &span.own);
        own.map(|own| own.to - own.from).sum()
    }

    /// How long it took, by its first half.
    pub(super) fn duration(&self) -> Nanos {
        self.first.end - self.first.start
    }

    /// Whether somebody who looks for trouble would want to see it.
    pub(super) fn is_remarkable(&self) -> bool {
        let is_plain_verdict = |hop: &HopRow| {
            use Verdict::{Origin, Propagated, Stretched, Tightened, Undeclared};
            matches!(hop.verdict, Origin | Undeclared | Propagated | Tightened | Stretched)
        };
        let is_plain_attempt = |attempt: &AttemptRow| {
            attempt.attempts == 1
                && attempt.kind == AttemptKind::Initial
                && matches!(attempt.funding, Funding::Funded | Funding::Unknown)
        };
        let works_in_vain = |span: &OutlineSpan| {
            let from = [span.late_from, span.residual_from].into_iter().flatten().min();
            from.is_some_and(|from| span.own.iter().any(|own| own.to > from && span.counts(own)))
        };
        !self.findings.is_empty()
            || self.first.outcome != Outcome::Ok
            || !self.hop.is_none_or(is_plain_verdict)
            || !self.attempt.is_none_or(is_plain_attempt)
            || self.spans().any(works_in_vain)
    }
}

impl<'t> Tree<'t> {
    pub(super) fn of(request: &Request<'t>) -> Self {
        let spans: FxHashMap<SpanId, &OutlineSpan> =
            request.spans.iter().map(|&span| (span.span_id, span)).collect();
        let of_span = |id: Option<SpanId>| id.and_then(|id| spans.get(&id).copied());
        let mut nodes: Vec<Node<'t>> = Vec::new();
        for &hop in &request.hops {
            let (client, server) = (of_span(hop.client_span_id), of_span(hop.server_span_id));
            if let Some(first) = client.or(server) {
                let second = client.and(server);
                nodes.push(Node::new(first, second, Some(hop)));
            }
        }
        let mut holders = holders(&nodes);
        for &span in &request.spans {
            holders.entry(span.span_id).or_insert_with(|| {
                nodes.push(Node::new(span, None, None));
                nodes.len() - 1
            });
        }
        for &attempt in &request.attempts {
            if let Some(node) = holders.get(&attempt.span_id).and_then(|&at| nodes.get_mut(at)) {
                node.attempt = Some(attempt);
            }
        }
        for &finding in &request.findings {
            if let Some(node) = holders.get(&finding.span_id).and_then(|&at| nodes.get_mut(at)) {
                node.findings.push(finding);
            }
        }
        Self::linked(nodes, &holders)
    }

    /// The tree of nodes, of which each knows the span above its own.
    fn linked(mut nodes: Vec<Node<'t>>, holders: &FxHashMap<SpanId, usize>) -> Self {
        let mut order: Vec<usize> = (0..nodes.len()).collect();
        let key = |node: &Node<'_>| {
            let own = node.second.unwrap_or(node.first);
            (node.first.start, node.first.span_id, own.start, own.span_id)
        };
        order.sort_by_key(|&at| nodes.get(at).map(key));
        let mut roots = Vec::new();
        for &at in &order {
            let Some(node) = nodes.get_mut(at) else { continue };
            let parent = node.first.parent_span_id.and_then(|id| holders.get(&id).copied());
            node.parent = parent;
            match parent.and_then(|parent| nodes.get_mut(parent)) {
                Some(parent) => parent.children.push(at),
                None => roots.push(at),
            }
        }
        roots.reverse();
        let mut top_down = Vec::with_capacity(nodes.len());
        while let Some(at) = roots.pop() {
            top_down.push(at);
            let children = nodes.get(at).map_or(&[][..], |node| &node.children);
            roots.extend(children.iter().rev());
        }
        Self { nodes, top_down }
    }

    /// A value of each node and all below it, by number.
    pub(super) fn below<T: Clone>(
        &self,
        own: impl Fn(&Node<'t>) -> T,
        add: impl Fn(&mut T, &T),
    ) -> Vec<T> {
        let mut sums: Vec<T> = self.nodes.iter().map(own).collect();
        for &at in self.top_down.iter().rev() {
            let Some(parent) = self.parent(at) else { continue };
            let sum = sums[at].clone();
            add(&mut sums[parent], &sum);
        }
        sums
    }

    /// When the last span ended.
    pub(super) fn last_end(&self) -> Nanos {
        let ends = self.nodes.iter().flat_map(Node::spans).map(|span| span.end);
        ends.max().unwrap_or_default()
    }

    /// The node above.
    pub(super) fn parent(&self, at: usize) -> Option<usize> {
        self.nodes[at].parent
    }
}

impl<'t> Node<'t> {
    fn new(
        first: &'t OutlineSpan,
        second: Option<&'t OutlineSpan>,
        hop: Option<&'t HopRow>,
    ) -> Self {
        let (attempt, findings, children, parent) = (None, Vec::new(), Vec::new(), None);
        Self { first, second, hop, attempt, findings, children, parent }
    }
}

/// Which node each span is a half of; a client of several servers is held by its first hop.
fn holders(nodes: &[Node<'_>]) -> FxHashMap<SpanId, usize> {
    let mut holders = FxHashMap::default();
    for (at, node) in nodes.iter().enumerate() {
        for span in node.spans() {
            holders.entry(span.span_id).or_insert(at);
        }
    }
    holders
}
