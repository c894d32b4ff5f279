//! What is told of a file besides its spans, and of all files together: also where these were read by
//! several, none of whom knows the others.

use serde::{Deserialize, Serialize};

use super::format::Format;
use super::harvest::Found;
use super::problems::{Code, Ledger};
use super::{Compression, FileFacts, IngestError, Ingested, refuse_nothing};
use crate::conventions::Seen;
use crate::span::Interner;

/// What is told of a file besides its spans.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FileTold {
    pub(super) facts: FileFacts,
    ledger: Ledger,
    /// Several tell one file together, each its rows.
    is_shared: bool,
}

impl FileTold {
    /// What was found in a file that one alone reads.
    pub(super) fn new(
        path: String,
        format: Option<Format>,
        compression: Compression,
        found: Found,
    ) -> Self {
        let facts = FileFacts {
            path,
            format: format.map(Format::name),
            compression,
            bytes: found.bytes,
            spans_read: found.read,
            spans_admitted: found.admitted,
            spans_rejected: found.rejected,
            other_signal_records: found.ledger.count(Code::OtherSignal),
            seen: found.seen,
        };
        Self { facts, ledger: found.ledger, is_shared: false }
    }

    /// The same, of a file that others read as well, each some of its rows.
    pub(super) fn shared(self) -> Self {
        Self { is_shared: true, ..self }
    }

    /// What is known of the file.
    pub fn facts(&self) -> &FileFacts {
        &self.facts
    }

    /// Adds what another has told of the same file.
    fn merge(&mut self, other: Self) -> Result<(), IngestError> {
        if !(self.is_shared && other.is_shared) {
            return Err(IngestError::ReadTwice { file: other.facts.path });
        }
        let (known, more) = (&mut self.facts, other.facts);
        known.bytes += more.bytes;
        known.spans_read += more.spans_read;
        known.spans_admitted += more.spans_admitted;
        known.spans_rejected += more.spans_rejected;
        known.other_signal_records += more.other_signal_records;
        known.seen.merge(more.seen);
        self.ledger.merge(other.ledger);
        Ok(())
    }
}

/// Puts together what several have told, in any order: the files by path.
pub fn files_together(mut told: Vec<FileTold>) -> Result<Vec<FileTold>, IngestError> {
    told.sort_by(|one, other| one.facts.path.cmp(&other.facts.path));
    let mut files: Vec<FileTold> = Vec::with_capacity(told.len());
    for file in told {
        match files.last_mut().filter(|known| known.facts.path == file.facts.path) {
            Some(known) => known.merge(file)?,
            None => files.push(file),
        }
    }
    refuse_nothing(files.iter().map(FileTold::facts))?;
    Ok(files)
}

/// All that files tell besides their spans, in the order in which they come.
pub fn together(told: Vec<FileTold>) -> Ingested<()> {
    let mut files = Vec::with_capacity(told.len());
    let mut seen = Seen::default();
    let mut problems = Vec::new();
    let mut problem_strings = Interner::default();
    for file in told {
        problems.extend(file.ledger.rows(&file.facts.path, &mut problem_strings));
        seen.merge(file.facts.seen.clone());
        files.push(file.facts);
    }
    Ingested { partitions: (), files, problems, problem_strings, seen }
}
