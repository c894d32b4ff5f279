//! `dwindle plan replay`: measured requests run again under another policy.

use std::collections::BTreeSet;

use crate::cli::input::{self, Inputs, Rules, one_of};
use crate::cli::manifest::Manifest;
use crate::cli::memory::MemoryFlag;
use crate::cli::output::{self, Fatal, Page};
use crate::cli::selection::{By, Selection, Which};
use crate::cli::{exit, origin, run};
use crate::clocks::Offsets;
use crate::distributions::Overview;
use crate::plan::policy::Policy;
use crate::plan::replay::{Gathering, Replay, Summary};
use crate::reconstruct::{self, courses};
use crate::report::plan::replay::{Told, render};
use crate::report::{Format, Problem, RunFacts};
use crate::selection;
use crate::span::Spans;
use crate::tables::Tables;

/// Run measured requests again under another policy.
///
/// Each request is taken through the same steps again, with other timeouts, attempts, backoffs and
/// deadlines, and compared with itself: latency, outcome, attempts, late and residual work, load per
/// callee. What nobody saw, such as how long a call would have gone on that timed out, is told as bounds,
/// from the best that may be to the worst, and never guessed. docs/planning.md defines the rules, and
/// what they leave out.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dwindle plan replay traces.jsonl.gz --policy policy.toml
  dwindle plan replay traces/ --policy policy.toml --class 'storefront *' --format markdown

A policy, of which each key may be absent and then stays as it was measured:
  deadline = \"1s\"
  return_reserve = \"80ms\"
  propagate = true
  stop_on_cancel = true
  reject_unfundable = true
  [[call]]
  callee = \"payments*\"
  timeout = \"150ms\"
  max_attempts = 3
  backoff = [\"100ms\", \"200ms\"]")]
pub(super) struct Args {
    #[command(flatten)]
    inputs: Inputs,

    #[command(flatten)]
    rules: Rules,

    #[command(flatten)]
    memory: MemoryFlag,

    #[command(flatten)]
    which: Which,

    #[command(flatten)]
    by: By,

    /// The policy (TOML)
    #[arg(long, value_name = "FILE")]
    policy: String,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "terminal", value_parser = one_of(Format::ALL, Format::name))]
    format: Format,

    #[command(flatten)]
    page: Page,
}

/// What one part of the input tells.
struct Part {
    summary: Summary,
    /// The contracts that matched.
    matched: BTreeSet<String>,
    /// The calls of the policy that did, by number.
    calls: BTreeSet<usize>,
    chosen: u64,
    left_out: u64,
}

/// Runs it.
pub(super) fn run(args: &Args) -> Result<u8, Fatal> {
    args.inputs.refuse_folder("plan replay")?;
    let policy = policy(&args.policy)?;
    let selection = Selection::of_requests(&args.by, &args.which);
    let chosen = selection.requests()?;
    let mut summary = Summary::default();
    let (mut matched, mut calls) = (BTreeSet::new(), BTreeSet::new());
    let (mut told, mut left_out) = (0, 0);
    let read = run::read(
        &args.inputs,
        &args.rules,
        &args.memory,
        &selection.subject,
        |spans, rules, offsets| part(&policy, &chosen, spans, rules, offsets),
        |parts: Vec<Part>| {
            for part in parts {
                summary.merge(part.summary);
                matched.extend(part.matched);
                calls.extend(part.calls);
                told += part.chosen;
                left_out += part.left_out;
            }
            Ok(())
        },
    )?;
    let run = read.ended(&selection.subject, &matched, Tables::default());
    let strings = &run.ingested.problem_strings;
    let problems = run.ingested.problems.iter().map(|row| Problem::from_row(row, strings));
    let problems = problems.collect();
    let facts = Manifest::new(&args.inputs.paths, &run, &Overview::default()).run_facts(problems);
    let facts = RunFacts { chosen: selection.told(told, left_out), ..facts };
    if told == 0 && left_out > 0 {
        output::note("warning: no request is of that class and of that time");
    }
    for number in (0..policy.call.len()).filter(|number| !calls.contains(number)) {
        let number = number + 1;
        output::note(&format!(
            "warning: --policy {}: [[call]] {number} holds for no call: none matches it, or one before \
             it holds",
            args.policy
        ));
    }
    let origin =
        (args.format == Format::Html).then(|| origin::of(&facts.files_read)).transpose()?;
    let page = Told { summary: &summary, facts: &facts, policy: &args.policy, origin };
    output::print(&render(&page, args.format, args.page.width(), args.page.is_coloured()))?;
    Ok(exit::done(args.inputs.strict, facts.problems.iter().map(|problem| problem.severity)))
}

fn policy(file: &str) -> Result<Policy, Fatal> {
    let text = input::read("--policy", file)?;
    let policy =
        Policy::parse(file, &text).map_err(|error| Fatal::Config { flag: "--policy", error })?;
    if policy.call.iter().any(|call| call.retry_budget.is_some()) {
        return Err(Fatal::Usage(format!(
            "--policy {file}: retry_budget counts the calls of all requests together, and replay runs \
             each request by itself: leave it out, and bound retries by max_attempts; dwindle plan \
             model tells what a retry budget does"
        )));
    }
    Ok(policy)
}

fn part(
    policy: &Policy,
    chosen: &selection::Selection,
    spans: Spans,
    rules: &reconstruct::Policy,
    offsets: &Offsets,
) -> Part {
    let mut replay = Replay::new(policy);
    let mut gathering = Gathering::default();
    let mut matched = BTreeSet::new();
    let (mut told, mut left_out) = (0, 0);
    let strings = courses(spans, rules, offsets, |course, strings| {
        if let Some(contract) = course.contract.map(|name| strings.get(name))
            && !matched.contains(contract)
        {
            matched.insert(contract.to_owned());
        }
        if chosen.has(strings.get(course.class), course.began) {
            told += 1;
            gathering.add(course.class, &replay.run(course, strings), strings);
        } else {
            left_out += 1;
        }
    });
    let calls = replay.matched();
    Part { summary: gathering.named(&strings), matched, calls, chosen: told, left_out }
}
