//! What the table `distributions` tells of a sample, whether memory holds it or not.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::runs::{Run, Spilled};
use super::sample::{Estimate, Sample};
use crate::stats::{Aims, Mass, Quantile};
use crate::units::Nanos;

/// How much a sample is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    /// All values.
    pub(super) mass: Mass,
    /// Those that are zero.
    pub(super) zeros: Mass,
    /// The sum of all.
    pub(super) sum: i128,
}

impl Totals {
    pub(super) fn of(sample: &Sample) -> Self {
        Self { mass: sample.mass(), zeros: sample.zeros(), sum: sample.sum() }
    }

    /// Adds those of another part of the sample.
    pub(super) fn merge(&mut self, more: Self) {
        self.mass.merge(more.mass);
        self.zeros.merge(more.zeros);
        self.sum += more.sum;
    }

    /// The same with further zeros up to those of `whole`.
    fn among(self, whole: Mass) -> Self {
        let zeros = whole.without(self.mass.without(self.zeros));
        Self { mass: whole, zeros, ..self }
    }

    fn unweighted(self) -> Self {
        Self { mass: self.mass.unweighted(), zeros: self.zeros.unweighted(), ..self }
    }
}

/// Where the values of a sample are.
#[derive(Debug)]
pub(super) enum Values {
    /// In memory.
    Held(Sample),
    /// In a file.
    Spilled(Vec<Run>),
}

/// What is known of the requests whose sample it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Basis {
    /// The requests of the class, weighted where the weight of each is known.
    pub(super) requests: Mass,
    /// Requests without a value count as zero.
    pub(super) is_of_all: bool,
}

/// What is told of a sample.
#[derive(Clone, Debug)]
pub(super) struct Figures {
    pub(super) totals: Totals,
    pub(super) min: Nanos,
    pub(super) max: Nanos,
    /// By [`Quantile::ALL`].
    pub(super) estimates: [Option<Estimate>; QUANTILES],
}

/// How many percentiles there are.
pub(super) const QUANTILES: usize = Quantile::ALL.len();

/// What to look for in a mass.
#[derive(Debug)]
struct Wanted {
    /// All of it in order: the least, percentiles and what they lie between, the most.
    aims: Vec<u128>,
    /// Where among them each percentile is, by [`Quantile::ALL`].
    places: [Option<Places>; QUANTILES],
}

/// Where a percentile and the ends of its interval are among what was looked for.
#[derive(Clone, Copy, Debug)]
struct Places {
    value: usize,
    lo: Option<usize>,
    hi: Option<usize>,
}

impl Wanted {
    fn of(mass: Mass) -> Self {
        let by_quantile = Quantile::ALL.map(|quantile| mass.aims(quantile));
        let ends =
            by_quantile.iter().flatten().flat_map(|aims| [Some(aims.value), aims.lo, aims.hi]);
        let mut aims = vec![1, mass.whole()];
        aims.extend(ends.flatten());
        aims.sort_unstable();
        aims.dedup();
        let place = |aim: u128| aims.partition_point(|&other| other < aim);
        let places = by_quantile.map(|wanted| {
            wanted.map(|Aims { value, lo, hi }| Places {
                value: place(value),
                lo: lo.map(place),
                hi: hi.map(place),
            })
        });
        Self { aims, places }
    }
}

/// So many masses are remembered at a time: weighted ones can all be different.
const MOST_KNOWN: usize = 1 << 12;

/// What was looked for before: most samples are as large as others were.
#[derive(Debug, Default)]
pub(super) struct Known(Mutex<FxHashMap<Mass, Arc<Wanted>>>);

impl Known {
    fn wanted(&self, mass: Mass) -> Arc<Wanted> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(wanted) = known().get(&mass) {
            return Arc::clone(wanted);
        }
        let wanted = Arc::new(Wanted::of(mass));
        let mut known = known();
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(mass, Arc::clone(&wanted));
        wanted
    }
}

impl Figures {
    /// Those of a sample; `None` of one without values.
    pub(super) fn of(
        totals: Totals,
        values: Values,
        basis: Basis,
        spilled: Option<&Spilled>,
        known: &Known,
    ) -> io::Result<Option<Self>> {
        let totals = if basis.is_of_all { totals.among(basis.requests) } else { totals };
        let is_weighted = basis.requests.is_weighted();
        let totals = if is_weighted { totals } else { totals.unweighted() };
        if totals.mass.n == 0 {
            return Ok(None);
        }
        let wanted = known.wanted(totals.mass);
        let aims = &wanted.aims;
        let found = match (values, spilled) {
            (Values::Held(mut sample), _) => {
                if !is_weighted {
                    sample.forget_weights();
                }
                let sorted = sample.into_sorted_of(totals.mass);
                aims.iter().map(|&aim| sorted.at(aim).unwrap_or_default()).collect()
            }
            (Values::Spilled(runs), Some(file)) => pick(aims, &runs, totals, file)?,
            (Values::Spilled(_), None) => Vec::new(),
        };
        let at = |place: usize| found.get(place).copied().unwrap_or_default();
        let estimate = |places: Option<Places>| {
            places.map(|Places { value, lo, hi }| Estimate {
                value: at(value),
                lo: lo.map(at),
                hi: hi.map(at),
                is_approximate: totals.mass.is_weighted(),
            })
        };
        Ok(Some(Self {
            totals,
            min: at(0),
            max: at(aims.len() - 1),
            estimates: wanted.places.map(estimate),
        }))
    }
}

/// The first values up to which so much of a sample's mass lies, for each of `aims`, which are in
/// order.
fn pick(aims: &[u128], runs: &[Run], totals: Totals, file: &Spilled) -> io::Result<Vec<Nanos>> {
    let mut picked = Vec::with_capacity(aims.len());
    let mut reached = 0;
    let mut take = |value: i64, mass: u128| {
        reached += mass;
        while aims.get(picked.len()).is_some_and(|&aim| aim <= reached) {
            picked.push(Nanos::from_nanos(value));
        }
        picked.len() == aims.len()
    };
    let is_weighted = totals.mass.is_weighted();
    let mut zeros = Some(if is_weighted { totals.zeros.weight } else { totals.zeros.n.into() });
    let mut values = file.merged(runs)?;
    while let Some((value, weight, count)) = values.next()? {
        if value > 0
            && let Some(zeros) = zeros.take()
        {
            take(0, zeros);
        }
        let weight = weight.filter(|_| is_weighted);
        let mass = weight.map_or(1, |weight| weight.millionths().into());
        if take(value, mass * u128::from(count)) {
            break;
        }
    }
    if let Some(zeros) = zeros {
        take(0, zeros);
    }
    Ok(picked)
}
