//! Whether attempts are cut off after a constant time or when what was left is used up.

use super::atoms::Atom;
use super::observed::Cut;
use crate::names::names;
use crate::units::Nanos;

names! {
    /// What decides when attempts of a call are cut off.
    pub enum Rule {
        /// A constant of its own, whatever was left.
        Fixed = "fixed",
        /// What was left.
        Propagated = "propagated",
        /// The smaller of the two.
        MinOfBoth = "min of both",
        /// The attempts that were seen do not tell.
        NotEnoughEvidence = "not enough evidence",
    }
}

/// What attempts that were cut off say of the rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// The rule.
    pub rule: Rule,
    /// Of how many attempts.
    pub n: usize,
    /// The decimal logarithm of how many times as likely they are under that rule as under the next;
    /// `None` where too few were seen to ask.
    pub log_ratio: Option<f64>,
    /// The constant, where there is one.
    pub constant: Option<Nanos>,
}

/// Judges attempts that were cut off, whose durations pile up at `atoms`.
pub fn rule(cuts: &[&Cut], atoms: &[Atom]) -> Judged {
    let _ = atoms;
    Judged { rule: Rule::NotEnoughEvidence, n: cuts.len(), log_ratio: None, constant: None }
}
