//! What the manifest tells of all requests: services, calls, coverage. Counted by the numbers of
//! strings, so that it costs little; it grows with the services and who calls whom, and not with the
//! requests.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use super::Names;
use super::class::{Name, Weighing};
use super::merge::merged;
use crate::span::Sym;
use crate::tables::{AttemptRow, HopRow, Tables, Verdict};

merged! {
    /// Who calls whom, and how much of the evidence was there.
    pub struct Overview {
        /// Requests.
        pub requests: u64,
        /// Of how many it is known what they stand for.
        pub weights: Weighing,
        /// Every service that was seen or named.
        pub services: BTreeSet<Name>,
        /// How often each service called another.
        pub edges: BTreeMap<(Name, Name), u64>,
        /// What of the evidence was there.
        pub coverage: Coverage,
    }
}

merged! {
    /// How much of what a report needs the traces held.
    pub struct Coverage {
        /// Hops below the origin.
        pub hops: u64,
        /// Those of them that were given time.
        pub hops_with_grant: u64,
        /// Calls with a client half.
        pub calls: u64,
        /// Those of them whose callee was traced.
        pub calls_with_callee: u64,
        /// Attempts.
        pub attempts: u64,
        /// Those of them that say what one needs.
        pub attempts_with_allowance: u64,
    }
}

impl Overview {
    /// Takes in a partition of whole traces.
    pub fn add(&mut self, tables: &Tables) {
        self.requests += tables.requests.len() as u64;
        tables.requests.iter().for_each(|row| self.weights.add(row));
        let mut services: FxHashSet<Sym> =
            tables.requests.iter().map(|row| row.root_service).collect();
        let mut pairs: FxHashMap<(Option<Sym>, Option<Sym>), u64> = FxHashMap::default();
        for row in &tables.hops {
            *pairs.entry((row.caller_service, row.callee_service)).or_default() += 1;
            self.coverage.add_hop(row);
        }
        for row in &tables.attempts {
            self.coverage.add_attempt(row);
        }

        let mut names = Names::of(&tables.strings);
        let ends = pairs.keys().flat_map(|&(caller, callee)| [caller, callee]);
        services.extend(ends.flatten());
        self.services.extend(services.into_iter().map(|service| names.get(service)));
        let edges = pairs.into_iter().filter_map(|((caller, callee), calls)| {
            Some(((names.get(caller?), names.get(callee?)), calls))
        });
        for (edge, calls) in edges {
            *self.edges.entry(edge).or_default() += calls;
        }
    }
}

impl Coverage {
    fn add_hop(&mut self, row: &HopRow) {
        let below_origin = row.verdict != Verdict::Origin;
        let is_call = row.client_span_id.is_some();
        self.hops += u64::from(below_origin);
        self.hops_with_grant += u64::from(below_origin && row.granted_ns.is_some());
        self.calls += u64::from(is_call);
        self.calls_with_callee += u64::from(is_call && row.server_span_id.is_some());
    }

    fn add_attempt(&mut self, row: &AttemptRow) {
        self.attempts += 1;
        self.attempts_with_allowance += u64::from(row.allowance_ns.is_some());
    }
}
