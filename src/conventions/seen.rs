//! Which convention keys were met.

use std::collections::BTreeMap;

/// How often each key of the conventions was met, whatever the order of the input.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// By key in lower case, `event NAME` for an event, `event NAME: KEY` for an event's attribute.
    pub keys: BTreeMap<String, KeyCount>,
    /// The keys whose values could not be read since they were last asked for.
    unparsed: Vec<String>,
}

/// See [`Seen`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyCount {
    /// The ids of the rows that name the key, in the order in which they are tried.
    pub rule: String,
    /// How often it was met.
    pub count: u64,
    /// How often its value was asked for and could not be read.
    pub unparsed: u64,
}

/// What was asked for since is no part of what was seen.
impl PartialEq for Seen {
    fn eq(&self, other: &Self) -> bool {
        self.keys == other.keys
    }
}

impl Seen {
    /// Counts one meeting with `key`, which the rows `rule` name.
    pub(super) fn met(&mut self, key: &str, rule: &str) {
        if let Some(known) = self.keys.get_mut(key) {
            known.count += 1;
        } else {
            let first = KeyCount { rule: rule.to_owned(), count: 1, unparsed: 0 };
            self.keys.insert(key.to_owned(), first);
        }
    }

    /// Counts a value of `key` that could not be read.
    pub(super) fn unparsed(&mut self, key: &str) {
        if let Some(known) = self.keys.get_mut(key) {
            known.unparsed += 1;
            self.unparsed.push(key.to_owned());
        }
    }

    /// The keys whose values could not be read since the last call, one for each value.
    pub fn take_unparsed(&mut self) -> Vec<String> {
        std::mem::take(&mut self.unparsed)
    }

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
