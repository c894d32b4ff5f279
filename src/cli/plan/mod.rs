//! `dwindle plan`: what a policy would do.

mod replay;

use clap::Subcommand;

use super::output::Fatal;

/// Plan retries, timeouts and budgets, by arithmetic and by what was measured.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

/// What is planned; each is told at its arguments.
#[derive(Debug, Subcommand)]
enum What {
    Replay(replay::Args),
}

/// Runs it.
pub(super) fn run(args: &Args) -> Result<u8, Fatal> {
    match &args.what {
        What::Replay(args) => replay::run(args),
    }
}
