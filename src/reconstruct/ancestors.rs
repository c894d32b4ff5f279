//! A value of each ancestor of the span that a depth-first walk stands at, ready to be asked
//! for a range: one pass over a trace however deep it is.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// So many values are found sooner by looking through them than in a tree.
const FEW: usize = 16;

/// Values that may occur several times.
#[derive(Debug)]
pub(super) struct Multiset<K> {
    /// Some of them, in any order.
    few: Vec<K>,
    /// How often each occurs beyond that.
    many: BTreeMap<K, usize>,
}

impl<K: Ord + Copy> Default for Multiset<K> {
    fn default() -> Self {
        Self { few: Vec::new(), many: BTreeMap::new() }
    }
}

impl<K: Ord + Copy> Multiset<K> {
    /// Puts one in.
    pub(super) fn add(&mut self, value: K) {
        if self.few.len() < FEW {
            self.few.push(value);
        } else {
            *self.many.entry(value).or_default() += 1;
        }
    }

    /// Takes one out.
    pub(super) fn remove(&mut self, value: K) {
        if let Some(place) = self.few.iter().position(|&one| one == value) {
            self.few.swap_remove(place);
        } else if let Some(count) = self.many.get_mut(&value) {
            *count -= 1;
            if *count == 0 {
                self.many.remove(&value);
            }
        }
    }

    /// Whether one of them is in a range.
    pub(super) fn any_in(&self, range: &RangeInclusive<K>) -> bool {
        self.few.iter().any(|value| range.contains(value))
            || !range.is_empty() && self.many.range(range.clone()).next().is_some()
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
