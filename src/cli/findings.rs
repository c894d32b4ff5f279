//! `dwindle findings`: what is wrong where, those that waste most first.

use super::input::{Calibrating, Inputs, Rules, one_of};
use super::memory::MemoryFlag;
use super::output::{self, Fatal, Page};
use super::selection::Selection;
use super::source::{Part, Source};
use super::{exit, origin};
use crate::distributions::Overview;
use crate::ranking::Ranking;
use crate::report::{Format, findings};

/// Tell what is wrong where, those that waste most first.
///
/// Findings of one code at one hop (caller → callee, operation), by request class: how many, in which
/// share of requests, how much late and residual work they explain, what was granted and whether
/// anybody chose it, the last hop above that still saw a deadline, the services called downstream, and
/// traces to look at. Ids stay the same from run to run; `dwindle check` takes them to suppress a
/// finding. Reads exported traces, or folders that `dwindle analyze` wrote.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dwindle findings traces.jsonl.gz --deadline 1s
  dwindle findings traces/ --contract contract.toml --format markdown
  dwindle analyze traces/ --out tables/ && dwindle findings tables/ --top 50")]
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

    /// How many are told, and told one by one below the table; csv and json tell all [default: 15]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,

    #[command(flatten)]
    page: Page,
}

/// How many people are told of, unless they ask for more.
const TOP: usize = 15;

/// Runs it.
pub(super) fn run(args: &Args) -> Result<u8, Fatal> {
    let mut ranking = Ranking::default();
    let mut overview = Overview::default();
    let Args { inputs, memory, selection, .. } = args;
    let rules = &args.rules.calibrated(args.calibrating);
    let source = Source { inputs, rules, memory, selection, is_judged: false };
    let facts = source.read(|part| match part {
        Part::Traces(tables) => {
            ranking.add(tables);
            overview.add(tables);
        }
        Part::Findings(tables) => ranking.add_findings(tables),
    })?;
    let top = args.top.and_then(|top| usize::try_from(top).ok());
    let told = match args.format {
        Format::Terminal | Format::Markdown | Format::Html => {
            (top.unwrap_or(TOP), top.unwrap_or(TOP))
        }
        Format::Csv | Format::Json => (top.unwrap_or(usize::MAX), 0),
    };
    let mut report = findings(&ranking, &overview, &facts, told);
    if args.format == Format::Html {
        report = report.made_by(&origin::of(&facts.files_read)?);
    }
    output::print(&report.render(args.format, args.page.width(), args.page.is_coloured()))?;
    Ok(exit::done(args.inputs.strict, facts.problems.iter().map(|problem| problem.severity)))
}
