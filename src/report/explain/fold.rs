//! Which nodes of a tree are shown: siblings that are alike and unremarkable together, and of very
//! large requests what matters most.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::tree::{Node, Tree};
use crate::span::Sym;
use crate::units::Nanos;

/// So many siblings that are alike are told together.
const ALIKE: usize = 3;
/// Of more rows than this nobody sees what matters.
const MOST_ROWS: usize = 120;
/// What took this part of a request is never told together with others.
const LONG: i64 = 10;

/// A row.
#[derive(Debug)]
pub(super) struct Shown {
    /// How deep, among what is shown.
    pub(super) level: usize,
    pub(super) what: What,
}

/// What a row shows.
#[derive(Debug)]
pub(super) enum What {
    /// One node; rows between it and that above were left out where `is_far`.
    One { node: usize, is_far: bool },
    /// Siblings that are alike, and how many nodes they hold with all below them.
    Alike { nodes: Vec<usize>, holding: usize },
    /// So many nodes that were left out, and how many of them have findings.
    LeftOut { nodes: usize, flagged: usize },
}

/// What of a tree is shown, callers above callees: all of it, or what matters.
pub(super) fn shown(tree: &Tree<'_>, all: bool) -> Vec<Shown> {
    let groups = if all { Groups::default() } else { Groups::of(tree) };
    let candidates: Vec<usize> =
        tree.top_down.iter().copied().filter(|&at| !groups.is_hidden(at)).collect();
    let is_kept = if all { vec![true; tree.nodes.len()] } else { kept(tree, &candidates) };
    rows(tree, groups, &candidates, &is_kept)
}

/// Siblings that are told together.
#[derive(Default)]
struct Groups {
    /// By its first member, which stands for it.
    members: FxHashMap<usize, Vec<usize>>,
    /// By node: it is told by a group.
    hidden: Vec<bool>,
    /// By node, how many there are at and below it.
    sizes: Vec<usize>,
}

impl Groups {
    fn of(tree: &Tree<'_>) -> Self {
        let whole = tree.nodes.iter().map(|node| node.first.end).max().unwrap_or_default();
        let is_quiet = |node: &Node<'_>| {
            let is_long = node.duration() > whole.div_floor(LONG);
            !node.is_remarkable() && !is_long
        };
        let quiet = tree.below(is_quiet, |above, below| *above &= below);
        let sizes = tree.below(|_| 1, |above, below| *above += below);
        let mut groups = Self { hidden: vec![false; tree.nodes.len()], sizes, ..Self::default() };
        for node in &tree.nodes {
            let mut alike: FxHashMap<Likeness, Vec<usize>> = FxHashMap::default();
            let mut firsts = Vec::new();
            for &child in node.children.iter().filter(|&&child| quiet[child]) {
                let group = alike.entry(likeness(&tree.nodes[child])).or_default();
                if group.is_empty() {
                    firsts.push(child);
                }
                group.push(child);
            }
            for first in firsts {
                let group = alike.remove(&likeness(&tree.nodes[first])).unwrap_or_default();
                if group.len() >= ALIKE {
                    groups.add(first, group);
                }
            }
        }
        for &at in &tree.top_down {
            let above = tree.parent(at);
            let is_below = above
                .is_some_and(|above| groups.hidden[above] || groups.members.contains_key(&above));
            groups.hidden[at] |= is_below;
        }
        groups
    }

    fn add(&mut self, first: usize, group: Vec<usize>) {
        for &member in group.iter().skip(1) {
            self.hidden[member] = true;
        }
        self.members.insert(first, group);
    }

    fn is_hidden(&self, at: usize) -> bool {
        self.hidden.get(at).copied().unwrap_or(false)
    }
}

/// What siblings have in common that are alike.
type Likeness = (bool, Option<Sym>, Sym);

fn likeness(node: &Node<'_>) -> Likeness {
    match node.hop {
        Some(hop) => (true, hop.callee_service, hop.operation),
        None => (false, Some(node.first.service), node.first.operation),
    }
}

/// By node whether it is shown: the root, then what has findings, then what took longest.
fn kept(tree: &Tree<'_>, candidates: &[usize]) -> Vec<bool> {
    let mut kept = vec![false; tree.nodes.len()];
    let mut by_weight = candidates.to_vec();
    by_weight.sort_by_key(|&at| {
        let node = &tree.nodes[at];
        let is_root = tree.parent(at).is_none();
        let wasted: Nanos = node.findings.iter().filter_map(|finding| finding.wasted_ns).sum();
        let is_flagged = !node.findings.is_empty();
        Reverse((is_root, is_flagged, wasted, node.is_remarkable(), node.duration()))
    });
    for &at in by_weight.iter().take(MOST_ROWS) {
        kept[at] = true;
    }
    kept
}

/// The rows of what is kept; what is left out is counted at the nearest that is kept above it.
fn rows(tree: &Tree<'_>, mut groups: Groups, candidates: &[usize], is_kept: &[bool]) -> Vec<Shown> {
    let nodes = tree.nodes.len();
    // By node the nearest kept one at or above it, and how deep that stands among those shown.
    let mut nearest: Vec<Option<usize>> = vec![None; nodes];
    let mut levels = vec![0; nodes];
    let mut left_out = vec![(0, 0); nodes];
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    let mut roots = Vec::new();
    for &at in candidates {
        let above = tree.parent(at).and_then(|above| nearest[above]);
        if is_kept[at] {
            nearest[at] = Some(at);
            levels[at] = above.map_or(0, |above| levels[above] + 1);
            above.map_or(&mut roots, |above| &mut children[above]).push(at);
        } else if let Some(above) = above {
            nearest[at] = Some(above);
            let flagged = usize::from(!tree.nodes[at].findings.is_empty());
            let hidden = groups.members.get(&at).into_iter().flatten();
            let hidden: usize = hidden.map(|&member| groups.sizes[member]).sum();
            left_out[above] = (left_out[above].0 + hidden.max(1), left_out[above].1 + flagged);
        }
    }
    let mut rows = Vec::new();
    let mut stack: Vec<Step> = roots.into_iter().rev().map(Step::Node).collect();
    while let Some(step) = stack.pop() {
        let at = match step {
            Step::Node(at) => at,
            Step::Rest(at) => {
                let (nodes, flagged) = left_out[at];
                rows.push(Shown { level: levels[at] + 1, what: What::LeftOut { nodes, flagged } });
                continue;
            }
        };
        let what = match groups.members.remove(&at) {
            Some(nodes) => {
                let holding = nodes.iter().map(|&member| groups.sizes[member]).sum();
                What::Alike { nodes, holding }
            }
            None => {
                What::One { node: at, is_far: tree.parent(at) != nearest_above(tree, at, &nearest) }
            }
        };
        rows.push(Shown { level: levels[at], what });
        if left_out[at].0 > 0 {
            stack.push(Step::Rest(at));
        }
        stack.extend(children[at].iter().rev().copied().map(Step::Node));
    }
    rows
}

/// What is told next.
enum Step {
    Node(usize),
    /// What was left out below a node.
    Rest(usize),
}

fn nearest_above(tree: &Tree<'_>, at: usize, nearest: &[Option<usize>]) -> Option<usize> {
    tree.parent(at).and_then(|above| nearest[above])
}
