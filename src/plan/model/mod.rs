//! The chain model: what a policy does on a logical clock, where durations are known and nothing else
//! happens. It has no queues and no capacities: nothing takes longer because more is asked.

mod draws;
mod execution;
mod file;
mod rows;
mod scenario;
mod simulation;
mod topology;

pub use file::BUILT_IN;
pub use rows::Row;
pub use scenario::{Configuration, Contradiction, Durations, Place, Regime, Scenario, Service};

use rows::Counting;
use simulation::Simulation;
use topology::Topology;

/// Runs each configuration in each regime: a row for each, by regime.
///
/// # Errors
/// A value that cannot be meant.
pub fn run(scenario: &Scenario) -> Result<Vec<Row>, Contradiction> {
    scenario.contradiction()?;
    let topology = Topology::of(scenario)?;
    let mut rows = Vec::new();
    for regime in &scenario.regimes {
        for configuration in &scenario.configurations {
            let mut simulation = Simulation::new(scenario, &topology, regime, configuration);
            let mut counting = Counting::default();
            for _ in 0..scenario.requests {
                counting.add(&simulation.request(), scenario.threshold);
            }
            rows.push(counting.row(scenario, &topology, regime, configuration));
        }
    }
    Ok(rows)
}
