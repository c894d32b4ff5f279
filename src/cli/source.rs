//! Where tables come from: exported traces, or folders that were analyzed before.

use super::folders::Folders;
use super::input::{Inputs, Rules, refuse_late};
use super::manifest::Manifest;
use super::memory::MemoryFlag;
use super::output::{self, Fatal};
use super::run;
use super::selection::Selection;
use crate::contract::Contract;
use crate::distributions::Overview;
use crate::report::{Problem, RunFacts};
use crate::selection::Chooser;
use crate::tables::Tables;

/// What to read, and by which rules.
pub(super) struct Source<'a> {
    pub inputs: &'a Inputs,
    pub rules: &'a Rules,
    pub memory: &'a MemoryFlag,
    pub selection: &'a Selection,
    /// Contracts are judged too, so that they count where traces were analyzed before.
    pub is_judged: bool,
}

/// What is handed out.
#[derive(Clone, Copy)]
pub(super) enum Part<'t> {
    /// A partition of whole traces, or a folder.
    Traces(&'t Tables),
    /// Findings that need several traces, and the hops that they are about, which were handed out
    /// before.
    Findings(&'t Tables),
}

impl Source<'_> {
    /// Hands the tables to `take`, partition by partition, with what is chosen of them, and tells
    /// what is known besides.
    pub(super) fn read(&self, mut take: impl FnMut(Part<'_>)) -> Result<RunFacts, Fatal> {
        let requests = self.selection.requests()?;
        let mut chooser = Chooser::new(&requests);
        let folders = self.inputs.only_folders()?;
        let facts = if folders.is_empty() {
            self.analyze(&mut chooser, &mut take)?
        } else {
            let folders = Folders::open(&folders)?;
            self.read_folders(&folders, &mut chooser, &mut take)?;
            folders.facts()?
        };
        let chosen = self.selection.told(chooser.chosen, chooser.left_out);
        if chosen.is_some() && chooser.chosen == 0 && chooser.left_out > 0 {
            output::note("warning: no request is of that class and of that time");
        }
        if let Some(service) =
            facts.scope.as_ref().filter(|_| chooser.chosen + chooser.left_out == 0)
        {
            output::note(&format!("warning: no call enters service {service} from another"));
        }
        Ok(RunFacts { chosen, ..facts })
    }

    fn read_folders(
        &self,
        folders: &Folders,
        chooser: &mut Chooser<'_>,
        take: &mut dyn FnMut(Part<'_>),
    ) -> Result<(), Fatal> {
        let name = folders.name();
        let given = self.rules.first_given(self.is_judged).or_else(|| self.inputs.first_given());
        let given = given.or_else(|| self.selection.subject.first_given());
        refuse_late(given.or_else(|| self.memory.first_given()), &name)?;
        if self.is_judged && folders.scope().is_some() {
            return Err(Fatal::Usage(format!(
                "{name} was analyzed by --scope: contracts are about whole requests"
            )));
        }
        let policy = self.rules.policy()?;
        let digest = Contract::digest(&policy.contracts, policy.calls.all());
        if self.is_judged && folders.contracts() != Some(digest.as_str()) {
            return Err(Fatal::Usage(format!(
                "{name} was analyzed by other contracts: what they say of deadlines, reserves and \
                 retries is in its tables; analyze the traces again by these, or judge them directly"
            )));
        }
        folders.read(|mut tables| {
            chooser.choose(&mut tables);
            take(Part::Traces(&tables));
            Ok(())
        })
    }

    fn analyze(
        &self,
        chooser: &mut Chooser<'_>,
        take: &mut dyn FnMut(Part<'_>),
    ) -> Result<RunFacts, Fatal> {
        let subject = &self.selection.subject;
        let mut run = run::run(self.inputs, self.rules, self.memory, subject, |mut group| {
            for tables in &mut group {
                chooser.choose(tables);
                take(Part::Traces(tables));
            }
            Ok(())
        })?;
        chooser.choose_findings(&mut run.graveyard);
        take(Part::Findings(&run.graveyard));
        let strings = &run.ingested.problem_strings;
        let problems = run.ingested.problems.iter().map(|row| Problem::from_row(row, strings));
        let problems = problems.collect();
        // Nothing of the topology is among the facts.
        let manifest = Manifest::new(&self.inputs.paths, &run, &Overview::default());
        Ok(RunFacts { calibrated: run.calibrated, ..manifest.run_facts(problems) })
    }
}
