//! Attribute keys and what is known of each, whatever the case in which they are written: a hash
//! table in which looking up neither copies nor allocates. Every attribute of every span is
//! looked up here, and most are not there.

use super::raw::KeyPlace;

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
    hash: u32,
    /// Its place among the entries; beyond them where it is free.
    entry: u32,
}

/// A key that was found.
pub(super) struct Entry<'t, V> {
    /// Its place among the entries.
    pub(super) place: KeyPlace,
    /// It, in lower case.
    pub(super) key: &'t str,
    /// It was asked for in lower case.
    pub(super) is_exact: bool,
    /// What is known of it.
    pub(super) value: &'t V,
}

/// No key.
const FREE: Slot = Slot { hash: 0, entry: u32::MAX };

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

    /// What is known of the key at `place`.
    #[inline]
    pub(super) fn at(&self, place: KeyPlace) -> Option<&V> {
        self.entries.get(place.0 as usize).map(|(_, value)| value)
    }

    /// The entry of `key`.
    #[expect(clippy::inline_always, reason = "most callers look at one part of what is found")]
    #[inline(always)]
    pub(super) fn find(&self, key: &[u8]) -> Option<Entry<'_, V>> {
        let hash = hash_of(key);
        let mut at = hash;
        loop {
            let slot = self.slots.get(self.slot_of(at))?;
            let (known, value) = self.entries.get(slot.entry as usize)?;
            if slot.hash == hash {
                let is_exact = is_equal(known.as_bytes(), key);
                if is_exact || known.as_bytes().eq_ignore_ascii_case(key) {
                    let place = KeyPlace(slot.entry);
                    return Some(Entry { place, key: known, is_exact, value });
                }
            }
            at = at.wrapping_add(1);
        }
    }

    /// The slot of a hash, or of one behind it; beyond all where there are none.
    #[inline]
    const fn slot_of(&self, hash: u32) -> usize {
        hash as usize & self.slots.len().wrapping_sub(1)
    }

    /// What is known of `key`, which is in lower case; at first, what `first` gives.
    pub(super) fn entry(&mut self, key: &str, first: impl FnOnce() -> V) -> &mut V {
        let known = self.find(key.as_bytes()).map(|entry| entry.place.0 as usize);
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
        for (entry, (key, _)) in (0..).zip(&self.entries).skip(first) {
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

/// A hash that is the same in upper and lower case. Of long keys it takes the ends alone, which tell
/// most apart, so that it takes as long for all of them.
#[inline]
fn hash_of(key: &[u8]) -> u32 {
    let (first, last) = match (key.first_chunk(), key.last_chunk()) {
        (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
        _ => (0, key.iter().fold(0, |word, &byte| word << 8 | u64::from(byte))),
    };
    let hash = mixed(mixed(key.len() as u64, first), last);
    (hash >> 32) as u32
}

/// The hash of what was hashed to `hash`, and of `word`.
#[inline]
const fn mixed(hash: u64, word: u64) -> u64 {
    // This bit alone tells a small letter from a capital one.
    let folded = word | u64::from_le_bytes([b' '; 8]);
    (hash ^ folded).wrapping_mul(MULTIPLIER)
}
