//! `dwindle inspect`: what each file holds, and what it lacks for deadlines to be known.

use serde_json::json;

use super::input::Inputs;
use super::manifest::VERSION;
use super::output::{self, Color, Fatal};
use super::progress::ProgressLine;
use crate::ingest::{FileInspection, inspect};
use crate::report::{Format, inspection};
use crate::units::UnixNanos;

/// Tell what each file holds, and what it lacks for deadlines to be known.
///
/// Counts are of records as written: a record that is there twice counts twice.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dwindle inspect traces/*.jsonl
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
    /// One JSON object a file
    Ndjson,
}

/// Runs it.
pub(super) fn run(args: &Args) -> Result<(), Fatal> {
    args.inputs.start_threads();
    let conventions = args.inputs.conventions()?;
    let progress = ProgressLine::new(args.inputs.quiet);
    let files = inspect(&args.inputs.inputs, &conventions, &progress)?;
    drop(progress);
    output::print(&match args.format {
        InspectFormat::Terminal => {
            let report = inspection(VERSION, &files);
            report.render(Format::Terminal, output::width(args.width), args.color.wanted())
        }
        InspectFormat::Ndjson => files.iter().map(object).collect(),
    })
}

/// One line; names are those of the counts that are usual for trace files.
fn object(file: &FileInspection) -> String {
    let facts = &file.facts;
    let keys = facts.seen.keys.iter().map(|(key, count)| {
        json!({ "key": key, "rules": count.rule, "spans": count.count, "unparsed": count.unparsed })
    });
    let object = json!({
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
        "min_start_ns": file.min_start.map(UnixNanos::as_nanos),
        "max_end_ns": file.max_end.map(UnixNanos::as_nanos),
        "error_spans": file.error_spans,
        "convention_keys": keys.collect::<Vec<_>>(),
        "missing": file.missing(),
    });
    format!("{object}\n")
}
