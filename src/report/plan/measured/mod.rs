//! What plans say that are taken from what was measured, for people and for programs.

mod chain;
mod records;
mod retries;
mod words;

use super::super::{Format, Options, Origin, Report, RunFacts, html, markdown, terminal};
use super::super::{chosen, overview, sampling, text};
use crate::plan::measured::{Asked, Measured, Modelled, Wanted};
use crate::report::model::{Block, Section};
use records::Record;

/// What was measured, and what is known of it.
#[derive(Debug)]
pub struct Told<'a> {
    /// What was measured.
    pub measured: &'a Measured,
    /// What is known of the input.
    pub facts: &'a RunFacts,
    /// How a page is made.
    pub origin: Option<Origin>,
    /// How it is written.
    pub format: Format,
    /// How wide.
    pub width: usize,
    /// Whether it is coloured.
    pub is_coloured: bool,
}

/// For which share of requests so many attempts would have fitted.
pub fn retries(told: &Told<'_>, wanted: &Wanted) -> String {
    told.render(|options| retries::report(told, wanted, options), || retries::records(told, wanted))
}

/// How the budgets of requests split over the calls that they made.
pub fn chain(told: &Told<'_>, asked: &Asked) -> String {
    told.render(|options| chain::report(told, asked, options), || chain::records(told, asked))
}

/// On what a scenario rests that was made of measurements.
pub fn rests_on(modelled: &Modelled, facts: &RunFacts) -> Vec<String> {
    let read = format!("{} · {}.", text::counted(facts.traces, "trace"), overview::listed(facts));
    let mut notes = vec![read];
    notes.extend(overview::losses(facts));
    notes.extend(sampling::choice(facts));
    notes.extend(chosen::notes(facts));
    notes.push(modelled.caveats().join(" "));
    notes
}

impl Told<'_> {
    fn render(
        &self,
        report: impl FnOnce(&Options) -> Report,
        records: impl FnOnce() -> Vec<Record>,
    ) -> String {
        let report = || report(&Options::for_format(self.format));
        match self.format {
            Format::Terminal => terminal::render(&report(), self.width, self.is_coloured),
            Format::Markdown => markdown::render(&report()),
            Format::Html => html::render(&match &self.origin {
                Some(origin) => report().made_by(origin),
                None => report(),
            }),
            Format::Csv => records::csv(records()),
            Format::Json => records::json(self.facts, records()),
        }
    }

    /// A report of some sections below what was read.
    fn report(&self, title: &'static str, legend: &str, sections: Vec<Section>) -> Report {
        let requests =
            self.measured.classes.values().map(|class| class.requests.len() as u64).sum();
        let mut read = vec![
            text::counted(requests, "request"),
            text::counted(self.facts.traces, "trace"),
            overview::listed(self.facts),
        ];
        read.extend(self.facts.window.map(|(first, last)| {
            let length = text::millis(i128::from((last - first).as_nanos()));
            format!("{length} ms from {}", text::instant(first))
        }));
        let mut notes = vec![format!("{}.", read.join(" · "))];
        notes.extend(overview::losses(self.facts));
        notes.extend(sampling::choice(self.facts));
        notes.extend(chosen::notes(self.facts));
        if requests == 0 {
            notes.push(overview::nothing_to_tell(self.facts).to_owned());
        } else {
            notes.push(legend.to_owned());
        }
        if self.measured.weighted > 0 {
            notes.push(
                "Requests say how many they stand for by their sampling; here each counts once: shares \
                 and percentiles are of what was kept."
                    .to_owned(),
            );
        }
        let blocks = notes.into_iter().map(Block::Note).collect();
        let summary = Section { title: "Summary".to_owned(), class: None, blocks };
        let sections = std::iter::once(summary).chain(sections).collect();
        Report { title, version: self.facts.version.clone(), sections }
    }
}
