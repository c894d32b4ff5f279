//! What a job says on its standard output: one JSON object a line.

use serde::Deserialize;

/// One of them.
#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum Event {
    /// How far a stage is.
    Stage {
        /// Its name.
        name: String,
        /// Tasks that have ended.
        done: u64,
        /// All tasks.
        of: u64,
    },
    /// Something for people to know.
    Note {
        /// What.
        text: String,
    },
    /// All is written.
    Done(Done),
    /// Why the job ended.
    Error {
        /// Which step, of which file or trace, and what it said.
        text: String,
    },
}

/// What a job that is done counted.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Done {
    pub requests: u64,
    pub traces: u64,
    pub spans_admitted: u64,
    pub spans_rejected: u64,
    /// Problems of the input by which something was lost.
    pub losses: u64,
}

impl Event {
    /// What a line says; `None` where it was not written for us.
    pub(super) fn read(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok()
    }
}
