//! The chain model: what a policy does on a logical clock, where durations are known and nothing else
//! happens. It has no queues and no capacities: nothing takes longer because more is asked.

mod calls;
mod contract;
mod draws;
mod execution;
mod file;
mod rows;
mod scenario;
mod simulation;
mod topology;
mod traces;
mod truth;

use serde_json::Value as Json;

use crate::extract::ExtractError;
use execution::Served;
pub use file::BUILT_IN;
use rows::Counting;
pub use rows::Row;
pub use scenario::{Configuration, Contradiction, Durations, Place, Regime, Scenario, Service};
use simulation::Simulation;
use topology::Topology;
pub use truth::{AttemptTruth, HopTruth, RequestTruth, Truth};

/// Runs each configuration in each regime: a row for each, by regime.
///
/// # Errors
/// A value that cannot be meant.
pub fn run(scenario: &Scenario) -> Result<Vec<Row>, Contradiction> {
    Ok(Model::of(scenario)?.runs().iter().map(Run::row).collect())
}

/// A scenario that can be run.
#[derive(Debug)]
pub struct Model<'s> {
    scenario: &'s Scenario,
    topology: Topology,
}

/// One configuration in one regime.
#[derive(Debug)]
pub struct Run<'m> {
    model: &'m Model<'m>,
    /// Which one, from 1.
    number: u32,
    regime: &'m Regime,
    configuration: &'m Configuration,
}

/// One request of a run.
#[derive(Debug)]
pub struct Request<'m> {
    run: &'m Run<'m>,
    /// Which one, from 1.
    number: u32,
    served: Served,
}

impl<'s> Model<'s> {
    /// The model of a scenario.
    ///
    /// # Errors
    /// A value that cannot be meant.
    pub fn of(scenario: &'s Scenario) -> Result<Self, Contradiction> {
        scenario.contradiction()?;
        Ok(Self { scenario, topology: Topology::of(scenario)? })
    }

    /// Each configuration in each regime.
    pub fn runs(&self) -> Vec<Run<'_>> {
        let Scenario { regimes, configurations, .. } = self.scenario;
        let pairs = regimes.iter().flat_map(|regime| {
            configurations.iter().map(move |configuration| (regime, configuration))
        });
        let numbered = (1..).zip(pairs);
        let run =
            |(number, (regime, configuration))| Run { model: self, number, regime, configuration };
        numbered.map(run).collect()
    }
}

impl Run<'_> {
    /// What comes of it.
    pub fn row(&self) -> Row {
        let mut counting = Counting::default();
        for request in self.requests() {
            counting.add(&request.served, self.model.scenario.threshold);
        }
        counting.row(self)
    }

    /// Its requests, one after another.
    pub fn requests(&self) -> impl Iterator<Item = Request<'_>> {
        let Model { scenario, topology } = self.model;
        let mut simulation = Simulation::new(scenario, topology, self.regime, self.configuration);
        (1..=scenario.requests).map(move |number| Request {
            run: self,
            number,
            served: simulation.request(),
        })
    }

    /// What the root spans of its requests are called, and the contract about them.
    pub fn name(&self) -> String {
        format!("{}: {}", self.regime.name, self.configuration.name)
    }

    /// A name for a file about it, without an ending.
    pub fn file_name(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' };
        let plain: String = self.name().chars().map(plain).collect();
        let words: Vec<&str> = plain.split_whitespace().collect();
        format!("{:02}-{}", self.number, words.join("-"))
    }

    /// What its requests were promised, as a table of a contract file.
    pub fn contract(&self) -> String {
        contract::of(self)
    }
}

impl Request<'_> {
    /// Its trace, as an OTLP JSON document.
    ///
    /// # Errors
    /// None: no trace of the model starts in 1970.
    pub fn document(&self) -> Result<Json, ExtractError> {
        traces::document(self)
    }

    /// What the model itself knows of it, by the names of the tables that `analyze` writes.
    pub fn truth(&self) -> Truth {
        truth::of(self)
    }
}
