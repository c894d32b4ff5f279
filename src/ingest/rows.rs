//! Rows of ClickHouse as an engine hands them over: in batches of columns, and of no one file.

use std::mem;

use arrow_array::RecordBatch;

use super::admit::{Desk, Record};
use super::format::{Format, Payload};
use super::harvest::Harvest;
use super::problems::Place;
use super::scatter::together;
use super::stream::Framing;
use super::told::FileTold;
use super::{Compression, FileRead, IngestError, Settings, clickhouse, clickhouse_parquet};
use crate::span::Spans;

/// What they are called where they are files.
const FORMAT: Format =
    Format { framing: Framing::Whole, payload: Payload::ClickhouseParquet, is_packed: false };

/// Rows while they are read: some of those of a data set, of which others read the rest.
#[derive(Debug)]
pub struct Rows<'c> {
    name: String,
    settings: Settings<'c>,
    harvest: Harvest,
}

impl<'c> Rows<'c> {
    /// None yet of the data set called `name`.
    pub fn new(name: &str, settings: impl Into<Settings<'c>>) -> Self {
        Self { name: name.to_owned(), settings: settings.into(), harvest: Harvest::default() }
    }

    /// The spans of some more.
    pub fn read(&mut self, batch: &RecordBatch) -> Result<Spans, IngestError> {
        let file = || self.name.clone();
        match clickhouse::claims(|name| batch.column_by_name(name).is_some()) {
            Some(Ok(())) => {}
            Some(Err(why)) => return Err(IngestError::Refused { file: file(), why }),
            None => return Err(IngestError::UnknownFormat { file: file() }),
        }
        // Which row is where differs from run to run.
        let record = Record { bytes: &[], place: Place::default(), is_unpacked: false };
        let (conventions, harvest) = (self.settings.conventions, &mut self.harvest);
        clickhouse_parquet::read_batch(batch, &mut Desk { conventions, harvest, record });
        Ok(together(vec![mem::take(&mut self.harvest.spans)]))
    }

    /// What they told besides their spans. How many bytes they took nobody knows.
    pub fn finish(self) -> FileTold {
        FileRead::new(self.name, Some(FORMAT), Compression::None, vec![self.harvest]).told.shared()
    }
}
