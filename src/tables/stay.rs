//! How a hop stood in its service's queue: what a finding over several traces is made of.

use super::schema::table;
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

table! {
    /// One row a stay, for those who look at the queues elsewhere.
    "stays" => StayRow {
        /// Whose queue it was.
        service: Sym;
        /// The clock.
        clock_domain: Sym;
        /// When it came.
        arrived_unix_ns: UnixNanos;
        /// When its execution began.
        begun_unix_ns: UnixNanos;
        /// Its caller's deadline.
        deadline_unix_ns: UnixNanos;
        /// The earliest that the deadline may be.
        deadline_earliest_unix_ns: Option<UnixNanos>, null = "clocks do not tell";
        /// How many requests of the population its own stands for.
        weight: Option<f64>, null = "nothing says so";
        /// When the last of its work ended.
        until_unix_ns: Option<UnixNanos>, null = "it did nothing beyond its deadline";
        /// What the deadline rests on.
        evidence: Option<Evidence>, null = "it did nothing beyond its deadline";
        /// Whether it had surely passed.
        certainty: Option<Certainty>, null = "it did nothing beyond its deadline";
    }
}

impl From<&Stay> for StayRow {
    fn from(stay: &Stay) -> Self {
        let expired = stay.expired;
        Self {
            service: stay.service,
            clock_domain: stay.clock_domain,
            arrived_unix_ns: stay.arrived,
            begun_unix_ns: stay.begun,
            deadline_unix_ns: stay.deadline,
            deadline_earliest_unix_ns: stay.deadline_earliest,
            weight: stay.weight.map(Weight::requests),
            until_unix_ns: expired.map(|work| work.until),
            evidence: expired.map(|work| work.evidence),
            certainty: expired.map(|work| work.certainty),
        }
    }
}

impl StayRow {
    /// The stay of the hop at a place among others.
    pub fn stay(&self, hop: usize) -> Stay {
        let expired = || {
            let (until, evidence) = (self.until_unix_ns?, self.evidence?);
            Some(ExpiredWork { until, evidence, certainty: self.certainty? })
        };
        Stay {
            hop,
            service: self.service,
            clock_domain: self.clock_domain,
            arrived: self.arrived_unix_ns,
            begun: self.begun_unix_ns,
            deadline: self.deadline_unix_ns,
            deadline_earliest: self.deadline_earliest_unix_ns,
            weight: self.weight.and_then(Weight::new),
            expired: expired(),
        }
    }
}
