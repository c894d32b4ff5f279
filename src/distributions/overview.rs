//! What the manifest tells of all requests: services, calls, coverage. Counted by the numbers of
//! strings, so that it costs little; it grows with the services and who calls whom, and not with the
//! requests.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::Names;
use super::class::{AllowanceSource, Name, Weighing};
use super::merge::merged;
use crate::span::{GrantKind, Interner, Sym};
use crate::tables::{AttemptRow, DeadlineSource, HopRow, RequestRow, Tables, Verdict};

merged! {
    #[derive(Serialize, Deserialize)]
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
    #[derive(Serialize, Deserialize)]
    /// How much of what a report needs the traces held.
    pub struct Coverage {
        /// Requests whose deadline is declared, or in a contract.
        pub requests_with_deadline: u64,
        /// Those whose deadline was told by durations alone.
        pub requests_with_inferred_deadline: u64,
        /// Hops below the origin.
        pub hops: u64,
        /// Those of them that say how much time they were given, or a contract does.
        pub hops_with_grant: u64,
        /// Those whose timeout was told by durations alone.
        pub hops_with_inferred_timeout: u64,
        /// Calls with a client half.
        pub calls: u64,
        /// Those of them whose callee was traced.
        pub calls_with_callee: u64,
        /// Attempts.
        pub attempts: u64,
        /// Those of them that say what one needs, or a contract does.
        pub attempts_with_allowance: u64,
        /// Those of which it was measured what one needs.
        pub attempts_with_measured_allowance: u64,
    }
}

impl Overview {
    /// Takes in a partition of whole traces.
    pub fn add(&mut self, tables: &Tables) {
        self.requests += tables.requests.len() as u64;
        for row in &tables.requests {
            self.weights.add(row);
            self.coverage.add_request(row);
        }
        let mut services: FxHashSet<Sym> =
            tables.requests.iter().map(|row| row.root_service).collect();
        let mut pairs: FxHashMap<(Option<Sym>, Option<Sym>), u64> = FxHashMap::default();
        for row in &tables.hops {
            *pairs.entry((row.caller_service, row.callee_service)).or_default() += 1;
            self.coverage.add_hop(row);
        }
        for row in &tables.attempts {
            self.coverage.add_attempt(row, &tables.strings);
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
    fn add_request(&mut self, row: &RequestRow) {
        match row.deadline_source {
            DeadlineSource::Contract | DeadlineSource::Declared => self.requests_with_deadline += 1,
            DeadlineSource::Inferred => self.requests_with_inferred_deadline += 1,
            DeadlineSource::None => {}
        }
    }

    fn add_hop(&mut self, row: &HopRow) {
        let below_origin = row.verdict != Verdict::Origin;
        let is_call = row.client_span_id.is_some();
        let is_inferred = row.grant_kind == Some(GrantKind::Inferred);
        let is_granted = below_origin && row.granted_ns.is_some();
        self.hops += u64::from(below_origin);
        self.hops_with_grant += u64::from(is_granted && !is_inferred);
        self.hops_with_inferred_timeout += u64::from(is_granted && is_inferred);
        self.calls += u64::from(is_call);
        self.calls_with_callee += u64::from(is_call && row.server_span_id.is_some());
    }

    fn add_attempt(&mut self, row: &AttemptRow, strings: &Interner) {
        self.attempts += 1;
        match AllowanceSource::of(row, strings) {
            Some(AllowanceSource::Measured) => self.attempts_with_measured_allowance += 1,
            Some(_) => self.attempts_with_allowance += 1,
            None => {}
        }
    }
}
