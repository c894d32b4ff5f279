//! Rows that outlive the partition that they come from.

use super::Row;
use crate::span::Interner;

/// Rows with strings of their own.
#[derive(Debug)]
pub struct Kept<R> {
    /// The strings behind every [`crate::span::Sym`] of the rows.
    pub strings: Interner,
    /// The rows, in the order in which they came.
    pub rows: Vec<R>,
}

impl<R> Default for Kept<R> {
    fn default() -> Self {
        Self { strings: Interner::default(), rows: Vec::new() }
    }
}

impl<R: Row> Kept<R> {
    /// Adds rows whose strings are these.
    pub fn extend(&mut self, rows: impl IntoIterator<Item = R>, strings: &Interner) {
        let Self { strings: own, rows: kept } = self;
        kept.extend(rows.into_iter().map(|mut row| {
            row.renumber(&mut |sym| own.intern(strings.get(sym)));
            row
        }));
    }
}
