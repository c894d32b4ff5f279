//! `dwindle report`: where the deadline of each request class goes.

use super::input::{Inputs, Rules, one_of};
use super::memory::MemoryFlag;
use super::output::{self, Fatal, Page};
use super::source::{Part, Source};
use super::{exit, origin};
use crate::distributions::Summary;
use crate::exemplars::Exemplars;
use crate::reconstruct::Outlined;
use crate::report::{Format, Options, build};

/// Tell where the deadline of each request class goes.
///
/// Reads exported traces, or one folder that `dwindle analyze` wrote. Times are in milliseconds
/// with three significant digits; percentiles stand on the side where a measure hurts, with n and
/// a 95 % interval, and are not told (n<72) where there are too few requests for them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dwindle report traces.jsonl.gz --deadline 1s
  dwindle report traces/ --deadline 'GET /items/*=800ms' --format markdown
  dwindle analyze traces/ --out tables/ && dwindle report tables/")]
pub(super) struct Args {
    #[command(flatten)]
    inputs: Inputs,

    #[command(flatten)]
    rules: Rules,

    #[command(flatten)]
    memory: MemoryFlag,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "terminal", value_parser = one_of(Format::ALL, Format::name))]
    format: Format,

    #[command(flatten)]
    page: Page,
}

/// Runs it.
pub(super) fn run(args: &Args) -> Result<u8, Fatal> {
    let mut summary = Summary::default();
    let mut exemplars = Exemplars::default();
    let Args { inputs, rules, memory, format, .. } = args;
    let options = Options::for_format(*format);
    let outlined = if options.has_pictures { Outlined::Exemplars } else { Outlined::None };
    let rules = &rules.outlining(outlined);
    let source = Source { inputs, rules, memory, is_judged: false };
    let mut facts = source.read(|part| match part {
        Part::Traces(tables) => {
            summary.add(tables);
            if options.has_pictures {
                exemplars.add(tables);
            }
        }
        Part::Findings(tables) => summary.add_findings(tables),
    })?;
    summary.settle_weights(!facts.chosen_by.is_empty());
    if options.has_pictures {
        facts.origin = Some(origin::of(&facts.files_read)?);
    }
    let report = build(&summary, &exemplars, &facts, &options);
    output::print(&report.render(args.format, args.page.width(), args.page.is_coloured()))?;
    Ok(exit::done(args.inputs.strict, facts.problems.iter().map(|problem| problem.severity)))
}
