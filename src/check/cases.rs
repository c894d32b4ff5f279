//! The cases of the failure-shaped matrix (`fixtures/matrix`): what each asks, which findings answer
//! it, and what traces must hold for silence to mean that all is well.

use crate::names::names;
use crate::ranking::Seen;
use crate::tables::FindingCode::{self, self as Code};

/// One of them.
#[derive(Debug)]
pub struct Case {
    /// Its number in the matrix; `None` of what every hop must do, whatever happens to it.
    pub number: Option<u8>,
    /// Its name.
    pub name: &'static str,
    /// Findings that say it goes wrong.
    pub codes: &'static [FindingCode],
    /// What there must be in the traces for it to show.
    pub needs: &'static [Need],
}

names! {
    /// Something that a case cannot be judged without.
    pub enum Need {
        /// A deadline of requests.
        Deadline = "deadline",
        /// What hops were granted.
        Grants = "grants",
        /// A return reserve.
        Reserve = "return_reserve",
        /// Time in queues.
        Queue = "queue",
        /// What one attempt needs.
        Allowance = "allowance",
        /// Calls that were tried again.
        Retries = "retries",
        /// Calls that were hedged.
        Hedges = "hedges",
        /// Callers that left.
        Cancellation = "cancellation",
        /// The callee's side of calls.
        Servers = "callee_spans",
    }
}

impl Need {
    /// Whether the traces of a class hold any; `has_reserve` says whether a contract sets one.
    pub fn is_met(self, seen: &Seen, has_reserve: bool) -> bool {
        match self {
            Self::Deadline => seen.with_deadline > 0,
            Self::Grants => seen.granted > 0,
            Self::Reserve => has_reserve,
            Self::Queue => seen.queued > 0,
            Self::Allowance => seen.with_allowance > 0,
            Self::Retries => seen.retries > 0,
            Self::Hedges => seen.hedges > 0,
            Self::Cancellation => seen.left > 0,
            Self::Servers => seen.served > 0,
        }
    }
}

/// All of them: the fourteen, and that hops pass on what is left.
pub const CASES: &[Case] = &[
    Case {
        number: None,
        name: "deadline passed on",
        codes: &[Code::TimeoutReset, Code::Overgrant, Code::ReserveInvaded],
        needs: &[Need::Deadline, Need::Grants],
    },
    Case {
        number: Some(1),
        name: "held in queue",
        codes: &[Code::AdmittedUnfundable],
        needs: &[Need::Deadline, Need::Queue],
    },
    Case {
        number: Some(2),
        name: "queue estimate exceeds useful time",
        codes: &[Code::AdmittedUnfundable],
        needs: &[Need::Deadline, Need::Queue],
    },
    Case {
        number: Some(3),
        name: "expired just before dequeue",
        codes: &[Code::StartedExpired],
        needs: &[Need::Deadline, Need::Queue],
    },
    Case {
        number: Some(4),
        name: "downstream slower than its allowance",
        codes: &[Code::ReserveConsumed],
        needs: &[Need::Deadline, Need::Reserve],
    },
    Case {
        number: Some(5),
        name: "retry after a late first failure",
        codes: &[Code::RetryUnfundable, Code::AttemptUnfundable],
        needs: &[Need::Deadline, Need::Allowance, Need::Retries],
    },
    Case {
        number: Some(6),
        name: "retry at two adjacent layers",
        codes: &[Code::RetryLayered],
        needs: &[Need::Retries],
    },
    Case {
        number: Some(7),
        name: "cancel while queued",
        codes: &[Code::RanAfterQueueCancel],
        needs: &[Need::Cancellation, Need::Queue],
    },
    Case {
        number: Some(8),
        name: "cancel during CPU work",
        codes: &[Code::CancelIgnored],
        needs: &[Need::Cancellation, Need::Servers],
    },
    Case {
        number: Some(9),
        name: "cancel one branch of a fan-out",
        codes: &[Code::CancelIgnored, Code::HedgeNotCancelled],
        needs: &[Need::Cancellation, Need::Servers],
    },
    Case {
        number: Some(10),
        name: "cancel with a possible side effect",
        codes: &[Code::BlindRetry, Code::SideEffectLate],
        needs: &[Need::Cancellation],
    },
    Case {
        number: Some(11),
        name: "hedge near the deadline",
        codes: &[Code::HedgeUnfundable, Code::HedgeNotCancelled],
        needs: &[Need::Deadline, Need::Allowance, Need::Hedges],
    },
    Case {
        number: Some(12),
        name: "wall clock shifted mid-request",
        codes: &[Code::Overgrant],
        needs: &[Need::Deadline, Need::Grants],
    },
    Case {
        number: Some(13),
        name: "cancellation dropped at one hop",
        codes: &[Code::CancelDropped],
        needs: &[Need::Cancellation],
    },
    Case {
        number: Some(14),
        name: "capacity restored after many expired",
        codes: &[Code::GraveyardFirst],
        needs: &[Need::Deadline, Need::Queue],
    },
];
