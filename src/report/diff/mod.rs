//! What `dwindle diff` says, for people and for programs: the same lines in every form.

mod page;
mod records;
mod words;

use super::{Format, Options, Origin, Report, RunFacts, html, markdown, terminal};
use crate::diff::Diff;

/// Version of the JSON and CSV forms. It changes when a name or a meaning does.
pub const SCHEMA_VERSION: u32 = 1;

/// A comparison, and what is known of its sides.
#[derive(Debug)]
pub struct Told<'a> {
    /// The comparison.
    pub diff: &'a Diff,
    /// What is known of base.
    pub base: &'a RunFacts,
    /// What is known of head.
    pub head: &'a RunFacts,
    /// How a page is made.
    pub origin: Option<Origin>,
}

/// Writes it down. `width` and `color` are for terminals.
pub fn render(told: &Told<'_>, format: Format, width: usize, color: bool) -> String {
    let report = || page::report(told, &Options::for_format(format));
    match format {
        Format::Terminal => terminal::render(&report(), width, color),
        Format::Markdown => markdown::render(&report()),
        Format::Html => html::render(&made(report(), told)),
        Format::Csv => records::csv(told),
        Format::Json => records::json(told),
    }
}

/// The same, saying how it was made.
fn made(report: Report, told: &Told<'_>) -> Report {
    match &told.origin {
        Some(origin) => report.made_by(origin),
        None => report,
    }
}

/// The lines that got worse, each in some words.
pub fn regressions(diff: &Diff) -> Vec<String> {
    let words = |(class, line): (&crate::distributions::Name, &crate::diff::Line)| {
        super::text::visible(&format!(
            "{} · {}: {}",
            super::words::named(Some(class)),
            words::about(&line.about),
            words::from_to(&line.numbers),
        ))
    };
    diff.regressions().map(words).collect()
}
