//! Names that say nothing: `service-01`, `operation-07`. Numbered in the order of the names that
//! they stand for, so that nothing that is sorted by name changes its place.

use std::collections::{BTreeMap, BTreeSet};

use crate::conventions::{Conventions, Named};
use crate::ingest::Excerpt;

/// A new name for every name of a trace.
#[derive(Debug)]
pub(super) struct NeutralNames(BTreeMap<(Named, String), String>);

impl NeutralNames {
    /// Names for all that is named in `excerpt`.
    pub(super) fn of(excerpt: &Excerpt, conventions: &Conventions) -> Self {
        let mut names = BTreeSet::new();
        let mut note = |named, name: &str| {
            names.insert((named, name.to_owned()));
            String::new()
        };
        let strings = &excerpt.spans.strings;
        for (span, written) in excerpt.spans.rows.iter().zip(&excerpt.written) {
            conventions.neutral(&written.raw, span, strings, &mut note);
            conventions.neutral_resource(span, strings, &mut note);
        }
        let mut counts: BTreeMap<Named, usize> = BTreeMap::new();
        for (named, _) in &names {
            *counts.entry(*named).or_default() += 1;
        }
        let mut numbers: BTreeMap<Named, usize> = BTreeMap::new();
        let number = |(named, name): (Named, String)| {
            let number = numbers.entry(named).or_default();
            *number += 1;
            let digits = counts.get(&named).map_or(1, |count| count.to_string().len());
            let neutral = format!("{}{number:0digits$}", prefix(named));
            ((named, name), neutral)
        };
        Self(names.into_iter().map(number).collect())
    }

    /// The new name.
    pub(super) fn rename(&self, named: Named, name: &str) -> String {
        let known = self.0.get(&(named, name.to_owned()));
        known.cloned().unwrap_or_else(|| prefix(named).to_owned())
    }
}

/// What stands before the number.
const fn prefix(named: Named) -> &'static str {
    match named {
        Named::Service => "service-",
        Named::Operation => "operation-",
        Named::Route => "/route-",
        Named::Host => "host-",
        Named::Target => "target-",
    }
}
