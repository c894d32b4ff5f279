//! Values of a measure with the traces that they come from: a trace counts as one witness however many
//! values it holds.

use super::sample::Estimate;
use crate::stats::Quantile;
use crate::units::Nanos;

/// Values of one measure with the traces that they come from; those of a trace stand together.
#[derive(Clone, Debug, Default)]
pub struct Values {
    traces: Vec<u32>,
    values: Vec<i64>,
}

/// Such values in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ordered {
    sorted: Vec<i64>,
    /// How many independent values they are worth (SEMANTICS §12).
    effective: usize,
}

impl Values {
    /// Adds a value of a trace.
    pub fn push(&mut self, trace: u32, value: Nanos) {
        self.traces.push(trace);
        self.values.push(value.as_nanos());
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The values in order.
    pub fn ordered(&self) -> Ordered {
        let mut sorted = self.values.clone();
        sorted.sort_unstable();
        Ordered { sorted, effective: effective(&self.traces) }
    }

    /// Each value with its trace, in the order in which they came.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, i64)> + '_ {
        self.traces.iter().copied().zip(self.values.iter().copied())
    }
}

impl Ordered {
    /// How many values there are.
    pub const fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// The values, from the least on.
    pub(crate) fn sorted(&self) -> &[i64] {
        &self.sorted
    }

    /// How many independent ones they are worth.
    pub const fn effective(&self) -> usize {
        self.effective
    }

    /// The least value.
    pub fn min(&self) -> Option<Nanos> {
        self.sorted.first().copied().map(Nanos::from_nanos)
    }

    /// The largest value.
    pub fn max(&self) -> Option<Nanos> {
        self.sorted.last().copied().map(Nanos::from_nanos)
    }

    /// The value at a rank, from 1.
    pub fn at(&self, rank: usize) -> Option<Nanos> {
        let value = rank.checked_sub(1).and_then(|index| self.sorted.get(index));
        value.copied().map(Nanos::from_nanos)
    }

    /// A percentile with its interval.
    pub fn quantile(&self, quantile: Quantile) -> Option<Estimate> {
        let at = |rank| self.at(rank);
        let ranks = quantile.interval_of(self.len(), self.effective);
        let value = at(quantile.rank(self.len())?)?;
        let is_approximate = self.effective < self.len();
        Some(Estimate {
            value,
            lo: ranks.lo.and_then(at),
            hi: ranks.hi.and_then(at),
            is_approximate,
        })
    }
}

/// How many independent values those of some traces are worth, if within a trace they are all alike:
/// (Σm)² / Σm² for m values a trace, rounded down.
pub(crate) fn effective(traces: &[u32]) -> usize {
    let squares: u128 = traces.chunk_by(|a, b| a == b).map(|run| (run.len() as u128).pow(2)).sum();
    let n = traces.len() as u128;
    (n * n).checked_div(squares).and_then(|worth| usize::try_from(worth).ok()).unwrap_or(0)
}
