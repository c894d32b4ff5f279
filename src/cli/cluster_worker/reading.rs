//! Steps that read files, and look at all spans before any trace is rebuilt.

use std::io;

use super::super::output::Fatal;
use crate::cluster;

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
}

impl Step {
    /// Does it.
    pub(super) fn run(self) -> Result<(), Fatal> {
        let out = io::stdout();
        match self {
            Self::List { inputs } => cluster::list(&inputs, out)?,
            Self::Schema => cluster::schema(out)?,
        }
        Ok(())
    }
}
