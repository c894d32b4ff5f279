//! How often calls were tried, and how that went.
//!
//! A hedge is no try of its own: together with the attempt that it began beside it makes one, from the
//! start of that to the first answer. Whoever lost was cut because the other answered, so that nothing
//! says how long it would have taken.

use crate::distributions::Values;
use crate::span::Outcome;
use crate::tables::{AttemptKind, AttemptRow};

/// The tries of the calls of one line.
#[derive(Clone, Debug, Default)]
pub struct Tries {
    /// How long those took that were answered.
    pub answered: Values,
    /// How many ended because their time was up, or were cut and tried again.
    pub timed_out: usize,
    /// How many were cut for another reason, whenever that came.
    pub cancelled: usize,
    /// How many failed otherwise.
    pub failed: usize,
    /// Attempts that lost against a hedge, or as one.
    pub lost: usize,
    /// The most tries of one call.
    pub most: u32,
}

impl Tries {
    /// Adds the attempts of one call, in the order in which they began.
    pub(super) fn add(&mut self, trace: u32, rows: &[&AttemptRow]) {
        let mut tries = 0;
        let mut all = rows.chunk_by(|_, next| next.kind == AttemptKind::Hedge).peekable();
        while let Some(one) = all.next() {
            // Whoever cuts a try and tries again did not want to wait for it any longer.
            let next = all.peek().and_then(|next| next.first());
            let is_retried = next.is_some_and(|next| next.kind == AttemptKind::Retry);
            self.add_try(trace, one, is_retried);
            let kind = one.first().map(|row| row.kind);
            tries += u32::from(kind != Some(AttemptKind::Resend));
        }
        self.most = self.most.max(tries);
    }

    fn add_try(&mut self, trace: u32, rows: &[&AttemptRow], is_retried: bool) {
        let ended = |outcome| rows.iter().filter(move |row| row.outcome == outcome);
        let answers = ended(Outcome::Ok).map(|row| row.elapsed_at_start_ns + row.duration_ns);
        let is_cut = ended(Outcome::Cancelled).next().is_some();
        let began = rows.first().map(|row| row.elapsed_at_start_ns);
        if let Some((answered, began)) = answers.min().zip(began) {
            self.answered.push(trace, answered - began);
            self.lost += rows.len() - ended(Outcome::Ok).count();
        } else if ended(Outcome::DeadlineExceeded).next().is_some() || is_cut && is_retried {
            self.timed_out += 1;
        } else if is_cut {
            self.cancelled += 1;
        } else {
            self.failed += 1;
        }
    }

    /// How many there were.
    pub fn len(&self) -> usize {
        self.answered.len() + self.timed_out + self.cancelled + self.failed
    }

    /// Whether there were none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
