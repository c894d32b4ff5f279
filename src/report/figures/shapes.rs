//! Distributions of what was left, one above the other on one scale.

use std::collections::BTreeSet;

use super::{Drawing, Figure, MOST};
use crate::distributions::{
    AttemptSummary, Call, ClassSummary, Histogram, Measure, Sample, Sorted,
};
use crate::report::{attempts, hops, words};
use crate::units::Nanos;

/// About so many bins.
const BINS: usize = 80;

/// Distributions on one scale.
#[derive(Clone, Debug)]
pub struct Shapes {
    /// The least of all values.
    pub from: Nanos,
    /// The largest.
    pub to: Nanos,
    /// The distributions.
    pub rows: Vec<Shape>,
}

/// One distribution.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Of what.
    pub label: String,
    /// How deep it stands in a tree.
    pub level: usize,
    /// Of how many values.
    pub n: usize,
    /// The distribution.
    pub histogram: Histogram,
    /// What it is to be compared with: what one attempt needs.
    pub allowances: Vec<Nanos>,
}

/// A sample that is to be drawn.
struct Drawn {
    label: String,
    level: usize,
    values: Sorted,
    allowances: Vec<Nanos>,
}

/// What was left at each boundary.
pub(super) fn remaining(class: &ClassSummary) -> Option<Figure> {
    if class.with_deadline() == 0 {
        return None;
    }
    let row = |label: String, level, left: &Sample| Drawn {
        label,
        level,
        values: left.sorted(),
        allowances: Vec::new(),
    };
    let measures = [Measure::BudgetAtOrigin, Measure::BudgetAtAdmission, Measure::BudgetAtStart];
    let mut rows: Vec<Drawn> = measures
        .into_iter()
        .map(|measure| row(words::measure(measure).to_owned(), 0, class.measure(measure)))
        .collect();
    let hops = hops::busiest(hops::below_origin(class, |hop| &hop.remaining_at_entry), MOST);
    rows.extend(hops.into_iter().map(|(level, place, hop)| {
        row(words::callee(&place.call), level, &hop.remaining_at_entry)
    }));
    shapes(rows).map(|shapes| Figure {
        title: "What was left at each boundary",
        caption: "How often how much was left: the area is the number of cases, each row up to its \
                  own highest, by square roots so that small humps are seen. Values that many share \
                  to the nanosecond, such as timeouts, stand beside the bins as marks with a head. \
                  Left of the red line nothing was left.",
        drawing: Drawing::Shapes(shapes),
    })
}

/// What was left when each attempt began, against what one needs.
pub(super) fn attempts(class: &ClassSummary) -> Option<Figure> {
    if class.with_deadline() == 0 {
        return None;
    }
    let row = |((call, ordinal), attempt): (&(Call, i32), &AttemptSummary)| Drawn {
        label: format!("{} · try {ordinal}", words::callee(call)),
        level: 0,
        values: attempt.remaining_at_start.sorted(),
        allowances: allowances(&attempt.allowance),
    };
    let rows = attempts::told(class).into_iter().take(MOST).map(row).collect();
    shapes(rows).map(|shapes| Figure {
        title: "Attempts: what was left when each began",
        caption: "The dashed line is what one attempt needs, as far as it is known: attempts left of \
                  it were not funded. Heights as above.",
        drawing: Drawing::Shapes(shapes),
    })
}

/// The distinct allowances; the least and the largest of many.
fn allowances(sample: &Sample) -> Vec<Nanos> {
    let distinct: BTreeSet<Nanos> = sample.sorted().runs().map(|(value, _)| value).collect();
    match (distinct.first(), distinct.last()) {
        (Some(&least), Some(&largest)) if distinct.len() > 2 => vec![least, largest],
        _ => distinct.into_iter().collect(),
    }
}

fn shapes(mut rows: Vec<Drawn>) -> Option<Shapes> {
    rows.retain(|row| !row.values.is_empty());
    let ends = |row: &Drawn| {
        let allowances = row.allowances.iter().copied();
        [row.values.min(), row.values.max()].into_iter().flatten().chain(allowances).collect()
    };
    let ends: Vec<Nanos> = rows.iter().flat_map::<Vec<Nanos>, _>(ends).collect();
    let from = ends.iter().copied().min()?.min(Nanos::ZERO);
    let to = ends.into_iter().max()?.max(Nanos::ZERO);
    let shape = |row: Drawn| Shape {
        label: row.label,
        level: row.level,
        n: row.values.len(),
        histogram: Histogram::new(&row.values, from, to, BINS),
        allowances: row.allowances,
    };
    Some(Shapes { from, to, rows: rows.into_iter().map(shape).collect() })
}
