//! What all spans know together, and what was told of the files: what every task behind it goes by.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Failure, part};
use crate::clocks::Offsets;
use crate::ingest::{FileTold, Ingested, told_together};
use crate::survey::Facts;

/// What all spans know together, and what was told of the files.
#[derive(Debug)]
pub struct Surveyed {
    /// What all spans know together.
    pub facts: Facts,
    /// What all calls say of the offsets between clocks.
    pub offsets: Offsets,
    /// The files by path, and trouble in them.
    pub ingested: Ingested<()>,
}

/// The same, as it lies in its file.
#[derive(Debug, Serialize, Deserialize)]
struct Settled {
    facts: Facts,
    offsets: Offsets,
    files: Vec<FileTold>,
}

impl Surveyed {
    /// Reads what [`settle`] has written.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let Settled { facts, offsets, files } = part::read(&fs::read(path)?)?;
        Ok(Self { facts, offsets, ingested: told_together(files) })
    }
}
