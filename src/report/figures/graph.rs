//! Who calls whom, and where the clock starts again.

use std::collections::BTreeMap;

use super::{Drawing, Figure};
use crate::distributions::{ClassSummary, Name};
use crate::report::class::OVERGRANTS;
use crate::report::words;
use crate::tables::Verdict;

/// So many edges can be followed with the eye.
const MOST_EDGES: usize = 40;

/// Services and calls.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The services.
    pub nodes: Vec<Node>,
    /// The calls, busiest first.
    pub edges: Vec<Edge>,
    /// How many edges were left out.
    pub left_out: usize,
}

/// A service.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name.
    pub label: String,
    /// How many hops stand above it at least.
    pub depth: i32,
}

/// Calls of one service to another.
#[derive(Clone, Debug, Default)]
pub struct Edge {
    /// The caller, by its place among the nodes.
    pub from: usize,
    /// The callee.
    pub to: usize,
    /// How many calls.
    pub calls: u64,
    /// How many were given the full timeout again.
    pub resets: u64,
    /// How many were given more than was left otherwise.
    pub overgrants: u64,
    /// Late and residual work that these explain; none where it is not known.
    pub wasted_ns: Option<i128>,
}

pub(super) fn figure(class: &ClassSummary) -> Option<Figure> {
    let graph = graph(class);
    (!graph.edges.is_empty()).then_some(Figure {
        title: "Calls, and where the clock starts again",
        caption: "Callers left, callees right; the wider, the more calls. Red and dashed: hops that \
                  were given the full timeout again, or more than was left, how many, and the late \
                  and residual work that it explains.",
        drawing: Drawing::Graph(graph),
    })
}

type Ends<'a> = (Option<&'a Name>, Option<&'a Name>);

fn graph(class: &ClassSummary) -> Graph {
    let mut edges: BTreeMap<Ends<'_>, Edge> = BTreeMap::new();
    let mut depths: BTreeMap<Option<&Name>, i32> = BTreeMap::new();
    let mut reach = |service, depth: i32| {
        let least = depths.entry(service).or_insert(depth);
        *least = depth.min(*least);
    };
    for (place, hop) in class.hops.iter().filter(|(place, _)| place.depth > 0) {
        let ends = (place.call.caller.as_ref(), place.call.callee.as_ref());
        reach(ends.0, place.depth - 1);
        reach(ends.1, place.depth);
        let count = |verdict| hop.verdicts.get(&verdict).copied().unwrap_or(0);
        let edge = edges.entry(ends).or_default();
        edge.calls += hop.hops;
        edge.resets += count(Verdict::Reset);
        edge.overgrants += count(Verdict::Overgrant);
    }
    for ((code, place), finding) in &class.findings {
        let Some(place) = place.as_ref().filter(|_| OVERGRANTS.contains(code)) else { continue };
        let ends = (place.call.caller.as_ref(), place.call.callee.as_ref());
        if let Some(edge) = edges.get_mut(&ends).filter(|_| finding.wasted_known > 0) {
            *edge.wasted_ns.get_or_insert(0) += finding.wasted_ns;
        }
    }
    let mut edges: Vec<(Ends<'_>, Edge)> = edges.into_iter().collect();
    // Those that are wrong come first, since what is left out must not be what is looked for.
    edges.sort_by_key(|(ends, edge)| {
        (std::cmp::Reverse((edge.resets + edge.overgrants > 0, edge.calls)), *ends)
    });
    let left_out = edges.len().saturating_sub(MOST_EDGES);
    edges.truncate(MOST_EDGES);
    let mut services: Vec<(i32, Option<&Name>)> = edges
        .iter()
        .flat_map(|(ends, _)| [ends.0, ends.1])
        .map(|name| (depths[&name], name))
        .collect();
    services.sort_unstable();
    services.dedup();
    let place = |service| services.iter().position(|(_, name)| *name == service).unwrap_or(0);
    let edges = edges.into_iter().map(|((from, to), edge)| Edge {
        from: place(from),
        to: place(to),
        ..edge
    });
    let edges = edges.collect();
    let node = |(depth, name): &(i32, Option<&Name>)| Node {
        label: words::named(name.map(AsRef::as_ref)).to_owned(),
        depth: *depth,
    };
    Graph { nodes: services.iter().map(node).collect(), edges, left_out }
}
