//! What an input may cost: no file, however it was made, is to exhaust the machine.

use crate::conventions::Conventions;

/// Up to here a compressed stream may expand at any ratio: it is not worth a question.
pub(crate) const FREE_BYTES: u64 = 64 << 20;

/// The same for one of many frames, each of which is compressed by itself.
pub(crate) const FREE_FRAME_BYTES: u64 = 4 << 20;

/// How much of an input is held, and how far compressed data may expand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest record that is read: a line, document, frame or message, or a Parquet file,
    /// as it stands in its file and after decompression.
    pub record_bytes: usize,
    /// How many bytes may come out of each compressed byte, once they are many. Spans carry random
    /// ids of 24 bytes, so that exports expand 10 to 30 times; bombs expand 1,030 times in gzip and
    /// 32,000 times in zstd.
    pub expansion: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { record_bytes: 1 << 30, expansion: 1000 }
    }
}

impl Limits {
    /// How many bytes may come out of `packed_bytes`, of which `free_bytes` at any ratio.
    pub(crate) fn unpacked_bytes(self, packed_bytes: u64, free_bytes: u64) -> u64 {
        packed_bytes.saturating_mul(self.expansion.into()).max(free_bytes)
    }
}

/// How to read.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'c> {
    /// What attributes mean.
    pub conventions: &'c Conventions,
    /// What an input may cost.
    pub limits: Limits,
}

impl<'c> From<&'c Conventions> for Settings<'c> {
    fn from(conventions: &'c Conventions) -> Self {
        Self { conventions, limits: Limits::default() }
    }
}
