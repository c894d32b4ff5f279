//! Steps that rebuild traces.

use super::super::output::Fatal;

/// What is done with traces.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Step {}

impl Step {
    /// Does it.
    pub(super) fn run(self) -> Result<(), Fatal> {
        match self {}
    }
}
