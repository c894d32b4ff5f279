//! Shares of what was measured.

use crate::distributions::effective;
use crate::stats::Proportion;

/// How many of how many, and what that says of all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Portion {
    /// How many of how many.
    pub proportion: Proportion,
    /// How many independent ones they are worth.
    pub effective: u64,
    /// The 95 % interval, as parts of one.
    pub interval: (f64, f64),
}

impl Portion {
    /// `part` of those of some traces; those of a trace stand together.
    pub(super) fn of(part: usize, traces: &[u32]) -> Self {
        let proportion = Proportion { part: part as u64, whole: traces.len() as u64 };
        let effective = effective(traces) as u64;
        Self { proportion, effective, interval: proportion.interval_of(effective) }
    }
}
