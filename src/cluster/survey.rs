//! What the spans of one task know together.

use std::io::{Read, Write};

use serde::{Deserialize, Serialize};

use super::ingest::File;
use super::spans::{Come, for_each};
use super::{Failure, part};
use crate::clocks::Pool;
use crate::survey::{Facts, call_bounds};

/// What the spans of one task know together, and the files that were told among them.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Part {
    facts: Facts,
    pub(super) pool: Pool,
    pub(super) files: Vec<File>,
}

impl Part {
    /// Adds that of another task.
    pub(super) fn merge(&mut self, other: Self) {
        self.facts.merge(&other.facts);
        self.pool.merge(&other.pool);
        self.files.extend(other.files);
    }

    /// The facts of all spans: who chose traces is told by files.
    pub(super) fn facts(&self) -> Facts {
        let mut facts = self.facts.clone();
        for (who, times) in self.files.iter().flat_map(|file| &file.chosen_by) {
            *facts.chosen_by.entry(who.clone()).or_default() += times;
        }
        facts
    }
}

/// Surveys sorted spans. Where clocks are not pooled each trace is on its own, and nothing is told of
/// them.
///
/// # Errors
/// What comes in is not sorted, or no spans.
pub fn survey(input: impl Read, is_pooled: bool, output: impl Write) -> Result<(), Failure> {
    let mut told = Part::default();
    for_each(input, |come| {
        match come {
            Come::Traces(spans) => {
                told.facts.merge(&crate::survey::survey(&spans));
                if is_pooled {
                    told.pool.merge(&call_bounds(&spans));
                }
            }
            Come::File(bytes) => told.files.push(part::read(&bytes)?),
        }
        Ok(())
    })?;
    part::write(&told, output)
}
