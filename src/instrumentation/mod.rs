//! What to record next: how much of the time of requests the traces explain, and what they lack that
//! would decide most of the rest (docs/inference.md).
//!
//! Fed partition by partition; what is kept grows with classes and services, and not with the requests.

mod advice;
mod gap;
mod request;
mod untraced;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

pub use advice::{Advice, Rule, advice, rules};
pub use gap::{Gap, GapSeen, Missing, Way};

use crate::distributions::{Name, Names, merged};
use crate::tables::{Races, Tables, by_request};
use request::Request;

merged! {
    /// What the traces explain, and what they lack.
    pub struct Instrumentation {
        /// By request class.
        pub classes: BTreeMap<Name, Explained>,
        /// The services that have spans of their own for what they are asked.
        pub traced: BTreeSet<Name>,
    }
}

merged! {
    /// How much of the time of the requests of one class the traces explain.
    pub struct Explained {
        /// Requests.
        pub requests: u64,
        /// What had passed at their ends.
        pub elapsed_ns: i128,
        /// Of that, on the way to services that were not traced, and there.
        pub downstream_ns: i128,
        /// Of that, at databases, caches and brokers, which write no spans.
        pub systems_ns: i128,
        /// On the way between spans of two services: the network, and queues that nothing tells of.
        pub network_ns: i128,
        /// Calls that timed out or were cut off of which no span tells what their callees did.
        pub dark: u64,
        /// How long these took.
        pub dark_ns: i128,
        /// Calls that timed out or were cut off whose callees went on.
        pub open: u64,
        /// For how long these did.
        pub open_ns: i128,
        /// Requests with spans whose parent is not there.
        pub orphaned: u64,
        /// Hops below the origin.
        pub hops: u64,
        /// Those of them that say how much time they were given.
        pub granted: u64,
        /// What is missing, and how much would be decided by it.
        pub gaps: BTreeMap<Gap, GapSeen>,
    }
}

impl Instrumentation {
    /// Takes in a partition of whole traces.
    pub fn add(&mut self, tables: &Tables) {
        let mut names = Names::of(&tables.strings);
        let mut hops = by_request(&tables.hops, |row| (row.trace_id, row.root_span_id));
        let mut attempts = by_request(&tables.attempts, |row| (row.trace_id, row.root_span_id));
        let mut segments = by_request(&tables.segments, |row| (row.trace_id, row.root_span_id));
        let races = Races::of(&tables.attempts);
        for row in &tables.requests {
            let key = (row.trace_id, row.root_span_id);
            let request = Request {
                row,
                hops: hops.remove(&key).unwrap_or_default(),
                attempts: attempts.remove(&key).unwrap_or_default(),
                segments: segments.remove(&key).unwrap_or_default(),
                races: &races,
                strings: &tables.strings,
            };
            let served = request.hops.iter().filter(|hop| hop.server_span_id.is_some());
            self.traced.extend(served.filter_map(|hop| Some(names.get(hop.callee_service?))));
            let class = self.classes.entry(names.get(row.request_class)).or_default();
            request.add_to(class, &mut names);
        }
    }
}

impl Explained {
    /// The time of which the traces show who spent it.
    pub fn explained_ns(&self) -> i128 {
        self.elapsed_ns - self.downstream_ns
    }

    /// What is missing, what would decide most first.
    pub fn ranked(&self) -> Vec<(&Gap, &GapSeen)> {
        let mut ranked: Vec<_> =
            self.gaps.iter().filter(|(_, seen)| seen.undecided_ns > 0).collect();
        ranked.sort_by_key(|(_, seen)| Reverse(seen.undecided_ns));
        ranked
    }
}
