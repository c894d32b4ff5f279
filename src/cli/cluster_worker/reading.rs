//! Steps that read files, and look at all spans before any trace is rebuilt.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use super::super::calibrate::Quantiles;
use super::super::input::{Clocks, Contracts, Inputs, Rules, Strictness};
use super::super::output::Fatal;
use super::super::selection::Subject;
use crate::calibrate::contract_text;
use crate::cluster::{self, Surveyed};
use crate::ingest::{IngestError, Settings};

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
        settled: Settled,

        #[command(flatten)]
        strictness: Strictness,
    },
    /// From what tasks have observed to a contract
    Calibrate {
        #[command(flatten)]
        settled: Settled,

        #[command(flatten)]
        quantiles: Quantiles,
    },
    /// What was wrong with the files
    Problems {
        #[command(flatten)]
        settled: Settled,
    },
}

/// What all spans know together.
#[derive(Debug, clap::Args)]
pub(super) struct Settled {
    /// What settle has told
    #[arg(long, value_name = "FILE")]
    survey: PathBuf,
}

impl Settled {
    /// Reads it.
    pub(super) fn read(&self) -> Result<Surveyed, Fatal> {
        Ok(Surveyed::read(&self.survey)?)
    }
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
            Self::Observe { settled, strictness } => {
                let policy = rules(&strictness).policy()?;
                cluster::observe(input, &policy, &settled.read()?.offsets, output)?;
            }
            Self::Calibrate { settled, quantiles } => {
                settled.read()?;
                let calibration = cluster::calibrate(input, quantiles.chosen())?;
                cluster::tell(&contract_text(&calibration), output)?;
            }
            Self::Problems { settled } => cluster::problems(&settled.read()?, output)?,
        }
        Ok(())
    }
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
        match inputs.paths.as_slice() {
            [] if *rows => cluster::ingest_rows(name, io::stdin(), settings, output)?,
            [] => cluster::ingest(name, io::stdin(), settings, output)?,
            [path] if path == "-" && !rows => {
                cluster::ingest(name, io::stdin(), settings, output)?;
            }
            [path] if !rows => {
                let unreadable = |error| IngestError::Read { file: name.clone(), error };
                cluster::ingest(name, File::open(path).map_err(unreadable)?, settings, output)?;
            }
            _ => {
                let message = "ingest takes one file, or - or nothing for standard input; --rows \
                               takes standard input alone";
                return Err(Fatal::Usage(message.to_owned()));
            }
        }
        Ok(())
    }
}
