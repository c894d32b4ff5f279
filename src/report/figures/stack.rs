//! Where the budgets of all requests of a class went together.

use super::{Drawing, Figure};
use crate::distributions::{ClassSummary, Measure, Name};
use crate::report::words;
use crate::tables::Category;

/// Parts smaller than this share of the whole cannot be seen.
const LEAST_SHARE: i128 = 250;

/// A whole and its parts.
#[derive(Clone, Debug)]
pub struct Stack {
    /// The parts, largest first.
    pub parts: Vec<Part>,
    /// What all parts together are.
    pub spent_ns: i128,
    /// The budgets, where every request has one.
    pub budget_ns: Option<i128>,
}

/// One part.
#[derive(Clone, Debug)]
pub struct Part {
    /// Who spent it.
    pub service: String,
    /// On what; none of several small parts together.
    pub category: Option<Category>,
    /// How much.
    pub spent_ns: i128,
}

pub(super) fn figure(class: &ClassSummary) -> Option<Figure> {
    let stack = stack(class);
    let is_bounded = stack.budget_ns.is_some();
    (stack.spent_ns > 0).then_some(Figure {
        title: if is_bounded { "Where the budget went" } else { "Where the time went" },
        caption: if is_bounded {
            "Own time on the consumption path of all requests together, by service and what it was \
             spent on; the numbers are in the table of the same name. The thin bar above shows how much \
             of all budgets that is."
        } else {
            "Own time on the consumption path of all requests together, by service and what it was \
             spent on; the numbers are in the table of the same name."
        },
        drawing: Drawing::Stack(stack),
    })
}

fn stack(class: &ClassSummary) -> Stack {
    let sums = class.spent.iter().map(|(key, sample)| (sample.sum(), key));
    let mut sums: Vec<(i128, &(Name, Category))> = sums.filter(|(sum, _)| *sum > 0).collect();
    sums.sort_by(|(sum, key), (other_sum, other)| other_sum.cmp(sum).then_with(|| key.cmp(other)));
    let spent_ns = sums.iter().map(|(sum, _)| sum).sum();
    let (large, small): (Vec<_>, Vec<_>) =
        sums.into_iter().partition(|(sum, _)| sum * LEAST_SHARE >= spent_ns);
    let part = |(spent_ns, (service, category)): (i128, &(Name, Category))| Part {
        service: words::named(Some(service)).to_owned(),
        category: Some(*category),
        spent_ns,
    };
    let mut parts: Vec<Part> = large.into_iter().map(part).collect();
    let rest: i128 = small.iter().map(|(sum, _)| sum).sum();
    parts.extend((rest > 0).then(|| Part {
        service: format!("{} smaller parts", small.len()),
        category: None,
        spent_ns: rest,
    }));
    let is_bounded = class.requests > 0 && class.with_deadline() == class.requests;
    let budget_ns = is_bounded.then(|| class.measure(Measure::BudgetAtOrigin).sum());
    Stack { parts, spent_ns, budget_ns }
}
