//! Attempts by the services along the way from the root, and how many of them there would be if nobody
//! tried again.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Most;
use super::edge;
use super::request::Request;
use crate::distributions::{Name, Names, merged};
use crate::span::{SpanId, Sym};
use crate::tables::HopRow;

/// Deeper layers are nobody's, and are not told.
pub(super) const MOST_LAYERS: usize = 32;

/// The services along the way, the root's first; `None` where nothing names one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(pub Vec<Option<Name>>);

merged! {
    /// The calls at the end of a path.
    pub struct Layer {
        /// How many there were.
        pub calls: u64,
        /// How often they were tried.
        pub tries: u64,
        /// The most tries of one call.
        pub most: Most,
        /// How many calls there would have been if nothing above had been tried again: of several
        /// attempts of a call the one that called most counts.
        pub due: u64,
    }
}

/// The paths of a partition, by number.
#[derive(Default)]
pub(super) struct Paths {
    nodes: Vec<Node>,
    /// The path on from another, or from none, by the service that is called.
    next: FxHashMap<(Option<usize>, Option<Sym>), usize>,
}

struct Node {
    before: Option<usize>,
    service: Option<Sym>,
    layer: Layer,
}

/// A hop on its path, and of which attempt of which call it is one.
#[derive(Clone, Copy)]
struct Step {
    depth: usize,
    caller: SpanId,
    call: SpanId,
    attempt: SpanId,
    hop: SpanId,
    path: usize,
    /// A client with several servers is a hop for each, and one attempt.
    is_first: bool,
}

/// By path how many calls there would have been.
type Due = BTreeMap<usize, u64>;

impl Paths {
    /// Adds the calls of a request whose root is of `root`.
    pub(super) fn add(&mut self, request: &Request<'_>, root: Sym) {
        let steps = self.steps(request, root);
        let firsts = || steps.iter().filter(|step| step.is_first);
        for step in firsts() {
            self.count(request, step);
        }
        if request.is_plain() {
            for step in firsts() {
                self.add_due(step.path, 1);
            }
        } else {
            for (path, due) in due(steps) {
                self.add_due(path, due);
            }
        }
    }

    /// The paths by name.
    pub(super) fn told(self, names: &mut Names<'_>) -> BTreeMap<Path, Layer> {
        let mut told: Vec<(Path, Layer)> = Vec::with_capacity(self.nodes.len());
        // What a path goes on from was numbered before it.
        for node in self.nodes {
            let before = node.before.and_then(|before| told.get(before));
            let mut path = before.map_or_else(Vec::new, |(path, _)| path.0.clone());
            path.push(node.service.map(|service| names.get(service)));
            told.push((Path(path), node.layer));
        }
        told.into_iter().collect()
    }

    fn next(&mut self, before: Option<usize>, service: Option<Sym>) -> usize {
        let Self { nodes, next } = self;
        *next.entry((before, service)).or_insert_with(|| {
            nodes.push(Node { before, service, layer: Layer::default() });
            nodes.len() - 1
        })
    }

    /// The hops below the root, each on its path.
    fn steps(&mut self, request: &Request<'_>, root: Sym) -> Vec<Step> {
        let root = self.next(None, Some(root));
        let depth = |hop: &HopRow| usize::try_from(hop.depth).ok();
        let is_told = |(depth, _): &(usize, &HopRow)| *depth <= MOST_LAYERS;
        let hops = request.hops.iter().filter_map(|hop| Some((depth(hop)?, hop)));
        let mut hops: Vec<(usize, &HopRow)> = hops.filter(is_told).collect();
        hops.sort_by_key(|(depth, _)| *depth);
        let callees = callees(request);
        let mut paths: FxHashMap<SpanId, usize> = FxHashMap::default();
        let mut attempts: FxHashSet<SpanId> = FxHashSet::default();
        let mut steps = Vec::with_capacity(hops.len());
        for (depth, hop) in hops {
            let Some(caller) = hop.caller_hop_id else {
                paths.insert(hop.hop_id, root);
                continue;
            };
            let attempt = hop.client_span_id.unwrap_or(hop.hop_id);
            let call = request.by_span.get(&attempt).map_or(attempt, |row| row.call_id);
            let callee = hop.callee_service.or_else(|| callees.get(&call).copied());
            let path = self.next(Some(paths.get(&caller).copied().unwrap_or(root)), callee);
            paths.insert(hop.hop_id, path);
            let is_first = attempts.insert(attempt);
            steps.push(Step { depth, caller, call, attempt, hop: hop.hop_id, path, is_first });
        }
        steps
    }

    /// Counts an attempt, or a hop that is none and counts as a call that was tried once.
    fn count(&mut self, request: &Request<'_>, step: &Step) {
        let Some(Node { layer, .. }) = self.nodes.get_mut(step.path) else { return };
        let row = request.by_span.get(&step.attempt);
        layer.tries += row.map_or(1, |row| edge::tries(row));
        if row.is_none_or(|row| row.span_id == row.call_id) {
            let tried = request.calls.get(&step.call);
            layer.calls += 1;
            layer.most = layer.most.max(Most(tried.map_or(1, |tried| tried.tries)));
        }
    }

    fn add_due(&mut self, path: usize, due: u64) {
        if let Some(node) = self.nodes.get_mut(path) {
            node.layer.due += due;
        }
    }
}

/// Whom calls go to of which any attempt tells.
fn callees(request: &Request<'_>) -> FxHashMap<SpanId, Sym> {
    let known = request.attempts.iter().filter(|row| row.callee_service.is_some());
    known.filter_map(|row| Some((row.call_id, row.callee_service?))).collect()
}

/// By path how many calls there would have been, had none been tried again.
fn due(mut steps: Vec<Step>) -> Due {
    steps.sort_unstable_by_key(|step| {
        (Reverse(step.depth), step.caller, step.call, step.attempt, step.hop)
    });
    let mut below: FxHashMap<SpanId, Due> = FxHashMap::default();
    for call in steps.chunk_by(|one, next| (one.caller, one.call) == (next.caller, next.call)) {
        let mut most = Due::new();
        for attempt in call.chunk_by(|one, next| one.attempt == next.attempt) {
            let mut own = Due::new();
            for step in attempt {
                add(&mut own, below.remove(&step.hop).unwrap_or_default());
                if step.is_first {
                    add(&mut own, Due::from([(step.path, 1)]));
                }
            }
            for (path, due) in own {
                let known = most.entry(path).or_default();
                *known = due.max(*known);
            }
        }
        if let Some(first) = call.first() {
            add(below.entry(first.caller).or_default(), most);
        }
    }
    below.into_values().fold(Due::new(), |mut all, due| {
        add(&mut all, due);
        all
    })
}

fn add(to: &mut Due, more: Due) {
    for (path, due) in more {
        *to.entry(path).or_default() += due;
    }
}
