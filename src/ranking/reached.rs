//! The services that are called below a hop.

use std::collections::BTreeSet;

use crate::distributions::Name;

/// How many are told by name.
const MOST: usize = 100;

/// Some services: where they are more than are told, the first by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// Their names.
    pub names: BTreeSet<Name>,
    /// Whether there are more.
    pub has_more: bool,
}

impl Reached {
    /// Adds some. Whatever the order in which they come, the same are told.
    pub(super) fn extend(&mut self, names: impl IntoIterator<Item = Name>, has_more: bool) {
        self.names.extend(names);
        self.has_more |= has_more;
        while self.names.len() > MOST {
            self.names.pop_last();
            self.has_more = true;
        }
    }
}
