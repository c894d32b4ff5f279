//! `dwindle analyze`: traces to tables.

use std::path::PathBuf;

use super::exit;
use super::input::{Inputs, Rules, one_of};
use super::manifest::Manifest;
use super::memory::MemoryFlag;
use super::output::{self, Fatal};
use super::run::{self, Run};
use super::selection::Subject;
use super::writing::Writing;
use crate::distributions::Overview;
use crate::reconstruct::Outlined;
use crate::tables::folder::{FolderError, FolderWriter};
use crate::tables::format::Format;

/// Write the tables: requests, hops, attempts, segments, findings and more.
///
/// One file a table and manifest.json, written last: a folder without it is not whole. Rows come
/// by trace; the same input gives the same bytes whatever the number of threads or the order of
/// files. `dwindle schema` tells every column; times are integers of nanoseconds.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  dwindle analyze traces/ --contract contract.toml --out tables/ --format parquet"
)]
pub(super) struct Args {
    #[command(flatten)]
    inputs: Inputs,

    #[command(flatten)]
    rules: Rules,

    #[command(flatten)]
    memory: MemoryFlag,

    #[command(flatten)]
    subject: Subject,

    /// The folder to write; made if absent. Earlier tables that dwindle wrote there are replaced,
    /// other files of their names never
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// What to write
    #[arg(long, value_name = "FORMAT", default_value = "parquet", value_parser = one_of(Format::ALL, Format::name))]
    format: Format,
}

/// Runs it.
pub(super) fn run(args: &Args) -> Result<u8, Fatal> {
    args.inputs.refuse_folder("analyze")?;
    let create = || FolderWriter::create(&args.out, args.format);
    let Args { inputs, rules, memory, subject, .. } = args;
    let (folder, run, manifest) = write_tables(inputs, rules, memory, subject, create)?;
    folder.finish(&manifest)?;
    if !args.inputs.quiet {
        let Manifest { requests, traces, spans_admitted, spans_rejected, .. } = manifest;
        let out = args.out.to_string_lossy();
        output::note(&told(requests, traces, spans_admitted, spans_rejected, &out));
    }
    let problems = run.ingested.problems.iter().map(|row| row.severity);
    Ok(exit::done(args.inputs.strict, problems))
}

/// What was analyzed, in a line.
pub(super) fn told(requests: u64, traces: u64, spans: u64, rejected: u64, out: &str) -> String {
    format!("{requests} requests of {traces} traces, {spans} spans ({rejected} rejected) -> {out}")
}

/// Analyzes traces into the tables that `create` begins, and leaves them to be ended.
pub(super) fn write_tables(
    inputs: &Inputs,
    rules: &Rules,
    memory: &MemoryFlag,
    subject: &Subject,
    create: impl FnMut() -> Result<FolderWriter, FolderError>,
) -> Result<(FolderWriter, Run, Manifest), Fatal> {
    let rules = rules.outlining(Outlined::Exemplars);
    let mut overview = Overview::default();
    let mut writing = Writing::new(memory.memory(), create);
    let mut run = run::run(inputs, &rules, memory, subject, |mut group| {
        for tables in &group {
            overview.add(tables);
        }
        writing.add(&mut group)
    })?;
    let late = std::mem::take(&mut run.graveyard);
    let problems = (run.ingested.problems.as_slice(), &run.ingested.problem_strings);
    let folder = writing.finish(late, problems, run.facts.are_chosen())?;
    let manifest = Manifest::new(&inputs.paths, &run, &overview);
    Ok((folder, run, manifest))
}
