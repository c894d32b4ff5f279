//! `dwindle inspect`: what each file holds.

use super::input::Inputs;
use super::output::{self, Fatal};
/// Tell what each file holds, and what it lacks for deadlines to be known.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    inputs: Inputs,
}

/// Runs it.
pub(super) fn run(args: &Args) -> Result<(), Fatal> {
    let _ = args;
    output::print("")
}
