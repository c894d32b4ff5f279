//! Finds the last of the first few values that reaches a bound, in logarithmic time.

/// Values in a fixed order, and above each pair of them the larger one.
#[derive(Debug)]
pub(super) struct MaxTree<V> {
    /// A binary tree: the root at 1, the children of node n at 2n and 2n + 1, leaves last.
    nodes: Vec<Option<V>>,
}

impl<V> Default for MaxTree<V> {
    fn default() -> Self {
        Self { nodes: Vec::new() }
    }
}

impl<V: Copy + Ord> MaxTree<V> {
    /// A tree over `values`.
    pub(super) fn new(values: impl ExactSizeIterator<Item = V>) -> Self {
        let mut tree = Self::default();
        tree.fill(values);
        tree
    }

    /// Puts `values` in the place of those that it held.
    pub(super) fn fill(&mut self, values: impl ExactSizeIterator<Item = V>) {
        let nodes = &mut self.nodes;
        nodes.clear();
        if values.len() == 0 {
            return;
        }
        let leaves = values.len().next_power_of_two();
        nodes.resize(2 * leaves, None);
        for (leaf, value) in (leaves..).zip(values) {
            nodes[leaf] = Some(value);
        }
        for node in (1..leaves).rev() {
            nodes[node] = nodes[2 * node].max(nodes[2 * node + 1]);
        }
    }

    /// Of the first `prefix` values the last that is at least `bound`: its place.
    pub(super) fn last_reaching(&self, prefix: usize, bound: V) -> Option<usize> {
        let leaves = self.nodes.len() / 2;
        if leaves == 0 {
            return None;
        }
        let reaches = |node: usize| self.nodes[node] >= Some(bound);
        // Up to the nearest subtree left of the prefix's end that holds one. Where the walk comes
        // to the root, none does, or the prefix is everything.
        let mut node = leaves + prefix;
        while node > 1 && (node.is_multiple_of(2) || !reaches(node - 1)) {
            node /= 2;
        }
        if node <= 1 && (prefix < leaves || !reaches(1)) {
            return None;
        }
        node = (node - 1).max(1);
        while node < leaves {
            node = 2 * node + usize::from(reaches(2 * node + 1));
        }
        Some(node - leaves)
    }
}
