//! Attribute keys and what is known of each, whatever the case in which they are written: a hash
//! table in which looking up neither copies nor allocates. Every attribute of every span is
//! looked up here, and most are not there.

/// An odd number whose bits are as good as random: 2^64 divided by the golden ratio.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// How many slots there are at least for each key, so that few stand where another would.
const SLOTS_PER_KEY: usize = 4;

/// Values by key.
#[derive(Clone, Debug)]
pub(super) struct KeyTable<V> {
    /// A power of two of them, or none; a key stands in the first free one from that of its hash on.
    slots: Vec<Slot>,
    /// The keys, in lower case, and their values.
    entries: Vec<(Box<str>, V)>,
}

/// Where a key may stand.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The hash of the key.
    hash: u64,
    /// Its place among the entries; beyond them where it is free.
    entry: usize,
}

/// A key that was found.
pub(super) struct Entry<'t, V> {
    /// Its place among the entries.
    place: usize,
    /// It, in lower case.
    pub(super) key: &'t str,
    /// It was asked for in lower case.
    pub(super) is_exact: bool,
    /// What is known of it.
    pub(super) value: &'t V,
}

/// No key.
const FREE: Slot = Slot { hash: 0, entry: usize::MAX };

impl<V> Default for KeyTable<V> {
    fn default() -> Self {
        Self { slots: Vec::new(), entries: Vec::new() }
    }
}

impl<V> KeyTable<V> {
    /// What is known of `key`.
    #[inline]
    pub(super) fn get(&self, key: &[u8]) -> Option<&V> {
        self.find(key).map(|entry| entry.value)
    }

    /// The entry of `key`.
    #[expect(clippy::inline_always, reason = "most callers look at one part of what is found")]
    #[inline(always)]
    pub(super) fn find(&self, key: &[u8]) -> Option<Entry<'_, V>> {
        let hash = hash_of(key);
        let mut at = hash;
        loop {
            let slot = self.slots.get(self.slot_of(at))?;
            let (known, value) = self.entries.get(slot.entry)?;
            if slot.hash == hash {
                let is_exact = is_equal(known.as_bytes(), key);
                if is_exact || known.as_bytes().eq_ignore_ascii_case(key) {
                    return Some(Entry { place: slot.entry, key: known, is_exact, value });
                }
            }
            at = at.wrapping_add(1);
        }
    }

    /// The slot of a hash, or of one behind it; beyond all where there are none.
    #[inline]
    fn slot_of(&self, hash: u64) -> usize {
        let last = (self.slots.len() as u64).wrapping_sub(1);
        usize::try_from(hash & last).unwrap_or(usize::MAX)
    }

    /// What is known of `key`, which is in lower case; at first, what `first` gives.
    pub(super) fn entry(&mut self, key: &str, first: impl FnOnce() -> V) -> &mut V {
        let known = self.find(key.as_bytes()).map(|entry| entry.place);
        let place = known.unwrap_or_else(|| {
            self.entries.push((key.into(), first()));
            self.place_last();
            self.entries.len() - 1
        });
        &mut self.entries[place].1
    }

    /// Puts the last key into its slot; where there are too few of them, all keys into more.
    fn place_last(&mut self) {
        let needed = (self.entries.len() * SLOTS_PER_KEY).next_power_of_two();
        let mut first = self.entries.len() - 1;
        if self.slots.len() < needed {
            self.slots = vec![FREE; needed];
            first = 0;
        }
        for (entry, (key, _)) in self.entries.iter().enumerate().skip(first) {
            let hash = hash_of(key.as_bytes());
            let mut at = hash;
            while self.slots.get(self.slot_of(at)).is_some_and(|slot| slot.entry != FREE.entry) {
                at = at.wrapping_add(1);
            }
            let slot = self.slot_of(at);
            if let Some(slot) = self.slots.get_mut(slot) {
                *slot = Slot { hash, entry };
            }
        }
    }
}

/// Whether two keys are the same, letter for letter. They are short: a call that compares them takes
/// longer than eight bytes after eight.
#[inline]
fn is_equal(known: &[u8], key: &[u8]) -> bool {
    let (Some(known_end), Some(end)) = (known.last_chunk::<8>(), key.last_chunk::<8>()) else {
        return known == key;
    };
    let (words, _) = known.as_chunks::<8>();
    let same = |(one, other)| one == other;
    known.len() == key.len() && known_end == end && words.iter().zip(key.as_chunks().0).all(same)
}

/// A hash that is the same in upper and lower case.
#[inline]
fn hash_of(key: &[u8]) -> u64 {
    let mut hash = key.len() as u64;
    for word in key.as_chunks().0 {
        hash = mixed(hash, u64::from_le_bytes(*word));
    }
    // The last eight bytes again are as good as those of them that are left.
    let last = key.last_chunk().map_or_else(
        || key.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)),
        |last| u64::from_le_bytes(*last),
    );
    hash = mixed(hash, last);
    hash ^ hash >> 32
}

/// The hash of what was hashed to `hash`, and of `word`.
#[inline]
const fn mixed(hash: u64, word: u64) -> u64 {
    // This bit alone tells a small letter from a capital one.
    let folded = word | u64::from_le_bytes([b' '; 8]);
    (hash ^ folded).wrapping_mul(MULTIPLIER).rotate_left(26)
}
