//! `dwindle plan model`: what a policy does on a logical clock.

use std::path::PathBuf;

use super::from::From;
use super::model_folder;
use crate::cli::exit;
use crate::cli::input::{one_of, read};
use crate::cli::manifest::VERSION;
use crate::cli::origin::{self, quoted};
use crate::cli::output::{self, Fatal, Page};
use crate::plan::model::{BUILT_IN, Model, Run, Scenario};
use crate::report::plan::measured::rests_on;
use crate::report::plan::model::Told;
use crate::report::{Format, Origin};

/// What the built-in scenario is called in errors.
const BUILT_IN_NAME: &str = "built-in";

/// Run requests under some configurations on a logical clock, and tell how they fare.
///
/// A request makes arms of calls beside one another; how long each takes is read from a cycle, or drawn
/// by a seed: the same scenario and seed give the same bytes. Without --scenario 40 requests of two arms
/// of two calls run normally and in a widespread slowdown, under four configurations: no budget,
/// deadline propagation, allocated timeouts, a retry budget. Nothing queues: calls take no longer because
/// there are more of them. docs/planning.md tells the model and the keys of scenarios.
///
/// With --from the scenario is made of what was measured of one class: whom it calls, how long attempts
/// took, its deadline and own time. --print-scenario prints it, for people to correct.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dwindle plan model
  dwindle plan model --print-scenario > scenario.toml
  dwindle plan model --scenario scenario.toml --seed 7 --format csv
  dwindle plan model --from traces/ --class 'storefront GET *' --print-scenario > measured.toml
  dwindle plan model --emit run && dwindle report run/traces --contract run/contract.toml")]
pub(super) struct Args {
    /// What to run (TOML), in place of the built-in scenario
    #[arg(long, value_name = "FILE", conflicts_with = "paths")]
    scenario: Option<String>,

    /// By which durations are drawn that are random, in place of the scenario's own seed
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,

    /// Print the scenario instead of running it
    #[arg(long, conflicts_with = "emit")]
    print_scenario: bool,

    /// Write the run to a folder as well, made if absent: OTLP traces, the contract to read them by, and
    /// what the model knows of each request. An earlier run is replaced, other files never
    #[arg(long, value_name = "DIR")]
    emit: Option<PathBuf>,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "terminal", value_parser = one_of(Format::ALL, Format::name))]
    format: Format,

    #[command(flatten)]
    page: Page,

    #[command(flatten)]
    from: From,
}

/// Runs it. Whatever ends it is told with the command that repeats it.
pub(super) fn run(args: &Args) -> Result<u8, Fatal> {
    told(args).map_err(|error| {
        if error.is_closed_pipe() {
            return error;
        }
        let emit =
            args.emit.as_ref().map(|dir| format!(" --emit {}", quoted(&dir.to_string_lossy())));
        let command = command(args, false) + &emit.unwrap_or_default();
        Fatal::Repeatable { error: Box::new(error), command }
    })
}

fn told(args: &Args) -> Result<u8, Fatal> {
    let Written { text, name, flag, rests_on, origin, code } = text(args)?;
    let config = |error| Fatal::Config { flag, error };
    let mut scenario = Scenario::parse(&name, &text).map_err(config)?;
    let is_built_in = text == BUILT_IN;
    scenario.seed = args.seed.unwrap_or(scenario.seed);
    if args.print_scenario {
        output::print(&text)?;
        return Ok(code);
    }
    let model = Model::of(&scenario).map_err(|error| Fatal::Usage(error.to_string()))?;
    let runs = model.runs();
    let rows: Vec<_> = runs.iter().map(Run::row).collect();
    if let Some(dir) = &args.emit {
        model_folder::write(dir, &scenario, &runs)?;
        if !args.from.is_quiet() {
            output::note(&model_folder::told(dir));
        }
    }
    let command = command(args, is_built_in);
    let told = Told {
        scenario: &scenario,
        rows: &rows,
        command: &command,
        version: VERSION,
        rests_on: &rests_on,
        origin: origin.as_ref(),
    };
    output::print(&told.render(args.format, args.page.width(), args.page.is_coloured()))?;
    Ok(code)
}

/// A scenario as text.
struct Written {
    text: String,
    /// What it is called in errors, and which flag names it.
    name: String,
    flag: &'static str,
    /// Where it was measured, on what it rests, and how a page is made.
    rests_on: Vec<String>,
    origin: Option<Origin>,
    /// The exit code, if nothing else goes wrong.
    code: u8,
}

fn text(args: &Args) -> Result<Written, Fatal> {
    if args.from.is_given() {
        let (modelled, facts, code) = args.from.modelled()?;
        let is_page = args.format == Format::Html && !args.print_scenario;
        return Ok(Written {
            text: modelled.to_toml(),
            name: "what was measured".to_owned(),
            flag: "--from",
            rests_on: rests_on(&modelled, &facts),
            origin: is_page.then(|| origin::of(&facts.files_read)).transpose()?,
            code,
        });
    }
    let (text, name) = match &args.scenario {
        None => (BUILT_IN.to_owned(), BUILT_IN_NAME.to_owned()),
        Some(path) => (read("--scenario", path)?, path.clone()),
    };
    let (rests_on, origin) = (Vec::new(), None);
    Ok(Written { text, name, flag: "--scenario", rests_on, origin, code: exit::DONE })
}

/// The command that gives the same rows.
fn command(args: &Args, is_built_in: bool) -> String {
    if args.from.is_given() {
        return origin::command();
    }
    let mut words = vec!["dwindle plan model".to_owned()];
    let scenario = args.scenario.as_ref().filter(|_| !is_built_in);
    words.extend(scenario.map(|path| format!("--scenario {}", quoted(path))));
    words.extend(args.seed.map(|seed| format!("--seed {seed}")));
    words.join(" ")
}
