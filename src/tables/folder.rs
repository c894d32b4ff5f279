//! An analyze folder: one file a table, or a folder of parts where a cluster wrote it, and
//! `manifest.json`, which is written last, so that a folder without one is never taken for a whole
//! one.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::chunk::{Chunk, ROW_GROUP_ROWS};
use super::format::{Format, FormatError, TextWriter, read_batches};
use super::gathered::Piece;
use super::in_parts;
use super::parquet_file::{ParquetFile, Part};
use super::schema::{ReadError, Row, SCHEMA_VERSION, Table};
use super::stored::StoredTable;
use super::{ExemplarRow, RequestRow, TABLES, Tables};
use crate::span::Interner;

/// The file whose presence says that a folder is whole.
pub const MANIFEST: &str = "manifest.json";

/// The manifest while the folder is not whole. Its presence says that what is there was ours.
const UNFINISHED: &str = "manifest.json.partial";

/// What only our manifests hold.
const WRITER: &str = "dwindle_version";

/// Rows that are gathered at a time: a part of a row group, and not more than caches hold.
const PIECE_ROWS: usize = 1 << 12;
const _: () = assert!(ROW_GROUP_ROWS.is_multiple_of(PIECE_ROWS), "no piece is in two row groups");

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

/// Writes an analyze folder, or tables without names, partition by partition.
pub struct FolderWriter {
    dir: PathBuf,
    tables: Vec<TableWriter>,
    /// What is there of a folder that is not whole, under any name.
    begun: Vec<PathBuf>,
}

struct TableWriter {
    table: Table,
    partial: PathBuf,
    whole: PathBuf,
    file: TableFile,
    /// Rows so far.
    rows: usize,
}

enum TableFile {
    Parquet(Box<ParquetFile>),
    Text(TextWriter<File>),
}

/// The rows that one partition has for one table.
struct Source<'a> {
    table: Table,
    rows: usize,
    gather: Box<dyn Fn(Range<usize>) -> Piece + Sync + 'a>,
    strings: &'a Interner,
}

impl FolderWriter {
    /// Begins a folder; earlier tables of ours in it are removed.
    ///
    /// # Errors
    /// The folder or a file in it cannot be made, or is there and not ours.
    pub fn create(dir: &Path, format: Format) -> Result<Self, FolderError> {
        let unfinished = begin(dir)?;
        let open = |&table: &Table| {
            let [whole, partial] = table_files(dir, &table, format);
            let file = File::create(&partial).map_err(cannot(&partial))?;
            let file = TableFile::new(file, format, table)
                .map_err(|error| FolderError::Format { path: partial.clone(), error })?;
            Ok(TableWriter { table, partial, whole, file, rows: 0 })
        };
        let mut begun = vec![unfinished.clone()];
        begun.extend(TABLES.iter().flat_map(|table| table_files(dir, table, format)));
        let mut writer = Self { dir: dir.to_owned(), tables: Vec::new(), begun };
        writer.tables = TABLES.iter().map(open).collect::<Result<_, FolderError>>()?;
        Ok(writer)
    }

    /// Begins tables that nobody keeps, as Parquet in files in `dir` that have no name: nothing is
    /// left of them, however the process ends. They can be read once they are [ended](Self::end).
    ///
    /// # Errors
    /// A file cannot be made.
    pub fn unnamed(dir: &Path) -> Result<(Self, Vec<StoredTable>), FolderError> {
        let mut writer = Self { dir: dir.to_owned(), tables: Vec::new(), begun: Vec::new() };
        let mut stored = Vec::new();
        for &table in TABLES {
            let path = dir.join(table.name);
            let file = tempfile::tempfile_in(dir).map_err(cannot(&path))?;
            let other = file.try_clone().map_err(cannot(&path))?;
            stored.push(StoredTable::unnamed(table, path.clone(), other));
            let file = TableFile::new(file, Format::Parquet, table).map_err(failed(&path))?;
            let (partial, whole) = (path.clone(), path);
            writer.tables.push(TableWriter { table, partial, whole, file, rows: 0 });
        }
        Ok((writer, stored))
    }

    /// Appends the rows of some partitions, which come in the order of trace ids.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&mut self, group: &[Tables]) -> Result<(), FolderError> {
        self.take(&group.iter().flat_map(Source::of_partition).collect::<Vec<_>>(), false)
    }

    /// Appends rows of one table.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn append<R: Row + Sync>(
        &mut self,
        rows: &[R],
        strings: &Interner,
    ) -> Result<(), FolderError> {
        self.take(&[Source::new(rows, strings)], false)
    }

    /// Ends all tables, so that they can be read where they are.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn end(mut self) -> Result<(), FolderError> {
        self.take(&[], true)?;
        std::mem::take(&mut self.tables)
            .into_iter()
            .try_for_each(|table| table.file.finish().map_err(failed(&table.partial)))
    }

    /// Ends all tables, gives them their names and writes the manifest.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn finish(mut self, manifest: &impl Serialize) -> Result<(), FolderError> {
        self.take(&[], true)?;
        for table in std::mem::take(&mut self.tables) {
            table.finish()?;
        }
        let (partial, whole) = (self.dir.join(UNFINISHED), self.dir.join(MANIFEST));
        let mut text = serde_json::to_string_pretty(manifest).map_err(|error| {
            FolderError::Manifest { path: whole.clone(), message: error.to_string() }
        })?;
        text.push('\n');
        fs::write(&partial, text)
            .and_then(|()| fs::rename(&partial, &whole))
            .map_err(|error| FolderError::Io { path: whole, error })?;
        self.begun.clear();
        Ok(())
    }

    /// First all rows are gathered on all cores, then all columns of all tables are written on all
    /// cores: what is left for one core is to append what is compressed.
    fn take(&mut self, sources: &[Source<'_>], is_end: bool) -> Result<(), FolderError> {
        let mut cut = Vec::new();
        for source in sources {
            let place = self.tables.iter().position(|it| it.table.name == source.table.name);
            let Some(table) = place.and_then(|place| self.tables.get_mut(place)) else { continue };
            cut.extend(cut_rows(table.rows, source.rows).map(|rows| (place, source, rows)));
            table.rows += source.rows;
        }
        let pieces: Vec<_> = cut
            .into_par_iter()
            .map(|(place, source, rows)| {
                (place, Part { piece: (source.gather)(rows), strings: source.strings })
            })
            .collect();
        let mut parts: Vec<Vec<Part<'_>>> = self.tables.iter().map(|_| Vec::new()).collect();
        for (place, part) in pieces {
            if let Some(parts) = place.and_then(|place| parts.get_mut(place)) {
                parts.push(part);
            }
        }

        let mut tasks = Vec::new();
        for (table, parts) in self.tables.iter_mut().zip(&parts) {
            let partial = &table.partial;
            match &mut table.file {
                TableFile::Parquet(file) => {
                    tasks.extend(file.tasks(parts, is_end).map(|task| (task, partial)));
                }
                TableFile::Text(writer) => parts
                    .iter()
                    .try_for_each(|part| {
                        writer.write(&table.table.batch(&part.piece.columns, part.strings)?)
                    })
                    .map_err(failed(partial))?,
            }
        }
        let chunks: Vec<Vec<Chunk>> = tasks
            .into_par_iter()
            .map_init(|| None, |zstd, (task, partial)| task.run(zstd).map_err(failed(partial)))
            .collect::<Result<_, _>>()?;
        let mut chunks = chunks.into_iter();
        for table in &mut self.tables {
            if let TableFile::Parquet(file) = &mut table.file {
                file.write(&mut chunks).map_err(failed(&table.partial))?;
            }
        }
        Ok(())
    }
}

/// Makes a folder ready for tables: earlier ones of ours are removed, and a marker, whose path it
/// gives, says that what is there without a manifest is ours too.
fn begin(dir: &Path) -> Result<PathBuf, FolderError> {
    fs::create_dir_all(dir).map_err(cannot(dir))?;
    let stale = refuse_foreign(dir)?;
    let unfinished = dir.join(UNFINISHED);
    let marker = serde_json::json!({ WRITER: null, "schema_version": SCHEMA_VERSION });
    fs::write(&unfinished, marker.to_string()).map_err(cannot(&unfinished))?;
    // The manifest goes first: without it no folder is whole.
    for path in &stale {
        let removed = if is_folder(path) { in_parts::remove(path) } else { fs::remove_file(path) };
        removed.map_err(cannot(path))?;
    }
    Ok(unfinished)
}

/// What is there of earlier tables, the manifest first.
///
/// # Errors
/// Something of that is not ours.
pub fn refuse_foreign(dir: &Path) -> Result<Vec<PathBuf>, FolderError> {
    let (manifest, unfinished) = (dir.join(MANIFEST), dir.join(UNFINISHED));
    let mut stale: Vec<PathBuf> = vec![manifest.clone()];
    for table in TABLES {
        for format in Format::ALL {
            stale.extend(table_files(dir, table, *format));
        }
    }
    stale.retain(|path| path.symlink_metadata().is_ok());
    let is_ours = is_ours(&manifest) || is_ours(&unfinished);
    let mut foreign = stale.first().filter(|_| !is_ours).cloned();
    for path in stale.iter().filter(|path| is_folder(path)) {
        foreign = foreign.or(in_parts::foreign(path).map_err(cannot(path))?);
    }
    foreign.map_or(Ok(stale), |path| Err(FolderError::Foreign { path }))
}

/// Of a folder that is not finished nothing stays: a full disk would stay full.
impl Drop for FolderWriter {
    fn drop(&mut self) {
        for path in self.begun.iter().rev() {
            // What cannot be removed has no manifest beside it, so nobody takes it for whole.
            let _ = fs::remove_file(path);
        }
    }
}

/// The file of a table, once it is whole and before.
fn table_files(dir: &Path, table: &Table, format: Format) -> [PathBuf; 2] {
    let name = format!("{}.{}", table.name, format.name());
    [dir.join(&name), dir.join(name + ".partial")]
}

/// Cuts rows that come after `before` others into pieces, each within one row group.
fn cut_rows(before: usize, rows: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let end = rows.min(start + PIECE_ROWS - (before + start) % PIECE_ROWS);
        let piece = start..end;
        start = end;
        (!piece.is_empty()).then_some(piece)
    })
}

impl<'a> Source<'a> {
    fn new<R: Row + Sync>(rows: &'a [R], strings: &'a Interner) -> Self {
        let gather = move |range: Range<usize>| {
            let rows = rows.get(range).unwrap_or_default();
            Piece { rows: rows.len(), columns: R::gather(rows) }
        };
        Self { table: R::TABLE, rows: rows.len(), gather: Box::new(gather), strings }
    }

    fn of_partition(tables: &'a Tables) -> [Self; 5] {
        let strings = &tables.strings;
        [
            Self::new(&tables.requests, strings),
            Self::new(&tables.hops, strings),
            Self::new(&tables.attempts, strings),
            Self::new(&tables.segments, strings),
            Self::new(&tables.findings, strings),
        ]
    }
}

impl TableFile {
    fn new(file: File, format: Format, table: Table) -> Result<Self, FormatError> {
        Ok(match format {
            Format::Parquet => Self::Parquet(Box::new(ParquetFile::new(file, table)?)),
            Format::Ndjson => Self::Text(TextWriter::ndjson(file)),
            Format::Csv => Self::Text(TextWriter::csv(file, &table.arrow_schema())?),
        })
    }

    fn finish(self) -> Result<(), FormatError> {
        match self {
            Self::Parquet(file) => Ok(file.finish()?),
            Self::Text(writer) => writer.finish(),
        }
    }
}

impl TableWriter {
    fn finish(self) -> Result<(), FolderError> {
        self.file.finish().map_err(failed(&self.partial))?;
        let path = self.whole;
        fs::rename(&self.partial, &path).map_err(|error| FolderError::Io { path, error })
    }
}

/// That the file system does not do something with `path`.
fn cannot(path: &Path) -> impl Fn(io::Error) -> FolderError {
    move |error| FolderError::Io { path: path.to_owned(), error }
}

/// Whether it is a folder itself, and no link to one.
fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|it| it.is_dir())
}

/// What could not be done with the file at `path`.
fn failed<E: Into<FormatError>>(path: &Path) -> impl Fn(E) -> FolderError {
    move |error| FolderError::Format { path: path.to_owned(), error: error.into() }
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
            let [path, _] = table_files(dir, &RequestRow::TABLE, **format);
            path.is_file() || **format == Format::Parquet && path.is_dir()
        };
        let format = Format::ALL.iter().find(present);
        let format = *format.ok_or_else(|| wrong("the folder holds no tables".to_owned()))?;
        Ok((Self { dir: dir.to_owned(), format }, manifest))
    }

    /// The files of the folder, by name: its manifest and tables.
    pub fn files(&self) -> Vec<String> {
        let tables = TABLES.iter().map(|table| table_files(&self.dir, table, self.format));
        // What cannot be read is told where it is.
        let tables = tables.flat_map(|[whole, _]| in_parts::parts(&whole).unwrap_or_default());
        let tables = tables.filter(|path| path.is_file());
        let all = std::iter::once(self.dir.join(MANIFEST)).chain(tables);
        all.map(|path| path.display().to_string()).collect()
    }

    /// All tables, to be read column by column.
    pub fn stored(&self) -> Vec<StoredTable> {
        let stored = |&table: &Table| {
            let [whole, _] = table_files(&self.dir, &table, self.format);
            StoredTable::named(table, whole, self.format)
        };
        TABLES.iter().map(stored).collect()
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
        let mut exemplars: Vec<ExemplarRow> = Vec::new();
        self.read_all(&mut exemplars, strings)?;
        tables.outline = ExemplarRow::spans(&exemplars);
        Ok(tables)
    }

    /// Reads all rows of a table.
    ///
    /// # Errors
    /// A file cannot be read, or holds something else.
    pub fn read_all<R: Row>(
        &self,
        rows: &mut Vec<R>,
        strings: &mut Interner,
    ) -> Result<(), FolderError> {
        let [path, _] = table_files(&self.dir, &R::TABLE, self.format);
        for path in in_parts::parts(&path).map_err(cannot(&path))? {
            let file = File::open(&path).map_err(cannot(&path))?;
            let read = read_batches(file, self.format, &R::TABLE.arrow_schema(), |batch| {
                rows.append(&mut R::from_batch(&batch, strings)?);
                Ok::<_, TableError>(())
            });
            read.map_err(|error| match error {
                TableError::Format(error) => FolderError::Format { path, error },
                TableError::Read(error) => FolderError::Read { path, error },
            })?;
        }
        Ok(())
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
