//! The command line: arguments, settings, output and exit codes. Only here are there terminals,
//! environment variables and progress.

mod analyze;
mod calibrate;
mod check;
mod cluster;
mod cluster_worker;
mod completions;
mod diff;
mod exit;
mod explain;
mod extract;
mod findings;
mod folders;
mod input;
mod inspect;
mod man;
mod manifest;
mod memory;
mod origin;
mod output;
mod plan;
mod progress;
mod query;
mod report;
mod rules;
mod run;
mod schema;
mod selection;
mod source;
mod writing;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
pub use exit::{DONE, GATE_FAILED, INPUT_LOST, USAGE};

/// What it is called by.
const NAME: &str = "dwindle";

/// Where a request's deadline went: deadline consumption from exported production traces.
///
/// A request has one budget of time. dwindle reads exported traces, rebuilds the call trees and
/// tells what was left at every boundary: queue time, attempts that could not be funded, late and
/// residual work, hops that reset the timeout.
#[derive(Debug, Parser)]
#[command(
    name = NAME,
    version = manifest::VERSION,
    after_help = exit::HELP,
    max_term_width = 100,
)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

/// What each does is told at its arguments: a word here would stand in place of it.
#[derive(Debug, Subcommand)]
enum Verb {
    Report(report::Args),
    Query(Box<query::Args>),
    Findings(findings::Args),
    Calibrate(calibrate::Args),
    Check(check::Args),
    Diff(diff::Args),
    Plan(Box<plan::Args>),
    Analyze(analyze::Args),
    Cluster(Box<cluster::Args>),
    Inspect(inspect::Args),
    Explain(explain::Args),
    Rules(rules::Args),
    Extract(extract::Args),
    Schema(schema::Args),
    Completions(completions::Args),
    Man(man::Args),
    #[command(hide = true)]
    ClusterWorker(Box<cluster_worker::Args>),
}

/// Runs the command and gives its exit code.
pub fn main() -> ExitCode {
    let done = match Cli::parse().verb {
        Verb::Report(args) => report::run(&args),
        Verb::Query(args) => query::run(*args),
        Verb::Findings(args) => findings::run(&args),
        Verb::Calibrate(args) => calibrate::run(&args),
        Verb::Check(args) => check::run(&args),
        Verb::Diff(args) => diff::run(&args),
        Verb::Plan(args) => plan::run(&args),
        Verb::Analyze(args) => analyze::run(&args),
        Verb::Cluster(args) => cluster::run(&args),
        Verb::Inspect(args) => inspect::run(&args),
        Verb::Explain(args) => explain::run(&args),
        Verb::Rules(args) => rules::run(&args),
        Verb::Extract(args) => extract::run(&args),
        Verb::Schema(args) => schema::run(&args),
        Verb::Completions(args) => completions::run(&args),
        Verb::Man(args) => man::run(&args),
        Verb::ClusterWorker(args) => cluster_worker::run(*args),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) if error.is_closed_pipe() => ExitCode::from(DONE),
        Err(error) => {
            output::complain(&error);
            ExitCode::from(USAGE)
        }
    }
}
