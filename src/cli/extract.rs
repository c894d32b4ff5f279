//! `dwindle extract`: one trace, to show to others.

use super::exit;
use super::input::Inputs;
use super::output::{self, Fatal};
use super::progress::ProgressLine;
use crate::extract::{anonymised, written};
use crate::ingest::{Settings, excerpt, parse_trace_id};
use crate::span::TraceId;

/// Write one trace as OTLP JSON, whatever it was exported as.
///
/// All spans of the trace in all inputs, in one document on standard output. With --anonymise it can
/// go into a bug report: services, operations, routes, hosts and targets get neutral names
/// (service-1, operation-07), and of attributes, messages and events only what the tables are made
/// from is left: times, attempts, queues, outcomes, under the same keys. Ids and times stay. The
/// tables of the extract are those of the trace but for names, read with the same --conventions and
/// --heuristics and without a contract. Look at it before you send it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dwindle extract traces/ --trace 4bf92f3577b34da6a3ce929d0e0e4736 > trace.json
  dwindle extract traces/ --trace 4bf92f3577b34da6a3ce929d0e0e4736 --anonymise | dwindle report -")]
pub(super) struct Args {
    #[command(flatten)]
    inputs: Inputs,

    /// The trace: up to 32 hexadecimal digits, to which zeros are added on the left, or base64
    #[arg(long, value_name = "ID", value_parser = trace_id)]
    trace: TraceId,

    /// Give everything neutral names, and keep no attribute's text
    #[arg(long)]
    anonymise: bool,
}

fn trace_id(text: &str) -> Result<TraceId, &'static str> {
    parse_trace_id(text).ok_or("expected up to 32 hexadecimal digits, or 16 bytes in base64")
}

/// Runs it.
pub(super) fn run(args: &Args) -> Result<u8, Fatal> {
    args.inputs.refuse_folder("extract")?;
    args.inputs.start_threads();
    let conventions = args.inputs.conventions()?;
    let excerpt = {
        let progress = ProgressLine::new(args.inputs.quiet);
        let settings = Settings { conventions: &conventions, limits: args.inputs.limits() };
        excerpt(&args.inputs.paths, settings, args.trace, &progress)?
    };
    if excerpt.written.is_empty() {
        let read: u64 = excerpt.files.iter().map(|file| file.spans_read).sum();
        return Err(Fatal::Usage(format!(
            "no span of trace {} among the {read} read; trace_id in the tables of `dwindle \
             analyze` tells the ids as they are read",
            args.trace
        )));
    }
    let document =
        if args.anonymise { anonymised(&excerpt, &conventions) } else { written(&excerpt) };
    let document = document.map_err(|error| Fatal::Usage(error.to_string()))?;
    output::print(&format!("{document:#}\n"))?;
    if !args.inputs.quiet {
        output::note(&format!("{} spans of trace {}", excerpt.written.len(), args.trace));
    }
    let problems = excerpt.problems.iter().map(|row| row.severity);
    Ok(exit::done(args.inputs.strict, problems))
}
