//! A request, its deadline and the deadlines of its spans (SEMANTICS §5).

use dwindle::contract::{Contract, Glob};
use dwindle::span::Kind;
use serde_json::{Map, Value, json};

use super::calls::Attempt;
use super::hops::Hop;
use super::path::Segments;
use super::{MS, Trace};

/// What one root span asks for.
pub(super) struct Request<'t, 'a> {
    pub(super) trace: &'t Trace<'a>,
    pub(super) root: usize,
    /// Its spans by corrected (start, id).
    pub(super) spans: Vec<usize>,
    pub(super) contract: Option<&'a Contract>,
    pub(super) class: String,
    /// All that is kept back.
    pub(super) reserve: i64,
    /// How long work may go on after its caller left.
    pub(super) bound: i64,
    pub(super) origin: i64,
    pub(super) deadline: Option<i64>,
    pub(super) deadline_source: &'static str,
    pub(super) calls: Vec<Vec<Attempt>>,
    /// A retry was seen without what it retries.
    pub(super) attempts_missing: bool,
    pub(super) hops: Vec<Hop>,
    pub(super) segments: Segments,
}

impl<'t, 'a> Request<'t, 'a> {
    pub(super) fn new(trace: &'t Trace<'a>, root: usize) -> Self {
        let spans = trace.in_order(trace.subtree(root));
        let mut request = Self {
            trace,
            root,
            spans,
            contract: None,
            class: String::new(),
            reserve: 0,
            bound: 5 * MS,
            origin: 0,
            deadline: None,
            deadline_source: "none",
            calls: Vec::new(),
            attempts_missing: false,
            hops: Vec::new(),
            segments: Segments::new(),
        };
        request.apply_contract();
        request.find_deadline();
        request.find_calls();
        request.find_hops();
        request.find_segments();
        request
    }

    fn apply_contract(&mut self) {
        let root = &self.trace.nodes[self.root];
        let matches = |contract: &&Contract| {
            let service = contract.matches.service.as_ref();
            let operation = contract.matches.operation.as_ref();
            service.is_none_or(|glob| glob.matches(root.service))
                && operation.is_none_or(|glob| self.operation_matches(self.root, glob))
        };
        self.contract = self.trace.policy.contracts.iter().find(matches);
        let own = format!("{} {}", root.service, root.route.unwrap_or(root.name));
        self.class =
            self.contract.and_then(|contract| contract.request_class.clone()).unwrap_or(own);
        let Some(contract) = self.contract else { return };
        self.reserve = contract.return_reserve.as_nanos();
        let side_effect = |&span: &usize| self.trace.nodes[span].span.flags.side_effect;
        if self.spans.iter().any(side_effect) {
            self.reserve += contract.reconciliation_reserve.as_nanos();
        }
        if let Some(bound) = contract.residual_bound {
            self.bound = bound.as_nanos().max(MS);
        }
    }

    /// Whether a glob matches a span's name, or its method and route.
    fn operation_matches(&self, span: usize, glob: &Glob) -> bool {
        let node = &self.trace.nodes[span];
        glob.matches(node.name) || node.route.is_some_and(|route| glob.matches(route))
    }

    fn find_deadline(&mut self) {
        let root = &self.trace.nodes[self.root];
        self.origin = root.start - root.queued;
        if let Some(parent) = root.parent.map(|parent| &self.trace.nodes[parent])
            && root.kind == Kind::Consumer
            && parent.kind == Kind::Producer
        {
            self.origin = parent.start.min(root.start);
        }
        let is_calibrated = self.contract.is_some_and(|contract| contract.calibrated);
        let counts = !is_calibrated || root.grant.is_none();
        if let Some(deadline) =
            self.contract.and_then(|contract| contract.deadline).filter(|_| counts)
        {
            self.deadline = Some(self.origin + deadline.as_nanos());
            self.deadline_source = if is_calibrated { "inferred" } else { "contract" };
        } else if let Some(grant) = root.grant {
            self.deadline = Some(self.anchor(self.root) + grant);
            self.deadline_source = "declared";
        }
    }

    /// The instant from which a span's grant counts.
    pub(super) fn anchor(&self, span: usize) -> i64 {
        let node = &self.trace.nodes[span];
        let measured = node.span.grant.is_some_and(|grant| grant.from_start);
        if measured || node.timed.is_some() { node.start } else { node.start - node.queued }
    }

    /// The effective deadline of a span; of what called the root, where there is no span.
    pub(super) fn effective_deadline(&self, span: Option<usize>) -> Option<i64> {
        let Some(span) = span else { return self.deadline };
        let node = &self.trace.nodes[span];
        let above = self.effective_deadline(node.up);
        let own = node.grant.map(|grant| self.anchor(span) + grant);
        [above, own].into_iter().flatten().min()
    }

    /// The deadline that a span's own process could know.
    pub(super) fn known_deadline(&self, span: Option<usize>) -> Option<i64> {
        let Some(span) = span else { return self.deadline };
        let node = &self.trace.nodes[span];
        let Some(up) = node.up else { return self.deadline };
        if let Some(grant) = node.grant {
            return Some(self.anchor(span) + grant);
        }
        let caller = &self.trace.nodes[up];
        match caller.grant {
            Some(grant) if caller.servers.contains(&span) => Some(node.start - node.queued + grant),
            _ => self.known_deadline(Some(up)),
        }
    }

    /// What of a remaining time may be spent.
    pub(super) fn available(&self, remaining: i64) -> i64 {
        (remaining - self.reserve).max(0)
    }

    pub(super) fn tolerance(&self, length: i64) -> i64 {
        (length.div_euclid(50)).max(self.trace.policy.tolerance.as_nanos())
    }

    /// The instants at which ancestors of a span left.
    pub(super) fn leavings_above(&self, span: usize) -> Vec<i64> {
        let above = self.trace.ancestors(span).into_iter().map(|above| &self.trace.nodes[above]);
        above.filter(|node| node.left()).map(|node| node.end).collect()
    }

    /// Whether a span, or one above it, is of a service meant to go on after its caller left.
    pub(super) fn is_detached(&self, span: usize) -> bool {
        let Some(contract) = self.contract else { return false };
        let spans = [vec![span], self.trace.ancestors(span)].concat();
        let is_detached = |&span: &usize| {
            let service = self.trace.nodes[span].service;
            contract.detached.iter().any(|glob| glob.matches(service))
        };
        spans.iter().any(is_detached)
    }

    /// Whether a span, or one above it, rightly outlasts any budget.
    pub(super) fn is_long_lived(&self, span: usize) -> bool {
        let Some(contract) = self.contract else { return false };
        let spans = [vec![span], self.trace.ancestors(span)].concat();
        let is_long_lived = |&span: &usize| {
            contract.long_lived.iter().any(|glob| self.operation_matches(span, glob))
        };
        spans.iter().any(is_long_lived)
    }

    /// A row with the columns that every table has, and others.
    pub(super) fn row(&self, columns: Value) -> Value {
        let mut row = Map::new();
        row.insert("trace_id".to_owned(), json!(format!("{:032x}", self.trace_id())));
        row.insert("request_class".to_owned(), json!(self.class));
        row.insert("root_span_id".to_owned(), self.id(Some(self.root)));
        if let Value::Object(columns) = columns {
            row.extend(columns);
        }
        Value::Object(row)
    }

    fn trace_id(&self) -> u128 {
        self.trace.nodes[self.root].span.trace_id.0
    }

    /// A span's id as tables write it.
    pub(super) fn id(&self, span: Option<usize>) -> Value {
        json!(span.map(|span| format!("{:016x}", self.trace.nodes[span].id)))
    }
}
