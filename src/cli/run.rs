//! One run: read, survey, reconstruct partition by partition on all cores, in the order of the
//! traces.

use std::collections::BTreeSet;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::input::Inputs;
use super::output::{self, Fatal};
use super::progress::ProgressLine;
use crate::ingest::{Ingested, Settings, ingest};
use crate::reconstruct::{Policy, reconstruct};
use crate::span::Spans;
use crate::survey::{Facts, survey};
use crate::tables::Tables;

/// What is known besides the rows.
#[derive(Debug)]
pub(super) struct Run {
    /// What reading showed; its partitions are spent.
    pub ingested: Ingested,
    /// What all spans know together.
    pub facts: Facts,
}

/// Reads `inputs` and hands the tables of each partition to `take`, in the order of the traces.
/// Says on standard error which contracts matched no request: a pattern with a slip in it would
/// otherwise look like traces without deadlines.
pub(super) fn run(
    inputs: &Inputs,
    policy: &Policy,
    mut take: impl FnMut(Tables) -> Result<(), Fatal>,
) -> Result<Run, Fatal> {
    inputs.start_threads();
    let conventions = inputs.conventions()?;
    let progress = ProgressLine::new(inputs.quiet);
    let settings = Settings { conventions: &conventions, limits: inputs.limits() };
    let mut ingested = ingest(&inputs.paths, settings, &progress)?;
    let mut facts = Facts::default();
    let mut matched = BTreeSet::new();
    let mut partitions = std::mem::take(&mut ingested.partitions).into_iter();
    // A few partitions a core at a time: all cores are busy, and spans go as tables come.
    let at_once = 4 * rayon::current_num_threads();
    while partitions.len() > 0 {
        let some: Vec<Spans> = partitions.by_ref().take(at_once).collect();
        let done: Vec<(Facts, Tables)> = some
            .into_par_iter()
            .map(|spans| (survey(&spans), reconstruct(spans, policy)))
            .collect();
        for (surveyed, tables) in done {
            facts.merge(&surveyed);
            let names = tables.requests.iter().filter_map(|row| row.contract);
            matched.extend(names.map(|name| tables.strings.get(name).to_owned()));
            take(tables)?;
        }
    }
    drop(progress);
    for contract in policy.contracts.iter().filter(|contract| !matched.contains(&contract.name)) {
        let pattern = contract.matches.operation.as_ref();
        let pattern = pattern.map_or_else(String::new, |glob| format!(" ('{}')", glob.as_str()));
        let name = &contract.name;
        output::note(&format!("warning: {name}{pattern} matches the name of no root span"));
    }
    Ok(Run { ingested, facts })
}
