//! The budget along the path: a line, a band, and the line where nothing is left.

use maud::{Markup, html};

use super::scale::{Scale, px};
use super::{WIDTH, ms, short};
use crate::report::model::Stage;
use crate::report::text::{self, visible};
use crate::units::Nanos;

const TOP: f64 = 12.0;
const PLOT: f64 = 240.0;
const LEFT: f64 = 70.0;
/// Below the plot and right of it, for labels that stand aslant.
const LABELS: f64 = 150.0;
const RIGHT: f64 = 190.0;
/// How wide a label may be, in columns.
const LABEL: usize = 30;

pub(super) fn draw(stages: &[Stage]) -> Markup {
    let values = || stages.iter().flat_map(|stage| [stage.p5, stage.p50, stage.p95]).flatten();
    let least = values().min().unwrap_or_default().min(Nanos::ZERO);
    let most = values().max().unwrap_or_default();
    let bottom = TOP + PLOT;
    let y = Scale::of(least, most, bottom, TOP);
    let last = super::scale::float(stages.len().saturating_sub(1).max(1) as i128);
    let step = (WIDTH - LEFT - RIGHT) / last;
    let x = |index: usize| LEFT + 10.0 + step * super::scale::float(index as i128);
    let points = |value: fn(&Stage) -> Option<Nanos>| {
        let common = stages.iter().enumerate().filter(|(_, stage)| stage.is_common);
        let known = common.filter_map(move |(i, stage)| Some((i, value(stage)?)));
        known.map(move |(i, value)| format!("{},{}", px(x(i)), px(y.at(value)))).collect::<Vec<_>>()
    };
    let mut band = points(|stage| stage.p5.and(stage.p95));
    band.extend(points(|stage| stage.p95.and(stage.p5)).into_iter().rev());
    let zero = y.at(Nanos::ZERO);
    html! {
        svg viewBox={ "0 0 " (px(WIDTH)) " " (px(bottom + LABELS)) } role="img" aria-label=(said(stages)) {
            @for tick in y.ticks(6) {
                line.grid x1=(px(LEFT)) x2=(px(WIDTH)) y1=(px(y.place(tick))) y2=(px(y.place(tick))) {}
                text.tick x=(px(LEFT - 6.0)) y=(px(y.place(tick) + 4.0)) text-anchor="end" { (text::millis(tick)) }
            }
            text.tick x="12" y=(px(TOP)) { "ms" }
            polygon.band points=(band.join(" ")) {}
            polyline.median points=(points(|stage| stage.p50).join(" ")) {}
            line.zero x1=(px(LEFT)) x2=(px(WIDTH)) y1=(px(zero)) y2=(px(zero)) {}
            @for (i, stage) in stages.iter().enumerate() {
                g {
                    title { (stage_words(stage)) }
                    @if let Some(median) = stage.p50 {
                        circle.dot.bad[median <= Nanos::ZERO] cx=(px(x(i))) cy=(px(y.at(median))) r="4" {}
                    }
                    text.label transform={ "translate(" (px(x(i))) " " (px(bottom + 14.0)) ") rotate(38)" } {
                        (short(&stage.label, LABEL))
                    }
                }
            }
        }
    }
}

fn stage_words(stage: &Stage) -> String {
    let words = |value: Option<Nanos>| {
        value.map_or_else(|| "unknown".to_owned(), |value| ms(i128::from(value.as_nanos())))
    };
    format!(
        "{}: median {}, p5 {}, p95 {}, n {}",
        visible(&short(&stage.label, 120)),
        words(stage.p50),
        words(stage.p5),
        words(stage.p95),
        text::count(stage.n as u64)
    )
}

fn said(stages: &[Stage]) -> String {
    let all: Vec<String> = stages.iter().map(stage_words).collect();
    format!("What was left, stage by stage. {}.", all.join("; "))
}
