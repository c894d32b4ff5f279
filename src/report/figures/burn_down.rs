//! What is left of the budget from stage to stage.

use std::collections::BTreeMap;

use super::{Drawing, Figure, MOST, bounded};
use crate::distributions::{ClassSummary, Measure, Place, Sample};
use crate::report::{hops, text, words};
use crate::stats::Quantile;
use crate::units::Nanos;

/// What was left at one stage.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Where.
    pub label: String,
    /// In how many cases.
    pub n: usize,
    /// Half of the requests or more come there.
    pub is_common: bool,
    /// In the worst twentieth at most so much; none where they are too few to tell.
    pub p5: Option<Nanos>,
    /// In half of them.
    pub p50: Option<Nanos>,
    /// In the best twentieth at least so much.
    pub p95: Option<Nanos>,
}

impl Stage {
    fn new(label: String, left: &Sample, requests: u64) -> Self {
        let left = left.sorted();
        Self {
            label,
            n: left.len(),
            is_common: left.len() as u64 * 2 >= requests,
            p5: bounded(&left, Quantile::P5),
            p50: bounded(&left, Quantile::P50),
            p95: bounded(&left, Quantile::P95),
        }
    }
}

pub(super) fn figure(class: &ClassSummary) -> Option<Figure> {
    let stages = stages(class);
    let is_drawn = stages.iter().filter(|stage| stage.p50.is_some()).count() > 1;
    is_drawn.then_some(Figure {
        title: "The budget along the path",
        caption: "What was left of the deadline when a stage was reached: the line is the median, \
                  the band holds nine of ten (p5 to p95). Below the red line nothing is left. Hops \
                  stand in the order in which half of the requests had reached them; those that run \
                  side by side stand one after the other. The line passes over stages that fewer than half of \
                  the requests reach; a percentage says how many do.",
        drawing: Drawing::BurnDown(stages),
    })
}

/// The way in, then hops in the order in which they are reached.
fn stages(class: &ClassSummary) -> Vec<Stage> {
    let way_in = [Measure::BudgetAtOrigin, Measure::BudgetAtAdmission, Measure::BudgetAtStart];
    let way_in =
        way_in.into_iter().map(|measure| (words::measure(measure), class.measure(measure)));
    let mut stages: Vec<Stage> = way_in
        .filter(|(_, left)| !left.is_empty())
        .map(|(label, left)| Stage::new(label.to_owned(), left, class.requests))
        .collect();
    let mut reached = hops::busiest(hops::below_origin(class, |hop| &hop.remaining_at_entry), MOST);
    reached.sort_by_cached_key(|(_, place, hop)| {
        let elapsed = hop.elapsed_at_entry.sorted().quantile(Quantile::P50);
        (elapsed.map(|median| median.value), (*place).clone())
    });
    let names = |place: &'_ Place| (place.call.callee.clone(), place.call.operation.clone());
    let mut counts: BTreeMap<_, u32> = BTreeMap::new();
    for (_, place, _) in &reached {
        *counts.entry(names(place)).or_default() += 1;
    }
    stages.extend(reached.into_iter().map(|(_, place, hop)| {
        let label = if counts.get(&names(place)).is_some_and(|&count| count > 1) {
            words::call(&place.call)
        } else {
            words::callee(&place.call)
        };
        let reached = hop.remaining_at_entry.len() as u64;
        // A stage that few reach tells of those few.
        let label = match text::percent(i128::from(reached), i128::from(class.requests)) {
            share if reached * 2 < class.requests => format!("{label} ({share})"),
            _ => label,
        };
        Stage::new(label, &hop.remaining_at_entry, class.requests)
    }));
    stages
}
