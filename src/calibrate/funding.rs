//! How often attempts succeed by what was left when they began.

use super::observed::CallObserved;
use crate::stats::Proportion;
use crate::units::Nanos;

/// What was left, and what came of it.
#[derive(Clone, Debug, Default)]
pub struct Funding {
    /// By what was left, a tenth of the attempts each; fewer where several had the same.
    pub deciles: Vec<Decile>,
    /// The least budget from which on attempts pay: with less than that almost none succeeded.
    pub break_even: Option<Nanos>,
}

/// The attempts that began with about as much left.
#[derive(Clone, Debug)]
pub struct Decile {
    /// The least that was left.
    pub from: Nanos,
    /// The most.
    pub to: Nanos,
    /// How many of how many succeeded.
    pub succeeded: Proportion,
}

/// What the attempts of a call say.
pub fn funding(of: &CallObserved) -> Funding {
    let _ = of;
    Funding::default()
}
