//! `dwindle plan model`: what a policy does on a logical clock.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::from::From;
use crate::cli::exit;
use crate::cli::input::{one_of, read};
use crate::cli::manifest::VERSION;
use crate::cli::origin::{self, quoted};
use crate::cli::output::{self, Fatal, Page};
use crate::plan::model::{BUILT_IN, Model, Run, Scenario};
use crate::report::Format;
use crate::report::plan::model::Told;
use crate::tables::folder::FolderError;

/// What the built-in scenario is called in errors.
const BUILT_IN_NAME: &str = "built-in";

/// The file of a folder of traces that tells what the model knows. It is written last, so that a
/// folder without one is not whole; its presence says that the folder is ours.
const TRUTH: &str = "truth.json";
const CONTRACT: &str = "contract.toml";
const TRACES: &str = "traces";

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
        Fatal::Repeatable { error: Box::new(error), command: command(args, false) }
    })
}

fn told(args: &Args) -> Result<u8, Fatal> {
    let Text { text, name, flag, code } = text(args)?;
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
        emit(dir, &scenario, &runs)?;
    }
    let command = command(args, is_built_in);
    let told = Told { scenario: &scenario, rows: &rows, command: &command, version: VERSION };
    output::print(&told.render(args.format, args.page.width(), args.page.is_coloured()))?;
    Ok(code)
}

/// A scenario as text.
struct Text {
    text: String,
    /// What it is called in errors, and which flag names it.
    name: String,
    flag: &'static str,
    /// The exit code, if nothing else goes wrong.
    code: u8,
}

fn text(args: &Args) -> Result<Text, Fatal> {
    if args.from.is_given() {
        let (modelled, code) = args.from.modelled()?;
        let name = "what was measured".to_owned();
        return Ok(Text { text: modelled.to_toml(), name, flag: "--from", code });
    }
    let (text, name) = match &args.scenario {
        None => (BUILT_IN.to_owned(), BUILT_IN_NAME.to_owned()),
        Some(path) => (read("--scenario", path)?, path.clone()),
    };
    Ok(Text { text, name, flag: "--scenario", code: exit::DONE })
}

/// The command that gives the same rows.
fn command(args: &Args, is_built_in: bool) -> String {
    if args.from.is_given() {
        return origin::command();
    }
    let mut command = "dwindle plan model".to_owned();
    if let Some(path) = args.scenario.as_ref().filter(|_| !is_built_in) {
        command += &format!(" --scenario {}", quoted(path));
    }
    if let Some(seed) = args.seed {
        command += &format!(" --seed {seed}");
    }
    command
}

/// Writes traces, contract and truth.
fn emit(dir: &Path, scenario: &Scenario, runs: &[Run<'_>]) -> Result<(), Fatal> {
    let traces = |run: &Run<'_>| format!("{TRACES}/{}.jsonl", run.file_name());
    let mut files: Vec<String> = runs.iter().map(traces).collect();
    files.push(CONTRACT.to_owned());
    clear(dir, &files)?;
    let at = |path: &Path| {
        let path = path.to_owned();
        move |error| Fatal::Written { path: path.clone(), error }
    };
    fs::create_dir_all(dir.join(TRACES)).map_err(at(&dir.join(TRACES)))?;
    // Until it is whole nothing but this says that the folder is ours.
    let head = json!({ "dwindle_version": VERSION, "scenario": scenario.name, "seed": scenario.seed, "files": files });
    let partial = dir.join(format!("{TRUTH}.partial"));
    fs::write(&partial, head.to_string()).map_err(at(&partial))?;
    let path = dir.join(CONTRACT);
    let contracts: Vec<String> = runs.iter().map(Run::contract).collect();
    fs::write(&path, contracts.join("\n")).map_err(at(&path))?;

    let mut truth = create(&partial)?;
    let failed = at(&partial);
    // A request a line: its end is written by hand, since no more than one is held at a time.
    let open = head.to_string();
    let open = open.trim_end_matches('}');
    write!(truth, "{open},\"requests\":[").map_err(&failed)?;
    let mut is_first = true;
    for run in runs {
        let path = dir.join(traces(run));
        let mut file = create(&path)?;
        for request in run.requests() {
            let document = request.document().map_err(|error| Fatal::Usage(error.to_string()))?;
            writeln!(file, "{document}").map_err(at(&path))?;
            let line = serde_json::to_value(request.truth()).unwrap_or(Value::Null);
            write!(truth, "{}\n{line}", if is_first { "" } else { "," }).map_err(&failed)?;
            is_first = false;
        }
        file.flush().map_err(at(&path))?;
    }
    writeln!(truth, "\n]}}").and_then(|()| truth.flush()).map_err(&failed)?;
    fs::rename(&partial, dir.join(TRUTH)).map_err(at(&partial))
}

fn create(path: &Path) -> Result<BufWriter<File>, Fatal> {
    let file = File::create(path);
    file.map(BufWriter::new).map_err(|error| Fatal::Written { path: path.to_owned(), error })
}

/// Removes an earlier run from the folder, and refuses what is there and no run of ours.
fn clear(dir: &Path, files: &[String]) -> Result<(), Fatal> {
    let present = |path: &Path| path.symlink_metadata().is_ok();
    let markers = [dir.join(TRUTH), dir.join(format!("{TRUTH}.partial"))];
    let ours: Vec<String> = markers.iter().flat_map(|marker| files_of(marker)).collect();
    let is_ours = |name: &String| ours.contains(name);
    let foreign = files.iter().filter(|name| !is_ours(name)).map(|name| dir.join(name));
    let unmarked = markers.iter().filter(|_| ours.is_empty()).cloned();
    if let Some(path) = foreign.chain(unmarked).find(|path| present(path)) {
        return Err(FolderError::Foreign { path }.into());
    }
    let stale = ours.iter().map(|name| dir.join(name)).chain(markers);
    for path in stale.filter(|path| present(path)) {
        fs::remove_file(&path).map_err(|error| Fatal::Written { path: path.clone(), error })?;
    }
    Ok(())
}

/// The files of a run that a marker tells: names such as we give.
fn files_of(marker: &Path) -> Vec<String> {
    let read = || -> io::Result<Value> { Ok(serde_json::from_reader(File::open(marker)?)?) };
    let Ok(value) = read() else { return Vec::new() };
    let names = value.get("dwindle_version").and_then(|_| value.get("files")?.as_array());
    let is_given = |name: &&str| {
        let of_trace = name.strip_prefix("traces/").and_then(|name| name.strip_suffix(".jsonl"));
        **name == *CONTRACT || of_trace.is_some_and(|name| !name.contains(['/', '\\', '.']))
    };
    names
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .filter(is_given)
        .map(str::to_owned)
        .collect()
}
