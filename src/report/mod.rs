//! What people read: one [`Report`] built from distributions and facts of the run, and a renderer
//! for each [`Format`] that adds nothing to it.

mod answer;
mod attempts;
mod calibration;
pub mod check;
mod chosen;
mod class;
mod csv;
pub mod diff;
mod explain;
mod figures;
mod findings;
mod hops;
mod html;
mod input;
mod inspection;
mod instrumentation;
mod json;
mod markdown;
pub mod model;
mod origin;
mod overview;
mod percentiles;
pub mod plan;
mod problems;
mod retrying;
mod rules;
mod sampling;
mod shape;
mod terminal;
mod text;
mod timeline;
mod waterfall;
mod words;

use crate::calibrate::Calibration;
use crate::distributions::Summary;
use crate::exemplars::Exemplars;
use crate::names::names;
use crate::span::Interner;
use crate::tables::{ProblemRow, Severity};
use crate::units::UnixNanos;
pub use answer::Answer;
pub use chosen::Chosen;
pub use explain::{explanation, explanation_json};
pub use findings::findings;
pub use inspection::{inspection, missing};
pub use instrumentation::add_instrumentation;
pub use model::Report;
pub use overview::losses;
pub use retrying::add_retrying;
pub use rules::{rule_page, rules_list};
pub use text::visible;
pub use timeline::add_timeline;

/// Version of the JSON and CSV forms (docs/output.md). It changes when a name or a meaning does.
pub const SCHEMA_VERSION: u32 = 1;

names! {
    /// How a report is written.
    pub enum Format {
        /// For a terminal or a plain-text file.
        Terminal = "terminal",
        /// For a review or a ticket.
        Markdown = "markdown",
        /// One tidy table.
        Csv = "csv",
        /// Exact values in nanoseconds.
        Json = "json",
        /// One file with pictures, for a browser; it loads nothing from anywhere.
        Html = "html",
    }
}

/// How much a report tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How many request classes it tells of one by one: the busiest.
    pub classes: usize,
    /// How many rows of a table.
    pub rows: usize,
    /// Whether there are pictures.
    pub has_pictures: bool,
}

impl Options {
    /// Whether nobody reads it but programs, which get every row.
    fn is_for_machines(&self) -> bool {
        self.rows == usize::MAX
    }

    /// People get the busiest classes and the first rows, machines all.
    pub fn for_format(format: Format) -> Self {
        match format {
            Format::Terminal | Format::Markdown => {
                Self { classes: 20, rows: 15, has_pictures: false }
            }
            Format::Html => Self { classes: 20, rows: 40, has_pictures: true },
            Format::Csv | Format::Json => {
                Self { classes: usize::MAX, rows: usize::MAX, has_pictures: false }
            }
        }
    }
}

/// What is known of a run besides its tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFacts {
    /// Version and commit of the program.
    pub version: String,
    /// The inputs as they were named.
    pub inputs: Vec<String>,
    /// A digest of the contracts by which it was judged.
    pub contracts: String,
    /// The contract that the traces themselves came to, where none was given.
    pub calibrated: Option<String>,
    /// How many files were read.
    pub files: u64,
    /// Those that this run read itself: the tables where traces were analyzed before.
    pub files_read: Vec<String>,
    /// Spans found in them.
    pub spans_read: u64,
    /// Those that were used.
    pub spans_admitted: u64,
    /// Those that were not.
    pub spans_rejected: u64,
    /// Traces.
    pub traces: u64,
    /// First start and last end of all spans.
    pub window: Option<(UnixNanos, UnixNanos)>,
    /// CLIENT spans that ended without a word.
    pub wordless_clients: u64,
    /// All CLIENT spans.
    pub clients: u64,
    /// Span links, which are counted and not followed.
    pub span_links: u64,
    /// Who chose traces once their outcome was known.
    pub chosen_by: Vec<String>,
    /// Trouble in the input.
    pub problems: Vec<Problem>,
    /// The service whose calls are told in the place of requests.
    pub scope: Option<String>,
    /// The attributes by which classes were split.
    pub split_by: Vec<String>,
    /// What was chosen of the requests; `None` where all are told.
    pub chosen: Option<Chosen>,
}

impl RunFacts {
    /// How long requests were counted: the whole of the window, or what was chosen of it.
    pub fn counted_for(&self) -> Option<(UnixNanos, UnixNanos)> {
        chosen::counted_for(self)
    }
}

/// How a page was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The command.
    pub command: String,
    /// Each file that was read.
    pub files: Vec<OriginFile>,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginFile {
    /// Its name.
    pub name: String,
    /// Its size in bytes, as it lies there, and what sha256sum says of it; `None` of standard input.
    pub content: Option<(u64, String)>,
}

/// A kind of trouble in one file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Whether spans or evidence were lost; what was lost comes first.
    pub severity: Severity,
    /// What kind.
    pub code: String,
    /// How often.
    pub count: u64,
    /// The file.
    pub file: String,
    /// Where the first is: bytes from 0 of the file as decompressed.
    pub byte: Option<u64>,
    /// Its line, from 1.
    pub line: Option<u64>,
    /// Its record, from 0.
    pub record: Option<u64>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

impl Problem {
    /// The problem of a row of the table `problems`.
    pub fn from_row(row: &ProblemRow, strings: &Interner) -> Self {
        let text = |sym| strings.get(sym).to_owned();
        let place = |place: Option<i64>| place.and_then(|place| u64::try_from(place).ok());
        Self {
            severity: row.severity,
            code: text(row.code),
            count: u64::try_from(row.count).unwrap_or(0),
            file: text(row.file),
            byte: place(row.byte),
            line: place(row.line),
            record: place(row.record),
            message: text(row.message),
            help: text(row.help),
        }
    }
}

/// Decides what to tell.
pub fn build(
    summary: &Summary,
    exemplars: &Exemplars,
    calibration: &Calibration,
    facts: &RunFacts,
    options: &Options,
) -> Report {
    let classes = overview::Classes::choose(summary, options);
    let mut sections = vec![overview::section(summary, &classes, facts, options)];
    sections.extend(
        classes.told.iter().map(|(name, class)| class::section(name, class, exemplars, options)),
    );
    let coverage = &summary.overview.coverage;
    sections.extend(calibration::section(calibration, coverage, facts, options));
    sections.push(input::section(summary, facts, options));
    Report { title: "Where the deadline went", version: facts.version.clone(), sections }
}

impl Report {
    /// The same, saying how it was made.
    #[must_use]
    pub fn made_by(mut self, origin: &Origin) -> Self {
        self.sections.push(origin::section(origin));
        self
    }

    /// Puts a section before the last, which says what all others rest on.
    fn insert_before_last(&mut self, section: model::Section) {
        let place = self.sections.len().saturating_sub(1);
        self.sections.insert(place, section);
    }

    /// Writes it down. `width` and `color` are for terminals; no line is wider than `width`
    /// columns, of which there are at least 40.
    pub fn render(&self, format: Format, width: usize, color: bool) -> String {
        match format {
            Format::Terminal => terminal::render(self, width, color),
            Format::Markdown => markdown::render(self),
            Format::Csv => csv::render(self),
            Format::Html => html::render(self),
            Format::Json => json::render(self),
        }
    }
}
