//! `dwindle analyze`: traces to tables.

use std::path::PathBuf;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::exit;
use super::input::{Inputs, Rules, one_of};
use super::manifest::Manifest;
use super::memory::MemoryFlag;
use super::output::{self, Fatal};
use super::run::{self, Run};
use super::selection::Subject;
use crate::distributions::{Collection, Measured, Overview};
use crate::exemplars::Exemplars;
use crate::graveyard;
use crate::reconstruct::Outlined;
use crate::tables::folder::{FolderError, FolderWriter};
use crate::tables::format::Format;
use crate::tables::{ExemplarRow, Kept};

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

/// What part of the memory the values of distributions may take.
const VALUES_PART: u64 = 8;

/// Runs it.
pub(super) fn run(args: &Args) -> Result<u8, Fatal> {
    args.inputs.refuse_folder("analyze")?;
    let create = || FolderWriter::create(&args.out, args.format);
    let Args { inputs, rules, memory, subject, .. } = args;
    let (folder, run, manifest) = write_tables(inputs, rules, memory, subject, create)?;
    folder.finish(&manifest)?;
    if !args.inputs.quiet {
        output::note(&format!(
            "{} requests of {} traces, {} spans ({} rejected) -> {}",
            manifest.requests,
            manifest.traces,
            manifest.spans_admitted,
            manifest.spans_rejected,
            args.out.display(),
        ));
    }
    let problems = run.ingested.problems.iter().map(|row| row.severity);
    Ok(exit::done(args.inputs.strict, problems))
}

/// Analyzes traces into the tables that `create` begins, and leaves them to be ended.
pub(super) fn write_tables(
    inputs: &Inputs,
    rules: &Rules,
    memory_flag: &MemoryFlag,
    subject: &Subject,
    mut create: impl FnMut() -> Result<FolderWriter, FolderError>,
) -> Result<(FolderWriter, Run, Manifest), Fatal> {
    let mut folder: Option<FolderWriter> = None;
    let mut overview = Overview::default();
    let mut findings = Kept::default();
    let mut exemplars = Exemplars::default();
    let rules = rules.outlining(Outlined::Exemplars);
    let memory = memory_flag.memory();
    let mut collection = Collection::new(memory.bytes / VALUES_PART, memory.folder.clone());
    let mut run = run::run(inputs, &rules, memory_flag, subject, |mut group| {
        // The folder is made once there is something to write: not for a file that is missing.
        if folder.is_none() {
            folder = Some(create()?);
        }
        // On all cores, and before findings go that others join.
        let measured: Vec<Measured> = group.par_iter().map(Measured::of).collect();
        for (tables, measured) in group.iter_mut().zip(&measured) {
            collection.add(measured, &tables.strings).map_err(|error| memory.failed(error))?;
            overview.add(tables);
            exemplars.add(tables);
            // Some are found only when all traces are known.
            findings.extend(std::mem::take(&mut tables.findings), &tables.strings);
        }
        folder.as_mut().map_or(Ok(()), |folder| folder.write(&group)).map_err(Fatal::from)
    })?;
    let mut folder = match folder {
        Some(folder) => folder,
        None => create()?,
    };
    let late = Measured::of_late(&run.graveyard);
    collection.add(&late, &run.graveyard.strings).map_err(|error| memory.failed(error))?;
    let findings = graveyard::merge(findings, std::mem::take(&mut run.graveyard));
    folder.append(&findings.rows, &findings.strings)?;
    let mut distributions =
        collection.finish(run.facts.are_chosen()).map_err(|error| memory.failed(error))?;
    loop {
        let kept = distributions.next_rows().map_err(|error| memory.failed(error))?;
        if kept.rows.is_empty() {
            break;
        }
        folder.append(&kept.rows, &kept.strings)?;
    }
    folder.append(&run.ingested.problems, &run.ingested.problem_strings)?;
    for tables in exemplars.traces() {
        let rows: Vec<_> = tables.outline.iter().flat_map(ExemplarRow::of).collect();
        folder.append(&rows, &tables.strings)?;
    }
    let manifest = Manifest::new(&inputs.paths, &run, &overview);
    Ok((folder, run, manifest))
}
