//! Steps that rebuild traces, and put together what tasks make of them.

use std::env;
use std::io::{self, Read};
use std::path::PathBuf;

use clap::Args;

use super::super::input::{Inputs, Rules};
use super::super::manifest::Manifest;
use super::super::output::Fatal;
use super::super::run::Read as Known;
use super::super::selection::Subject;
use crate::cluster::{self, Failure, Rebuilding, Rebuilt, Surveyed};
use crate::distributions::Precision;
use crate::reconstruct::{Outlined, Policy};
use crate::tables::Tables;

/// What is done with traces.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Step {
    /// Rebuild the traces of sorted spans: the tables beside one another, and what else is made of them
    Reconstruct {
        #[command(flatten)]
        survey: Survey,
        #[command(flatten)]
        rules: Rules,
        #[command(flatten)]
        subject: Subject,
        #[command(flatten)]
        rounding: Rounding,
    },
    /// Find expired work beside waiting work, in stays sorted by service and clock
    Graveyard {
        #[command(flatten)]
        rounding: Rounding,
    },
    /// Tell the table distributions, of values of which a task has whole classes
    Distributions {
        #[command(flatten)]
        survey: Survey,
    },
    /// Choose the traces that are shown, among candidates sorted by trace
    Exemplars,
    /// Print manifest.json, of the parts of all rebuilding tasks
    Manifest {
        #[command(flatten)]
        survey: Survey,
        #[command(flatten)]
        rules: Rules,
        #[command(flatten)]
        subject: Subject,
        /// The inputs as they were named
        #[arg(long = "input", required = true, num_args = 1.., value_name = "INPUT")]
        inputs: Vec<String>,
    },
}

/// What all spans know together.
#[derive(Debug, Args)]
pub(super) struct Survey {
    /// What the step settle has printed
    #[arg(long, value_name = "FILE")]
    survey: PathBuf,
}

impl Survey {
    /// Reads it.
    pub(super) fn read(&self) -> Result<Surveyed, Failure> {
        Surveyed::read(&self.survey)
    }
}

/// How exact values of distributions stay.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Rounding {
    /// Round values of distributions to buckets that are at most a 64th of their values wide:
    /// percentiles and the ends of their intervals are then at most 1/128 (0.8 %) off. Counts, weights,
    /// sums, zeros, the least and the greatest value stay exact
    #[arg(long)]
    sketch: bool,
}

impl Rounding {
    const fn precision(self) -> Precision {
        if self.sketch { Precision::Rounded } else { Precision::Exact }
    }
}

impl Step {
    /// Does it.
    pub(super) fn run(self) -> Result<(), Fatal> {
        // An engine gives a task one core.
        Inputs::start(1);
        let (input, out) = (io::stdin().lock(), io::stdout().lock());
        match self {
            Self::Reconstruct { survey, rules, subject, rounding } => {
                let policy = policy(&rules.outlining(Outlined::Exemplars), &subject)?;
                let offsets = survey.read()?.offsets;
                let precision = rounding.precision();
                let how = Rebuilding { policy: &policy, offsets: &offsets, precision };
                cluster::rebuild(input, out, how)?;
            }
            Self::Graveyard { rounding } => cluster::find_late(input, out, rounding.precision())?,
            Self::Distributions { survey } => {
                let are_chosen = survey.read()?.facts.are_chosen();
                cluster::distribute(input, out, are_chosen, env::temp_dir())?;
            }
            Self::Exemplars => cluster::choose(input, out)?,
            Self::Manifest { survey, rules, subject, inputs } => {
                let (surveyed, policy) = (survey.read()?, policy(&rules, &subject)?);
                let text = manifest(input, surveyed, policy, &subject, &inputs)?;
                cluster::tell(&text, out)?;
            }
        }
        Ok(())
    }
}

fn policy(rules: &Rules, subject: &Subject) -> Result<Policy, Fatal> {
    Ok(Policy { scope: subject.scope(), ..rules.policy()? })
}

fn manifest(
    parts: impl Read,
    surveyed: Surveyed,
    policy: Policy,
    subject: &Subject,
    inputs: &[String],
) -> Result<String, Fatal> {
    let Rebuilt { overview, matched } = Rebuilt::of_parts(parts)?;
    let Surveyed { facts, ingested, .. } = surveyed;
    let known = Known { ingested, facts, policy, calibrated: None };
    let run = known.ended(subject, &matched, Tables::default());
    let text = serde_json::to_string_pretty(&Manifest::new(inputs, &run, &overview));
    Ok(text.map_err(|error| Fatal::Output(error.into()))? + "\n")
}
