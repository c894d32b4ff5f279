//! Steps that read files, and look at all spans before any trace is rebuilt.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;

use super::super::calibrate::{Quantiles, found};
use super::super::input::{Clocks, Contracts, Inputs, Rules, Strictness};
use super::super::manifest::Manifest;
use super::super::output::{Fatal, note};
use super::super::run::Read as Known;
use super::super::selection::Subject;
use super::rebuilding::Survey;
use crate::calibrate::contract_text;
use crate::cluster::{self, Surveyed};
use crate::distributions::Overview;
use crate::ingest::{IngestError, Settings};
use crate::reconstruct::Policy;
use crate::report::{Problem, RunFacts, losses};
use crate::tables::Tables;

/// What is read, and looked at.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Step {
    /// Tell the files that are to be read, a JSON object a line
    List {
        /// Files, folders and patterns
        #[arg(required = true, value_name = "INPUT")]
        inputs: Vec<String>,
    },
    /// Tell as JSON what each step gives, and the columns of each table
    Schema,
    /// From a file, or from rows, to spans
    Ingest(Box<Ingest>),
    /// From sorted spans to what they know together
    Survey {
        #[command(flatten)]
        strictness: Strictness,
    },
    /// From what tasks have surveyed to what all spans know together
    Settle {
        /// Of how many files something has to be told
        #[arg(long, value_name = "N")]
        files: usize,
    },
    /// From sorted spans to what they say of limits
    Observe {
        #[command(flatten)]
        survey: Survey,

        #[command(flatten)]
        strictness: Strictness,
    },
    /// From what tasks have observed to a contract
    Calibrate {
        #[command(flatten)]
        survey: Survey,

        #[command(flatten)]
        quantiles: Quantiles,
    },
    /// What was wrong with the files
    Problems {
        #[command(flatten)]
        survey: Survey,
    },
}

/// What is read, and how.
#[derive(Debug, clap::Args)]
#[command(mut_arg("paths", |paths| paths.required(false)))]
pub(super) struct Ingest {
    #[command(flatten)]
    inputs: Inputs,

    #[command(flatten)]
    subject: Subject,

    /// What the file is called in tables
    #[arg(long)]
    name: String,

    /// Rows of ClickHouse's `otel_traces` come in as an Arrow stream
    #[arg(long)]
    rows: bool,
}

impl Step {
    /// Does it.
    pub(super) fn run(self) -> Result<(), Fatal> {
        let (input, output) = (io::stdin(), io::stdout());
        match self {
            Self::List { inputs } => cluster::list(&inputs, output)?,
            Self::Schema => cluster::schema(output)?,
            Self::Ingest(ingest) => ingest.run()?,
            Self::Survey { strictness } => {
                let is_pooled = rules(&strictness).clock() == Clocks::Pooled;
                cluster::survey(input, is_pooled, output)?;
            }
            Self::Settle { files } => cluster::settle(input, files, output)?,
            Self::Observe { survey, strictness } => {
                let policy = rules(&strictness).policy()?;
                cluster::observe(input, &policy, &survey.read()?.offsets, output)?;
            }
            Self::Calibrate { survey, quantiles } => {
                let calibration = cluster::calibrate(input, quantiles.chosen())?;
                let contract = contract_text(&calibration);
                cluster::tell(&contract, output)?;
                note(&found(&calibration, &contract, None));
                if let Some(lost) = losses(&facts(survey.read()?)) {
                    note(&lost);
                }
            }
            Self::Problems { survey } => cluster::problems(&survey.read()?, output)?,
        }
        Ok(())
    }
}

/// What a report tells of the files, before any trace was rebuilt.
fn facts(surveyed: Surveyed) -> RunFacts {
    let Surveyed { facts, ingested, .. } = surveyed;
    let known = Known { ingested, facts, policy: Policy::default(), calibrated: None };
    let run = known.ended(&Subject::default(), &BTreeSet::new(), Tables::default());
    let strings = &run.ingested.problem_strings;
    let problems = run.ingested.problems.iter().map(|row| Problem::from_row(row, strings));
    let problems = problems.collect();
    Manifest::new(&[], &run, &Overview::default()).run_facts(problems)
}

/// How strictly to judge, where nothing was promised.
fn rules(strictness: &Strictness) -> Rules {
    Rules::without_deadlines(&Contracts::default(), strictness)
}

impl Ingest {
    fn run(&self) -> Result<(), Fatal> {
        let Self { inputs, subject, name, rows } = self;
        inputs.start_threads_or(1);
        let conventions = inputs.conventions()?.splitting_by(subject.split_keys()?);
        let settings = Settings { conventions: &conventions, limits: inputs.limits() };
        let output = io::stdout();
        let wrong = |what: &str| Fatal::Usage(what.to_owned());
        let path = match inputs.paths.as_slice() {
            [] => None,
            [path] => Some(path).filter(|&path| path != "-"),
            [..] => return Err(wrong("ingest reads one file")),
        };
        match (path, rows) {
            (None, true) => cluster::ingest_rows(name, io::stdin(), settings, output)?,
            (None, false) => cluster::ingest(name, io::stdin(), settings, output)?,
            (Some(path), false) => {
                let unreadable = |error| IngestError::Read { file: name.clone(), error };
                cluster::ingest(name, File::open(path).map_err(unreadable)?, settings, output)?;
            }
            (Some(_), true) => return Err(wrong("--rows come in by standard input, from no file")),
        }
        Ok(())
    }
}
