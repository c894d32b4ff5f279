//! `dwindle calibrate`: what traces do not declare, as a contract.

use std::fs;
use std::path::{Path, PathBuf};

use super::exit;
use super::input::{Contracts, Inputs, Rules, Strictness};
use super::manifest::VERSION;
use super::memory::MemoryFlag;
use super::output::{self, Fatal};
use super::selection::{By, Selection, Which};
use super::source::{Part, Source};
use crate::calibrate::{Calibration, Chosen, Observed, contract_text, document};
use crate::contract::ContractFile;
use crate::counts::counted;
use crate::report::losses;
use crate::stats::Quantile;
use crate::units::Nanos;

/// Write what traces do not declare as a contract to look at and correct.
///
/// OpenTelemetry has no attribute for deadlines, so most traces declare none. Durations and outcomes
/// tell: where attempts that were cut off pile up there is a timeout, and whether they do so whatever
/// was left tells if it was chosen here or passed on; attempts that succeeded tell what one needs. The
/// contract (TOML) has the deadline and the return reserve of each class, and the timeout and the
/// attempt allowance of each call, each with its 95 % interval and what it rests on; what is not sure
/// enough is a comment. docs/inference.md tells the method and how often it errs. Reads exported traces,
/// or folders that dwindle analyze wrote; without a contract `dwindle report` does the same by itself.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dwindle calibrate traces/ -o contract.toml
  dwindle report traces/ --contract contract.toml
  dwindle calibrate traces.jsonl.gz --class 'storefront *' --quantile p99")]
pub(super) struct Args {
    #[command(flatten)]
    inputs: Inputs,

    #[command(flatten)]
    strictness: Strictness,

    #[command(flatten)]
    memory: MemoryFlag,

    #[command(flatten)]
    which: Which,

    #[command(flatten)]
    quantiles: Quantiles,

    /// How to write it
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "toml")]
    format: Form,

    /// The file to write, in place of standard output. One that is there is not replaced: somebody may
    /// have corrected it
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Replace the file of --out, where it is there
    #[arg(long, requires = "out")]
    force: bool,
}

/// How much what is measured covers.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Quantiles {
    /// How much of the attempts that succeeded an attempt allowance covers: p50, p90, p95, p99 or p99.9
    #[arg(long, value_name = "QUANTILE", default_value = "p95", value_parser = quantile)]
    quantile: Quantile,

    /// How much of the returns a return reserve covers: p50, p90, p95, p99 or p99.9
    #[arg(long, value_name = "QUANTILE", default_value = "p95", value_parser = quantile)]
    reserve_quantile: Quantile,
}

impl Quantiles {
    /// The same, for whoever measures.
    pub(super) const fn chosen(&self) -> Chosen {
        Chosen { allowance: self.quantile, reserve: self.reserve_quantile }
    }
}

/// How it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// A contract
    Toml,
    /// All that was concluded, for programs
    Json,
}

fn quantile(text: &str) -> Result<Quantile, &'static str> {
    let upper = Quantile::ALL.into_iter().filter(|&quantile| Quantile::P50 <= quantile);
    let named = upper.into_iter().find(|quantile| quantile.to_string() == text);
    named.ok_or("expected p50, p90, p95, p99 or p99.9")
}

/// Runs it.
pub(super) fn run(args: &Args) -> Result<u8, Fatal> {
    if let Some(out) = args.out.as_deref().filter(|out| !args.force && out.exists()) {
        let message = format!("{} is already there: give --force to replace it", out.display());
        return Err(Fatal::Usage(message));
    }
    let Args { inputs, strictness, memory, which, .. } = args;
    let rules = &Rules::without_deadlines(&Contracts::default(), strictness);
    let selection = &Selection::of_requests(&By::default(), which);
    let source = Source { inputs, rules, memory, selection, is_judged: false };
    let mut observed = Observed::default();
    let facts = source.read(|part| match part {
        Part::Traces(tables) => observed.add(tables),
        // What several traces show together is no duration of any.
        Part::Findings(_) => {}
    })?;
    if let Some(service) = &facts.scope {
        return Err(Fatal::Usage(format!(
            "these tables are of calls into {service} alone (--scope): limits are told of whole requests"
        )));
    }
    let calibration = observed.calibrate(args.quantiles.chosen());
    let contract = contract_text(&calibration);
    let text = match args.format {
        Form::Toml => &contract,
        Form::Json => &format!("{:#}\n", document(&calibration, VERSION)),
    };
    match &args.out {
        Some(out) => write(out, text)?,
        None => output::print(text)?,
    }
    if !inputs.quiet {
        output::note(&found(&calibration, &contract, args.out.as_deref()));
        if let Some(lost) = losses(&facts) {
            output::note(&lost);
        }
    }
    Ok(exit::done(inputs.strict, facts.problems.iter().map(|problem| problem.severity)))
}

/// What was found, in two lines.
pub(super) fn found(of: &Calibration, text: &str, out: Option<&Path>) -> String {
    // What we write we read; of what could not be read nothing would count.
    let held = ContractFile::parse("", text).unwrap_or_default();
    let deadlines = held.contracts.iter().filter(|it| it.deadline.is_some()).count();
    let reserves = held.contracts.iter().filter(|it| it.return_reserve > Nanos::ZERO).count();
    let timeouts = held.calls.iter().filter(|it| it.timeout.is_some()).count();
    let allowances = held.calls.iter().filter(|it| it.attempt_allowance.is_some()).count();
    let attempts: u64 = of.calls.iter().map(|call| call.attempts).sum();
    let cut: u64 = of.calls.iter().map(|call| call.limit.cut).sum();
    let of_classes = of.classes.len();
    let (attempts, calls) = (counted(attempts, "attempt"), counted(of.calls.len() as u64, "call"));
    let told = [
        (deadlines, "deadline"),
        (timeouts, "timeout"),
        (allowances, "allowance"),
        (reserves, "reserve"),
    ];
    let told: Vec<String> =
        told.into_iter().map(|(number, noun)| counted(number as u64, noun)).collect();
    let to = out.map_or_else(String::new, |out| format!(" -> {}", out.display()));
    format!(
        "{} of requests, {calls}: {cut} of {attempts} cut off\nsure enough to hold: {}{to}",
        counted(of_classes as u64, "class"),
        told.join(", ")
    )
}

/// Writes a file as a whole or not at all; what is no file, such as a pipe, as it is.
fn write(out: &Path, text: &str) -> Result<(), Fatal> {
    let is_other = out.metadata().is_ok_and(|metadata| !metadata.is_file());
    let written = if is_other {
        fs::write(out, text)
    } else {
        let mut partial = out.as_os_str().to_owned();
        partial.push(".partial");
        fs::write(&partial, text).and_then(|()| fs::rename(&partial, out)).inspect_err(|_| {
            // What cannot be removed is not taken for the file.
            let _ = fs::remove_file(&partial);
        })
    };
    written.map_err(|error| Fatal::Written { path: out.to_owned(), error })
}
