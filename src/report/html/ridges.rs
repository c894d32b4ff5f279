//! Distributions one above the other on one scale.

use maud::{Markup, html};

use super::scale::{Scale, float, px};
use super::{WIDTH, ms, short};
use crate::report::model::{Ridge, Ridges};
use crate::report::text;
use crate::units::Nanos;

/// How high a row is, and how much of it a distribution may fill.
const ROW: f64 = 34.0;
const FILL: f64 = 28.0;
const LEFT: f64 = 300.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 8.0;
/// How wide a label may be, in columns, and how far a level steps in.
const LABEL: usize = 38;
const STEP: f64 = 10.0;

pub(super) fn draw(ridges: &Ridges) -> Markup {
    let bottom = TOP + ROW * float(ridges.rows.len() as i128);
    let x = Scale::of(ridges.from, ridges.to, LEFT, WIDTH - RIGHT);
    let zero = x.at(Nanos::ZERO);
    html! {
        svg viewBox={ "0 0 " (px(WIDTH)) " " (px(bottom + 22.0)) } role="img" aria-label=(said(ridges)) {
            @for tick in x.ticks(8) {
                @let at = x.place(tick);
                line.grid x1=(px(at)) x2=(px(at)) y1=(px(TOP)) y2=(px(bottom)) {}
                text.tick x=(px(at)) y=(px(bottom + 16.0)) text-anchor="middle" { (text::millis(tick)) }
            }
            @if ridges.from < Nanos::ZERO {
                rect.nothing x=(px(LEFT)) y=(px(TOP)) width=(px(zero - LEFT)) height=(px(bottom - TOP)) {}
            }
            line.zero x1=(px(zero)) x2=(px(zero)) y1=(px(TOP)) y2=(px(bottom)) {}
            @for (index, ridge) in ridges.rows.iter().enumerate() {
                (row(ridge, &x, TOP + ROW * float(index as i128 + 1)))
            }
            text.tick x="0" y=(px(bottom + 16.0)) { "left, ms" }
        }
    }
}

fn row(ridge: &Ridge, x: &Scale, base: f64) -> Markup {
    let histogram = &ridge.histogram;
    let largest = float(i128::from(histogram.largest())).max(1.0);
    let height = |count: u64| FILL * (float(i128::from(count)) / largest).sqrt();
    let width = histogram.width.as_nanos();
    let bins = (0_i64..).zip(&histogram.bins).filter(|(_, count)| **count > 0);
    let bins = bins.map(|(bin, &count)| {
        let from = histogram.from + Nanos::from_nanos(width.saturating_mul(bin));
        (from, from + histogram.width, count)
    });
    let indent = STEP * float(ridge.level.min(8) as i128);
    html! {
        g {
            title { (words(ridge)) }
            text.label x=(px(indent)) y=(px(base - 6.0)) { (short(&ridge.label, LABEL.saturating_sub(ridge.level))) }
            line.base x1=(px(LEFT)) x2=(px(WIDTH - RIGHT)) y1=(px(base)) y2=(px(base)) {}
            @for (from, to, count) in bins {
                rect.bin.bad[to <= Nanos::ZERO] x=(px(x.at(from))) y=(px(base - height(count)))
                    width=(px((x.at(to) - x.at(from)).max(1.0))) height=(px(height(count))) {}
            }
            @for atom in &histogram.atoms {
                @let (at, top) = (x.at(atom.value), base - height(atom.count));
                line.atom x1=(px(at)) x2=(px(at)) y1=(px(base)) y2=(px(top)) {}
                circle.atom cx=(px(at)) cy=(px(top)) r="3" {}
            }
            @for allowance in &ridge.allowances {
                line.mark x1=(px(x.at(*allowance))) x2=(px(x.at(*allowance))) y1=(px(base - FILL)) y2=(px(base)) {}
            }
        }
    }
}

fn words(ridge: &Ridge) -> String {
    let time = |value: Nanos| ms(i128::from(value.as_nanos()));
    let atoms = ridge.histogram.atoms.iter();
    let atoms: Vec<String> =
        atoms.map(|atom| format!("{} × {}", text::count(atom.count), time(atom.value))).collect();
    let needs: Vec<String> = ridge.allowances.iter().map(|value| time(*value)).collect();
    let told = |list: Vec<String>, lead: &str| match list.len() {
        0 => String::new(),
        1..=8 => format!("; {lead} {}", list.join(", ")),
        _ => format!("; {lead} {}, …", list.get(..8).unwrap_or_default().join(", ")),
    };
    let n = text::count(ridge.n as u64);
    format!(
        "{}: n {n}{}{}",
        short(&ridge.label, 120),
        told(atoms, "the same value:"),
        told(needs, "one attempt needs")
    )
}

fn said(ridges: &Ridges) -> String {
    let time = |value: Nanos| ms(i128::from(value.as_nanos()));
    let rows: Vec<String> = ridges.rows.iter().map(words).collect();
    format!("From {} to {}. {}", time(ridges.from), time(ridges.to), rows.join("; "))
}
