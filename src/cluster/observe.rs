//! What traces do not declare: what each task sees of limits, and the contract that all of it comes to.

use std::io::{Read, Write};

use serde::{Deserialize, Serialize};

use super::spans::{Come, for_each};
use super::{Failure, part};
use crate::calibrate::{Calibration, Chosen, Observed};
use crate::clocks::Offsets;
use crate::reconstruct::{self, Policy};
use crate::span::TraceId;

/// What one task has seen.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Part {
    /// Its first trace: tasks come in the order of the traces, whatever the order of what they told.
    first: Option<TraceId>,
    observed: Observed,
}

/// Sees what sorted spans say of limits, and of what attempts need.
///
/// # Errors
/// What comes in is not sorted, or no spans.
pub fn observe(
    input: impl Read,
    policy: &Policy,
    offsets: &Offsets,
    output: impl Write,
) -> Result<(), Failure> {
    let mut told = Part::default();
    for_each(input, |come| {
        if let Come::Traces(spans) = come {
            told.first = told.first.or_else(|| spans.rows.first().map(|span| span.trace_id));
            told.observed.add(&reconstruct::observe(&spans, policy, offsets));
        }
        Ok(())
    })?;
    part::write(&told, output)
}

/// What all that tasks have seen comes to, in whatever order it comes.
///
/// # Errors
/// It is nothing that [`observe`] has told.
pub fn calibrate(input: impl Read, chosen: Chosen) -> Result<Calibration, Failure> {
    let mut parts: Vec<Part> = Vec::new();
    part::for_each(input, |told| parts.push(told))?;
    parts.sort_by_key(|part| part.first);
    let mut observed = Observed::default();
    for part in parts {
        observed.merge(part.observed);
    }
    Ok(observed.calibrate(chosen))
}
