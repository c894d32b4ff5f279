//! Why a task cannot go on.

use std::io;
use std::path::PathBuf;

use arrow_schema::ArrowError;

use crate::ingest::IngestError;
use crate::span::TraceId;
use crate::tables::ReadError;
use crate::tables::format::FormatError;

/// Why a task cannot go on. Whoever reads it sees no more of the task, so it says of what.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A file.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// The stream, or a file beside it.
    #[error("cannot read what comes in, or write what goes out: {0}")]
    Io(#[from] io::Error),
    /// What came in is no Arrow stream, or what goes out cannot be made one.
    #[error("Arrow: {0}")]
    Arrow(#[from] ArrowError),
    /// Not even the beginning of a stream came in.
    #[error("nothing comes in, not even the beginning of an Arrow stream")]
    Nothing,
    /// The stream has no end.
    #[error("what comes in is cut off: an Arrow stream ends with a mark, and this one does not")]
    CutOff,
    /// An input that tasks on other machines cannot open.
    #[error("-: standard input is here alone; name files that every worker can open")]
    StandardInput,
    /// What came in holds other columns or values than it should.
    #[error("what comes in {0}")]
    Read(#[from] ReadError),
    /// The same.
    #[error("what comes in: {0}")]
    Format(#[from] FormatError),
    /// What another task told is not what this version tells.
    #[error("what another task told cannot be read: do all run the same dwindle? {0}")]
    Part(#[from] postcard::Error),
    /// What all spans know together is not there.
    #[error("--survey {}: cannot be read: {error}", path.display())]
    Survey {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// The same of values of distributions.
    #[error("values that another task told cannot be read: do all run the same dwindle?")]
    Values,
    /// Traces have to come in the order of the tables, so that all of one are together.
    #[error(
        "what comes in is not sorted: trace {later} comes after {earlier}; sort by the right half of the \
         trace id, then by the id"
    )]
    Unsorted {
        /// The trace that came first.
        earlier: TraceId,
        /// The one that came after it and should not have.
        later: TraceId,
    },
    /// Another number of files than was given to tasks told what they hold.
    #[error("{told} of {given} files told what they hold: spans of the others are missing")]
    FilesMissing {
        /// How many did.
        told: usize,
        /// How many should have.
        given: usize,
    },
}

impl Failure {
    /// The same, for who knows no others.
    pub(super) fn into_io(self) -> io::Error {
        match self {
            Self::Io(error) | Self::Arrow(ArrowError::IoError(_, error)) => error,
            other => io::Error::other(other),
        }
    }
}
