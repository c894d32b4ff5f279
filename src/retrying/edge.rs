//! The calls of one caller to one callee, by how often they were tried.

use super::Most;
use crate::distributions::merged;
use crate::tables::{AttemptKind, AttemptRow};

/// What stands for the attribute of an ordinal that the span's name tells.
const NAME_KEY: &str = "name";

merged! {
    /// How often the calls of one caller to one callee were tried.
    pub struct Edge {
        /// Calls.
        pub calls: u64,
        /// How often they were tried, hedges and what was sent again apart: their first attempts, their
        /// retries, and those that are hidden in a span.
        pub tries: u64,
        /// The most tries of one call.
        pub most: Most,
        /// Calls that were tried more than once.
        pub retried: u64,
        /// In how many requests that was.
        pub requests: u64,
        /// Retries with a span of their own.
        pub retries: u64,
        /// How they were told to be retries.
        pub told: Told,
        /// Further tries that a span holds, as totals or events say.
        pub hidden: u64,
        /// Attempts beside one that still ran.
        pub hedges: u64,
        /// What was sent again after a redirect or a challenge.
        pub resends: u64,
        /// Calls that their caller made again though none had failed: a loop over items.
        pub loops: u64,
    }
}

merged! {
    /// How retries were told to be some.
    pub struct Told {
        /// By a number that the span declares.
        pub declared: u64,
        /// By the name of a span that is one attempt.
        pub named: u64,
        /// By time and identity: the one before had failed, and this began after it.
        pub inferred: u64,
    }
}

impl Edge {
    /// Whether there is anything to tell of it: something was tried or sent more than once.
    pub fn is_notable(&self) -> bool {
        self.extra() > 0
    }

    /// Attempts beyond the first of each call, of all kinds.
    pub fn extra(&self) -> u64 {
        self.retries + self.hidden + self.hedges + self.resends
    }
}

/// One call, as often as it was tried.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tried {
    pub(super) tries: u64,
    pub(super) hidden: u64,
    pub(super) retries: u64,
    pub(super) hedges: u64,
    pub(super) resends: u64,
}

impl Tried {
    /// Adds an attempt.
    pub(super) fn add(&mut self, row: &AttemptRow) {
        self.tries += tries(row);
        self.hidden += hidden(row);
        match row.kind {
            AttemptKind::Initial => {}
            AttemptKind::Retry => self.retries += 1,
            AttemptKind::Hedge => self.hedges += 1,
            AttemptKind::Resend => self.resends += 1,
        }
    }
}

/// As how many tries an attempt counts.
pub(super) fn tries(row: &AttemptRow) -> u64 {
    u64::from(matches!(row.kind, AttemptKind::Initial | AttemptKind::Retry)) + hidden(row)
}

fn hidden(row: &AttemptRow) -> u64 {
    let inside = row.tries_inside.and_then(|tries| u64::try_from(tries).ok());
    inside.unwrap_or(1).saturating_sub(1)
}

impl Told {
    /// Counts a retry by what its number was told by.
    pub(super) fn add(&mut self, key: Option<&str>) {
        match key {
            None => self.inferred += 1,
            Some(NAME_KEY) => self.named += 1,
            Some(_) => self.declared += 1,
        }
    }
}
