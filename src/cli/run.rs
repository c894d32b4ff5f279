//! One run: read, survey, reconstruct partition by partition on all cores, in the order of the
//! traces.

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::input::Inputs;
use super::output::Fatal;
use super::progress::ProgressLine;
use crate::ingest::{Ingested, ingest};
use crate::reconstruct::{Policy, reconstruct};
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
pub(super) fn run(
    inputs: &Inputs,
    policy: &Policy,
    mut take: impl FnMut(Tables) -> Result<(), Fatal>,
) -> Result<Run, Fatal> {
    inputs.start_threads();
    let conventions = inputs.conventions()?;
    let progress = ProgressLine::new(inputs.quiet);
    let mut ingested = ingest(&inputs.paths, &conventions, &progress)?;
    let mut facts = Facts::default();
    let partitions = std::mem::take(&mut ingested.partitions);
    // A few partitions a core at a time: all cores are busy, and not all tables are in memory.
    for partitions in partitions.chunks(4 * rayon::current_num_threads()) {
        let done: Vec<(Facts, Tables)> = partitions
            .par_iter()
            .map(|spans| (survey(spans), reconstruct(spans, policy)))
            .collect();
        for (surveyed, tables) in done {
            facts.merge(&surveyed);
            take(tables)?;
        }
    }
    Ok(Run { ingested, facts })
}
