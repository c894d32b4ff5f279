//! Which convention keys were met.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How often each key of the conventions was met, whatever the order of the input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// By key in lower case, `event NAME` for an event, `event NAME: KEY` for an event's attribute.
    pub keys: BTreeMap<String, KeyCount>,
}

/// See [`Seen`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyCount {
    /// The ids of the rows that name the key, in the order in which they are tried.
    pub rule: String,
    /// How often it was met.
    pub count: u64,
    /// How often its value was asked for and could not be read.
    pub unparsed: u64,
}

impl Seen {
    /// Adds what was seen elsewhere by the same conventions.
    pub fn merge(&mut self, other: Self) {
        for (key, more) in other.keys {
            let known = self.keys.entry(key).or_default();
            known.rule = more.rule;
            known.count += more.count;
            known.unparsed += more.unparsed;
        }
    }
}

/// What is met while spans are resolved, by the number that the conventions gave each key: a
/// key is written down when it is first met, and only counted from then on.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// By number; `None` where the key was not met.
    met: Vec<Option<(String, KeyCount)>>,
    /// The keys whose values could not be read since they were last asked for.
    unparsed: Vec<String>,
}

impl Tally {
    /// Counts one meeting with `key`, whose number is `number` and which the rows `rule` name.
    pub(super) fn met(&mut self, number: usize, key: &str, rule: &str) {
        if let Some(Some((_, known))) = self.met.get_mut(number) {
            known.count += 1;
            return;
        }
        if self.met.len() <= number {
            self.met.resize(number + 1, None);
        }
        if let Some(slot) = self.met.get_mut(number) {
            let first = KeyCount { rule: rule.to_owned(), count: 1, unparsed: 0 };
            *slot = Some((key.to_owned(), first));
        }
    }

    /// Counts a value of the key of this number that could not be read.
    pub(super) fn unparsed(&mut self, number: usize) {
        if let Some(Some((key, known))) = self.met.get_mut(number) {
            known.unparsed += 1;
            self.unparsed.push(key.clone());
        }
    }

    /// The keys whose values could not be read since the last call, one for each value.
    pub fn take_unparsed(&mut self) -> Vec<String> {
        std::mem::take(&mut self.unparsed)
    }

    /// All that was met.
    pub fn into_seen(self) -> Seen {
        let mut seen = Seen::default();
        for (key, count) in self.met.into_iter().flatten() {
            seen.merge(Seen { keys: BTreeMap::from([(key, count)]) });
        }
        seen
    }
}
