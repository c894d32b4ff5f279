//! `dwindle cluster-worker`: the steps that an engine's tasks run, with Arrow streams as an engine hands
//! them over, against what the other verbs make of the same files on one machine.

mod reading;
mod rebuilding;

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::thread;

use crate::support::arrow_stream;
use crate::support::command::{dwindle, scratch};

/// What a step gave.
pub struct Step {
    /// The exit code.
    pub code: i32,
    /// What it told.
    pub out: Vec<u8>,
    /// What it said.
    pub err: String,
}

/// Runs a step, whatever comes of it.
pub fn step(args: &[&str], input: &[u8]) -> Step {
    let mut child = dwindle()
        .arg("cluster-worker")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = thread::scope(|scope| {
        // A step that refuses what comes in does not read all of it.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().unwrap()
    });
    Step {
        code: output.status.code().unwrap(),
        out: output.stdout,
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// What a step gives, which has to end well.
pub fn told(args: &[&str], input: &[u8]) -> Vec<u8> {
    let step = step(args, input);
    assert_eq!((step.code, step.err.as_str()), (0, ""), "{args:?}");
    step.out
}

/// All files that inputs name, read and brought together by trace.
pub struct Fleet {
    /// The sorted spans of each partition, as streams of small batches that cut traces.
    pub partitions: Vec<Vec<u8>>,
    /// Where what all spans know together lies.
    pub survey: String,
}

impl Fleet {
    /// Reads files with flags of `ingest`, in so many partitions.
    pub fn read(name: &str, inputs: &[&str], flags: &[&str], partitions: usize) -> Self {
        let listed = String::from_utf8(told(&[&["list"], inputs].concat(), b"")).unwrap();
        let files: Vec<serde_json::Value> =
            listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let ingested: Vec<Vec<u8>> = files
            .iter()
            .map(|file| {
                let (name, path) = (file["name"].as_str().unwrap(), file["path"].as_str().unwrap());
                told(&[&["ingest", "--name", name, path], flags].concat(), b"")
            })
            .collect();
        Self::of_spans(name, &ingested, files.len(), partitions)
    }

    /// What was ingested, in so many partitions.
    pub fn of_spans(name: &str, ingested: &[Vec<u8>], files: usize, partitions: usize) -> Self {
        let spans = arrow_stream::read_all(ingested);
        let partitions: Vec<Vec<u8>> = arrow_stream::by_trace(&spans, partitions)
            .iter()
            .map(|rows| arrow_stream::written(rows, 7))
            .collect();
        let mut surveyed: Vec<Vec<u8>> =
            partitions.iter().map(|spans| told(&["survey"], spans)).collect();
        surveyed.reverse();
        let parts = arrow_stream::written(&arrow_stream::read_all(&surveyed), 1);
        let survey = scratch(&format!("cluster_worker_fleet_{name}")).join("survey");
        let settled = told(&["settle", "--files", &files.to_string()], &parts);
        std::fs::write(&survey, settled).unwrap();
        Self { partitions, survey: text(&survey) }
    }

    /// What a step behind the survey gives of each partition.
    pub fn each(&self, args: &[&str]) -> Vec<Vec<u8>> {
        let args = [args, &["--survey", &self.survey]].concat();
        self.partitions.iter().map(|spans| told(&args, spans)).collect()
    }
}

/// A path as an argument.
pub fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}
