//! `dwindle check`: contracts as a gate.

use std::collections::BTreeSet;

use super::exit;
use super::input::{Calibrating, Inputs, Rules, one_of, read};
use super::memory::MemoryFlag;
use super::output::{self, Fatal, Page};
use super::selection::{By, Selection, Which};
use super::source::{Part, Source};
use crate::check::{Evidence, FailOn, Rulings};
use crate::contract::Suppression;
use crate::date::Date;
use crate::report::check::{Baseline, Format, Told, render};
use crate::units::UnixNanos;

/// Judge traces, with or without a contract: exit 1 where something fails.
///
/// For each request class, each of the fourteen cases of the failure-shaped matrix passes, fails, or
/// cannot be told, with what would have to be recorded; so do the contract's limits (docs/limits.md),
/// which pass where their whole 95 % interval keeps them and fail where the whole interval breaks them,
/// and its rules for retries. Findings fail where they hold for every clock offset that the traces
/// allow. Reads exported traces, or folders that `dwindle analyze` wrote under the same contract.
///
/// Without a contract the cases are judged all the same, by what the spans declare and what their
/// durations and outcomes show (docs/inference.md); findings that rest on that are marked as inferred.
///
/// Findings that may stay for a while are suppressed by id, in the contract file or by --suppressions.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dwindle check traces/
  dwindle check traces/ --contract contract.toml
  dwindle check traces/ --contract contract.toml --format json > baseline.json
  dwindle check traces/ --contract contract.toml --baseline baseline.json --format github
  dwindle check traces/ --contract contract.toml --format sarif > dwindle.sarif

A suppression:
  [[suppress]]
  id = \"0123456789ab\"
  reason = \"fixed in release 42\"
  until = 2027-01-31")]
pub(super) struct Args {
    #[command(flatten)]
    inputs: Inputs,

    #[command(flatten)]
    rules: Rules,

    #[command(flatten)]
    calibrating: Calibrating,

    #[command(flatten)]
    memory: MemoryFlag,

    // A contract speaks of whole requests: there is no scope.
    #[command(flatten)]
    by: By,

    #[command(flatten)]
    which: Which,

    /// What fails besides: findings that hold for some clock offsets only (possible), cases and limits
    /// that cannot be told (no-evidence); may be repeated
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = one_of(FailOn::ALL, FailOn::name))]
    fail_on: Vec<FailOn>,

    /// What `check --format json` wrote before: findings that it holds do not fail, limits still do
    #[arg(long, value_name = "FILE")]
    baseline: Option<String>,

    /// More suppressions (TOML), in the form in which a contract file holds them
    #[arg(long, value_name = "FILE")]
    suppressions: Option<String>,

    /// The day as of which suppressions count, as in 2027-01-31 [default: today, in UTC]
    #[arg(long, value_name = "DAY", value_parser = Date::parse)]
    as_of: Option<Date>,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "terminal", value_parser = one_of(Format::ALL, Format::name))]
    format: Format,

    #[command(flatten)]
    page: Page,
}

/// Runs it.
pub(super) fn run(args: &Args) -> Result<u8, Fatal> {
    let Args { inputs, memory, .. } = args;
    let rules = &args.rules.calibrated(args.calibrating);
    let (contract_file, file) = rules.contract_file()?.unzip();
    let file = file.unwrap_or_default();
    let rulings = rulings(args, file.suppressions)?;
    let mut evidence = Evidence::new(&file.contracts);
    let selection = &Selection::of_requests(&args.by, &args.which);
    let source = Source { inputs, rules, memory, selection, is_judged: true };
    let facts = source.read(|part| match part {
        Part::Traces(tables) => evidence.add(tables),
        Part::Findings(tables) => evidence.add_findings(tables),
    })?;
    evidence.settle_weights(!facts.chosen_by.is_empty());
    let verdict = evidence.judge(&rulings);
    let told = Told {
        verdict: &verdict,
        rulings: &rulings,
        overview: &evidence.overview,
        facts: &facts,
        contract_file,
    };
    output::print(&render(&told, args.format, args.page.width(), args.page.is_coloured()))?;
    if verdict.fails() {
        return Ok(exit::GATE_FAILED);
    }
    Ok(exit::done(inputs.strict, facts.problems.iter().map(|problem| problem.severity)))
}

fn rulings(args: &Args, mut suppressions: Vec<Suppression>) -> Result<Rulings, Fatal> {
    if let Some(file) = &args.suppressions {
        let more = Suppression::parse_file(file, &read("--suppressions", file)?)
            .map_err(|error| Fatal::Config { flag: "--suppressions", error })?;
        suppressions.extend(more);
    }
    let baseline = match &args.baseline {
        Some(file) => Baseline::parse(&read("--baseline", file)?)
            .map_err(|message| Fatal::Usage(format!("--baseline {file}: {message}")))?,
        None => BTreeSet::new(),
    };
    Ok(Rulings {
        fail_on: args.fail_on.clone(),
        baseline,
        suppressions,
        as_of: args.as_of.unwrap_or_else(today),
    })
}

#[expect(clippy::disallowed_methods, reason = "suppressions end on a day; --as-of names another")]
fn today() -> Date {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let nanos = since.ok().and_then(|since| i64::try_from(since.as_nanos()).ok());
    Date::of(UnixNanos::from_nanos(nanos.unwrap_or_default()))
}
