//! What is kept of each request class: exact values, by measure and by place.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::merge::merged;
use super::sample::Sample;
use super::waste::WastedWork;
use crate::names::names;
use crate::span::{GrantKind, Interner};
use crate::stats::Weight;
use crate::tables::{
    AttemptKind, AttemptRow, BlindSpot, Category, DeadlineSource, Evidence, FindingCode, Funding,
    RequestRow, TerminalOutcome, Verdict,
};

/// A name of the input, shared by all that carry it.
pub type Name = Arc<str>;

names! {
    /// A measure of a request: a column of `requests`, or derived from several.
    pub enum Measure {
        /// From the origin to the root's end: what the deadline is compared with.
        Elapsed = "elapsed_ns",
        /// Queue time on the consumption path.
        Queue = "queue_ns",
        /// The admitting service's own time on the path.
        LocalExecution = "local_execution_ns",
        /// From the last child's end to the admitting span's.
        ReturnReserveUsed = "return_reserve_used_ns",
        /// The whole budget.
        BudgetAtOrigin = "budget_at_origin_ns",
        /// What was left when the admitting span started.
        BudgetAtAdmission = "budget_at_admission_ns",
        /// What was left when it began to execute.
        BudgetAtStart = "budget_at_start_ns",
        /// Work after the deadline.
        LateWork = "late_work_ns",
        /// Calls open after the deadline.
        LateWait = "late_wait_ns",
        /// From the deadline to the last end.
        LateWall = "late_wall_ns",
        /// Work after an ancestor had left.
        ResidualWork = "residual_work_after_cancel_ns",
        /// Calls open after an ancestor had left.
        ResidualWait = "residual_wait_ns",
    }
}

names! {
    /// What says what one attempt needs.
    pub enum AllowanceSource {
        /// An attribute of its span.
        Declared = "declared",
        /// A contract.
        Contract = "contract",
        /// Attempts of its kind that succeeded.
        Measured = "measured",
    }
}

impl AllowanceSource {
    /// What says what this attempt needs; `None` where nothing does.
    pub fn of(row: &AttemptRow, strings: &Interner) -> Option<Self> {
        row.allowance_ns?;
        let key = row.allowance_key.map(|key| strings.get(key));
        Some(key.and_then(Self::from_name).unwrap_or(Self::Declared))
    }
}

/// Who calls whom, what for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Call {
    /// Who calls.
    pub caller: Option<Name>,
    /// Who is called.
    pub callee: Option<Name>,
    /// What for.
    pub operation: Name,
}

/// Where in the call tree a hop is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// How many hops stand above.
    pub depth: i32,
    /// The call.
    pub call: Call,
}

/// Of fewer requests nobody tells a rule.
const FEW: u64 = 5;

merged! {
    #[derive(Serialize, Deserialize)]
    /// Of how many requests it is known what they weigh, and of which.
    pub struct Weighing {
        /// Those that stand for some of the population, as many as is known.
        pub known: u64,
        /// Those of which it is not known.
        pub unknown: u64,
        /// Those that were kept for other reasons, and stand for none.
        pub none: u64,
        /// Those that did not complete.
        pub failed: u64,
        /// Of these, those that stand for some of the population, as far as is known.
        pub failed_known: u64,
        /// What all that is known comes to, in millionths of requests.
        pub population: i128,
    }
}

impl Weighing {
    /// Counts one.
    pub fn add(&mut self, request: &RequestRow) {
        let is_failed = request.terminal_outcome != TerminalOutcome::Completed;
        self.failed += u64::from(is_failed);
        match request.weight.and_then(Weight::new) {
            None => self.unknown += 1,
            Some(weight) if weight.is_zero() => self.none += 1,
            Some(weight) => {
                self.known += 1;
                self.failed_known += u64::from(is_failed);
                self.population += i128::from(weight.millionths());
            }
        }
    }

    /// All requests.
    pub fn requests(&self) -> u64 {
        self.known + self.unknown + self.none
    }

    /// Whether percentiles are weighted: the weight of each is known.
    pub fn is_whole(&self) -> bool {
        self.known > 0 && self.unknown == 0
    }

    /// Whether requests were kept by how they ended: of those that failed none says what it stands for,
    /// while of those that completed most do.
    pub fn is_by_outcome(&self) -> bool {
        let completed = self.requests() - self.failed;
        FEW <= self.failed
            && self.failed_known == 0
            && FEW <= completed
            && completed < 2 * self.known
    }
}

merged! {
    /// One request class.
    pub struct ClassSummary {
        /// Its requests.
        pub requests: u64,
        /// What they weigh, those that stand for none included.
        pub weights: Weighing,
        /// Where their deadlines come from.
        pub deadline_sources: BTreeMap<DeadlineSource, u64>,
        /// How they ended.
        pub outcomes: BTreeMap<TerminalOutcome, u64>,
        /// How many completed by their deadline.
        pub completed_in_time: u64,
        /// Attempts that are retries.
        pub retries: u64,
        /// Attempts that are hedges.
        pub hedges: u64,
        /// Attempts that began with less than they need.
        pub unfundable: u64,
        /// Requests in which two layers retried.
        pub layered: u64,
        /// What their traces cannot tell.
        pub blind_spots: BTreeMap<BlindSpot, u64>,
        /// The measures.
        pub measures: BTreeMap<Measure, Sample>,
        /// Time on the consumption path, per request that spent any.
        pub spent: BTreeMap<(Name, Category), Sample>,
        /// The hops.
        pub hops: BTreeMap<Place, HopSummary>,
        /// The attempts, by call and ordinal.
        pub attempts: BTreeMap<(Call, i32), AttemptSummary>,
        /// Work that helped nobody, by the service that did it; `None` where it has no name.
        pub wasted: BTreeMap<Option<Name>, WastedWork>,
        /// What is wrong, and where; `None` is the request, or a span that is no hop.
        pub findings: BTreeMap<(FindingCode, Option<Place>), FindingSummary>,
    }
}

merged! {
    /// The hops of one place.
    pub struct HopSummary {
        /// How many.
        pub hops: u64,
        /// How many were given time, by what kind of number says so.
        pub grant_kinds: BTreeMap<GrantKind, u64>,
        /// From the origin to sending, else to receipt.
        pub elapsed_at_entry: Sample,
        /// What the caller had left then.
        pub remaining_at_entry: Sample,
        /// Of how many of them what was left may rest on an inferred deadline or timeout.
        pub left_by_inferred: u64,
        /// What the caller had left when execution began.
        pub remaining_at_start: Sample,
        /// Time in queues.
        pub queue: Sample,
        /// What they were given compared with what was left.
        pub verdicts: BTreeMap<Verdict, u64>,
    }
}

merged! {
    /// The attempts of one call and ordinal.
    pub struct AttemptSummary {
        /// How many.
        pub attempts: u64,
        /// How many did not end well.
        pub failed: u64,
        /// What they are within their calls.
        pub kinds: BTreeMap<AttemptKind, u64>,
        /// Whether enough was left.
        pub funding: BTreeMap<Funding, u64>,
        /// What says what one needs, where anything does.
        pub allowance_sources: BTreeMap<AllowanceSource, u64>,
        /// How many had too little left for what others were measured to need.
        pub unfundable_by_measure: u64,
        /// What was left when they began.
        pub remaining_at_start: Sample,
        /// What one needs, as far as it is known.
        pub allowance: Sample,
        /// Since the previous attempt.
        pub backoff: Sample,
        /// How long they took.
        pub duration: Sample,
    }
}

merged! {
    /// The findings of one code and place.
    pub struct FindingSummary {
        /// How many.
        pub findings: u64,
        /// What they rest on.
        pub evidence: BTreeMap<Evidence, u64>,
        /// By how much.
        pub excess: Sample,
        /// Late and residual work that they explain.
        pub wasted_ns: i128,
        /// How many of them can tell.
        pub wasted_known: u64,
    }
}

impl HopSummary {
    /// How many were given time, as far as attributes, contracts or durations say so.
    pub fn granted(&self) -> u64 {
        self.grant_kinds.values().sum()
    }

    /// How many of them have a timeout that was told by durations alone.
    pub fn inferred(&self) -> u64 {
        self.grant_kinds.get(&GrantKind::Inferred).copied().unwrap_or(0)
    }
}

impl AttemptSummary {
    /// Of how many it was measured what one needs.
    pub fn measured(&self) -> u64 {
        self.allowance_sources.get(&AllowanceSource::Measured).copied().unwrap_or(0)
    }
}

impl ClassSummary {
    /// How many requests have a deadline.
    pub fn with_deadline(&self) -> u64 {
        self.requests - self.deadline_sources.get(&DeadlineSource::None).copied().unwrap_or(0)
    }

    /// How many requests have a deadline that was told by durations alone.
    pub fn with_inferred_deadline(&self) -> u64 {
        self.deadline_sources.get(&DeadlineSource::Inferred).copied().unwrap_or(0)
    }

    /// Of how many hops of which it is known what was left that may rest on a deadline or timeout that
    /// durations alone tell, and of how many it is known.
    pub fn left_by_inferred(&self) -> (u64, u64) {
        let add = |(part, whole): (u64, u64), hop: &HopSummary| {
            (part + hop.left_by_inferred, whole + hop.remaining_at_entry.len() as u64)
        };
        self.hops.values().fold((0, 0), add)
    }

    /// All samples.
    fn samples(&mut self) -> impl Iterator<Item = &mut Sample> {
        let hops = self.hops.values_mut().flat_map(|hop| {
            [
                &mut hop.elapsed_at_entry,
                &mut hop.remaining_at_entry,
                &mut hop.remaining_at_start,
                &mut hop.queue,
            ]
        });
        let attempts = self.attempts.values_mut().flat_map(|attempt| {
            [&mut attempt.remaining_at_start, &mut attempt.backoff, &mut attempt.duration]
        });
        let findings = self.findings.values_mut().map(|finding| &mut finding.excess);
        let own = self.measures.values_mut().chain(self.spent.values_mut());
        own.chain(hops).chain(attempts).chain(findings)
    }

    /// Forgets what requests weigh, where not all say so, or what they say is of no use.
    pub(super) fn settle_weights(&mut self, are_of_use: bool) {
        if !are_of_use || !self.weights.is_whole() {
            self.samples().for_each(Sample::forget_weights);
        }
    }

    /// The values of a measure; none of them where nothing was known.
    pub fn measure(&self, measure: Measure) -> &Sample {
        static NONE: Sample = Sample::NONE;
        self.measures.get(&measure).unwrap_or(&NONE)
    }
}
