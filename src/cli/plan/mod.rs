//! `dwindle plan`: what a policy would do.

mod chain;
mod emit;
mod form;
mod from;
mod model;
mod model_folder;
mod replay;
mod retries;

use clap::Subcommand;

use super::output::Fatal;

/// Plan retries, timeouts and budgets, by arithmetic and by what was measured.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dwindle plan retries --deadline 1s --elapsed 230ms --attempt 150ms --backoff 100ms,200ms
  dwindle plan chain --end-to-end 200ms --own 20ms --median 8ms
  dwindle plan emit --as envoy --callee cart --attempt 150ms
  dwindle plan model --scenario scenario.toml --seed 7
  dwindle plan replay traces/ --policy policy.toml
  dwindle plan retries --from traces/ --class 'storefront GET *'")]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

/// What is planned; each is told at its arguments.
#[derive(Debug, Subcommand)]
enum What {
    Chain(Box<chain::Args>),
    Emit(emit::Args),
    Model(Box<model::Args>),
    Replay(Box<replay::Args>),
    Retries(Box<retries::Args>),
}

/// Runs it.
pub(super) fn run(args: &Args) -> Result<u8, Fatal> {
    match &args.what {
        What::Chain(args) => chain::run(args),
        What::Emit(args) => emit::run(args),
        What::Model(args) => model::run(args),
        What::Replay(args) => replay::run(args),
        What::Retries(args) => retries::run(args),
    }
}
