//! From sorted spans to wide rows, group by group.

use std::collections::BTreeSet;
use std::io::{Read, Write};

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::spans::{self, Come};
use super::stream::Out;
use super::wide::{self, Told};
use super::{Failure, part};
use crate::clocks::Offsets;
use crate::distributions::{Held, Measured, Merge, Overview, Precision};
use crate::exemplars::{self, Choice};
use crate::reconstruct::{Policy, reconstruct};
use crate::tables::{ExemplarRow, OutlineSpan, Tables};

/// How much memory values may take before they are handed out: few rows, and no more memory however
/// many spans a task has.
const VALUES_BYTES: usize = 1 << 26;

/// What traces are rebuilt by.
#[derive(Clone, Copy, Debug)]
pub struct Rebuilding<'a> {
    /// What requests were promised.
    pub policy: &'a Policy,
    /// What all spans know of clocks.
    pub offsets: &'a Offsets,
    /// How exact values of distributions stay.
    pub precision: Precision,
}

/// What all tasks together tell besides rows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Rebuilt {
    /// What the manifest tells of all requests.
    pub overview: Overview,
    /// The names of contracts that matched a request.
    pub matched: BTreeSet<String>,
}

impl Rebuilt {
    fn add(&mut self, tables: &Tables) {
        self.overview.add(tables);
        let names: FxHashSet<_> = tables.requests.iter().filter_map(|row| row.contract).collect();
        self.matched.extend(names.into_iter().map(|name| tables.strings.get(name).to_owned()));
    }

    /// What the parts of all tasks tell together, in whatever order they come.
    ///
    /// # Errors
    /// They are no such parts.
    pub fn of_parts(input: impl Read) -> Result<Self, Failure> {
        let mut all = Self::default();
        part::for_each(input, |Self { overview, matched }| {
            all.overview.merge_from(overview);
            all.matched.extend(matched);
        })?;
        Ok(all)
    }
}

/// Rebuilds the traces of sorted spans.
///
/// # Errors
/// What comes in is not sorted, or no spans.
pub fn rebuild(input: impl Read, output: impl Write, how: Rebuilding<'_>) -> Result<(), Failure> {
    let mut task = Task {
        out: Out::new(output, &wide::schema())?,
        precision: how.precision,
        rebuilt: Rebuilt::default(),
        values: Held::default(),
        choice: Choice::of_part(),
        findings: 0,
        exemplars: 0,
    };
    spans::for_each(input, |come| match come {
        Come::Traces(spans) => task.tell(reconstruct(spans, how.policy, how.offsets)),
        Come::File(_) => Ok(()),
    })?;
    task.finish()
}

/// What was told so far.
struct Task<W: Write> {
    out: Out<W>,
    precision: Precision,
    rebuilt: Rebuilt,
    values: Held,
    /// Of the whole task, so that of each class few traces go out.
    choice: Choice,
    findings: i64,
    exemplars: i64,
}

impl<W: Write> Task<W> {
    fn tell(&mut self, tables: Tables) -> Result<(), Failure> {
        self.rebuilt.add(&tables);
        self.values.add(&Measured::of(&tables), &tables.strings);
        let values = if self.values.bytes() > VALUES_BYTES {
            std::mem::take(&mut self.values).packed(self.precision)
        } else {
            Vec::new()
        };
        let mut told = Told {
            values,
            findings_before: self.findings,
            exemplars_before: self.exemplars,
            ..Told::default()
        };
        for (requests, spans) in exemplars::outlined(&tables) {
            let requests: Vec<_> = requests.collect();
            let mut is_better = false;
            for request in &requests {
                let class = tables.strings.get(request.request_class);
                is_better |= self.choice.take(class, request);
            }
            if is_better {
                let requests = requests.into_iter().map(Some).chain(std::iter::repeat(None));
                told.exemplars.extend(rows(spans).zip(requests));
            }
        }
        told.tables = tables;
        self.write(&told)?;
        self.findings += count(told.tables.findings.len());
        self.exemplars += count(told.exemplars.len());
        Ok(())
    }

    fn write(&mut self, told: &Told) -> Result<(), Failure> {
        told.for_each_batch(|batch| self.out.write(&batch))
    }

    fn finish(mut self) -> Result<(), Failure> {
        let values = std::mem::take(&mut self.values).packed(self.precision);
        let part = Some(part::bytes(&self.rebuilt)?);
        self.write(&Told { values, part, ..Told::default() })?;
        self.out.finish()
    }
}

fn rows(spans: &[OutlineSpan]) -> impl Iterator<Item = ExemplarRow> {
    spans.iter().flat_map(ExemplarRow::of)
}

fn count(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}
