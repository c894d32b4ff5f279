//! An analyze folder: one file a table and `manifest.json`, which is written last, so that a
//! folder without one is never taken for a whole one.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use arrow_select::coalesce::BatchCoalescer;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::format::{BatchWriter, Format, FormatError, read_batches};
use super::schema::{ReadError, Row, SCHEMA_VERSION, Table};
use super::{AttemptRow, FindingRow, HopRow, RequestRow, SegmentRow, TABLES, Tables};
use crate::span::Interner;

/// The file whose presence says that a folder is whole.
pub const MANIFEST: &str = "manifest.json";

/// The manifest while the folder is not whole. Its presence says that what is there was ours.
const UNFINISHED: &str = "manifest.json.partial";

/// What only our manifests hold.
const WRITER: &str = "dwindle_version";

/// Rows that are handed to a writer at a time, whatever the partitions.
const WRITE_ROWS: usize = 1 << 16;

/// Why a folder could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The file system says no.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What it says.
        error: io::Error,
    },
    /// A table file cannot be written or read.
    #[error("{}: {error}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: FormatError,
    },
    /// A table holds something else than declared.
    #[error("{}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: ReadError,
    },
    /// A file would be replaced that we did not write.
    #[error(
        "{}: is there already, and no manifest beside it says that dwindle wrote it: \
         name another folder, or remove it",
        path.display()
    )]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The manifest does not say what it should.
    #[error("{}: {message}", path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
}

/// Writes an analyze folder, partition by partition.
pub struct FolderWriter {
    dir: PathBuf,
    tables: Vec<TableWriter>,
}

struct TableWriter {
    partial: PathBuf,
    whole: PathBuf,
    coalescer: BatchCoalescer,
    writer: BatchWriter,
}

impl FolderWriter {
    /// Begins a folder; earlier tables of ours in it are removed.
    ///
    /// # Errors
    /// The folder or a file in it cannot be made, or is there and not ours.
    pub fn create(dir: &Path, format: Format) -> Result<Self, FolderError> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |error| FolderError::Io { path, error }
        };
        fs::create_dir_all(dir).map_err(at(dir))?;
        let (manifest, unfinished) = (dir.join(MANIFEST), dir.join(UNFINISHED));
        let present = |path: &PathBuf| path.symlink_metadata().is_ok();
        let mut stale: Vec<PathBuf> = vec![manifest.clone()];
        for table in TABLES {
            let of_format = |format: &Format| dir.join(format!("{}.{}", table.name, format.name()));
            stale.extend(Format::ALL.iter().map(of_format));
        }
        stale.retain(present);
        if let Some(path) = stale.first().filter(|_| !is_ours(&manifest) && !is_ours(&unfinished)) {
            return Err(FolderError::Foreign { path: path.clone() });
        }
        let marker = serde_json::json!({ WRITER: null, "schema_version": SCHEMA_VERSION });
        fs::write(&unfinished, marker.to_string()).map_err(at(&unfinished))?;
        // The manifest goes first: without it no folder is whole.
        for path in &stale {
            fs::remove_file(path).map_err(at(path))?;
        }
        let open = |table: &Table| {
            let whole = dir.join(format!("{}.{}", table.name, format.name()));
            let partial = dir.join(format!("{}.{}.partial", table.name, format.name()));
            let file = File::create(&partial).map_err(at(&partial))?;
            let schema = table.arrow_schema();
            let writer = BatchWriter::new(file, format, schema.clone())
                .map_err(|error| FolderError::Format { path: partial.clone(), error })?;
            let coalescer = BatchCoalescer::new(schema, WRITE_ROWS);
            Ok(TableWriter { partial, whole, coalescer, writer })
        };
        let tables = TABLES.iter().map(open).collect::<Result<_, FolderError>>()?;
        Ok(Self { dir: dir.to_owned(), tables })
    }

    /// Appends the rows of one partition; partitions come in the order of trace ids.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&mut self, tables: &Tables) -> Result<(), FolderError> {
        let strings = &tables.strings;
        self.append::<RequestRow>(&tables.requests, strings)?;
        self.append::<HopRow>(&tables.hops, strings)?;
        self.append::<AttemptRow>(&tables.attempts, strings)?;
        self.append::<SegmentRow>(&tables.segments, strings)?;
        self.append::<FindingRow>(&tables.findings, strings)
    }

    /// Appends rows of one table.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn append<R: Row>(&mut self, rows: &[R], strings: &Interner) -> Result<(), FolderError> {
        let place = TABLES.iter().position(|table| table.name == R::TABLE.name);
        let Some(writer) = place.and_then(|place| self.tables.get_mut(place)) else {
            return Ok(());
        };
        for rows in rows.chunks(WRITE_ROWS) {
            writer.push(R::to_batch(rows, strings))?;
        }
        Ok(())
    }

    /// Ends all tables and writes the manifest.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn finish(self, manifest: &impl Serialize) -> Result<(), FolderError> {
        for table in self.tables {
            table.finish()?;
        }
        let (partial, whole) = (self.dir.join(UNFINISHED), self.dir.join(MANIFEST));
        let mut text = serde_json::to_string_pretty(manifest).map_err(|error| {
            FolderError::Manifest { path: whole.clone(), message: error.to_string() }
        })?;
        text.push('\n');
        fs::write(&partial, text)
            .and_then(|()| fs::rename(&partial, &whole))
            .map_err(|error| FolderError::Io { path: whole, error })
    }
}

impl TableWriter {
    fn push(&mut self, batch: Result<RecordBatch, ArrowError>) -> Result<(), FolderError> {
        let pushed = batch.and_then(|batch| self.coalescer.push_batch(batch));
        self.write_completed(pushed)
    }

    fn write_completed(&mut self, pushed: Result<(), ArrowError>) -> Result<(), FolderError> {
        let mut written = pushed.map_err(FormatError::from);
        while written.is_ok()
            && let Some(batch) = self.coalescer.next_completed_batch()
        {
            written = self.writer.write(&batch);
        }
        written.map_err(|error| FolderError::Format { path: self.partial.clone(), error })
    }

    fn finish(mut self) -> Result<(), FolderError> {
        let rest = self.coalescer.finish_buffered_batch();
        self.write_completed(rest)?;
        let path = self.whole;
        self.writer.finish().map_err(|error| FolderError::Format { path: path.clone(), error })?;
        fs::rename(&self.partial, &path).map_err(|error| FolderError::Io { path, error })
    }
}

/// Whether the file is a manifest of ours.
fn is_ours(manifest: &Path) -> bool {
    let text = fs::read_to_string(manifest).unwrap_or_default();
    let value: Option<serde_json::Value> = serde_json::from_str(&text).ok();
    value.is_some_and(|value| value.get(WRITER).is_some())
}

/// A whole analyze folder.
pub struct Folder {
    dir: PathBuf,
    format: Format,
}

impl Folder {
    /// Whether `dir` is an analyze folder.
    pub fn is_one(dir: &Path) -> bool {
        dir.join(MANIFEST).is_file()
    }

    /// Opens a folder and reads its manifest.
    ///
    /// # Errors
    /// It is not whole, or of a newer version.
    pub fn open<M: DeserializeOwned>(dir: &Path) -> Result<(Self, M), FolderError> {
        let path = dir.join(MANIFEST);
        let text = fs::read_to_string(&path)
            .map_err(|error| FolderError::Io { path: path.clone(), error })?;
        let wrong = |message: String| FolderError::Manifest { path: path.clone(), message };
        let value: serde_json::Value =
            serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        let version = value.get("schema_version").and_then(serde_json::Value::as_u64);
        if version != Some(u64::from(SCHEMA_VERSION)) {
            return Err(wrong(format!(
                "schema_version is {}, this dwindle reads {SCHEMA_VERSION}: analyze the traces again",
                version.map_or_else(|| "absent".to_owned(), |version| version.to_string()),
            )));
        }
        let manifest = serde_json::from_value(value).map_err(|error| wrong(error.to_string()))?;
        let present = |format: &&Format| {
            dir.join(format!("{}.{}", RequestRow::TABLE.name, format.name())).is_file()
        };
        let format = Format::ALL.iter().find(present);
        let format = *format.ok_or_else(|| wrong("the folder holds no tables".to_owned()))?;
        Ok((Self { dir: dir.to_owned(), format }, manifest))
    }

    /// Reads all rows of the tables that reports are made of.
    ///
    /// # Errors
    /// A file cannot be read, or holds something else.
    pub fn tables(&self) -> Result<Tables, FolderError> {
        let mut tables = Tables::default();
        let strings = &mut tables.strings;
        self.read_all(&mut tables.requests, strings)?;
        self.read_all(&mut tables.hops, strings)?;
        self.read_all(&mut tables.attempts, strings)?;
        self.read_all(&mut tables.segments, strings)?;
        self.read_all(&mut tables.findings, strings)?;
        Ok(tables)
    }

    /// Reads all rows of a table.
    ///
    /// # Errors
    /// The file cannot be read, or holds something else.
    pub fn read_all<R: Row>(
        &self,
        rows: &mut Vec<R>,
        strings: &mut Interner,
    ) -> Result<(), FolderError> {
        let path = self.dir.join(format!("{}.{}", R::TABLE.name, self.format.name()));
        let file =
            File::open(&path).map_err(|error| FolderError::Io { path: path.clone(), error })?;
        let read = read_batches(file, self.format, &R::TABLE.arrow_schema(), |batch| {
            rows.append(&mut R::from_batch(&batch, strings)?);
            Ok::<_, TableError>(())
        });
        read.map_err(|error| match error {
            TableError::Format(error) => FolderError::Format { path, error },
            TableError::Read(error) => FolderError::Read { path, error },
        })
    }
}

/// What can go wrong with one table.
enum TableError {
    Format(FormatError),
    Read(ReadError),
}

impl From<FormatError> for TableError {
    fn from(error: FormatError) -> Self {
        Self::Format(error)
    }
}

impl From<ReadError> for TableError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}
