//! What a plan goes by, and where that comes from.

use crate::distributions::Values;
use crate::names::names;
use crate::stats::Quantile;
use crate::units::Nanos;

names! {
    /// Where a value comes from.
    pub enum Source {
        /// A flag.
        Given = "given",
        /// The contract by which traces were analyzed.
        Contract = "contract",
        /// What was measured.
        Measured = "measured",
        /// The default of a flag: too little was measured.
        Default = "default",
    }
}

/// A value, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled<T> {
    /// The value.
    pub value: T,
    /// Where it comes from.
    pub source: Source,
    /// Of how many values it was measured, or how many requests the contract says it of.
    pub n: Option<usize>,
}

impl<T> Settled<T> {
    /// What was given, else what was found.
    pub(super) fn found(given: Option<T>, found: impl FnOnce() -> Option<Self>) -> Option<Self> {
        match given {
            Some(value) => Some(Self { value, source: Source::Given, n: None }),
            None => found(),
        }
    }

    /// The same, else the default.
    pub(super) fn of(given: Option<T>, found: impl FnOnce() -> Option<Self>, default: T) -> Self {
        let by_default = Self { value: default, source: Source::Default, n: None };
        Self::found(given, found).unwrap_or(by_default)
    }
}

/// Of fewer values a twentieth is none, and no p95 is taken from them.
const LEAST: usize = 20;

/// The p95 of values, where there are enough of them.
pub(super) fn p95(values: &Values) -> Option<Settled<Nanos>> {
    at(values, Quantile::P95).filter(|settled| settled.n >= Some(LEAST))
}

/// The median of values, where there are any.
pub(super) fn median(values: &Values) -> Option<Settled<Nanos>> {
    at(values, Quantile::P50)
}

fn at(values: &Values, quantile: Quantile) -> Option<Settled<Nanos>> {
    let ordered = values.ordered();
    let value = ordered.quantile(quantile)?.value;
    Some(Settled { value, source: Source::Measured, n: Some(ordered.len()) })
}
