//! Gives distinct keys numbers from 0, in the order in which they come.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// So many keys are found sooner by looking through them than by hash.
const FEW: usize = 12;

/// The numbers of keys.
#[derive(Debug)]
pub(super) struct Numbers<K> {
    /// The first keys, each at its number.
    few: Vec<K>,
    /// All others.
    many: FxHashMap<K, usize>,
}

impl<K> Default for Numbers<K> {
    fn default() -> Self {
        Self { few: Vec::new(), many: FxHashMap::default() }
    }
}

impl<K: Copy + Eq + Hash> Numbers<K> {
    /// The number of a key, new or known.
    pub(super) fn of(&mut self, key: K) -> usize {
        if let Some(number) = self.few.iter().position(|&known| known == key) {
            return number;
        }
        let next = self.len();
        if next < FEW {
            self.few.push(key);
            return next;
        }
        *self.many.entry(key).or_insert(next)
    }

    /// How many keys have one.
    pub(super) fn len(&self) -> usize {
        self.few.len() + self.many.len()
    }

    /// Forgets all keys.
    pub(super) fn clear(&mut self) {
        self.few.clear();
        // Emptying a map costs as much as it once held, which a small set must not pay.
        self.many = FxHashMap::default();
    }
}
