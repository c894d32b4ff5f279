//! The cases of the failure-shaped matrix (`fixtures/matrix`): what each asks, which findings answer
//! it, and what traces must hold for silence to mean that all is well.

use crate::names::names;
use crate::ranking::{Group, Seen, Subject};
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
    /// Whether they do so only where an instant was granted, which moves with a clock.
    pub is_of_instants: bool,
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

impl Case {
    /// Whether findings of a group say that it goes wrong.
    pub fn is_of(&self, subject: &Subject, group: &Group) -> bool {
        self.codes.contains(&subject.code) && (!self.is_of_instants || group.instants > 0)
    }
}

impl Need {
    /// Whether the traces of a class hold any.
    pub fn is_met(self, seen: &Seen) -> bool {
        match self {
            Self::Deadline => seen.with_deadline > 0,
            Self::Grants => seen.granted > 0,
            Self::Queue => seen.queued > 0,
            Self::Allowance => seen.with_allowance > 0,
            Self::Retries => seen.retries > 0,
            Self::Hedges => seen.hedges > 0,
            Self::Cancellation => seen.left > 0,
            Self::Servers => seen.served > 0,
        }
    }
}

/// A case whose findings count whatever was granted.
const fn case(
    number: Option<u8>,
    name: &'static str,
    codes: &'static [FindingCode],
    needs: &'static [Need],
) -> Case {
    Case { number, name, codes, is_of_instants: false, needs }
}

/// All of them: the fourteen, and before them that hops pass on what is left.
pub const CASES: &[Case] = &[
    case(
        None,
        "deadline passed on",
        &[Code::TimeoutReset, Code::Overgrant, Code::ReserveInvaded],
        &[Need::Deadline, Need::Grants],
    ),
    case(Some(1), "held in queue", &[Code::AdmittedUnfundable], &[Need::Deadline, Need::Queue]),
    case(
        Some(2),
        "queue estimate exceeds useful time",
        &[Code::AdmittedUnfundable],
        &[Need::Deadline, Need::Queue],
    ),
    case(
        Some(3),
        "expired just before dequeue",
        &[Code::StartedExpired],
        &[Need::Deadline, Need::Queue],
    ),
    case(
        Some(4),
        "downstream slower than its allowance",
        &[Code::ReserveConsumed, Code::AttemptUnfundable],
        &[Need::Deadline, Need::Allowance],
    ),
    case(
        Some(5),
        "retry after a late first failure",
        &[Code::RetryUnfundable],
        &[Need::Deadline, Need::Allowance, Need::Retries],
    ),
    case(Some(6), "retry at two adjacent layers", &[Code::RetryLayered], &[Need::Retries]),
    case(
        Some(7),
        "cancel while queued",
        &[Code::RanAfterQueueCancel],
        &[Need::Cancellation, Need::Queue],
    ),
    case(
        Some(8),
        "cancel during CPU work",
        &[Code::CancelIgnored],
        &[Need::Cancellation, Need::Servers],
    ),
    case(
        Some(9),
        "cancel one branch of a fan-out",
        &[Code::CancelIgnored, Code::HedgeNotCancelled],
        &[Need::Cancellation, Need::Servers],
    ),
    case(
        Some(10),
        "cancel with a possible side effect",
        &[Code::BlindRetry, Code::SideEffectLate],
        &[Need::Cancellation],
    ),
    case(
        Some(11),
        "hedge near the deadline",
        &[Code::HedgeUnfundable, Code::HedgeNotCancelled],
        &[Need::Deadline, Need::Allowance, Need::Hedges],
    ),
    Case {
        number: Some(12),
        name: "wall clock shifted mid-request",
        codes: &[Code::TimeoutReset, Code::Overgrant],
        is_of_instants: true,
        needs: &[Need::Deadline, Need::Grants],
    },
    case(
        Some(13),
        "cancellation dropped at one hop",
        &[Code::CancelDropped],
        &[Need::Cancellation],
    ),
    case(
        Some(14),
        "capacity restored after many expired",
        &[Code::GraveyardFirst],
        &[Need::Deadline, Need::Queue],
    ),
];
