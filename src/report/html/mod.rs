//! A report as one page for a browser: text, tables that can be sorted, pictures. It needs no network,
//! and no script except for sorting.

mod bars;
mod burn_down;
mod graph;
mod page;
mod ridges;
mod scale;
mod stack;
mod table;
mod waterfall;

use maud::Markup;

use super::model::{Drawing, Figure, Report};
use super::text;

/// No page is larger, whatever was read: mail and reviews refuse what is.
const MOST_BYTES: usize = 2_000_000;

/// How wide pictures are drawn; browsers scale them.
const WIDTH: f64 = 960.0;

/// Writes a report.
pub(super) fn render(report: &Report) -> String {
    page::render(report)
}

/// A picture.
fn drawing(figure: &Figure) -> Markup {
    match &figure.drawing {
        Drawing::Facts(facts) => page::facts(facts),
        Drawing::BurnDown(stages) => burn_down::draw(stages),
        Drawing::Stack(stack) => stack::draw(stack),
        Drawing::Ridges(ridges) => ridges::draw(ridges),
        Drawing::Work(work) => bars::draw(work),
        Drawing::Graph(graph) => graph::draw(graph),
    }
}

/// A name in so many columns: what is cut stands in its tooltip.
fn short(name: &str, columns: usize) -> String {
    text::shorten(&text::visible(name), columns)
}

/// A length of time with its unit.
fn ms(nanos: i128) -> String {
    format!("{} ms", text::millis(nanos))
}
