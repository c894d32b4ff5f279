//! `dwindle cluster`: traces to tables, on an engine that other machines run.

mod event;
mod job;
mod spark_options;
mod submitted;
mod tools;

use std::path::Path;

use super::analyze;
use super::exit;
use super::input::{Inputs, Rules};
use super::output::{self, Fatal};
use super::progress::StageLine;
use super::selection::Subject;
use crate::ingest::files;
use crate::tables::folder::refuse_foreign;
use event::{Done, Event};
use job::Job;
use spark_options::SparkOptions;

/// The job, as Spark runs it.
const JOB: &str = include_str!("../../cluster/job.py");

/// What a partition should hold, of files as they lie there.
const PARTITION_BYTES: u64 = 32 << 20;

/// Partitions for each core, so that one that is slow holds up few.
const PARTITIONS_A_CORE: u64 = 2;

/// The cores of a cluster that does not tell.
const UNTOLD_CORES: u64 = 8;

/// Partitions of inputs of which nobody here knows how large they are: as many as Spark makes.
const UNTOLD_PARTITIONS: u64 = 200;

/// As many as the job tells apart.
const MOST_PARTITIONS: u64 = 1 << 16;

/// Analyze traces on Apache Spark, where they outgrow one machine.
///
/// Writes the folder that dwindle analyze writes, with the same rows in the same order; each table is a
/// folder of Parquet files, and report, query, check and diff read it as it is. Needs Java and Spark on
/// this machine and on the cluster; this program ships itself, so workers need the same operating system
/// and processor. A worker that is lost costs time, not rows. As long as one machine holds the
/// traces, dwindle analyze is faster. docs/cluster.md tells how to run it on which cluster, and what it costs.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("paths", |paths| paths.help(
        "Exported traces: files, folders or patterns on a file system that all workers have, or URLs that \
         Spark reads (s3a://, hdfs://, file:///)"
    )),
    mut_arg("threads", |threads| threads.hide(true)),
    // Here, since what is changed counts as defined after all else, and this comes last.
    mut_arg("spark", |spark| spark.last(true)),
    override_usage = "dwindle cluster [OPTIONS] <INPUT>... --out <DIR> [-- <SPARK OPTION>...]",
    after_help = "\
Examples:
  dwindle cluster /mnt/traces/ --out /mnt/tables --master spark://HOST:7077
  dwindle cluster s3a://traces/day=2026-03-02/ --out s3a://tables/day --master yarn -- --num-executors 40
  dwindle cluster traces/ --out tables/ --master 'local-cluster[2,1,1200]'
  dwindle cluster --print-job > job.py"
)]
pub(super) struct Args {
    #[command(flatten)]
    inputs: Inputs,

    #[command(flatten)]
    rules: Rules,

    #[command(flatten)]
    subject: Subject,

    /// The folder to write, or a URL that Spark writes to. Earlier tables that dwindle wrote in a folder
    /// are replaced, other files of their names never
    #[arg(long, value_name = "DIR")]
    out: Option<String>,

    /// Where the cluster is: `spark://HOST:7077`, `yarn`, `k8s://...`, `local[N]`,
    /// `local-cluster[WORKERS,CORES,MIB]` [default: what Spark is configured for]
    #[arg(long, value_name = "URL")]
    master: Option<String>,

    /// How many parts traces are dealt to [default: one for 32 MiB of input as it lies there, and two
    /// a core at least; 200 where the size is not known here]. The tables are the same for any number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 16))]
    partitions: Option<u32>,

    /// Write what traces do not declare as a contract (see dwindle calibrate), and with --out go by it
    #[arg(long, value_name = "FILE")]
    calibrate: Option<String>,

    /// Round the values of percentiles to steps of a 64th, so that they are at most 0.8 % off; counts, sums
    /// and zeros stay exact. For inputs of which exact values would take too long
    #[arg(long)]
    sketch: bool,

    /// Also keep the spans as they were read, as Parquet: a later run takes them by --table
    #[arg(long, value_name = "DIR")]
    keep_spans: Option<String>,

    /// The inputs are data sets in Parquet that Spark reads: ClickHouse's `otel_traces`, or what --keep-spans
    /// wrote
    #[arg(long)]
    table: bool,

    /// Print the job, for spark-submit or a platform that runs Python files, and end
    #[arg(long, exclusive = true)]
    print_job: bool,

    /// Options of spark-submit, such as --executor-memory 4g
    #[arg(value_name = "SPARK OPTION")]
    spark: Vec<String>,
}

/// Runs it.
pub(super) fn run(args: &Args) -> Result<u8, Fatal> {
    if args.print_job {
        return output::print(JOB).map(|()| exit::DONE);
    }
    let spark = SparkOptions::parse(&args.spark)?;
    args.check(&spark)?;
    let partitions = match args.partitions {
        Some(partitions) => partitions,
        None => partitions(args.bytes()?, spark.cores(args.master.as_deref())),
    };
    if let Some(out) = args.folder() {
        refuse_foreign(out)?;
    }
    let job = Job::write(args, &spark, &tools::find(&spark)?, partitions)?;
    let done = job.run(&mut Telling::new(args.inputs.quiet))?;
    let is_lost = args.inputs.strict && done.is_some_and(|done| done.losses > 0);
    if !args.inputs.quiet {
        args.tell(done);
    }
    Ok(if is_lost { exit::INPUT_LOST } else { exit::DONE })
}

/// How many partitions there are to be, where nobody says.
fn partitions(bytes: Option<u64>, cores: Option<u64>) -> u32 {
    let by_size = bytes.map_or(UNTOLD_PARTITIONS, |bytes| bytes.div_ceil(PARTITION_BYTES));
    let by_cores = cores.unwrap_or(UNTOLD_CORES).saturating_mul(PARTITIONS_A_CORE);
    u32::try_from(by_size.max(by_cores).clamp(1, MOST_PARTITIONS)).unwrap_or(1)
}

/// Whether Spark is to find it, and not the file system.
fn is_url(path: &str) -> bool {
    path.contains("://") || path.starts_with("file:/")
}

impl Args {
    /// Refuses what does not go together, before anything is started.
    fn check(&self, spark: &SparkOptions) -> Result<(), Fatal> {
        let usage = |message: String| Err(Fatal::Usage(message));
        self.inputs.refuse_folder("cluster")?;
        let paths = &self.inputs.paths;
        if paths.iter().any(|path| path == "-") {
            return usage(
                "standard input cannot be dealt to workers: name files, or use analyze".to_owned(),
            );
        }
        if self.inputs.has_threads() {
            return usage(
                "--threads counts on one machine; on a cluster give Spark's options behind --, such as \
                 --executor-cores"
                    .to_owned(),
            );
        }
        if self.out.is_none() {
            if self.calibrate.is_none() {
                return usage(
                    "nothing to write: give --out DIR, or --calibrate FILE, or both".to_owned(),
                );
            }
            let tables = [
                self.sketch.then_some("--sketch"),
                self.rules.first_of_requests(),
                self.subject.first_given(),
            ];
            if let Some(flag) = tables.into_iter().flatten().next() {
                return usage(format!(
                    "{flag} counts for tables: give --out DIR too, or leave it out"
                ));
            }
        }
        if let Some(file) = &self.calibrate {
            if self.rules.contract_path().is_some() {
                return usage(
                    "--calibrate makes the contract that --contract would give: give one"
                        .to_owned(),
                );
            }
            if !self.subject.split_by().is_empty() {
                return usage(
                    "--by splits classes, and --calibrate tells limits of whole ones: calibrate first, then \
                     give --contract"
                        .to_owned(),
                );
            }
            if is_url(file) {
                return usage(format!(
                    "--calibrate {file}: the contract is written as a file, not to a URL"
                ));
            }
            if Path::new(file).exists() {
                return usage(format!("{file} is already there: name another file, or remove it"));
            }
        }
        if spark.is_driver_elsewhere() {
            self.check_elsewhere()?;
        }
        // What is wrong in files that flags name is told before a cluster is asked.
        self.rules.policy()?;
        self.inputs.conventions()?;
        self.subject.split_keys().map(drop)
    }

    /// Refuses what needs the driver to run here.
    fn check_elsewhere(&self) -> Result<(), Fatal> {
        let paths = self.inputs.paths.iter().chain(&self.out).chain(&self.calibrate);
        let is_relative = |path: &&String| !is_url(path) && Path::new(path.as_str()).is_relative();
        if let Some(path) = paths.chain(&self.keep_spans).find(is_relative) {
            return Err(Fatal::Usage(format!(
                "{path}: with --deploy-mode cluster the driver runs elsewhere, where this is another place: \
                 give paths from the root on, which all machines have, or URLs"
            )));
        }
        if self.inputs.strict {
            return Err(Fatal::Usage(
                "--strict: with --deploy-mode cluster nothing comes back of what was lost; leave it out, and \
                 look at the table problems"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// How many bytes there are to read; `None` where only Spark knows.
    fn bytes(&self) -> Result<Option<u64>, Fatal> {
        if self.table || self.inputs.paths.iter().any(|path| is_url(path)) {
            return Ok(None);
        }
        let files = files(&self.inputs.paths)?.into_iter().filter_map(|(_, path)| path);
        // A file that cannot be read is told by the task that has to.
        Ok(Some(files.filter_map(|path| Some(path.metadata().ok()?.len())).sum()))
    }

    /// The folder to write, where it is one and no URL.
    fn folder(&self) -> Option<&Path> {
        self.out.as_deref().filter(|out| !is_url(out)).map(Path::new)
    }

    fn tell(&self, done: Option<Done>) {
        let Some(Done { requests, traces, spans_admitted, spans_rejected, .. }) = done else {
            return output::note("the job has ended; the log of its driver tells what it counted");
        };
        if let Some(file) = &self.calibrate {
            output::note(&format!("what {traces} traces do not declare -> {file}"));
        }
        if let Some(out) = &self.out {
            output::note(&analyze::told(requests, traces, spans_admitted, spans_rejected, out));
        }
    }
}

/// What a job says while it runs, as it is told here.
struct Telling {
    line: StageLine,
    done: Option<Done>,
    error: Option<String>,
}

impl Telling {
    fn new(quiet: bool) -> Self {
        Self { line: StageLine::new(quiet), done: None, error: None }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Stage { name, done, of } => self.line.tell(&name, done, of),
            Event::Note { text } => self.line.beside(|| output::note(&text)),
            Event::Done(done) => self.done = Some(done),
            Event::Error { text } => self.error = Some(text),
        }
    }
}
