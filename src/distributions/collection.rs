//! The values of all partitions, and the table `distributions` that they make. What memory does not
//! hold waits on disk; the rows are the same.

use std::io;
use std::path::PathBuf;
use std::vec;

use super::figures::{Basis, Figures, Known, Totals, Values};
use super::held::Held;
use super::measured::Measured;
use super::parcel::Parcel;
use super::runs::{Contents, Spilled};
use super::sample::{Estimate, Sample};
use super::subject::{Subject, measures};
use crate::span::{Interner, Sym};
use crate::stats::{Mass, Quantile};
use crate::tables::{BadSide, DistributionRow, Kept, Scope};
use crate::units::Nanos;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

/// How many subjects' rows are made at a time.
const BATCH: usize = 256;

/// The values of all partitions.
#[derive(Debug)]
pub struct Collection {
    /// How much memory values may take.
    memory_bytes: usize,
    /// Where the rest goes.
    folder: PathBuf,
    held: Held,
    /// What others gathered, and how many bytes it takes.
    parcels: (Vec<Parcel>, usize),
    spilled: Option<Spilled>,
}

impl Collection {
    /// No values yet. Of them at most `memory_bytes` stay in memory, the rest goes to a file in
    /// `folder`.
    pub fn new(memory_bytes: u64, folder: PathBuf) -> Self {
        let memory_bytes = usize::try_from(memory_bytes).unwrap_or(usize::MAX);
        let (held, parcels) = Default::default();
        Self { memory_bytes, folder, held, parcels, spilled: None }
    }

    /// Adds those of a partition, of whose names the strings are.
    ///
    /// # Errors
    /// What memory does not hold cannot be kept on disk either.
    pub fn add(&mut self, measured: &Measured, strings: &Interner) -> io::Result<()> {
        self.held.add(measured, strings);
        if self.held.bytes() > self.memory_bytes { self.spill() } else { Ok(()) }
    }

    /// Adds what was gathered elsewhere.
    ///
    /// # Errors
    /// What memory does not hold cannot be kept on disk either.
    pub fn add_parcel(&mut self, parcel: Parcel) -> io::Result<()> {
        let (parcels, bytes) = &mut self.parcels;
        *bytes += parcel.len();
        parcels.push(parcel);
        if *bytes > self.memory_bytes { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> io::Result<()> {
        let spilled = match &mut self.spilled {
            Some(spilled) => spilled,
            spilled => spilled.insert(Spilled::new(&self.folder)?),
        };
        if !self.held.is_empty() {
            spilled.add(std::mem::take(&mut self.held).in_order())?;
        }
        let (mut parcels, _) = std::mem::take(&mut self.parcels);
        if !parcels.is_empty() {
            parcels.sort_by(|one, other| one.subject.cmp(&other.subject));
            spilled.add_parcels(parcels)?;
        }
        Ok(())
    }

    /// The rows, now that all is known; `are_chosen` where somebody chose traces by how they ended,
    /// which what they weigh does not tell.
    ///
    /// # Errors
    /// What is on disk cannot be read.
    pub fn finish(mut self, are_chosen: bool) -> io::Result<Distributions> {
        if self.spilled.is_some() || !self.parcels.0.is_empty() {
            self.spill()?;
        }
        let rest = match self.spilled {
            None => Rest::Held(self.held.in_order().into_iter()),
            Some(file) => Rest::Spilled { contents: file.contents()?, file },
        };
        Ok(Distributions { rest, requests: Mass::NOTHING, are_chosen, known: Known::default() })
    }
}

/// The rows of the table, some at a time.
#[derive(Debug)]
pub struct Distributions {
    rest: Rest,
    /// The requests of the class that was met last.
    requests: Mass,
    are_chosen: bool,
    known: Known,
}

/// What is to be told.
#[derive(Debug)]
enum Rest {
    Held(vec::IntoIter<(Subject<String>, Vec<Sample>)>),
    Spilled { contents: Contents, file: Spilled },
}

/// The samples of a subject, by measure.
type Samples = Vec<(Totals, Values)>;

impl Rest {
    fn next(&mut self) -> io::Result<Option<(Subject<String>, Samples)>> {
        Ok(match self {
            Self::Held(rest) => rest.next().map(|(subject, samples)| {
                let held = |sample| (Totals::of(&sample), Values::Held(sample));
                (subject, samples.into_iter().map(held).collect())
            }),
            Self::Spilled { contents, .. } => contents.next()?.map(|(subject, samples)| {
                let spilled = |(totals, runs)| (totals, Values::Spilled(runs));
                (subject, samples.into_iter().map(spilled).collect())
            }),
        })
    }

    const fn file(&self) -> Option<&Spilled> {
        match self {
            Self::Held(_) => None,
            Self::Spilled { file, .. } => Some(file),
        }
    }
}

impl Distributions {
    /// The next rows; none at the end.
    ///
    /// # Errors
    /// What is on disk cannot be read.
    pub fn next_rows(&mut self) -> io::Result<Kept<DistributionRow>> {
        let mut batch = Vec::new();
        while batch.len() < BATCH
            && let Some((subject, samples)) = self.rest.next()?
        {
            if subject.scope == Scope::Request {
                // The requests come first in their class, and each has the first of their measures.
                self.requests = samples.first().map_or(Mass::NOTHING, |(totals, _)| totals.mass);
                if self.are_chosen || !self.requests.is_weighted() {
                    self.requests = self.requests.unweighted();
                }
            }
            let is_of_all = subject.scope == Scope::Segment;
            batch.push((subject, samples, Basis { requests: self.requests, is_of_all }));
        }
        let file = self.rest.file();
        let known = &self.known;
        let told = batch.into_par_iter().map(|(subject, samples, basis)| {
            let figures = samples
                .into_iter()
                .map(|(totals, values)| Figures::of(totals, values, basis, file, known));
            Ok((subject, figures.collect::<io::Result<Vec<_>>>()?))
        });
        let mut kept = Kept::default();
        for (subject, figures) in told.collect::<io::Result<Vec<_>>>()? {
            let subject = subject.named(|name| kept.strings.intern(name));
            for (measure, figures) in measures(subject.scope).into_iter().zip(figures) {
                let Some(figures) = figures else { continue };
                let measure = (kept.strings.intern(measure.0), measure.1);
                kept.rows.push(row(&subject, measure, &figures));
            }
        }
        Ok(kept)
    }
}

/// A row of the table.
fn row(subject: &Subject<Sym>, measure: (Sym, BadSide), figures: &Figures) -> DistributionRow {
    let Totals { mass, zeros, sum } = figures.totals;
    let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    // A percentile that nothing bounds on its outer side is none.
    let mut quantiles = Quantile::ALL.into_iter();
    let values = figures.estimates.map(|estimate| {
        let (quantile, estimate) = quantiles.next().zip(estimate)?;
        quantile.outer(estimate.lo, estimate.hi).map(|_| estimate.value)
    });
    let end =
        |of: fn(Estimate) -> Option<Nanos>| figures.estimates.map(|estimate| estimate.and_then(of));
    let [p0_1_ns, p1_ns, p5_ns, p10_ns, p50_ns, p90_ns, p95_ns, p99_ns, p99_9_ns] = values;
    let [
        p0_1_lo_ns,
        p1_lo_ns,
        p5_lo_ns,
        p10_lo_ns,
        p50_lo_ns,
        p90_lo_ns,
        p95_lo_ns,
        p99_lo_ns,
        p99_9_lo_ns,
    ] = end(|estimate| estimate.lo);
    let [
        p0_1_hi_ns,
        p1_hi_ns,
        p5_hi_ns,
        p10_hi_ns,
        p50_hi_ns,
        p90_hi_ns,
        p95_hi_ns,
        p99_hi_ns,
        p99_9_hi_ns,
    ] = end(|estimate| estimate.hi);
    DistributionRow {
        request_class: subject.class,
        scope: subject.scope,
        depth: subject.depth,
        caller_service: subject.caller,
        callee_service: subject.callee,
        operation: subject.operation,
        ordinal: subject.ordinal,
        service: subject.service,
        category: subject.category,
        code: subject.code,
        measure: measure.0,
        bad_side: measure.1,
        n: whole(mass.n),
        nonzero: whole(mass.n.saturating_sub(zeros.n)),
        sum_ns: i64::try_from(sum).ok(),
        weighted: mass.is_weighted(),
        weight_sum: mass.population(),
        effective_n: mass.effective_n(),
        min_ns: figures.min,
        p0_1_ns,
        p0_1_lo_ns,
        p0_1_hi_ns,
        p1_ns,
        p1_lo_ns,
        p1_hi_ns,
        p5_ns,
        p5_lo_ns,
        p5_hi_ns,
        p10_ns,
        p10_lo_ns,
        p10_hi_ns,
        p50_ns,
        p50_lo_ns,
        p50_hi_ns,
        p90_ns,
        p90_lo_ns,
        p90_hi_ns,
        p95_ns,
        p95_lo_ns,
        p95_hi_ns,
        p99_ns,
        p99_lo_ns,
        p99_hi_ns,
        p99_9_ns,
        p99_9_lo_ns,
        p99_9_hi_ns,
        max_ns: figures.max,
    }
}
