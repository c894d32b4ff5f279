//! A whole and its parts: one bar.

use maud::{Markup, html};

use super::scale::{Scale, px};
use super::{WIDTH, ms, short};
use crate::report::model::{Part, Stack};
use crate::report::text;
use crate::tables::Category;

const HEIGHT: f64 = 44.0;
/// A part narrower than this has no room for words.
const ROOMY: f64 = 60.0;
/// About how wide a letter is.
const LETTER: f64 = 7.5;

pub(super) fn draw(stack: &Stack) -> Markup {
    let x = Scale::new(0, stack.spent_ns, 0.0, WIDTH);
    let mut from = 0;
    let parts: Vec<(i128, &Part)> = stack
        .parts
        .iter()
        .map(|part| {
            let begin = from;
            from += part.spent_ns;
            (begin, part)
        })
        .collect();
    html! {
        @if let Some(budget) = stack.budget_ns { (of_budget(stack.spent_ns, budget)) }
        svg viewBox={ "0 0 " (px(WIDTH)) " 50" } role="img" aria-label=(said(stack)) {
            @for (begin, part) in &parts {
                @let (left, right) = (x.place(*begin), x.place(begin + part.spent_ns));
                g {
                    title { (words(part, stack)) }
                    rect class={ "part " (class(part.category)) } x=(px(left)) y="2" width=(px(right - left)) height=(px(HEIGHT)) {}
                    @if right - left > ROOMY {
                        text.inside x=(px(left + 6.0)) y="21" { (short(&part.service, columns(right - left))) }
                        text.inside.minor x=(px(left + 6.0)) y="37" { (short(kind(part.category), columns(right - left))) }
                    }
                }
            }
        }
        ul.legend {
            @for category in Category::ALL {
                @if stack.parts.iter().any(|part| part.category == Some(*category)) {
                    li { span class={ "swatch " (class(Some(*category))) } {} (kind(Some(*category))) }
                }
            }
        }
    }
}

/// How much of the budgets was spent: what the bar below divides.
fn of_budget(spent_ns: i128, budget_ns: i128) -> Markup {
    let x = Scale::new(0, spent_ns.max(budget_ns), 0.0, WIDTH);
    let (spent, budget) = (x.place(spent_ns), x.place(budget_ns));
    let share = text::percent(spent_ns, budget_ns);
    html! {
        p { (ms(spent_ns)) " spent of " (ms(budget_ns)) " that all requests had together: " (share) }
        svg viewBox={ "0 0 " (px(WIDTH)) " 16" } aria-hidden="true" {
            rect.node x="0" y="2" width=(px(budget)) height="10" {}
            rect class="part local" x="0" y="2" width=(px(spent)) height="10" {}
            line.zero x1=(px(budget)) x2=(px(budget)) y1="0" y2="14" {}
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a width in pixels is a small number above zero"
)]
fn columns(room: f64) -> usize {
    ((room - 12.0) / LETTER) as usize
}

/// How a category is drawn.
pub(super) fn class(category: Option<Category>) -> &'static str {
    category.map_or("other", Category::name)
}

fn kind(category: Option<Category>) -> &'static str {
    match category {
        Some(Category::Queue) => "in queues",
        Some(Category::Backoff) => "backing off",
        Some(Category::Network) => "network",
        Some(Category::Downstream) => "untraced callee",
        Some(Category::Local) => "at work",
        None => "",
    }
}

fn words(part: &Part, stack: &Stack) -> String {
    let share = text::percent(part.spent_ns, stack.budget_ns.unwrap_or(stack.spent_ns));
    let of = if stack.budget_ns.is_some() { "of the budget" } else { "of what was spent" };
    let service = short(&part.service, 120);
    format!("{service} {}: {}, {share} {of}", kind(part.category), ms(part.spent_ns))
}

fn said(stack: &Stack) -> String {
    stack.parts.iter().map(|part| words(part, stack)).collect::<Vec<_>>().join("; ")
}
