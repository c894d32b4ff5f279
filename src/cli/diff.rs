//! `dwindle diff`: what is different between two sets of traces.

use clap::ArgAction;

use super::input::{Inputs, Rules, one_of};
use super::memory::MemoryFlag;
use super::output::{self, Fatal, Page};
use super::selection::Selection;
use super::source::{Part, Source};
use super::{exit, origin};
use crate::diff::{Diff, Side};
use crate::report::diff::{Told, regressions, render};
use crate::report::{Format, RunFacts};

/// What fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum FailOn {
    /// Any line that is marked worse; a new finding may be one of them
    Regression,
}

/// Tell what is different between two sets of traces, and what may be chance.
///
/// For each request class that both have: percentiles of its measures and of what was left at each hop,
/// shares of requests that completed, failed, were retried or have a finding. Each line has its shift
/// with a 95 % interval, and is marked worse or better only where a test by permutation of traces says
/// so after correction for all lines of the whole diff; else it is ~, with about how many more requests
/// would tell it. docs/diff.md says how.
///
/// Each side is exported traces, or one folder that `dwindle analyze` wrote, by the same contracts.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("paths", |paths| paths.action(ArgAction::Set).num_args(2).value_names(["BASE", "HEAD"]).help(
        "What to compare, and with what it is compared: each a file, a folder or a pattern of exported \
         traces, - for standard input, or a folder that dwindle analyze wrote"
    )),
    after_help = "\
Examples:
  dwindle diff before.jsonl.gz after.jsonl.gz --deadline 1s
  dwindle diff monday/ tuesday/ --contract contract.toml --format markdown
  dwindle diff tables-of-main/ tables-of-branch/ --fail-on regression"
)]
pub(super) struct Args {
    #[command(flatten)]
    inputs: Inputs,

    #[command(flatten)]
    rules: Rules,

    #[command(flatten)]
    memory: MemoryFlag,

    #[command(flatten)]
    selection: Selection,

    /// What fails, with exit code 1; so does a comparison in which no line could tell anything
    #[arg(long, value_enum, value_name = "WHAT")]
    fail_on: Option<FailOn>,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "terminal", value_parser = one_of(Format::ALL, Format::name))]
    format: Format,

    #[command(flatten)]
    page: Page,
}

/// So many lines are named on standard error where they fail; the page has all.
const NAMED: usize = 10;

/// Runs it.
pub(super) fn run(args: &Args) -> Result<u8, Fatal> {
    let [base, head] = args.inputs.paths.as_slice() else {
        return Err(Fatal::Usage("diff compares two inputs: BASE and HEAD".to_owned()));
    };
    if base == "-" && head == "-" {
        return Err(Fatal::Usage("standard input can be one side only".to_owned()));
    }
    let (base, of_base) = side(args, base)?;
    let (head, of_head) = side(args, head)?;
    if of_base.contracts != of_head.contracts {
        return Err(Fatal::Usage(
            "the sides were analyzed by different contracts, so that deadlines and budgets differ \
             whatever the requests did: analyze the traces of both by the same"
                .to_owned(),
        ));
    }
    if (&of_base.scope, &of_base.split_by) != (&of_head.scope, &of_head.split_by) {
        return Err(Fatal::Usage(
            "the sides were analyzed with different --scope or --by: their classes are not the same"
                .to_owned(),
        ));
    }
    let diff = Diff::of(&base, &head);
    let files = [of_base.files_read.as_slice(), of_head.files_read.as_slice()].concat();
    let origin = (args.format == Format::Html).then(|| origin::of(&files)).transpose()?;
    let told = Told { diff: &diff, base: &of_base, head: &of_head, origin };
    output::print(&render(&told, args.format, args.page.width(), args.page.is_coloured()))?;
    let is_gate = args.fail_on == Some(FailOn::Regression);
    if diff.judged == 0 {
        output::note("warning: nothing could be compared: no line has requests enough in both");
        if is_gate {
            return Ok(exit::GATE_FAILED);
        }
    }
    let worse = regressions(&diff);
    if is_gate && !worse.is_empty() {
        output::note(&format!("regression: {} worse", worse.len()));
        worse.iter().take(NAMED).for_each(|line| output::note(&format!("worse: {line}")));
        return Ok(exit::GATE_FAILED);
    }
    let problems = of_base.problems.iter().chain(&of_head.problems);
    Ok(exit::done(args.inputs.strict, problems.map(|problem| problem.severity)))
}

fn side(args: &Args, path: &str) -> Result<(Side, RunFacts), Fatal> {
    let mut side = Side::default();
    let inputs = &args.inputs.only(path);
    let Args { rules, memory, selection, .. } = args;
    let source = Source { inputs, rules, memory, selection, is_judged: false };
    let facts = source.read(|part| match part {
        Part::Traces(tables) => side.add(tables),
        Part::Findings(tables) => side.add_findings(tables),
    })?;
    Ok((side, facts))
}
