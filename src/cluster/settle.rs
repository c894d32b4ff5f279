//! What all spans know together, and what was told of the files: what every task behind it goes by.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::survey::Part;
use super::{Failure, part};
use crate::clocks::Offsets;
use crate::ingest::{FileTold, Ingested, files_together, told_together};
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
    ///
    /// # Errors
    /// The file cannot be read, or another version has written it.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let unreadable = |error| Failure::Survey { path: path.to_owned(), error };
        let Settled { facts, offsets, files } = part::read(&fs::read(path).map_err(unreadable)?)?;
        Ok(Self { facts, offsets, ingested: told_together(files) })
    }
}

/// Puts together what all tasks have surveyed, in whatever order it comes, of `files` files.
///
/// # Errors
/// Of another number of files something is told, of one twice, or all are empty.
pub fn settle(input: impl Read, files: usize, mut output: impl Write) -> Result<(), Failure> {
    let mut all = Part::default();
    part::for_each(input, |more| all.merge(more))?;
    let facts = all.facts();
    let told = files_together(all.files.into_iter().map(|file| file.told).collect())?;
    if told.len() != files {
        return Err(Failure::FilesMissing { told: told.len(), given: files });
    }
    let settled = Settled { facts, offsets: all.pool.offsets(), files: told };
    output.write_all(&part::bytes(&settled)?)?;
    Ok(output.flush()?)
}
