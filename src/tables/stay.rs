//! How a hop stood in its service's queue: what a finding over several traces is made of.

use super::{Certainty, Evidence};
use crate::span::Sym;
use crate::stats::Weight;
use crate::units::UnixNanos;

/// A server hop that waited, or began after its deadline. Instants are on the server's own clock.
#[derive(Clone, Copy, Debug)]
pub struct Stay {
    /// Its place among the hops of its [`super::Tables`].
    pub hop: usize,
    /// Whose queue it was.
    pub service: Sym,
    /// The clock.
    pub clock_domain: Sym,
    /// When it came.
    pub arrived: UnixNanos,
    /// When its execution began.
    pub begun: UnixNanos,
    /// Its caller's deadline.
    pub deadline: UnixNanos,
    /// The earliest that the deadline may be over all offsets that clocks may have.
    pub deadline_earliest: Option<UnixNanos>,
    /// How many requests of the population its own stands for.
    pub weight: Option<Weight>,
    /// What it did although it began at or after the deadline.
    pub expired: Option<ExpiredWork>,
}

/// Work that began at or after its deadline.
#[derive(Clone, Copy, Debug)]
pub struct ExpiredWork {
    /// When the last of it ended.
    pub until: UnixNanos,
    /// What the deadline rests on.
    pub evidence: Evidence,
    /// Whether it had surely passed.
    pub certainty: Certainty,
}
