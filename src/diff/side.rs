//! One side of a comparison: what is kept of its requests, trace by trace.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::distributions::{Call, Measure, Name, Names, Place, Values, flagged, request_measures};
use crate::names::names;
use crate::span::{SpanId, TraceId};
use crate::tables::{
    BadSide, DeadlineSource, FindingCode, HopRow, RequestRow, Tables, TerminalOutcome,
};
use crate::units::Nanos;

names! {
    /// What a request did or did not do.
    pub enum Rate {
        /// It completed by its deadline; of those that have one.
        InTime = "completed_in_time",
        /// It completed; where no deadline is known.
        Completed = "completed",
        /// It failed.
        Failed = "failed",
        /// It was refused.
        Rejected = "rejected",
        /// It was cancelled.
        Cancelled = "cancelled",
        /// Its deadline or a timeout passed.
        DeadlineExceeded = "deadline_exceeded",
        /// Its root left while a side effect was in doubt.
        Indeterminate = "indeterminate",
        /// A call of it was tried again.
        Retried = "retried",
        /// An attempt of it began with less left than one needs.
        Unfunded = "with_unfunded_attempts",
        /// It worked after its deadline; of those that have one.
        LateWork = "with_late_work",
        /// It worked for callers who had left.
        ResidualWork = "with_residual_work",
    }
}

impl Rate {
    /// On which side it hurts.
    pub const fn bad_side(self) -> BadSide {
        match self {
            Self::InTime | Self::Completed => BadSide::Low,
            _ => BadSide::High,
        }
    }

    /// Whether it is told of requests that have a deadline only.
    pub(super) const fn needs_deadline(self) -> bool {
        matches!(self, Self::InTime | Self::LateWork)
    }

    fn holds(self, row: &RequestRow) -> bool {
        let ended = |outcome| row.terminal_outcome == outcome;
        match self {
            Self::InTime => row.completed_before_deadline == Some(true),
            Self::Completed => ended(TerminalOutcome::Completed),
            Self::Failed => ended(TerminalOutcome::Failed),
            Self::Rejected => ended(TerminalOutcome::Rejected),
            Self::Cancelled => ended(TerminalOutcome::Cancelled),
            Self::DeadlineExceeded => ended(TerminalOutcome::DeadlineExceeded),
            Self::Indeterminate => ended(TerminalOutcome::Indeterminate),
            Self::Retried => row.retry_count > 0,
            Self::Unfunded => row.unfundable_attempts > 0,
            Self::LateWork => row.late_work_ns.is_some_and(|late| late > Nanos::ZERO),
            Self::ResidualWork => row.residual_work_after_cancel_ns > Nanos::ZERO,
        }
    }
}

/// What is wrong, and at which call; `None` is the request, or a span that is no hop.
pub(super) type Flag = (FindingCode, Option<Call>);

/// All that one side holds.
#[derive(Debug, Default)]
pub struct Side {
    /// Traces by number: those of findings that need several traces come once more at the end.
    numbers: FxHashMap<TraceId, u32>,
    pub(super) classes: BTreeMap<Name, ClassSide>,
}

/// The requests of one class. A request is told by the number of its trace.
#[derive(Debug, Default)]
pub(super) struct ClassSide {
    /// All of them.
    pub(super) requests: Vec<u32>,
    /// Those that have a deadline.
    pub(super) bounded: Vec<u32>,
    /// Those that did something.
    pub(super) rates: BTreeMap<Rate, Vec<u32>>,
    /// Their measures.
    pub(super) measures: BTreeMap<Measure, Values>,
    /// Their hops below the origin.
    pub(super) hops: BTreeMap<Place, HopSide>,
    /// What is wrong with them.
    pub(super) findings: BTreeMap<Flag, Found>,
}

/// The hops of one place, when they were sent, else received.
#[derive(Debug, Default)]
pub(super) struct HopSide {
    /// What their callers had left.
    pub(super) remaining: Values,
    /// What had passed since the origin.
    pub(super) elapsed: Values,
}

/// What a finding was found in.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The requests, by trace and root.
    pub(super) requests: BTreeSet<(u32, SpanId)>,
    /// The work that it explains; `None` where it is not about hops.
    pub(super) wasted_ns: Option<i128>,
}

impl Side {
    /// Takes in a partition of whole traces.
    pub fn add(&mut self, tables: &Tables) {
        let mut names = Names::of(&tables.strings);
        for row in &tables.requests {
            let trace = self.number(row.trace_id);
            self.class(names.get(row.request_class)).add_request(trace, row);
        }
        for row in tables.hops.iter().filter(|row| row.depth > 0) {
            let trace = self.number(row.trace_id);
            let place = names.place(row);
            self.class(names.get(row.request_class)).add_hop(trace, place, row);
        }
        self.add_findings(tables);
    }

    /// Takes in the findings of some tables, and nothing else.
    pub fn add_findings(&mut self, tables: &Tables) {
        let mut names = Names::of(&tables.strings);
        for (row, hop) in flagged(tables) {
            let trace = self.number(row.trace_id);
            let call = hop.map(|hop| names.call_of(hop));
            let class = self.class(names.get(row.request_class));
            let found = class.findings.entry((row.code, call)).or_default();
            found.requests.insert((trace, row.root_span_id));
            if let Some(wasted) = row.wasted_ns {
                *found.wasted_ns.get_or_insert_default() += i128::from(wasted.as_nanos());
            }
        }
    }

    /// Traces are numbered as they come; which number one has changes no result.
    fn number(&mut self, trace: TraceId) -> u32 {
        let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        *self.numbers.entry(trace).or_insert(next)
    }

    fn class(&mut self, name: Name) -> &mut ClassSide {
        self.classes.entry(name).or_default()
    }
}

impl ClassSide {
    fn add_request(&mut self, trace: u32, row: &RequestRow) {
        self.requests.push(trace);
        let is_bounded = row.deadline_source != DeadlineSource::None;
        if is_bounded {
            self.bounded.push(trace);
        }
        let did = Rate::ALL.iter().filter(|rate| is_bounded || !rate.needs_deadline());
        for &rate in did.filter(|rate| rate.holds(row)) {
            self.rates.entry(rate).or_default().push(trace);
        }
        for (measure, value) in request_measures(row) {
            if let Some(value) = value {
                self.measures.entry(measure).or_default().push(trace, value);
            }
        }
    }

    fn add_hop(&mut self, trace: u32, place: Place, row: &HopRow) {
        let hop = self.hops.entry(place).or_default();
        if let Some(left) = row.remaining_at_send_ns.or(row.remaining_at_receive_ns) {
            hop.remaining.push(trace, left);
        }
        if let Some(passed) = row.elapsed_at_send_ns.or(row.elapsed_at_receive_ns) {
            hop.elapsed.push(trace, passed);
        }
    }
}
