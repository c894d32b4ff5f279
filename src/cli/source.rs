//! Where tables come from: exported traces, or one folder that was analyzed before.

use std::path::Path;

use super::input::{Inputs, Rules};
use super::manifest::Manifest;
use super::memory::MemoryFlag;
use super::output::Fatal;
use super::run;
use crate::contract::Contract;
use crate::distributions::Overview;
use crate::report::{Problem, RunFacts};
use crate::span::Interner;
use crate::tables::folder::Folder;
use crate::tables::{ProblemRow, Tables};

/// What to read, and by which rules.
pub(super) struct Source<'a> {
    pub inputs: &'a Inputs,
    pub rules: &'a Rules,
    pub memory: &'a MemoryFlag,
    /// Contracts are judged too, so that they count where traces were analyzed before.
    pub is_judged: bool,
}

/// What is handed out.
#[derive(Clone, Copy)]
pub(super) enum Part<'t> {
    /// A partition of whole traces.
    Traces(&'t Tables),
    /// Findings that need several traces, and the hops that they are about, which were handed out
    /// before.
    Findings(&'t Tables),
}

impl Source<'_> {
    /// Hands the tables to `take`, partition by partition, and tells what is known besides.
    pub(super) fn read(&self, mut take: impl FnMut(Part<'_>)) -> Result<RunFacts, Fatal> {
        match self.inputs.folder() {
            Some(dir) => self.read_folder(dir, take),
            None => self.analyze(&mut take),
        }
    }

    fn read_folder(&self, dir: &Path, mut take: impl FnMut(Part<'_>)) -> Result<RunFacts, Fatal> {
        let dir_name = dir.display();
        if self.inputs.paths.len() > 1 {
            return Err(Fatal::Usage(format!(
                "{dir_name} is an analyze folder: give it alone, or the traces it was made of"
            )));
        }
        let given = self.rules.first_given(self.is_judged).or_else(|| self.inputs.first_given());
        if let Some(flag) = given.or_else(|| self.memory.first_given()) {
            return Err(Fatal::Usage(format!(
                "{flag} counts when traces are analyzed; {dir_name} was analyzed already: give it to \
                 dwindle analyze"
            )));
        }
        let (folder, manifest): (Folder, Manifest) = Folder::open(dir)?;
        let contracts = self.rules.policy()?.contracts;
        if self.is_judged && manifest.contracts != Contract::digest(&contracts) {
            return Err(Fatal::Usage(format!(
                "{dir_name} was analyzed by other contracts: what they say of deadlines, reserves and \
                 retries is in its tables; analyze the traces again by these, or judge them directly"
            )));
        }
        take(Part::Traces(&folder.tables()?));
        let (mut rows, mut strings): (Vec<ProblemRow>, _) = (Vec::new(), Interner::default());
        folder.read_all(&mut rows, &mut strings)?;
        let problems = rows.iter().map(|row| Problem::from_row(row, &strings)).collect();
        Ok(RunFacts { files_read: folder.files(), ..manifest.run_facts(problems) })
    }

    fn analyze(&self, take: &mut dyn FnMut(Part<'_>)) -> Result<RunFacts, Fatal> {
        let run = run::run(self.inputs, self.rules, self.memory, |group| {
            for tables in &group {
                take(Part::Traces(tables));
            }
            Ok(())
        })?;
        take(Part::Findings(&run.graveyard));
        let strings = &run.ingested.problem_strings;
        let problems = run.ingested.problems.iter().map(|row| Problem::from_row(row, strings));
        let problems = problems.collect();
        // Nothing of the topology is among the facts.
        Ok(Manifest::new(&self.inputs.paths, &run, &Overview::default()).run_facts(problems))
    }
}
