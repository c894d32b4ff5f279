//! `dwindle inspect`: what each file holds.

use serde_json::{Value, json};

use super::exit;
use super::input::Inputs;
use super::manifest::VERSION;
use super::output::{self, Color, Fatal};
use super::progress::ProgressLine;
use crate::ingest::{FileInspection, Settings, inspect};
use crate::report::{Format, inspection, missing};

/// Tell what each file holds, and what it lacks for deadlines to be known.
///
/// Per file: format, spans, traces, roots (spans without a parent), orphans (spans whose parent is
/// not in the file), services, first start and last end, which attributes that tell of deadlines,
/// attempts, queues and outcomes were met and how often, problems, and in words what is missing.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dwindle inspect traces.jsonl.gz
  dwindle inspect traces/ --format ndjson | jq '{path, spans, missing}'")]
pub(super) struct Args {
    #[command(flatten)]
    inputs: Inputs,

    /// How to print it
    #[arg(long, value_enum, default_value = "terminal")]
    format: InspectFormat,

    /// How wide, in columns [default: the terminal's width, else 100]
    #[arg(long, value_name = "COLUMNS")]
    width: Option<u16>,

    /// When to colour; nothing is told by colour alone
    #[arg(long, value_enum, default_value = "auto")]
    color: Color,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum InspectFormat {
    /// For people
    Terminal,
    /// For programs: one object a file, times in nanoseconds since 1970
    Ndjson,
}

/// Runs it.
pub(super) fn run(args: &Args) -> Result<u8, Fatal> {
    args.inputs.refuse_folder("inspect")?;
    args.inputs.start_threads();
    let conventions = args.inputs.conventions()?;
    let files = {
        let progress = ProgressLine::new(args.inputs.quiet);
        let settings = Settings { conventions: &conventions, limits: args.inputs.limits() };
        inspect(&args.inputs.paths, settings, &progress)?
    };
    match args.format {
        InspectFormat::Ndjson => {
            let lines = files.iter().map(|file| object(file).to_string() + "\n");
            output::print(&lines.collect::<String>())?;
        }
        InspectFormat::Terminal => {
            let report = inspection(&files, VERSION);
            let width = output::width(args.width);
            output::print(&report.render(Format::Terminal, width, args.color.wanted()))?;
        }
    }
    let problems = files.iter().flat_map(|file| &file.problems).map(|row| row.severity);
    Ok(exit::done(args.inputs.strict, problems))
}

/// One file for programs. The names are a promise.
fn object(file: &FileInspection) -> Value {
    let facts = &file.facts;
    let keys = facts.seen.keys.iter().map(|(key, seen)| {
        json!({ "key": key, "rules": seen.rule, "count": seen.count, "unparsed": seen.unparsed })
    });
    let text = |sym| file.problem_strings.get(sym);
    let problems = file.problems.iter().map(|row| {
        json!({
            "code": text(row.code),
            "severity": row.severity.name(),
            "blame": row.blame.name(),
            "count": row.count,
            "byte": row.byte,
            "line": row.line,
            "record": row.record,
            "message": text(row.message),
            "help": text(row.help),
        })
    });
    json!({
        "path": facts.path,
        "format": facts.format,
        "compression": facts.compression.name(),
        "bytes": facts.bytes,
        "spans": facts.spans_read,
        "spans_admitted": facts.spans_admitted,
        "spans_rejected": facts.spans_rejected,
        "other_signal_records": facts.other_signal_records,
        "traces": file.traces,
        "roots": file.roots,
        "orphans": file.orphans,
        "duplicate_span_ids": file.duplicate_span_ids,
        "services": file.services,
        "no_service": file.no_service,
        "min_start_ns": file.min_start.map(crate::units::UnixNanos::as_nanos),
        "max_end_ns": file.max_end.map(crate::units::UnixNanos::as_nanos),
        "error_spans": file.error_spans,
        "convention_keys": keys.collect::<Vec<_>>(),
        "missing": missing(file),
        "problems": problems.collect::<Vec<_>>(),
    })
}
