//! What traces do not declare, told by durations and outcomes alone: after how long calls and requests
//! are cut off, whether that is a constant or what was left, and what an attempt needs
//! (docs/inference.md).
//!
//! ```text
//! tables ──► Observed ──► Calibration ──► a contract, as text or in memory
//! ```

mod atoms;
mod document;
mod evidence;
mod funding;
mod likelihood;
mod limit;
mod observed;
mod rule;
mod sampled;
mod written;

pub use atoms::{Atom, atoms};
pub use document::document;
pub use funding::{Decile, Funding, funding};
pub use limit::{
    Calibration, CallLimit, ClassLimit, LEAST_CUT, LEAST_MEASURED, Limit, Measured, as_set,
};
pub use observed::{Began, CallObserved, ClassObserved, Cut, Observed};
pub use rule::{Judged, Rule, Since, rule};
pub use sampled::Sampled;
pub use written::contract_text;

use crate::stats::Quantile;

/// How much of what was measured is taken for what is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Of how long attempts took that succeeded.
    pub allowance: Quantile,
    /// Of how long requests took to return.
    pub reserve: Quantile,
}

impl Default for Chosen {
    fn default() -> Self {
        Self { allowance: Quantile::P95, reserve: Quantile::P95 }
    }
}
