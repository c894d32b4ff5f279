//! `dwindle explain`: one trace, told span by span.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::exit;
use super::input::{Calibrating, Inputs, Rules, one_of};
use super::manifest::VERSION;
use super::memory::MemoryFlag;
use super::output::{self, Fatal, Page};
use super::run;
use super::selection::Subject;
use crate::graveyard;
use crate::ingest::parse_trace_id;
use crate::reconstruct::{Outlined, TraceChoice};
use crate::report::{Format, RunFacts, explanation, explanation_json};
use crate::span::TraceId;
use crate::tables::{Kept, Tables};

/// How it can be printed.
const FORMATS: &[Format] = &[Format::Terminal, Format::Markdown, Format::Json];

/// So many ids are named where none, or more than one, is meant.
const NAMED: usize = 3;

/// Explain where the deadline of one trace went.
///
/// Each request of the trace as a waterfall: what was left at every hop and what it was given, who
/// waited, worked, tried again, or worked for nobody, and each finding at its span. Then six
/// questions answered in words, and what the trace cannot tell. All inputs are read, since clocks
/// and some findings rest on other traces too.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dwindle explain traces/ --trace 4bf92f3577b34da6a3ce929d0e0e4736
  dwindle explain traces/ --trace 4bf92f35 --contract budgets.toml --format markdown")]
pub(super) struct Args {
    #[command(flatten)]
    inputs: Inputs,

    /// The trace: its id in hexadecimal digits of any case, the right half of it, its first digits
    /// (8 or more) where no other trace begins so, or base64
    #[arg(long, value_name = "ID", value_parser = choice)]
    trace: Choice,

    /// Tell every span: by default siblings that are alike and unremarkable are told together, and
    /// of very large requests what matters most
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    rules: Rules,

    #[command(flatten)]
    calibrating: Calibrating,

    #[command(flatten)]
    memory: MemoryFlag,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "terminal", value_parser = one_of(FORMATS, Format::name))]
    format: Format,

    #[command(flatten)]
    page: Page,
}

/// The trace that was named, and how.
#[derive(Clone, Debug)]
struct Choice {
    text: String,
    trace: TraceChoice,
}

fn choice(text: &str) -> Result<Choice, &'static str> {
    let text = text.trim();
    let trace = TraceChoice::new(text, parse_trace_id(text));
    let trace = trace.ok_or("expected hexadecimal digits, 8 to 32, or 16 bytes in base64")?;
    Ok(Choice { text: text.to_owned(), trace })
}

/// Runs it.
pub(super) fn run(args: &Args) -> Result<u8, Fatal> {
    args.inputs.refuse_folder("explain")?;
    let chosen = Outlined::Chosen(args.trace.trace);
    let rules = args.rules.outlining(chosen).calibrated(args.calibrating);
    let mut search = Search::new(&args.trace);
    let whole = Subject::default();
    let mut run = run::run(&args.inputs, &rules, &args.memory, &whole, |group| {
        for tables in group {
            search.take(tables);
        }
        Ok(())
    })?;
    let ingested = &run.ingested;
    let facts = RunFacts {
        version: VERSION.to_owned(),
        traces: run.facts.traces,
        spans_rejected: ingested.files.iter().map(|file| file.spans_rejected).sum(),
        calibrated: run.calibrated.take(),
        ..RunFacts::default()
    };
    let tables = with_found_late(search.found(facts.traces)?, std::mem::take(&mut run.graveyard));
    let text = match args.format {
        Format::Json => explanation_json(&tables, &facts),
        format => {
            let report = explanation(&tables, &facts, args.all);
            report.render(format, args.page.width(), args.page.is_coloured())
        }
    };
    output::print(&text)?;
    Ok(exit::done(args.inputs.strict, ingested.problems.iter().map(|row| row.severity)))
}

/// The rows of the traces that may be meant, and which ids come near.
struct Search<'a> {
    choice: &'a Choice,
    found: Vec<Tables>,
    near: BTreeSet<(Reverse<u32>, TraceId)>,
}

impl<'a> Search<'a> {
    const fn new(choice: &'a Choice) -> Self {
        Self { choice, found: Vec::new(), near: BTreeSet::new() }
    }

    fn take(&mut self, mut tables: Tables) {
        let trace = &self.choice.trace;
        for row in &tables.requests {
            self.near.insert((Reverse(trace.likeness(row.trace_id)), row.trace_id));
            if self.near.len() > NAMED {
                self.near.pop_last();
            }
        }
        tables.retain(|id| trace.matches(id));
        if !tables.requests.is_empty() {
            self.found.push(tables);
        }
    }

    /// The rows of the one that is meant, of so many that were read.
    fn found(self, traces: u64) -> Result<Tables, Fatal> {
        let Self { choice, found, near } = self;
        let rows = found.iter().flat_map(|tables| &tables.requests);
        let mut ids: BTreeSet<TraceId> = rows.map(|row| row.trace_id).collect();
        if ids.iter().any(|&id| choice.trace.is(id)) {
            ids.retain(|&id| choice.trace.is(id));
        }
        let text = &choice.text;
        let id = match (ids.first(), ids.len()) {
            (Some(&id), 1) => id,
            (None, _) => {
                let nearest = match named(near.iter().map(|(_, id)| *id)) {
                    ids if ids.is_empty() => String::new(),
                    ids => format!("; the nearest ids are {ids}"),
                };
                return Err(Fatal::Usage(format!(
                    "no trace {text} among the {traces} read{nearest}"
                )));
            }
            (_, count) => {
                return Err(Fatal::Usage(format!(
                    "{count} traces of the {traces} read begin with {text}: {}{}; give more digits",
                    named(ids.iter().copied().take(NAMED)),
                    if count > NAMED { ", …" } else { "" }
                )));
            }
        };
        let mut found = found.into_iter().map(|mut tables| {
            tables.retain(|other| other == id);
            tables
        });
        Ok(found.find(|tables| !tables.requests.is_empty()).unwrap_or_default())
    }
}

/// The rows of a trace with the findings that needed all traces.
fn with_found_late(mut tables: Tables, mut found: Tables) -> Tables {
    found.retain(|id| tables.requests.iter().any(|row| row.trace_id == id));
    let findings = Kept { strings: tables.strings, rows: tables.findings };
    Kept { strings: tables.strings, rows: tables.findings } = graveyard::merge(findings, found);
    tables
}

fn named(ids: impl Iterator<Item = TraceId>) -> String {
    ids.map(|id| id.to_string()).collect::<Vec<_>>().join(", ")
}
