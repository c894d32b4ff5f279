//! The folder of a run whose truth is known: traces, the contract to read them by, and the truth.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::cli::manifest::VERSION;
use crate::cli::origin::quoted;
use crate::cli::output::Fatal;
use crate::plan::model::{Run, Scenario};
use crate::tables::folder::FolderError;

const TRACES: &str = "traces";
const CONTRACT: &str = "contract.toml";

/// What the model knows of each request. It is written last, so that a folder without it is not whole;
/// its presence says that the folder is ours.
const TRUTH: &str = "truth.json";

/// The truth while the folder is not whole; it says the same.
const UNFINISHED: &str = "truth.json.partial";

/// How the first line of the truth ends, which tells all but the requests.
const HEAD_END: &str = ",\"requests\":[";

/// That line is no longer where we wrote it.
const LONGEST_HEAD: u64 = 1 << 24;

/// Writes a folder. An earlier run in it is removed; what is there and no run of ours is refused.
pub(super) fn write(dir: &Path, scenario: &Scenario, runs: &[Run<'_>]) -> Result<(), Fatal> {
    let mut files: Vec<String> = runs.iter().map(traces).collect();
    files.push(CONTRACT.to_owned());
    clear(dir, &files)?;
    let written = write_all(dir, scenario, runs, &files);
    if written.is_err() {
        // A full disk would stay full; what cannot be removed has no truth beside it.
        for name in files.iter().map(String::as_str).chain([UNFINISHED]) {
            let _ = fs::remove_file(dir.join(name));
        }
    }
    written
}

/// What was written, and the command that reads it.
pub(super) fn told(dir: &Path) -> String {
    let path = |name| quoted(&dir.join(name).to_string_lossy());
    format!(
        "{TRACES}/, {CONTRACT} and {TRUTH} -> {}\nread by: dwindle report {} --contract {}",
        dir.display(),
        path(TRACES),
        path(CONTRACT)
    )
}

/// The file of a run's traces.
fn traces(run: &Run<'_>) -> String {
    format!("{TRACES}/{}.jsonl", run.file_name())
}

fn write_all(
    dir: &Path,
    scenario: &Scenario,
    runs: &[Run<'_>],
    files: &[String],
) -> Result<(), Fatal> {
    let folder = dir.join(TRACES);
    fs::create_dir_all(&folder).map_err(at(&folder))?;
    let head = json!({
        "dwindle_version": VERSION,
        "scenario": scenario.name,
        "seed": scenario.seed,
        "files": files,
    });
    let unfinished = dir.join(UNFINISHED);
    let mut truth = create(&unfinished)?;
    // The list is written by hand, a request a line, so that no more than one is held at a time.
    let head = head.to_string();
    let head = head.strip_suffix('}').unwrap_or_default();
    writeln!(truth, "{head}{HEAD_END}").and_then(|()| truth.flush()).map_err(at(&unfinished))?;
    let path = dir.join(CONTRACT);
    let contracts: Vec<String> = runs.iter().map(Run::contract).collect();
    fs::write(&path, contracts.join("\n")).map_err(at(&path))?;
    let mut between = "";
    for run in runs {
        let path = dir.join(traces(run));
        let mut file = create(&path)?;
        for request in run.requests() {
            let document = request.document().map_err(|error| Fatal::Usage(error.to_string()))?;
            writeln!(file, "{document}").map_err(at(&path))?;
            let line = serde_json::to_string(&request.truth()).unwrap_or_default();
            write!(truth, "{between}{line}").map_err(at(&unfinished))?;
            between = ",\n";
        }
        file.flush().map_err(at(&path))?;
    }
    writeln!(truth, "\n]}}").and_then(|()| truth.flush()).map_err(at(&unfinished))?;
    fs::rename(&unfinished, dir.join(TRUTH)).map_err(at(&unfinished))
}

fn at(path: &Path) -> impl Fn(io::Error) -> Fatal {
    let path = path.to_owned();
    move |error| Fatal::Written { path: path.clone(), error }
}

fn create(path: &Path) -> Result<BufWriter<File>, Fatal> {
    File::create(path).map(BufWriter::new).map_err(at(path))
}

/// Removes an earlier run from the folder, and refuses what is there and no run of ours.
fn clear(dir: &Path, files: &[String]) -> Result<(), Fatal> {
    let folder = dir.join(TRACES);
    if folder.is_symlink() {
        let path = folder.display();
        return Err(Fatal::Usage(format!("{path}: is a link: the run would be written elsewhere")));
    }
    let present = |path: &PathBuf| path.symlink_metadata().is_ok();
    let markers = [dir.join(TRUTH), dir.join(UNFINISHED)];
    let ours: Vec<String> = markers.iter().flat_map(|marker| files_of(marker)).collect();
    let foreign = files.iter().filter(|name| !ours.contains(name)).map(|name| dir.join(name));
    let unmarked = markers.iter().filter(|_| ours.is_empty()).cloned();
    if let Some(path) = foreign.chain(unmarked).find(present) {
        return Err(FolderError::Foreign { path }.into());
    }
    // The truth goes first: without it no folder is whole.
    let stale = markers.into_iter().chain(ours.iter().map(|name| dir.join(name)));
    for path in stale.filter(present) {
        fs::remove_file(&path).map_err(at(&path))?;
    }
    Ok(())
}

/// The files of a run, as its truth tells them: names such as we give, whoever wrote it.
fn files_of(truth: &Path) -> Vec<String> {
    let mut line = String::new();
    let read = File::open(truth)
        .and_then(|file| BufReader::new(file.take(LONGEST_HEAD)).read_line(&mut line));
    let head = read.ok().and_then(|_| line.trim_end().strip_suffix(HEAD_END));
    let told: Option<Value> = head.and_then(|head| serde_json::from_str(&format!("{head}}}")).ok());
    let ours = told.filter(|told| told.get("dwindle_version").is_some());
    let names = ours.as_ref().and_then(|told| told.get("files")?.as_array());
    let is_given = |name: &&str| {
        let of_trace = name.strip_prefix("traces/").and_then(|name| name.strip_suffix(".jsonl"));
        *name == CONTRACT || of_trace.is_some_and(|name| !name.contains(['/', '\\', '.']))
    };
    let names = names.into_iter().flatten().filter_map(Value::as_str);
    names.filter(is_given).map(str::to_owned).collect()
}
