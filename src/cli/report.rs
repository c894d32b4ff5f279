//! `dwindle report`: where the deadline of each request class goes.

use std::path::Path;

use super::exit;
use super::input::{Inputs, Rules, one_of};
use super::manifest::Manifest;
use super::memory::MemoryFlag;
use super::output::{self, Color, Fatal};
use super::run;
use crate::distributions::Summary;
use crate::report::{Format, Options, Problem, RunFacts, build};
use crate::span::Interner;
use crate::tables::ProblemRow;
use crate::tables::folder::Folder;

/// Tell where the deadline of each request class goes.
///
/// Reads exported traces, or one folder that `dwindle analyze` wrote. Times are in milliseconds
/// with three significant digits; percentiles stand on the side where a measure hurts, with n and
/// a 95 % interval, and are not told (n<72) where there are too few requests for them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dwindle report traces.jsonl.gz --deadline 1s
  dwindle report traces/ --deadline 'GET /items/*=800ms' --format markdown
  dwindle analyze traces/ --out tables/ && dwindle report tables/")]
pub(super) struct Args {
    #[command(flatten)]
    inputs: Inputs,

    #[command(flatten)]
    rules: Rules,

    #[command(flatten)]
    memory: MemoryFlag,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "terminal", value_parser = one_of(Format::ALL, Format::name))]
    format: Format,

    /// How wide, in columns [default: the terminal's width, else 100]
    #[arg(long, value_name = "COLUMNS")]
    width: Option<u16>,

    /// When to colour; nothing is told by colour alone
    #[arg(long, value_enum, default_value = "auto")]
    color: Color,
}

/// Runs it.
pub(super) fn run(args: &Args) -> Result<u8, Fatal> {
    let mut summary = Summary::default();
    let facts = match args.inputs.folder() {
        Some(dir) => from_folder(dir, args, &mut summary)?,
        None => from_traces(args, &mut summary)?,
    };
    let report = build(&summary, &facts, &Options::for_format(args.format));
    let width = output::width(args.width);
    output::print(&report.render(args.format, width, args.color.wanted()))?;
    Ok(exit::done(args.inputs.strict, facts.problems.iter().map(|problem| problem.severity)))
}

fn from_folder(dir: &Path, args: &Args, summary: &mut Summary) -> Result<RunFacts, Fatal> {
    let dir_name = dir.display();
    if args.inputs.paths.len() > 1 {
        return Err(Fatal::Usage(format!(
            "{dir_name} is an analyze folder: report it alone, or give the traces it was made of"
        )));
    }
    let given = args.rules.first_given().or_else(|| args.inputs.first_given());
    if let Some(flag) = given.or_else(|| args.memory.first_given()) {
        return Err(Fatal::Usage(format!(
            "{flag} counts when traces are analyzed; {dir_name} was analyzed already: give it to \
             dwindle analyze"
        )));
    }
    let (folder, manifest): (Folder, Manifest) = Folder::open(dir)?;
    summary.add(&folder.tables()?);
    let (mut rows, mut strings): (Vec<ProblemRow>, _) = (Vec::new(), Interner::default());
    folder.read_all(&mut rows, &mut strings)?;
    let problems = rows.iter().map(|row| Problem::from_row(row, &strings)).collect();
    Ok(manifest.run_facts(problems))
}

fn from_traces(args: &Args, summary: &mut Summary) -> Result<RunFacts, Fatal> {
    let run = run::run(&args.inputs, &args.rules, &args.memory, |group| {
        for tables in &group {
            summary.add(tables);
        }
        Ok(())
    })?;
    summary.add_findings(&run.graveyard);
    let strings = &run.ingested.problem_strings;
    let problems = run.ingested.problems.iter().map(|row| Problem::from_row(row, strings));
    let problems = problems.collect();
    Ok(Manifest::new(&args.inputs.paths, &run, &summary.overview).run_facts(problems))
}
