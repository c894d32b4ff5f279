//! One line of a comparison.

use super::side::{Flag, Rate};
use crate::distributions::{Estimate, Measure, Place};
use crate::names::names;
use crate::stats::{LEVEL, Proportion, Quantile, Test};
use crate::tables::BadSide;
use crate::units::Nanos;

names! {
    /// What a line says.
    pub enum Mark {
        /// Head is different, on the side that hurts.
        Worse = "worse",
        /// Head is different, on the other side.
        Better = "better",
        /// There is no evidence of a difference.
        Same = "no-evidence",
        /// No difference could be told, however large: there is too little of it.
        TooFew = "too-few",
        /// It is told for machines and not judged, since another percentile of it is.
        Untold = "not-judged",
    }
}

/// What a line is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum About {
    /// How many requests did something.
    Rate(Rate),
    /// A measure of a request.
    Measure(Measure, Quantile),
    /// What was left at a hop when it was sent, else received.
    Remaining(Place, Quantile),
    /// What had passed then, where no deadline is known.
    Elapsed(Place, Quantile),
    /// How many requests have a finding.
    Finding(Flag),
}

/// What both sides say.
#[derive(Clone, Debug)]
pub enum Numbers {
    /// A percentile.
    Times {
        /// Of base.
        base: Percentile,
        /// Of head.
        head: Percentile,
        /// By how much head's is more.
        shift: Estimate,
    },
    /// A share.
    Shares {
        /// Of base.
        base: Part,
        /// Of head.
        head: Part,
        /// By how much head's is more, as a part of one, with its 95 % interval.
        shift: (f64, f64, f64),
    },
}

/// A percentile of one side.
#[derive(Clone, Copy, Debug)]
pub struct Percentile {
    /// With its 95 % interval.
    pub estimate: Estimate,
    /// Of how many values.
    pub n: usize,
    /// How many independent ones they are worth.
    pub effective: usize,
}

/// A share of one side.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// How many of how many.
    pub proportion: Proportion,
    /// Its 95 % interval.
    pub interval: (f64, f64),
    /// Late and residual work that a finding explains, where it is one that can.
    pub wasted_ns: Option<i128>,
}

/// One line.
#[derive(Clone, Debug)]
pub struct Line {
    /// What it is about.
    pub about: About,
    /// What both sides say.
    pub numbers: Numbers,
    /// How likely that is of sides that are alike; `None` where it is not judged.
    pub test: Option<Test>,
    /// The same for the whole diff: how likely it is that any of its lines shows as much; `None`
    /// where it could not be told.
    pub corrected_p: Option<f64>,
    /// What is made of it.
    pub mark: Mark,
    /// By what part the class would have to have more requests, on both sides, to be told apart;
    /// `None` where it is, or where nothing is seen that could be.
    pub growth: Option<f64>,
}

/// What needs fewer standard deviations than this is not worth more requests.
const VISIBLE: f64 = 1.0;

impl About {
    /// On which side it hurts.
    pub fn bad_side(&self) -> BadSide {
        match self {
            Self::Rate(rate) => rate.bad_side(),
            Self::Measure(measure, _) => super::bad_side_of(*measure),
            Self::Remaining(..) => BadSide::Low,
            Self::Elapsed(..) | Self::Finding(_) => BadSide::High,
        }
    }
}

impl Numbers {
    /// Whether head's is more (1), less (-1) or the same.
    pub fn direction(&self) -> i8 {
        match self {
            Self::Times { shift, .. } => sign(shift.value.cmp(&Nanos::ZERO)),
            Self::Shares { base, head, .. } => {
                let (base, head) = (base.proportion, head.proportion);
                let cross = |part: u64, whole: u64| u128::from(part) * u128::from(whole);
                sign(cross(head.part, base.whole).cmp(&cross(base.part, head.whole)))
            }
        }
    }

    /// Whether both sides are nothing.
    pub fn is_nothing(&self) -> bool {
        match self {
            Self::Times { base, head, .. } => {
                [base, head].iter().all(|side| side.estimate.value == Nanos::ZERO)
            }
            Self::Shares { base, head, .. } => {
                [base, head].iter().all(|side| side.proportion.part == 0)
            }
        }
    }
}

fn sign(ordering: std::cmp::Ordering) -> i8 {
    ordering as i8
}

impl Line {
    /// A line that is yet to be judged.
    pub(super) const fn new(about: About, numbers: Numbers, test: Option<Test>) -> Self {
        Self { about, numbers, test, corrected_p: None, mark: Mark::Untold, growth: None }
    }

    /// Whether the sides are told apart.
    pub fn is_different(&self) -> bool {
        matches!(self.mark, Mark::Worse | Mark::Better)
    }

    /// Whether the side that hurts is worse off.
    pub fn is_worse(&self) -> bool {
        self.mark == Mark::Worse
    }

    /// Whether people would want to read it: it says that something is there, and was judged.
    pub fn is_worth_reading(&self) -> bool {
        let could_differ = self.test.is_some_and(|test| test.could_differ());
        self.is_different() || (could_differ && !self.numbers.is_nothing())
    }

    /// Decides what it says, by its corrected p and the p below which one line is told apart.
    pub(super) fn judge(&mut self, corrected_p: Option<f64>, level: f64) {
        self.corrected_p = corrected_p;
        let Some(test) = self.test else { return };
        let direction = self.numbers.direction();
        // What is tested is not quite what is told: a median may stay where it is while others move.
        let agrees = f64::from(direction) * test.z > 0.0;
        self.mark = match corrected_p {
            None => Mark::TooFew,
            Some(p) if p < LEVEL && agrees => {
                let is_up = direction > 0;
                let hurts = is_up == (self.about.bad_side() == BadSide::High);
                if hurts { Mark::Worse } else { Mark::Better }
            }
            Some(_) => Mark::Same,
        };
        let growth = match self.mark {
            Mark::TooFew => test.growth_to_reach(level),
            Mark::Same if agrees && test.z.abs() >= VISIBLE => test.growth_to_tell(level),
            _ => None,
        };
        self.growth = growth.map(|growth| growth - 1.0).filter(|growth| *growth > 0.0);
    }
}
