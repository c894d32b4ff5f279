//! `--from`: what is planned is taken from what was measured.

use std::collections::BTreeSet;

use clap::{Arg, ArgAction};

use super::super::input::{Contracts, Inputs, Rules, Strictness};
use super::super::memory::MemoryFlag;
use super::super::output::{self, Fatal};
use super::super::selection::Selection;
use super::super::source::{Part, Source};
use super::super::{exit, origin};
use crate::plan::measured::Measured;
use crate::report::{Format, Origin, RunFacts};

/// Above the flags that say what to read.
const HEADING: &str = "What was measured";

/// What to read.
#[derive(Debug, clap::Args)]
#[command(
    next_help_heading = HEADING,
    mut_arg("paths", |paths| paths.long("from").required(false).num_args(1..).action(ArgAction::Append).help(
        "Take what no flag says from exported traces (files, folders, patterns, or - for standard \
         input) or from folders that dwindle analyze wrote, and tell for which share of these very \
         requests it holds"
    )),
    mut_args(only_with_from)
)]
pub(super) struct From {
    #[command(flatten)]
    inputs: Inputs,

    #[command(flatten)]
    contracts: Contracts,

    #[command(flatten)]
    strictness: Strictness,

    #[command(flatten)]
    memory: MemoryFlag,

    #[command(flatten)]
    selection: Selection,
}

/// Flags of what is read say nothing where nothing is.
fn only_with_from(arg: Arg) -> Arg {
    let is_one = arg.get_help_heading() == Some(HEADING) && arg.get_id() != "paths";
    if is_one { arg.requires("paths") } else { arg }
}

impl From {
    /// Whether it was given.
    pub(super) fn is_given(&self) -> bool {
        !self.inputs.paths.is_empty()
    }

    /// Reads it.
    pub(super) fn read(&self) -> Result<(Measured, RunFacts), Fatal> {
        let mut measured = Measured::default();
        let rules = &Rules::without_deadlines(&self.contracts, &self.strictness);
        let Self { inputs, memory, selection, .. } = self;
        let source = Source { inputs, rules, memory, selection, is_judged: false };
        let facts = source.read(|part| match part {
            Part::Traces(tables) => measured.add(tables),
            // What several traces show together is no measure of any.
            Part::Findings(_) => {}
        })?;
        Ok((measured, facts))
    }

    /// How a page of it is made, where it is one.
    pub(super) fn origin(&self, format: Format, facts: &RunFacts) -> Result<Option<Origin>, Fatal> {
        (format == Format::Html).then(|| origin::of(&facts.files_read)).transpose()
    }

    /// The exit code of what was told of it.
    pub(super) fn done(&self, facts: &RunFacts) -> u8 {
        exit::done(self.inputs.strict, facts.problems.iter().map(|problem| problem.severity))
    }
}
