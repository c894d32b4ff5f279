//! Late and residual work: two bars a service.

use maud::{Markup, html};

use super::scale::{Scale, float, px};
use super::{WIDTH, ms, short};
use crate::report::model::Work;

const ROW: f64 = 38.0;
const BAR: f64 = 14.0;
const LEFT: f64 = 240.0;
const RIGHT: f64 = 110.0;

pub(super) fn draw(work: &[Work]) -> Markup {
    let most = work.iter().map(|work| work.late_ns.max(work.residual_ns)).max().unwrap_or(0);
    let x = Scale::new(0, most, LEFT, WIDTH - RIGHT);
    let height = ROW * float(work.len() as i128);
    html! {
        svg viewBox={ "0 0 " (px(WIDTH)) " " (px(height)) } role="img" aria-label=(said(work)) {
            @for (index, work) in work.iter().enumerate() {
                @let top = ROW * float(index as i128) + 4.0;
                g {
                    title { (words(work)) }
                    text.label x="0" y=(px(top + BAR + 4.0)) { (short(&work.label, 30)) }
                    (bar("late", work.late_ns, &x, top))
                    (bar("residual", work.residual_ns, &x, top + BAR + 1.0))
                }
            }
        }
        ul.legend {
            li { span.swatch.late {} "after the deadline" }
            li { span.swatch.residual {} "for callers who had left" }
        }
    }
}

fn bar(class: &str, sum: i128, x: &Scale, top: f64) -> Markup {
    let end = x.place(sum);
    html! {
        rect class={ "part " (class) } x=(px(LEFT)) y=(px(top)) width=(px(end - LEFT)) height=(px(BAR)) {}
        text.tick x=(px(end + 5.0)) y=(px(top + BAR - 3.0)) { (ms(sum)) }
    }
}

fn words(work: &Work) -> String {
    let (late, residual) = (ms(work.late_ns), ms(work.residual_ns));
    format!("{}: {late} late, {residual} residual", short(&work.label, 120))
}

fn said(work: &[Work]) -> String {
    work.iter().map(words).collect::<Vec<_>>().join("; ")
}
