//! What one worker brings home from one file.

use super::excerpt::Collected;
use super::problems::{Code, Ledger, Place};
use super::scatter::Scattered;
use crate::conventions::{Seen, Tally};
use crate::span::TraceId;

/// What was found in a file, or in a part of it, but for its spans.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// Bytes looked at, once decompressed.
    pub bytes: u64,
    /// Spans met.
    pub read: u64,
    /// Spans kept.
    pub admitted: u64,
    /// Spans not kept.
    pub rejected: u64,
    /// Convention keys met by who found this.
    pub tally: Tally,
    /// Those met in what was merged into this.
    pub seen: Seen,
    /// Trouble met.
    pub ledger: Ledger,
}

impl Found {
    /// Adds what another part of the same file showed.
    pub(crate) fn merge(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.read += other.read;
        self.admitted += other.admitted;
        self.rejected += other.rejected;
        self.seen.merge(other.tally.into_seen());
        self.seen.merge(other.seen);
        self.ledger.merge(other.ledger);
    }
}

/// The spans that one worker read in one file, and what else it found there.
#[derive(Debug, Default)]
pub(crate) struct Harvest {
    /// The spans.
    pub spans: Scattered,
    /// What else was found.
    pub found: Found,
    /// The spans as they were written, where only those of one trace are wanted.
    pub collected: Option<Collected>,
}

impl Harvest {
    /// Nothing yet; where `only` names a trace, nothing else will be kept.
    pub(crate) fn new(only: Option<TraceId>) -> Self {
        Self { collected: only.map(Collected::new), ..Self::default() }
    }

    /// Another record.
    pub(crate) fn begin_record(&mut self) {
        if let Some(collected) = &mut self.collected {
            collected.begin_record();
        }
    }

    /// What an empty file gives.
    pub(crate) fn of_empty() -> Self {
        let mut harvest = Self::default();
        harvest.found.ledger.note(Code::EmptyFile, 1, None, Place::default);
        harvest
    }
}
