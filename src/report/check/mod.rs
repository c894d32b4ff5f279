//! What `dwindle check` says, for people, for programs and for the reviews and test reports of a
//! forge. Every form says the same: what fails in one fails in all.

mod baseline;
mod github;
mod json;
mod junit;
mod page;
mod sarif;
mod troubles;
mod words;

use super::RunFacts;
use super::{markdown, terminal};
use crate::check::{Rulings, Verdict};
use crate::distributions::Overview;
use crate::names::names;
pub use baseline::Baseline;

/// Version of the JSON form. It changes when a name or a meaning does.
pub const SCHEMA_VERSION: u32 = 1;

names! {
    /// How a verdict is written.
    pub enum Format {
        /// For a terminal or a plain-text file.
        Terminal = "terminal",
        /// For a review or a ticket.
        Markdown = "markdown",
        /// For programs, and as a baseline.
        Json = "json",
        /// A test report that CI systems read.
        Junit = "junit",
        /// Results of static analysis, for code scanning.
        Sarif = "sarif",
        /// Commands that annotate a run of GitHub Actions.
        Github = "github",
    }
}

/// A verdict, and what is told beside it.
#[derive(Debug)]
pub struct Told<'e> {
    /// The verdict.
    pub verdict: &'e Verdict<'e>,
    /// By what it was found.
    pub rulings: &'e Rulings,
    /// What all requests show.
    pub overview: &'e Overview,
    /// What is known of the run.
    pub facts: &'e RunFacts,
    /// The contract file as it was named, if one was.
    pub contract_file: Option<&'e str>,
}

/// Writes it down. `width` and `color` are for terminals.
pub fn render(told: &Told<'_>, format: Format, width: usize, color: bool) -> String {
    match format {
        Format::Terminal => terminal::render(&page::report(told), width, color),
        Format::Markdown => markdown::render(&page::report(told)),
        Format::Json => json::render(told),
        Format::Junit => junit::render(told),
        Format::Sarif => sarif::render(told),
        Format::Github => github::render(told),
    }
}
