//! Which attempts fit into what is left of a budget.

use crate::budget::available;
use crate::units::Nanos;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retries {
    /// The budget of the request.
    pub deadline: Nanos,
    /// What of it was spent before the first attempt.
    pub elapsed: Nanos,
    /// What is kept back for the answer.
    pub reserve: Nanos,
    /// What one attempt needs.
    pub attempt: Nanos,
    /// The waits before further attempts; the last of them holds for all that follow.
    pub backoff: Vec<Nanos>,
    /// How many attempts at most: a ceiling, not a permission.
    pub max_attempts: u32,
}

impl Retries {
    /// What attempts may spend: what is left less the reserve, not below zero.
    pub fn available(&self) -> Nanos {
        available(self.deadline - self.elapsed, self.reserve)
    }
}
