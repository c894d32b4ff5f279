//! Two sets of requests compared, class by class and line by line: by how much head is off from base,
//! and whether that is more than chance (docs/diff.md).
//!
//! Nothing is assumed of distributions, and a trace counts as one witness however many values it
//! holds. All lines together mark a difference where there is none in at most 5 of 100 comparisons.

mod class;
mod line;
mod samples;
mod side;

use rayon::prelude::*;

pub use class::ClassDiff;
pub use line::{About, Line, Mark, Numbers, Part, Percentile};
pub use side::{Rate, Side};

use crate::distributions::{Measure, Name};
use crate::stats::Family;
use crate::tables::{BadSide, RequestRow, Row as _};

/// A comparison.
#[derive(Debug)]
pub struct Diff {
    /// The classes that both sides have.
    pub classes: Vec<(Name, ClassDiff)>,
    /// Classes that head alone has, and how many requests.
    pub new: Vec<(Name, u64)>,
    /// Classes that base alone has, and how many requests.
    pub gone: Vec<(Name, u64)>,
    /// How many lines could show a difference: those that are corrected for.
    pub judged: usize,
}

impl Diff {
    /// Compares `head` with `base`.
    pub fn of(base: &Side, head: &Side) -> Self {
        let alone = |side: &Side, other: &Side| {
            let mine = side.classes.iter().filter(|(name, _)| !other.classes.contains_key(*name));
            mine.map(|(name, class)| (name.clone(), class.requests.len() as u64)).collect()
        };
        let mut diff = Self {
            classes: Vec::new(),
            new: alone(head, base),
            gone: alone(base, head),
            judged: 0,
        };
        for (name, of_base) in &base.classes {
            let Some(of_head) = head.classes.get(name) else { continue };
            let pairs = class::pairs(of_base, of_head);
            let lines: Vec<Vec<Line>> = pairs.par_iter().map(class::lines).collect();
            let without = |one: &side::ClassSide, other: &side::ClassSide| {
                let mine = one.hops.keys().filter(|place| !other.hops.contains_key(*place));
                mine.cloned().collect()
            };
            let class = ClassDiff {
                requests: (of_base.requests.len() as u64, of_head.requests.len() as u64),
                lines: lines.into_iter().flatten().collect(),
                gone_hops: without(of_base, of_head),
                new_hops: without(of_head, of_base),
            };
            diff.classes.push((name.clone(), class));
        }
        diff.judge();
        diff
    }

    /// All lines with their classes.
    pub fn lines(&self) -> impl Iterator<Item = (&Name, &Line)> {
        self.classes
            .iter()
            .flat_map(|(name, class)| class.lines.iter().map(move |line| (name, line)))
    }

    /// Lines that got worse: what `--fail-on regression` fails for.
    pub fn regressions(&self) -> impl Iterator<Item = (&Name, &Line)> {
        self.lines().filter(|(_, line)| line.is_worse())
    }

    fn judge(&mut self) {
        let tests: Vec<_> = self.lines().map(|(_, line)| line.test).collect();
        let family = Family::of(&tests);
        let lines = self.classes.iter_mut().flat_map(|(_, class)| &mut class.lines);
        for (line, corrected) in lines.zip(&family.corrected) {
            line.judge(*corrected, family.level);
        }
        self.judged = family.size;
    }
}

/// The bad side of a request's measure, as its table declares it.
fn bad_side_of(measure: Measure) -> BadSide {
    let columns = (RequestRow::TABLE.columns)();
    let declared = columns.iter().find(|column| column.name == measure.name());
    declared.and_then(|column| column.bad_side).unwrap_or(BadSide::High)
}
