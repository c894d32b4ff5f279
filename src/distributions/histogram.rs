//! The shape of a sample: bins of one width, and the values that many share.

use super::sample::Sorted;
use crate::units::Nanos;

/// At least so many of a sample are the same to the nanosecond before they count as an atom.
const ATOM_LEAST: usize = 5;

/// And at least one in so many.
const ATOM_ONE_IN: usize = 100;

/// Counts of values in bins of one width.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Where the first bin begins.
    pub from: Nanos,
    /// How wide each bin is.
    pub width: Nanos,
    /// How many values lie in each bin, its beginning included; those of atoms are not among them.
    pub bins: Vec<u64>,
    /// Values that many share, such as timeouts: a bin would hide how narrow they are.
    pub atoms: Vec<Atom>,
}

/// A value that many share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atom {
    /// The value.
    pub value: Nanos,
    /// How many have it.
    pub count: u64,
}

impl Histogram {
    /// The shape of `values` from `from` to `to` in about `bins` bins, whose edges are round numbers;
    /// what lies outside is not counted. Without values, or without a length to divide, there are no
    /// bins.
    pub fn new(values: &Sorted, from: Nanos, to: Nanos, bins: usize) -> Self {
        let width = round_width((to - from).as_nanos(), bins);
        let from = from.as_nanos().div_euclid(width).saturating_mul(width);
        let count = usize::try_from(to.as_nanos().saturating_sub(from) / width + 1).unwrap_or(0);
        let mut histogram = Self {
            from: Nanos::from_nanos(from),
            width: Nanos::from_nanos(width),
            bins: vec![0; count],
            atoms: Vec::new(),
        };
        for (value, count) in values.runs() {
            histogram.add(value, count, values.len());
        }
        histogram
    }

    fn add(&mut self, value: Nanos, count: usize, n: usize) {
        let is_atom = count >= ATOM_LEAST && count * ATOM_ONE_IN >= n;
        let place = (value - self.from).as_nanos().div_euclid(self.width.as_nanos());
        let Some(bin) = usize::try_from(place).ok().and_then(|place| self.bins.get_mut(place))
        else {
            return;
        };
        if is_atom {
            self.atoms.push(Atom { value, count: count as u64 });
        } else {
            *bin += count as u64;
        }
    }

    /// The fullest bin or atom.
    pub fn largest(&self) -> u64 {
        let atoms = self.atoms.iter().map(|atom| atom.count);
        self.bins.iter().copied().chain(atoms).max().unwrap_or(0)
    }
}

/// The least of 1, 2 and 5 times a power of ten by which `length` is divided into at most `bins`.
fn round_width(length: i64, bins: usize) -> i64 {
    let needed = length.max(1).unsigned_abs().div_ceil(bins.max(1) as u64);
    let needed = i64::try_from(needed).unwrap_or(i64::MAX);
    let mut power = 1_i64;
    loop {
        for factor in [1, 2, 5] {
            let width = power.saturating_mul(factor);
            if width >= needed {
                return width;
            }
        }
        power = power.saturating_mul(10);
    }
}
