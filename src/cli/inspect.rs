//! `dwindle inspect`: what each file holds, and what it lacks for deadlines to be known.

use std::fmt::Write;

use serde_json::json;

use super::input::Inputs;
use super::output::{self, Fatal};
use super::progress::ProgressLine;
use crate::ingest::{FileInspection, inspect};

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
    let tell = match args.format {
        InspectFormat::Terminal => text,
        InspectFormat::Ndjson => object,
    };
    output::print(&files.iter().map(tell).collect::<Vec<_>>().concat())
}

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
    format!("{object}\\n")
}

fn text(file: &FileInspection) -> String {
    let facts = &file.facts;
    let mut text = String::new();
    // Writing to a string cannot fail.
    let mut line = |words: String| drop(writeln!(text, "{words}"));
    let number = |number: u64| HumanCount(number).to_string();
    line(visible(&facts.path));
    line(format!(
        "  {}, {}, {} bytes",
        facts.format.unwrap_or("empty"),
        facts.compression.name(),
        number(facts.bytes),
    ));
    line(format!(
        "  {} spans ({} rejected), {} traces, {} roots, {} orphans, {} ids used twice, {} errors",
        number(facts.spans_read),
        number(facts.spans_rejected),
        number(file.traces),
        number(file.roots),
        number(file.orphans),
        number(file.duplicate_span_ids),
        number(file.error_spans),
    ));
    text
}
'''
