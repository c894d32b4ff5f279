//! Why a replay is no more than bounds.

use crate::names::names;

names! {
    /// Why a request that was run again is known within bounds only.
    pub enum Reason {
        /// Something was cut short when it was measured and goes on now: nobody saw for how long.
        Censored = "censored",
        /// The policy allows attempts that nobody made.
        UnseenAttempts = "unseen_attempts",
        /// A call ends otherwise than it did: nobody saw what its caller would have done.
        UnseenReaction = "unseen_reaction",
        /// A limit that nobody stated may be met, or one that was met may be a length or an instant.
        UnknownLimit = "unknown_limit",
        /// Of several things that had ended, it is unknown which the next step waited for.
        Order = "order",
        /// A caller leaves that had not, and whether its callee stops is unknown.
        UnknownStop = "unknown_stop",
        /// The answer of a callee that outlasted its caller had no time to get back.
        WayBack = "way_back",
    }
}

/// Some of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reasons(u8);

impl Reasons {
    /// Adds one.
    pub(super) fn add(&mut self, reason: Reason) {
        self.0 |= 1 << reason as u8;
    }

    /// Adds one if so.
    pub(super) fn add_if(&mut self, is_so: bool, reason: Reason) {
        if is_so {
            self.add(reason);
        }
    }

    /// Those that there are.
    pub fn iter(self) -> impl Iterator<Item = Reason> {
        Reason::ALL.iter().copied().filter(move |&reason| self.0 & 1 << reason as u8 != 0)
    }
}
