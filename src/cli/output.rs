//! All writing to standard output and error.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use crate::cluster::Failure;
use crate::config_error::ConfigError;
use crate::ingest::IngestError;
use crate::query::QueryError;
use crate::report::visible;
use crate::tables::folder::FolderError;

/// What ends a command.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fatal {
    /// The input.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// The content of a file that a flag names.
    #[error("{flag} {error}")]
    Config {
        /// The flag.
        flag: &'static str,
        /// File, line, key and what was expected.
        error: ConfigError,
    },
    /// A folder of tables.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A file that a flag names cannot be read.
    #[error("{flag} {path}: cannot be read: {error}")]
    Unreadable {
        /// The flag.
        flag: &'static str,
        /// The file.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// A step of an analysis on many machines.
    #[error(transparent)]
    Cluster(#[from] Failure),
    /// A query.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// A file that a flag names cannot be written.
    #[error("{}: cannot be written: {error}", path.display())]
    Written {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A job of a cluster.
    #[error("{text}\nthe whole log: {}", log.display())]
    Job {
        /// Why it failed.
        text: String,
        /// What it said besides.
        log: PathBuf,
    },
    /// A flag's value is wrong in a way that only shows with the others.
    #[error("{0}")]
    Usage(String),
    /// What ended a run that is the same whenever it is run.
    #[error("{error}\nto repeat this run: {command}")]
    Repeatable {
        /// Why it ended.
        error: Box<Self>,
        /// What runs it again.
        command: String,
    },
    /// Standard output.
    #[error("standard output: {0}")]
    Output(io::Error),
}

impl Fatal {
    /// Whether the reader of our output has gone, which is no error.
    pub(super) fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// Writes text to standard output.
pub(super) fn print(text: &str) -> Result<(), Fatal> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Fatal::Output)
}

/// Says on standard error what ended the command.
pub(super) fn complain(error: &Fatal) {
    note(&format!("error: {error}"));
}

/// Says something on standard error; if nobody listens, nothing can be done. Names in it, of files
/// too, are nothing but text.
pub(super) fn note(text: &str) {
    let lines: Vec<String> = text.split('\n').map(visible).collect();
    let _ = writeln!(io::stderr().lock(), "dwindle: {}", lines.join("\n"));
}

/// How wide a table may be: as told, else as wide as the terminal, else 100 columns.
pub(super) fn width(told: Option<u16>) -> usize {
    /// Below this no table can be read.
    const MIN: u16 = 40;
    /// Of a pipe or a file.
    const DEFAULT: u16 = 100;
    let terminal = || console::Term::stdout().size_checked().map(|(_, columns)| columns);
    usize::from(told.or_else(terminal).unwrap_or(DEFAULT).max(MIN))
}

/// What a page for people looks like.
#[derive(Debug, clap::Args)]
pub(super) struct Page {
    /// How wide, in columns [default: the terminal's width, else 100]
    #[arg(long, value_name = "COLUMNS")]
    width: Option<u16>,

    /// When to colour; nothing is told by colour alone
    #[arg(long, value_enum, default_value = "auto")]
    color: Color,
}

impl Page {
    /// How wide its tables may be.
    pub(super) fn width(&self) -> usize {
        width(self.width)
    }

    /// Whether to colour it.
    pub(super) fn is_coloured(&self) -> bool {
        self.color.wanted()
    }
}

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Color {
    /// On a terminal, unless `NO_COLOR` is set or TERM is dumb
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// Whether to colour standard output.
    #[expect(clippy::disallowed_methods, reason = "the environment is read here and nowhere else")]
    fn wanted(self) -> bool {
        let set = |name: &str| std::env::var(name).is_ok_and(|value| !value.is_empty());
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                let dumb = std::env::var("TERM").is_ok_and(|term| term == "dumb");
                io::stdout().is_terminal() && !set("NO_COLOR") && !dumb
            }
        }
    }
}
