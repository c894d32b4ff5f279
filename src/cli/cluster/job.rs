//! The job with all that goes with it, and the command that submits it.

use std::fs;
use std::io;
use std::path::{self, Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;

use super::super::NAME;
use super::super::output::Fatal;
use super::event::Done;
use super::spark_options::SparkOptions;
use super::{Args, JOB, Telling, is_url, submitted};
use crate::tables::folder::MANIFEST;

/// Names under which the files of flags are shipped: they may lie anywhere, and be called the same.
const CONTRACT: &str = "contract.toml";
const CONVENTIONS: &str = "conventions.toml";

/// A job that is ready to be submitted.
pub(super) struct Job {
    /// What is shipped; it goes when the job has ended.
    folder: TempDir,
    command: Vec<String>,
    /// Nothing that it says comes back.
    is_driver_elsewhere: bool,
    /// What has to be there when it is done.
    manifest: Option<PathBuf>,
}

impl Job {
    /// Puts all that is shipped into a folder, and says how it is submitted.
    pub(super) fn write(
        args: &Args,
        spark: &SparkOptions,
        submit: &Path,
        partitions: u32,
    ) -> Result<Self, Fatal> {
        let prepared = tempfile::Builder::new().prefix("dwindle-cluster-").tempdir();
        let folder = prepared.map_err(|error| failed(&std::env::temp_dir(), error))?;
        let at = |name: &str| folder.path().join(name);
        let put = |from: &Path, name: &'static str| {
            fs::copy(from, at(name)).map_err(|error| failed(from, error)).map(|_| name)
        };
        // A copy: whoever installs another version in the meantime changes nothing.
        let program = std::env::current_exe().map_err(|error| failed(Path::new(NAME), error))?;
        let mut shipped = vec![put(&program, NAME)?];
        let contract = args.rules.contract_path().map(|path| put(Path::new(path), CONTRACT));
        let conventions =
            args.inputs.conventions_path().map(|path| put(Path::new(path), CONVENTIONS));
        let (contract, conventions) = (contract.transpose()?, conventions.transpose()?);
        shipped.extend(contract.into_iter().chain(conventions));
        let script = at("job.py");
        fs::write(&script, JOB).map_err(|error| failed(&script, error))?;

        let text = |path: &Path| path.to_string_lossy().into_owned();
        let shipped: Vec<String> = shipped.into_iter().map(|name| text(&at(name))).collect();
        let shipped: Vec<&str> = shipped.iter().map(String::as_str).chain(spark.files()).collect();
        let mut command = vec![text(submit)];
        command
            .extend(args.master.iter().flat_map(|master| ["--master".to_owned(), master.clone()]));
        command.extend(["--files".to_owned(), shipped.join(",")]);
        command.extend(spark.arguments().map(str::to_owned));
        command.push(text(&script));

        // Elsewhere they lie where Spark puts them; here no other file of these names is to be taken.
        let is_driver_elsewhere = spark.is_driver_elsewhere();
        let found =
            |name: &str| if is_driver_elsewhere { name.to_owned() } else { text(&at(name)) };
        command.extend(["--dwindle".to_owned(), found(NAME)]);
        command.extend(["--partitions".to_owned(), partitions.to_string()]);
        command.extend(["--step-flags".to_owned(), args.step_flags().to_string()]);
        for (flag, name) in [("--contract", contract), ("--conventions", conventions)] {
            command.extend(name.iter().flat_map(|name| [flag.to_owned(), found(name)]));
        }
        for (flag, path) in [
            ("--out", &args.out),
            ("--calibrate", &args.calibrate),
            ("--keep-spans", &args.keep_spans),
        ] {
            if let Some(path) = path {
                command.extend([flag.to_owned(), from_root(path)?]);
            }
        }
        let switches = [("--sketch", args.sketch), ("--table", args.table)];
        command.extend(
            switches.iter().filter(|(_, is_on)| *is_on).map(|(flag, _)| (*flag).to_owned()),
        );
        // Behind it nothing is taken for a flag.
        command.push("--".to_owned());
        command.extend(args.inputs.paths.iter().cloned());
        let manifest = args.folder().map(|out| out.join(MANIFEST)).filter(|_| !is_driver_elsewhere);
        Ok(Self { folder, command, is_driver_elsewhere, manifest })
    }

    /// Runs it. What it counted comes back where the driver runs here.
    pub(super) fn run(self, telling: &mut Telling) -> Result<Option<Done>, Fatal> {
        let trouble = |error| failed(&std::env::temp_dir(), error);
        let log = submitted::log().map_err(trouble)?;
        let mut file = log.as_file().try_clone().map_err(trouble)?;
        let ran =
            submitted::run(&self.command, self.folder.path(), &mut file, |it| telling.take(it));
        let status = ran.map_err(trouble)?;
        telling.line.clear();
        let is_told = self.is_driver_elsewhere || telling.done.is_some();
        let is_there = self.manifest.as_ref().is_none_or(|manifest| manifest.is_file());
        let text = if let Some(text) = telling.error.take() {
            text
        } else if !status.success() || !is_told {
            let ended = if status.success() {
                "the job ended without a word of whether all is written".to_owned()
            } else {
                format!("the job failed ({status})")
            };
            let lines = submitted::telling_lines(&mut file).map_err(trouble)?;
            std::iter::once(ended).chain(lines).collect::<Vec<_>>().join("\n")
        } else if !is_there {
            "the job ended well, but its tables are not here: do all machines see the same folder?"
                .to_owned()
        } else {
            return Ok(telling.done);
        };
        let log = log.into_temp_path().keep().map_err(|error| trouble(error.error))?;
        Err(Fatal::Job { text, log })
    }
}

impl Args {
    /// The flags of this verb that steps of the job take, by step. Those that name files are not among
    /// them: the job knows where these lie.
    fn step_flags(&self) -> serde_json::Value {
        let (strictness, subject) = (self.rules.strictness_arguments(), self.subject.arguments());
        let clock = self.rules.clock_arguments();
        let reading = [self.inputs.arguments(), self.subject.by_arguments()].concat();
        let judging = [self.rules.deadline_arguments(), strictness.clone(), subject].concat();
        json!({
            "ingest": reading,
            "survey": clock,
            "observe": strictness,
            "calibrate": [],
            "reconstruct": judging,
            "manifest": judging,
        })
    }
}

/// A path as it is from the root on; the cluster may start in another folder. URLs stay.
fn from_root(path: &str) -> Result<String, Fatal> {
    if is_url(path) {
        return Ok(path.to_owned());
    }
    let whole = path::absolute(path).map_err(|error| failed(Path::new(path), error))?;
    Ok(whole.to_string_lossy().into_owned())
}

fn failed(path: &Path, error: io::Error) -> Fatal {
    Fatal::Written { path: path.to_owned(), error }
}
