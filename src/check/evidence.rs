//! What judging rests on, gathered partition by partition: findings by what is wrong where, and the
//! values that limits are about.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::limits::Values;
use super::retries::Retries;
use crate::contract::Contract;
use crate::distributions::{Name, Names, Overview, Weighing, Weights};
use crate::ranking::Ranking;
use crate::span::{SpanId, TraceId};
use crate::tables::Tables;

/// A request: its trace and its root span.
pub(super) type Request = (TraceId, SpanId);

/// What the tables show.
#[derive(Debug)]
pub struct Evidence<'c> {
    /// The contracts that are judged, as they are tried.
    pub contracts: &'c [Contract],
    /// What does not go by class.
    pub overview: Overview,
    /// The findings.
    pub ranking: Ranking,
    /// What there is of each contract.
    pub(super) of: Vec<OfContract>,
}

/// The requests that matched one contract.
#[derive(Debug)]
pub(super) struct OfContract {
    /// How many.
    pub requests: u64,
    /// What they weigh.
    pub weights: Weighing,
    /// Their classes.
    pub classes: BTreeSet<Name>,
    /// What each limit is about.
    pub limits: Vec<Values>,
    /// What they tried again.
    pub retries: Retries,
}

impl<'c> Evidence<'c> {
    /// No evidence yet.
    pub fn new(contracts: &'c [Contract]) -> Self {
        let nothing = |contract: &Contract| OfContract {
            requests: 0,
            weights: Weighing::default(),
            classes: BTreeSet::new(),
            limits: contract.limits.iter().map(|limit| Values::new(&limit.promise)).collect(),
            retries: Retries::default(),
        };
        Self {
            contracts,
            overview: Overview::default(),
            ranking: Ranking::default(),
            of: contracts.iter().map(nothing).collect(),
        }
    }

    /// Now that all is known: percentiles of a contract's requests are weighted where the weight of
    /// each is known, unless somebody chose traces by how they ended, which those weights do not tell.
    pub fn settle_weights(&mut self, are_chosen: bool) {
        for of in self.of.iter_mut().filter(|of| are_chosen || !of.weights.is_whole()) {
            of.limits.iter_mut().for_each(Values::forget_weights);
        }
    }

    /// Takes in the findings of some tables, and nothing else.
    pub fn add_findings(&mut self, tables: &Tables) {
        self.ranking.add_findings(tables);
    }

    /// Takes in a partition of whole traces.
    pub fn add(&mut self, tables: &Tables) {
        self.overview.add(tables);
        self.ranking.add(tables);
        let mut names = Names::of(&tables.strings);
        let mut matched: FxHashMap<Request, usize> = FxHashMap::default();
        for row in &tables.requests {
            let Some(name) = row.contract.map(|contract| names.get(contract)) else { continue };
            let place = self.contracts.iter().position(|contract| *contract.name == *name);
            let Some((place, of)) = place.and_then(|at| Some((at, self.of.get_mut(at)?))) else {
                continue;
            };
            matched.insert((row.trace_id, row.root_span_id), place);
            of.requests += 1;
            of.weights.add(row);
            of.classes.insert(names.get(row.request_class));
        }
        let weights = Weights::of(tables);
        for (place, (contract, of)) in self.contracts.iter().zip(&mut self.of).enumerate() {
            let is_its = |request: Request| matched.get(&request) == Some(&place);
            for (limit, values) in contract.limits.iter().zip(&mut of.limits) {
                values.add(&limit.promise, tables, &weights, &is_its);
            }
            if let Some(policy) = &contract.retry {
                of.retries.add(policy, tables, &is_its);
            }
        }
    }
}
