//! What was measured of calls, as far as a plan needs it: what had passed and what was left when they
//! began, how long attempts took, how long callers waited between them, and how deep calls go. Where a
//! policy is not given it is taken from here, and requests are asked one by one what would have fitted.
//!
//! A trace counts as one witness however many values it holds, as in a diff: intervals are those of as
//! many independent values as theirs are worth.

mod calls;
mod chain;
mod class;
mod depth;
mod model;
mod portion;
mod retries;
mod settled;
mod tries;
mod written;

pub use calls::{Calls, Entered};
pub use chain::{Allocated, Asked, ClassChain, Missing};
pub use class::{Class, Request, Shape};
pub use model::{Modelled, Unmodelled};
pub use portion::Portion;
pub use retries::{Fit, LinePlan, Swept, TOLD, Wanted};
pub use settled::{Settled, Source};
pub use tries::Tries;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::distributions::{Name, Names};
use crate::span::TraceId;
use crate::tables::{AttemptRow, HopRow, RequestRow, Tables, by_request};

/// All that was measured, by request class.
#[derive(Debug, Default)]
pub struct Measured {
    /// Traces by number.
    numbers: FxHashMap<TraceId, u32>,
    /// The classes.
    pub classes: BTreeMap<Name, Class>,
    /// Requests that say what they stand for, whom that makes no difference here.
    pub weighted: u64,
}

impl Measured {
    /// Takes in a partition of whole traces.
    pub fn add(&mut self, tables: &Tables) {
        let mut names = Names::of(&tables.strings);
        let mut hops = by_request(&tables.hops, |row| (row.trace_id, row.root_span_id));
        let mut attempts = by_request(&tables.attempts, |row| (row.trace_id, row.root_span_id));
        for row in &tables.requests {
            let key = (row.trace_id, row.root_span_id);
            let hops = hops.remove(&key).unwrap_or_default();
            let attempts = attempts.remove(&key).unwrap_or_default();
            self.add_request(row, hops, attempts, &mut names);
        }
    }

    fn add_request(
        &mut self,
        row: &RequestRow,
        hops: &[HopRow],
        attempts: &[AttemptRow],
        names: &mut Names<'_>,
    ) {
        // Traces are numbered as they come; which number one has changes no result.
        let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        let trace = *self.numbers.entry(row.trace_id).or_insert(next);
        self.weighted += u64::from(row.weight.is_some());
        let class = self.classes.entry(names.get(row.request_class)).or_default();
        class.add(trace, row, hops, attempts, names);
    }
}
