//! `dwindle report`: where the deadline of each request class goes.

use super::input::{Calibrating, Inputs, Rules, one_of};
use super::memory::MemoryFlag;
use super::output::{self, Fatal, Page};
use super::selection::Selection;
use super::source::{Part, Source};
use super::{exit, origin};
use crate::calibrate::{Chosen, Observed};
use crate::distributions::Summary;
use crate::exemplars::Exemplars;
use crate::instrumentation::Instrumentation;
use crate::reconstruct::Outlined;
use crate::report::{Format, Options, add_instrumentation, add_retrying, add_timeline, build};
use crate::retrying::Retrying;
use crate::timeline::Timeline;
use crate::units::Nanos;

/// Tell where the deadline of each request class goes.
///
/// Reads exported traces, or folders that `dwindle analyze` wrote. Times are in milliseconds
/// with three significant digits; percentiles stand on the side where a measure hurts, with n and
/// a 95 % interval, and are not told (n<72) where there are too few requests for them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dwindle report traces.jsonl.gz --deadline 1s
  dwindle report traces/ --deadline 'GET /items/*=800ms' --format markdown
  dwindle report traces/ --scope service=payments --by service.version
  dwindle analyze traces/ --out monday/ && dwindle report monday/ tuesday/ --bucket 1h")]
pub(super) struct Args {
    #[command(flatten)]
    inputs: Inputs,

    #[command(flatten)]
    rules: Rules,

    #[command(flatten)]
    calibrating: Calibrating,

    #[command(flatten)]
    memory: MemoryFlag,

    #[command(flatten)]
    selection: Selection,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "terminal", value_parser = one_of(Format::ALL, Format::name))]
    format: Format,

    /// Also tell each class from bucket to bucket of this length, such as 1h: n, in time, elapsed,
    /// least left, late work. Buckets begin at round instants of UTC; at most 200 are told
    #[arg(long, value_name = "DURATION", value_parser = bucket)]
    bucket: Option<Nanos>,

    #[command(flatten)]
    page: Page,
}

/// A length of time that tells one instant from the next in a table.
fn bucket(text: &str) -> Result<Nanos, String> {
    let length = Nanos::parse(text).map_err(|error| error.to_string())?;
    if length < Nanos::from_seconds(1) {
        return Err("a bucket is a second at least".to_owned());
    }
    Ok(length)
}

/// Runs it.
pub(super) fn run(args: &Args) -> Result<u8, Fatal> {
    let mut summary = Summary::default();
    let mut exemplars = Exemplars::default();
    let mut observed = Observed::default();
    let mut retrying = Retrying::default();
    let mut instrumentation = Instrumentation::default();
    let mut timeline = args.bucket.map(Timeline::new);
    let Args { inputs, rules, memory, selection, format, .. } = args;
    let options = Options::for_format(*format);
    let outlined = if options.has_pictures { Outlined::Exemplars } else { Outlined::None };
    let rules = &rules.outlining(outlined).calibrated(args.calibrating);
    let source = Source { inputs, rules, memory, selection, is_judged: false };
    let facts = source.read(|part| match part {
        Part::Traces(tables) => {
            summary.add(tables);
            observed.add(tables);
            retrying.add(tables);
            instrumentation.add(tables);
            if let Some(timeline) = &mut timeline {
                timeline.add(tables);
            }
            if options.has_pictures {
                exemplars.add(tables);
            }
        }
        Part::Findings(tables) => summary.add_findings(tables),
    })?;
    let are_chosen = !facts.chosen_by.is_empty();
    summary.settle_weights(are_chosen);
    if let Some(timeline) = &mut timeline {
        timeline.settle_weights(are_chosen);
    }
    let calibration = observed.calibrate(Chosen::default());
    let mut report = build(&summary, &exemplars, &calibration, &facts, &options);
    add_retrying(&mut report, &retrying, &options);
    add_instrumentation(&mut report, &instrumentation, &options);
    if let Some(timeline) = &timeline {
        add_timeline(&mut report, timeline);
    }
    if options.has_pictures {
        report = report.made_by(&origin::of(&facts.files_read)?);
    }
    output::print(&report.render(args.format, args.page.width(), args.page.is_coloured()))?;
    Ok(exit::done(args.inputs.strict, facts.problems.iter().map(|problem| problem.severity)))
}
