//! A value of each ancestor of the span that a depth-first walk stands at, ready to be asked
//! for a range: one pass over a trace however deep it is.

use std::collections::BTreeMap;
use std::ops::RangeBounds;

/// Values that may occur several times.
#[derive(Debug)]
pub(super) struct Multiset<K>(BTreeMap<K, usize>);

impl<K: Ord + Copy> Default for Multiset<K> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord + Copy> Multiset<K> {
    /// Puts one in.
    pub(super) fn add(&mut self, value: K) {
        *self.0.entry(value).or_default() += 1;
    }

    /// Takes one out.
    pub(super) fn remove(&mut self, value: K) {
        if let Some(count) = self.0.get_mut(&value) {
            *count -= 1;
            if *count == 0 {
                self.0.remove(&value);
            }
        }
    }

    /// The least one in a range, which must not be reversed.
    pub(super) fn first_in(&self, range: impl RangeBounds<K>) -> Option<K> {
        self.0.range(range).next().map(|(&value, _)| value)
    }
}

/// The values of the ancestors of the span that the walk stands at.
#[derive(Debug)]
pub(super) struct Ancestors<K> {
    path: Vec<(usize, Option<K>)>,
    /// Their values.
    pub values: Multiset<K>,
}

impl<K: Ord + Copy> Default for Ancestors<K> {
    fn default() -> Self {
        Self { path: Vec::new(), values: Multiset::default() }
    }
}

impl<K: Ord + Copy> Ancestors<K> {
    /// Moves on to a span whose parent is `parent`.
    pub(super) fn come_below(&mut self, parent: Option<usize>) {
        while self.path.last().map(|&(span, _)| span) != parent {
            let Some((_, value)) = self.path.pop() else { break };
            if let Some(value) = value {
                self.values.remove(value);
            }
        }
    }

    /// Makes the span that the walk stands at an ancestor of those that follow.
    pub(super) fn enter(&mut self, span: usize, value: Option<K>) {
        self.path.push((span, value));
        if let Some(value) = value {
            self.values.add(value);
        }
    }

    /// The values of the ancestors below `upper`, nearest first.
    pub(super) fn values_below(&self, upper: Option<usize>) -> Vec<K> {
        let below = self.path.iter().rev().take_while(|&&(span, _)| Some(span) != upper);
        below.filter_map(|&(_, value)| value).collect()
    }
}
