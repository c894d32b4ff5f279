//! `--from`: what is planned is taken from what was measured.

use std::cmp::Reverse;

use clap::{Arg, ArgAction};

use super::form::Form;
use crate::cli::input::{Contracts, Inputs, Rules, Strictness};
use crate::cli::memory::MemoryFlag;
use crate::cli::output::{self, Fatal};
use crate::cli::selection::Selection;
use crate::cli::source::{Part, Source};
use crate::cli::{exit, origin};
use crate::plan::measured::{Asked, Class, Measured, Modelled, Wanted};
use crate::plan::policy::Share;
use crate::report::plan::measured::{self as report, Told};
use crate::report::{Format, RunFacts, visible};

/// So many classes are named where one has to be chosen.
const NAMED: usize = 20;

/// Above the flags that say what to read.
const HEADING: &str = "What was measured";

/// What to read.
#[derive(Debug, clap::Args)]
#[command(
    next_help_heading = HEADING,
    mut_arg("paths", |paths| paths.long("from").display_order(0).required(false).num_args(1..).action(ArgAction::Append).help(
        "Take what no flag says from exported traces (files, folders, patterns, or - for standard \
         input) or from folders that dwindle analyze wrote, and tell for which share of these very \
         requests it holds"
    )),
    mut_args(only_with_from)
)]
pub(super) struct From {
    #[command(flatten)]
    inputs: Inputs,

    #[command(flatten)]
    contracts: Contracts,

    #[command(flatten)]
    strictness: Strictness,

    #[command(flatten)]
    memory: MemoryFlag,

    #[command(flatten)]
    selection: Selection,
}

/// Flags of what is read say nothing where nothing is; but what is written can be told too.
fn only_with_from(arg: Arg) -> Arg {
    let is_free = arg.get_id() == "paths" || arg.get_id() == "quiet";
    let is_one = arg.get_help_heading() == Some(HEADING) && !is_free;
    if is_one { arg.requires("paths") } else { arg }
}

impl From {
    /// Whether it was given.
    pub(super) fn is_given(&self) -> bool {
        !self.inputs.paths.is_empty()
    }

    /// Whether nothing is told on standard error but what is wrong.
    pub(super) fn is_quiet(&self) -> bool {
        self.inputs.quiet
    }

    /// Reads it.
    fn read(&self) -> Result<(Measured, RunFacts), Fatal> {
        let mut measured = Measured::default();
        let rules = &Rules::without_deadlines(&self.contracts, &self.strictness);
        let Self { inputs, memory, selection, .. } = self;
        let source = Source { inputs, rules, memory, selection, is_judged: false };
        let facts = source.read(|part| match part {
            Part::Traces(tables) => measured.add(tables),
            // What several traces show together is no measure of any.
            Part::Findings(_) => {}
        })?;
        Ok((measured, facts))
    }

    /// Tells for which share of the requests so many attempts would have fitted.
    pub(super) fn retries(&self, wanted: &Wanted, form: &Form) -> Result<u8, Fatal> {
        self.tell(form, |told| report::retries(told, wanted))
    }

    /// Tells how the budgets of the requests split over their calls.
    pub(super) fn chain(&self, asked: &Asked, form: &Form) -> Result<u8, Fatal> {
        self.tell(form, |told| report::chain(told, asked))
    }

    fn tell(&self, form: &Form, told: impl FnOnce(&Told<'_>) -> String) -> Result<u8, Fatal> {
        let (measured, facts) = self.read()?;
        let is_page = form.format == Format::Html;
        let page = Told {
            measured: &measured,
            facts: &facts,
            origin: is_page.then(|| origin::of(&facts.files_read)).transpose()?,
            format: form.format,
            width: form.page.width(),
            is_coloured: form.page.is_coloured(),
        };
        output::print(&told(&page))?;
        Ok(self.done(&facts))
    }

    fn done(&self, facts: &RunFacts) -> u8 {
        exit::done(self.inputs.strict, facts.problems.iter().map(|problem| problem.severity))
    }

    /// A scenario of the one class that is read, what is known of the input, and the exit code.
    pub(super) fn modelled(&self) -> Result<(Modelled, RunFacts, u8), Fatal> {
        let (measured, facts) = self.read()?;
        let mut classes: Vec<_> = measured.classes.iter().collect();
        classes.sort_by_key(|(_, class)| Reverse(class.requests.len()));
        let (name, class) = match classes.as_slice() {
            [] => return Err(Fatal::Usage("no request to make a scenario of".to_owned())),
            [one] => *one,
            several => {
                let named =
                    several.iter().take(NAMED).map(|(name, _)| format!("\n  {}", visible(name)));
                let more = several.len().saturating_sub(NAMED);
                let more = (more > 0).then(|| format!("\n  and {more} more"));
                return Err(Fatal::Usage(format!(
                    "a scenario is of one class of requests: choose it by --class, of{}",
                    named.chain(more).collect::<String>()
                )));
            }
        };
        let unmodelled =
            |error| Fatal::Usage(format!("no scenario can be made of {}: {error}", visible(name)));
        let modelled = Modelled::of(name, class, rate(class, &facts)).map_err(unmodelled)?;
        let code = self.done(&facts);
        Ok((modelled, facts, code))
    }
}

/// Requests of a class per second of the time that was observed, where that is some.
fn rate(class: &Class, facts: &RunFacts) -> Option<Share> {
    let (first, last) = facts.counted_for()?;
    let nanos = u128::try_from((last - first).as_nanos()).ok().filter(|&nanos| nanos > 0)?;
    let millionths = class.requests.len() as u128 * 1_000_000_000_000_000 / nanos;
    u64::try_from(millionths).ok().map(Share::from_millionths)
}
