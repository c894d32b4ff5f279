//! Which findings fail a check: not those that were there before, are suppressed for now, or hold for
//! some clock offsets only.

use std::collections::BTreeSet;

use crate::contract::Suppression;
use crate::date::Date;
use crate::finding_id::FindingId;
use crate::names::names;
use crate::ranking::{Group, Subject};

names! {
    /// What fails a check besides what is certainly wrong.
    pub enum FailOn {
        /// Findings that hold for some clock offsets only.
        Possible = "possible",
        /// Cases and limits of which the traces cannot tell.
        NoEvidence = "no-evidence",
    }
}

/// By what findings are judged.
#[derive(Clone, Debug)]
pub struct Rulings {
    /// What else fails.
    pub fail_on: Vec<FailOn>,
    /// Findings that were there before; only others fail.
    pub baseline: BTreeSet<FindingId>,
    /// Findings that do not fail for a while.
    pub suppressions: Vec<Suppression>,
    /// The day as of which suppressions count.
    pub as_of: Date,
}

names! {
    /// Where a finding stands.
    pub enum Standing {
        /// It fails.
        Fails = "fails",
        /// It holds for some clock offsets only.
        Possible = "possible",
        /// It was there before.
        Known = "known",
        /// It is suppressed for now.
        Suppressed = "suppressed",
    }
}

/// A finding, and where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'e> {
    /// Its id.
    pub id: FindingId,
    /// What is wrong, and where.
    pub subject: &'e Subject,
    /// How often, and at what cost.
    pub group: &'e Group,
    /// Where it stands.
    pub standing: Standing,
    /// What suppresses it.
    pub suppression: Option<&'e Suppression>,
}

names! {
    /// What became of a suppression.
    pub enum SuppressionState {
        /// Something that would fail does not.
        Used = "used",
        /// Its day is over: it suppresses nothing any more.
        Expired = "expired",
        /// Nothing has its id.
        Unused = "unused",
    }
}

/// A suppression, and what became of it.
#[derive(Clone, Copy, Debug)]
pub struct SuppressionUse<'e> {
    /// The suppression.
    pub suppression: &'e Suppression,
    /// What became of it.
    pub state: SuppressionState,
}

impl Rulings {
    /// What suppresses something as of the day.
    pub(super) fn suppression(&self, id: FindingId) -> Option<&Suppression> {
        self.suppressions.iter().find(|it| it.id == id && self.as_of <= it.until)
    }

    pub(super) fn fails_on(&self, what: FailOn) -> bool {
        self.fail_on.contains(&what)
    }

    pub(super) fn judged<'e>(&'e self, (subject, group): (&'e Subject, &'e Group)) -> Judged<'e> {
        let id = subject.id();
        let suppression = self.suppression(id);
        let standing = if suppression.is_some() {
            Standing::Suppressed
        } else if self.baseline.contains(&id) {
            Standing::Known
        } else if group.certain() == 0 && !self.fails_on(FailOn::Possible) {
            Standing::Possible
        } else {
            Standing::Fails
        };
        Judged { id, subject, group, standing, suppression }
    }

    /// What became of each suppression, where these are the ids of all that was found wrong.
    pub(super) fn uses<'r>(&'r self, found: &BTreeSet<FindingId>) -> Vec<SuppressionUse<'r>> {
        let used = |suppression: &'r Suppression| {
            let state = if self.as_of > suppression.until {
                SuppressionState::Expired
            } else if found.contains(&suppression.id) {
                SuppressionState::Used
            } else {
                SuppressionState::Unused
            };
            SuppressionUse { suppression, state }
        };
        self.suppressions.iter().map(used).collect()
    }
}
