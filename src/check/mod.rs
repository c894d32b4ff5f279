//! Contracts as a gate: by request class which of the fourteen cases and which limits hold, which do
//! not, and of which the traces cannot tell.
//!
//! ```text
//! tables ──► Evidence ──► judge(&Rulings) ──► Verdict
//! ```

mod cases;
mod evidence;
mod judge;
mod limits;
mod retries;
mod standing;

pub use cases::{CASES, Case, Need};
pub use evidence::Evidence;
pub use judge::{Basis, Check, ClassVerdict, Kind, Outcome, Verdict};
pub use limits::Measured;
pub use retries::RetryRule;
pub use standing::{FailOn, Judged, Rulings, Standing, SuppressionState, SuppressionUse};
