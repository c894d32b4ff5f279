//! Where durations pile up: an excess of them in a narrow window over those around it.

use crate::units::Nanos;

/// A length of time after which something is cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atom {
    /// The length: jitter only delays, so that it lies where the pile begins.
    pub value: Nanos,
    /// With 95 % confidence it is no shorter.
    pub lo: Nanos,
    /// With 95 % confidence it is no longer.
    pub hi: Nanos,
    /// How many durations pile up there.
    pub count: usize,
    /// The round number that the interval holds, if it does.
    pub round: Option<Nanos>,
}

/// The atoms among `durations`, which are in order; the largest pile first.
pub fn atoms(durations: &[Nanos]) -> Vec<Atom> {
    let _ = durations;
    Vec::new()
}
