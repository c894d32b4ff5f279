//! `dwindle inspect`: what each file holds.

use serde_json::{Map, Value, json};

use super::exit;
use super::input::Inputs;
use super::manifest::VERSION;
use super::output::{self, Fatal, Page};
use super::progress::ProgressLine;
use crate::ingest::{Counts, FileInspection, Inspection, Settings, inspect};
use crate::report::{Format, SCHEMA_VERSION, inspection, missing};
use crate::units::UnixNanos;

/// Tell what each file holds, and what it lacks for deadlines to be known.
///
/// Per file, and for several together: format, spans, traces, roots (spans without a parent),
/// orphans (spans whose parent is not there), services, first start and last end, which attributes that tell of deadlines,
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

    #[command(flatten)]
    page: Page,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum InspectFormat {
    /// For people
    Terminal,
    /// For programs: an object a file, and a last one, with `files` in place of `path`, for several
    /// together; times in nanoseconds since 1970
    Ndjson,
}

/// Runs it.
pub(super) fn run(args: &Args) -> Result<u8, Fatal> {
    args.inputs.refuse_folder("inspect")?;
    args.inputs.start_threads();
    let conventions = args.inputs.conventions()?;
    let inspected = {
        let progress = ProgressLine::new(args.inputs.quiet);
        let settings = Settings { conventions: &conventions, limits: args.inputs.limits() };
        inspect(&args.inputs.paths, settings, &progress)?
    };
    match args.format {
        InspectFormat::Ndjson => {
            output::print(&lines(&inspected))?;
        }
        InspectFormat::Terminal => {
            let report = inspection(&inspected, VERSION);
            output::print(&report.render(
                Format::Terminal,
                args.page.width(),
                args.page.is_coloured(),
            ))?;
        }
    }
    let problems = inspected.files.iter().flat_map(|file| &file.problems).map(|row| row.severity);
    Ok(exit::done(args.inputs.strict, problems))
}

/// For programs: each file, then all together. The names are a promise.
fn lines(inspected: &Inspection) -> String {
    let mut objects: Vec<Map<String, Value>> = inspected.files.iter().map(file).collect();
    if let Some(together) = &inspected.together {
        let mut object = map([
            ("schema_version", json!(SCHEMA_VERSION)),
            ("files", json!(inspected.files.len())),
            ("spans_admitted", json!(together.spans)),
        ]);
        object.extend(counts(together));
        objects.push(object);
    }
    objects.into_iter().map(|object| Value::from(object).to_string() + "\n").collect()
}

fn file(file: &FileInspection) -> Map<String, Value> {
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
    let mut object = map([
        ("schema_version", json!(SCHEMA_VERSION)),
        ("path", json!(facts.path)),
        ("format", json!(facts.format)),
        ("compression", json!(facts.compression.name())),
        ("bytes", json!(facts.bytes)),
        ("spans", json!(facts.spans_read)),
        ("spans_admitted", json!(facts.spans_admitted)),
        ("spans_rejected", json!(facts.spans_rejected)),
        ("other_signal_records", json!(facts.other_signal_records)),
    ]);
    object.extend(counts(&file.counts));
    object.insert("convention_keys".to_owned(), keys.collect());
    object.insert("problems".to_owned(), problems.collect());
    object
}

fn counts(counts: &Counts) -> Map<String, Value> {
    map([
        ("traces", json!(counts.traces)),
        ("roots", json!(counts.roots)),
        ("orphans", json!(counts.orphans)),
        ("duplicate_span_ids", json!(counts.duplicate_span_ids)),
        ("services", json!(counts.services)),
        ("no_service", json!(counts.no_service)),
        ("min_start_ns", json!(counts.min_start.map(UnixNanos::as_nanos))),
        ("max_end_ns", json!(counts.max_end.map(UnixNanos::as_nanos))),
        ("error_spans", json!(counts.error_spans)),
        ("missing", json!(missing(counts))),
    ])
}

fn map<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
