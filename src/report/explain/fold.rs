//! Which nodes of a tree are shown: siblings that are alike and unremarkable together, and of very
//! large requests what matters most.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::tree::{Node, Tree};
use crate::span::{Outcome, Sym};
use crate::tables::{AttemptKind, FindingCode, Funding, Verdict};
use crate::units::Nanos;

/// So many siblings that are alike and unremarkable are told together.
const ALIKE: usize = 3;
/// So many that are remarkable in the same way.
const ALIKE_REMARKABLE: usize = 8;
/// Of more rows than this nobody sees what matters.
const MOST_ROWS: usize = 120;
/// What took this part of a request is never told together with others.
const LONG: i64 = 10;
/// Where there are too many rows, what is not remarkable is left out unless it had this part of a
/// request for itself.
const WORTH_A_ROW: i64 = 500;

/// A row.
#[derive(Debug)]
pub(super) struct Shown {
    /// How deep, among what is shown.
    pub(super) level: usize,
    pub(super) what: What,
    pub(super) left_out: LeftOut,
}

/// What a row shows.
#[derive(Debug)]
pub(super) enum What {
    /// One node; some between it and the row above were left out where `is_far`.
    One { node: usize, is_far: bool },
    /// Siblings that are alike, and how many nodes they hold with all below them.
    Alike { nodes: Vec<usize>, holding: usize },
}

/// Nodes below a row that were left out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LeftOut {
    pub(super) nodes: usize,
    /// Those of them that have findings.
    pub(super) flagged: usize,
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
        let long = tree.last_end().div_floor(LONG);
        let is_long = |node: &Node<'_>| node.duration() > long;
        let is_quiet = |node: &Node<'_>| !node.is_remarkable() && !is_long(node);
        let quiet = tree.below(is_quiet, |above, below| *above &= below);
        let sizes = tree.below(|_| 1, |above, below| *above += below);
        let mut groups = Self { hidden: vec![false; tree.nodes.len()], sizes, ..Self::default() };
        for node in &tree.nodes {
            let mut alike: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            let mut firsts = FxHashMap::default();
            for &child in &node.children {
                let sibling = &tree.nodes[child];
                // What is remarkable further down must be seen.
                if !is_long(sibling) && sibling.children.iter().all(|&below| quiet[below]) {
                    let first = *firsts.entry(likeness(sibling)).or_insert(child);
                    alike.entry(first).or_default().push(child);
                }
            }
            for (first, group) in alike {
                let least = if quiet[first] { ALIKE } else { ALIKE_REMARKABLE };
                if group.len() >= least {
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

    /// How many nodes there are at and below all of a group.
    fn holding(&self, group: &[usize]) -> usize {
        group.iter().map(|&member| self.sizes[member]).sum()
    }

    fn is_hidden(&self, at: usize) -> bool {
        self.hidden.get(at).copied().unwrap_or(false)
    }
}

/// What siblings have in common that are alike: what they are, and what is to be said of them.
type Likeness = (
    (Option<Sym>, Sym, Outcome),
    Option<Verdict>,
    Option<(AttemptKind, Funding)>,
    Vec<FindingCode>,
);

fn likeness(node: &Node<'_>) -> Likeness {
    let (service, operation) = match node.hop {
        Some(hop) => (hop.callee_service, hop.operation),
        None => (Some(node.first.service), node.first.operation),
    };
    (
        (service, operation, node.first.outcome),
        node.hop.map(|hop| hop.verdict),
        node.attempt.map(|attempt| (attempt.kind, attempt.funding)),
        node.findings.iter().map(|finding| finding.code).collect(),
    )
}

/// By node whether it is shown: all, or where that is too much the root, what has findings or is
/// remarkable, and what had much of the time for itself.
fn kept(tree: &Tree<'_>, candidates: &[usize]) -> Vec<bool> {
    let mut kept = vec![false; tree.nodes.len()];
    let mut by_weight = candidates.to_vec();
    if candidates.len() > MOST_ROWS {
        let worth = tree.last_end().div_floor(WORTH_A_ROW);
        by_weight.retain(|&at| {
            let node = &tree.nodes[at];
            tree.parent(at).is_none() || node.is_remarkable() || node.own_time() > worth
        });
        by_weight.sort_by_key(|&at| {
            let node = &tree.nodes[at];
            let wasted: Nanos = node.findings.iter().filter_map(|finding| finding.wasted_ns).sum();
            let is_root = tree.parent(at).is_none();
            Reverse((is_root, !node.findings.is_empty(), wasted, node.own_time()))
        });
    }
    for &at in by_weight.iter().take(MOST_ROWS) {
        kept[at] = true;
    }
    kept
}

/// The rows of what is kept; what is left out is counted at the nearest that is kept above it.
fn rows(tree: &Tree<'_>, mut groups: Groups, candidates: &[usize], is_kept: &[bool]) -> Vec<Shown> {
    // By node the nearest kept one at or above it, and how deep that stands among those shown.
    let mut nearest: Vec<Option<usize>> = vec![None; tree.nodes.len()];
    let mut levels = vec![0; tree.nodes.len()];
    let mut left_out = vec![LeftOut::default(); tree.nodes.len()];
    for &at in candidates {
        let above = tree.parent(at).and_then(|above| nearest[above]);
        nearest[at] = if is_kept[at] { Some(at) } else { above };
        match above {
            Some(above) if is_kept[at] => levels[at] = levels[above] + 1,
            Some(above) => {
                let of_group = groups.members.get(&at).map(|group| groups.holding(group));
                left_out[above].nodes += of_group.unwrap_or(1);
                left_out[above].flagged += usize::from(!tree.nodes[at].findings.is_empty());
            }
            None => {}
        }
    }
    let mut shown = |at: usize| {
        let is_far = tree.parent(at).is_some_and(|above| !is_kept[above]);
        let group = groups.members.remove(&at);
        let what = group.map_or(What::One { node: at, is_far }, |nodes| What::Alike {
            holding: groups.holding(&nodes),
            nodes,
        });
        Shown { level: levels[at], what, left_out: left_out[at] }
    };
    candidates.iter().copied().filter(|&at| is_kept[at]).map(&mut shown).collect()
}
