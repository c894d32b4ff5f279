//! `dwindle cluster-worker`: what an engine's tasks, and the job that starts them, run. Nobody types it:
//! steps take and give what `crate::cluster` says.

mod reading;
mod rebuilding;

use super::exit;
use super::output::Fatal;
use crate::cluster::Failure;

/// A step of an analysis on many machines, as the job of dwindle cluster runs it.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    step: Step,
}

/// The steps.
#[derive(Debug, clap::Subcommand)]
enum Step {
    #[command(flatten)]
    Reading(reading::Step),
    #[command(flatten)]
    Rebuilding(Box<rebuilding::Step>),
}

/// Runs it. A reader that has gone is an error here: whoever runs a step takes exit code 0 for a whole
/// answer.
pub(super) fn run(args: Args) -> Result<u8, Fatal> {
    let done = match args.step {
        Step::Reading(step) => step.run(),
        Step::Rebuilding(step) => step.run(),
    };
    done.map(|()| exit::DONE).map_err(|error| match error {
        Fatal::Output(error) => Failure::from(error).into(),
        other => other,
    })
}
