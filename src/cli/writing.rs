//! The tables as they are written: rows of partitions as they come, and then what is made of all of
//! them together.

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::output::Fatal;
use crate::distributions::{Collection, Measured};
use crate::exemplars::Exemplars;
use crate::graveyard;
use crate::ingest::Memory;
use crate::span::Interner;
use crate::tables::folder::{FolderError, FolderWriter};
use crate::tables::{ExemplarRow, FindingRow, Kept, ProblemRow, Tables};

/// What part of the memory the values of distributions may take.
const VALUES_PART: u64 = 8;

/// Tables that are being written, to what `create` begins.
pub(super) struct Writing<C> {
    create: C,
    folder: Option<FolderWriter>,
    memory: Memory,
    collection: Collection,
    findings: Kept<FindingRow>,
    exemplars: Exemplars,
}

impl<C: FnMut() -> Result<FolderWriter, FolderError>> Writing<C> {
    /// Nothing is written yet.
    pub(super) fn new(memory: Memory, create: C) -> Self {
        let collection = Collection::new(memory.bytes / VALUES_PART, memory.folder.clone());
        let (findings, exemplars) = Default::default();
        Self { create, folder: None, memory, collection, findings, exemplars }
    }

    /// Writes the rows of some partitions of whole traces; their findings are taken.
    pub(super) fn add(&mut self, group: &mut [Tables]) -> Result<(), Fatal> {
        // On all cores, and before findings go that others join.
        let measured: Vec<Measured> = group.par_iter().map(Measured::of).collect();
        for (tables, measured) in group.iter_mut().zip(&measured) {
            let added = self.collection.add(measured, &tables.strings);
            added.map_err(|error| self.memory.failed(error))?;
            self.exemplars.add(tables);
            // Some are found only when all traces are known.
            self.findings.extend(std::mem::take(&mut tables.findings), &tables.strings);
        }
        Ok(self.folder()?.write(group)?)
    }

    /// It is made once there is something to write: not for a file that is missing.
    fn folder(&mut self) -> Result<&mut FolderWriter, FolderError> {
        match &mut self.folder {
            Some(folder) => Ok(folder),
            folder => Ok(folder.insert((self.create)()?)),
        }
    }

    /// Writes the rest, and leaves the tables to be ended: findings that need several traces, what
    /// was wrong with the input, and what is made of all rows; `are_chosen` where somebody chose
    /// traces by how they ended.
    pub(super) fn finish(
        self,
        late: Tables,
        (problems, strings): (&[ProblemRow], &Interner),
        are_chosen: bool,
    ) -> Result<FolderWriter, Fatal> {
        let Self { mut create, folder, memory, mut collection, findings, exemplars } = self;
        let mut folder = match folder {
            Some(folder) => folder,
            None => create()?,
        };
        let failed = |error| memory.failed(error);
        collection.add(&Measured::of_late(&late), &late.strings).map_err(failed)?;
        let findings = graveyard::merge(findings, late);
        folder.append(&findings.rows, &findings.strings)?;
        let mut distributions = collection.finish(are_chosen).map_err(failed)?;
        loop {
            let kept = distributions.next_rows().map_err(failed)?;
            if kept.rows.is_empty() {
                break;
            }
            folder.append(&kept.rows, &kept.strings)?;
        }
        folder.append(problems, strings)?;
        for tables in exemplars.traces() {
            let rows: Vec<_> = tables.outline.iter().flat_map(ExemplarRow::of).collect();
            folder.append(&rows, &tables.strings)?;
        }
        Ok(folder)
    }
}
