//! A call tree over time, as a table whose last column is drawn.

use maud::{Markup, html};

use super::scale::{Scale, px};
use super::short;
use crate::report::model::{Bar, Mark, Waterfall};
use crate::report::text::{millis, visible};
use crate::units::Nanos;

const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 16.0;
/// How much of a name is told.
const NAME: usize = 80;
/// How much of what is said of a row.
const DETAIL: usize = 300;

pub(super) fn draw(waterfall: &Waterfall) -> Markup {
    let strokes = || waterfall.rows.iter().flat_map(|row| &row.strokes);
    let least = strokes().map(|stroke| stroke.from).min().unwrap_or_default();
    let most = strokes().map(|stroke| stroke.to).max().unwrap_or_default();
    let from = least.min(Nanos::ZERO);
    let to = waterfall.deadline.map_or(most, |deadline| most.max(deadline));
    let x = Scale::of(from, to, 0.0, WIDTH);
    let marks: Vec<Mark> =
        Mark::ALL.into_iter().filter(|mark| strokes().any(|stroke| stroke.mark == *mark)).collect();
    html! {
        div.scroll role="region" tabindex="0" aria-label="Waterfall" {
            table.waterfall {
                caption { "Times in ms from the origin; left: what the caller had left then; given: what it \
                           was told it has" }
                thead { tr {
                    th.num scope="col" { "at" }
                    th.num scope="col" { "left" }
                    th.num scope="col" { "given" }
                    th scope="col" { "span" }
                    th scope="col" { "from " (time(Some(from))) " to " (time(Some(to)))
                        @if let Some(deadline) = waterfall.deadline { ", deadline " (time(Some(deadline))) }
                    }
                } }
                tbody { @for row in &waterfall.rows { (self::row(row, &x, waterfall.deadline)) } }
            }
        }
        ul.legend {
            @for mark in marks { li { span class={ "swatch " (class(mark)) } {} (mark.words()) } }
            @if waterfall.deadline.is_some() { li { span.swatch.deadline {} (waterfall.deadline_words()) } }
        }
    }
}

fn row(row: &Bar, x: &Scale, deadline: Option<Nanos>) -> Markup {
    let indent = super::scale::float(row.level.min(16) as i128) * 0.9;
    html! {
        tr {
            td.num { (time(row.at)) }
            td.num.bad[row.left.is_some_and(|left| left < Nanos::ZERO)] { (time(row.left)) }
            td.num { (time(row.given)) }
            th scope="row" style={ "padding-left:" (px(0.6 + indent)) "em" } {
                (short(&row.label, NAME))
                @if !row.details.is_empty() {
                    br; small { (short(&row.details.join(" · "), DETAIL)) }
                }
                @for finding in &row.findings {
                    br; small.bad { "! " (short(finding, DETAIL)) }
                }
            }
            td.bar {
                svg viewBox={ "0 0 " (px(WIDTH)) " " (px(HEIGHT)) } preserveAspectRatio="none" aria-hidden="true" {
                    @for stroke in &row.strokes {
                        @let (left, right) = (x.at(stroke.from), x.at(stroke.to));
                        rect class={ "part " (class(stroke.mark)) } x=(px(left)) y="2" width=(px((right - left).max(0.8))) height="12" {}
                    }
                    @if let Some(deadline) = deadline {
                        line.zero x1=(px(x.at(deadline))) x2=(px(x.at(deadline))) y1="0" y2=(px(HEIGHT)) {}
                    }
                }
            }
        }
    }
}

fn time(instant: Option<Nanos>) -> String {
    instant.map_or_else(String::new, |instant| visible(&millis(i128::from(instant.as_nanos()))))
}

/// How a stretch is drawn.
const fn class(mark: Mark) -> &'static str {
    match mark {
        Mark::Waiting => "waiting",
        Mark::Backoff => "backoff",
        Mark::Queue => "queue",
        Mark::OpenCall => "downstream",
        Mark::Work => "local",
        Mark::Late => "late",
        Mark::Residual => "residual",
    }
}
