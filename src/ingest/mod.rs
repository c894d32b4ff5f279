//! From files to admitted spans in partitions: open, sniff, cut into chunks, read them in parallel,
//! admit, scatter. A format is a file; all share one admission step and one ledger of trouble.
//!
//! Nothing that comes out depends on the order of inputs, on threads or on the number of
//! partitions.

mod admit;
mod buffer;
mod cell;
mod clickhouse;
mod clickhouse_parquet;
mod clickhouse_text;
mod compression;
mod document;
mod excerpt;
mod flat;
mod format;
mod gather;
mod halved_ids;
mod harvest;
mod inspect;
mod jaeger;
mod json;
mod limits;
mod magic;
mod otlp_compact;
mod otlp_json;
mod otlp_plain;
mod otlp_proto;
mod outline;
pub mod problems;
mod refusal;
mod rows;
mod scalar;
mod scatter;
mod shared_ids;
mod sniff;
mod source;
mod span_json;
mod spill;
mod stream;
mod told;
mod zipkin;
mod zipkin_v1;

use std::convert::identity;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use rayon::iter::{IntoParallelRefIterator, ParallelBridge, ParallelIterator};
use serde::{Deserialize, Serialize};

use crate::conventions::Seen;
use crate::span::{Interner, Spans, TraceId};
use crate::tables::ProblemRow;
use admit::Record;
pub use compression::Compression;
use excerpt::Collected;
pub use excerpt::{Excerpt, WrittenSpan, excerpt, parse_trace_id};
use format::{Format, WHAT_WE_READ};
use gather::Gathering;
pub use gather::{Memory, Partitions, whole_traces};
use harvest::{Found, Harvest};
use inspect::Inspecting;
pub use inspect::{Counts, Evidence, FileInspection, Inspection};
pub use limits::{Limits, Settings};
pub use refusal::Refusal;
pub use rows::Rows;
use scatter::{Scattered, together};
use source::Input;
use stream::{Chunk, Stream};
pub use told::{FileTold, files_together, together as told_together};

/// What can be told while reading. Called from many threads.
pub trait Progress: Sync {
    /// `files` are to be read, of `bytes` together as far as is known.
    fn begin(&self, _files: usize, _bytes: u64) {}
    /// `bytes` more were read, before decompression.
    fn bytes(&self, _bytes: u64) {}
    /// `spans` more were read.
    fn spans(&self, _spans: u64) {}
    /// A file is done.
    fn file_done(&self) {}
}

/// Nobody watches.
impl Progress for () {}

/// Why nothing could be read.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// An input is not there.
    #[error("{input}: no such file or folder")]
    NotFound {
        /// As the user named it.
        input: String,
    },
    /// A folder or pattern holds no file.
    #[error("{input}: no files there (hidden ones are skipped)")]
    NoFiles {
        /// As the user named it.
        input: String,
    },
    /// A pattern is none.
    #[error("{pattern}: not a pattern: {reason}")]
    Pattern {
        /// As the user wrote it.
        pattern: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A file cannot be read.
    #[error("{file}: cannot be read: {error}")]
    Read {
        /// The file.
        file: String,
        /// Why.
        error: io::Error,
    },
    /// There is nothing in any file.
    #[error("{file}: the file is empty")]
    Empty {
        /// The first file.
        file: String,
    },
    /// A file is none of ours.
    #[error("{file}: not a format that is read here; expected {WHAT_WE_READ}")]
    UnknownFormat {
        /// The file.
        file: String,
    },
    /// A file that is known, and not read.
    #[error("{file}: {why}")]
    Refused {
        /// The file.
        file: String,
        /// What it is, and what to do.
        why: Refusal,
    },
    /// What memory does not hold cannot be kept on disk either.
    #[error(
        "{}: cannot hold what is beyond --memory: {error}; free some space there, name \
         another folder by TMPDIR, or raise --memory",
        folder.display()
    )]
    Spill {
        /// The folder for temporary files.
        folder: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// What was read of a file goes nowhere.
    #[error("{file}: what was read of it cannot be handed on: {error}")]
    HandOver {
        /// The file.
        file: String,
        /// Why not.
        error: io::Error,
    },
    /// Two tasks have read the same file.
    #[error("{file}: read by two tasks, so that its spans would count twice")]
    ReadTwice {
        /// The file.
        file: String,
    },
    /// A compressed file cannot be decompressed at all.
    #[error("{file}: looks like {} but cannot be decompressed: {help}", compression.name())]
    NotDecompressed {
        /// The file.
        file: String,
        /// What its first bytes say.
        compression: Compression,
        /// What to do about it.
        help: &'static str,
    },
}

/// What is known of one file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FileFacts {
    /// As the user named it; within a folder, with `/` between the parts.
    pub path: String,
    /// The format's name; `None` for an empty file.
    pub format: Option<String>,
    /// How it was compressed.
    pub compression: Compression,
    /// Its length once decompressed.
    pub bytes: u64,
    /// Span records in it.
    pub spans_read: u64,
    /// Those kept.
    pub spans_admitted: u64,
    /// Those not kept.
    pub spans_rejected: u64,
    /// Logs and metrics records, which were skipped.
    pub other_signal_records: u64,
    /// Convention keys met in it.
    pub seen: Seen,
}

/// All that was read; `P` are the partitions.
#[derive(Debug)]
pub struct Ingested<P = Vec<Spans>> {
    /// The spans; whole traces, and the partitions in the order of the traces within them.
    pub partitions: P,
    /// The files, by path.
    pub files: Vec<FileFacts>,
    /// Trouble, by file and code.
    pub problems: Vec<ProblemRow>,
    /// The strings behind `problems`.
    pub problem_strings: Interner,
    /// Convention keys met in all files.
    pub seen: Seen,
}

impl<P> Ingested<P> {
    /// The same with other partitions, and those that it had.
    pub fn replace<Q>(self, partitions: Q) -> (P, Ingested<Q>) {
        let Self { partitions: before, files, problems, problem_strings, seen } = self;
        (before, Ingested { partitions, files, problems, problem_strings, seen })
    }
}

/// The files that `inputs` name, by name, with where they are; standard input is nowhere.
///
/// # Errors
/// One is not there.
pub fn files(inputs: &[String]) -> Result<Vec<(String, Option<PathBuf>)>, IngestError> {
    Ok(source::expand(inputs)?.into_iter().map(|input| (input.name, input.path)).collect())
}

/// Reads all that `inputs` name: files, folders, patterns, or `-` for standard input. Spans that
/// `memory` does not hold go to disk.
pub fn scatter<'c>(
    inputs: &[String],
    settings: impl Into<Settings<'c>>,
    memory: &Memory,
    progress: &dyn Progress,
) -> Result<Ingested<Partitions>, IngestError> {
    let gathering = Gathering::new(memory);
    let settings = settings.into();
    let reading = Reading { settings, progress, only: None, to: To::Partitions(&gathering) };
    let read = read_files(inputs, &reading)?;
    let partitions = gathering.finish()?;
    Ok(put_together(read).replace(partitions).1)
}

/// Reads all that `inputs` name into memory.
pub fn ingest<'c>(
    inputs: &[String],
    settings: impl Into<Settings<'c>>,
    progress: &dyn Progress,
) -> Result<Ingested, IngestError> {
    whole(scatter(inputs, settings, &Memory::unlimited(), progress)?)
}

/// The files that `inputs` name, by name; standard input has no path.
pub fn files(inputs: &[String]) -> Result<Vec<(String, Option<PathBuf>)>, IngestError> {
    let inputs = source::expand(inputs)?;
    Ok(inputs.into_iter().map(|Input { name, path }| (name, path)).collect())
}

/// Reads one stream as if it were a file called `name`, and hands its spans to `take` as they are read:
/// memory holds no more of them than each thread reads at a time. Tells what else it showed.
pub fn ingest_onwards<'c>(
    name: &str,
    source: impl Read + Send,
    settings: impl Into<Settings<'c>>,
    mut take: impl FnMut(Spans) -> io::Result<()> + Send,
) -> Result<FileTold, IngestError> {
    let taker: Mutex<Taker<'_>> = Mutex::new(&mut take);
    let to = To::Taker(&taker);
    let reading = Reading { settings: settings.into(), progress: &(), only: None, to };
    Ok(read_stream(name, source, &reading)?.told)
}

/// Reads one stream as if it were a file called `name`.
pub fn ingest_stream<'c>(
    name: &str,
    source: impl Read + Send,
    settings: impl Into<Settings<'c>>,
    progress: &dyn Progress,
) -> Result<Ingested, IngestError> {
    let memory = Memory::unlimited();
    let gathering = Gathering::new(&memory);
    let settings = settings.into();
    let reading = Reading { settings, progress, only: None, to: To::Partitions(&gathering) };
    let file = read_stream(name, source, &reading)?;
    refuse_nothing([&file.told.facts].into_iter())?;
    let partitions = gathering.finish()?;
    whole(put_together(vec![file]).replace(partitions).1)
}

/// All partitions at once.
fn whole(scattered: Ingested<Partitions>) -> Result<Ingested, IngestError> {
    let (mut partitions, ingested) = scattered.replace(());
    let mut all = Vec::new();
    loop {
        let group = partitions.next_group(identity)?;
        if group.is_empty() {
            return Ok(ingested.replace(all).1);
        }
        all.extend(group);
    }
}

/// Counts what the files that `inputs` name hold, one after another and together.
pub fn inspect<'c>(
    inputs: &[String],
    settings: impl Into<Settings<'c>>,
    progress: &dyn Progress,
) -> Result<Inspection, IngestError> {
    let reading = Reading { settings: settings.into(), progress, only: None, to: To::File };
    let mut inspecting = Inspecting::default();
    for input in begin(inputs, progress)? {
        let file = read_file(&input, &reading)?;
        inspecting.add(put_together(vec![file]));
    }
    let inspection = inspecting.finish();
    refuse_nothing(inspection.files.iter().map(|file| &file.facts))?;
    Ok(inspection)
}

/// How files are read.
struct Reading<'r> {
    settings: Settings<'r>,
    progress: &'r dyn Progress,
    /// The one trace that is wanted; `None` for all.
    only: Option<TraceId>,
    to: To<'r>,
}

/// Where spans go.
#[derive(Clone, Copy)]
enum To<'r> {
    /// They stay with their file.
    File,
    /// Into partitions of all files.
    Partitions(&'r Gathering<'r>),
    /// To somebody who takes them chunk by chunk, as they are read.
    Taker(&'r Mutex<Taker<'r>>),
}

/// Who takes the spans of a chunk.
type Taker<'t> = &'t mut (dyn FnMut(Spans) -> io::Result<()> + Send);

/// Reads all files that `inputs` name, by path.
fn read_files(inputs: &[String], reading: &Reading<'_>) -> Result<Vec<FileRead>, IngestError> {
    let inputs = begin(inputs, reading.progress)?;
    let outcomes: Vec<_> = inputs.par_iter().map(|input| read_file(input, reading)).collect();
    // Of several failures that of the first file is told, whichever came first.
    let files = outcomes.into_iter().collect::<Result<Vec<_>, _>>()?;
    refuse_nothing(files.iter().map(|file| &file.told.facts))?;
    Ok(files)
}

/// The files to read, told to `progress` before any is.
fn begin(inputs: &[String], progress: &dyn Progress) -> Result<Vec<Input>, IngestError> {
    let inputs = source::expand(inputs)?;
    let len = |input: &Input| input.path.as_ref()?.metadata().ok().map(|file| file.len());
    progress.begin(inputs.len(), inputs.iter().filter_map(len).sum());
    Ok(inputs)
}

/// An empty file beside others is told and no more; where all are empty somebody erred.
fn refuse_nothing<'f>(mut files: impl Iterator<Item = &'f FileFacts>) -> Result<(), IngestError> {
    match files.next() {
        Some(first) if first.format.is_none() && files.all(|facts| facts.format.is_none()) => {
            Err(IngestError::Empty { file: first.path.clone() })
        }
        _ => Ok(()),
    }
}

/// A file that was read.
struct FileRead {
    told: FileTold,
    spans: Vec<Scattered>,
    /// The spans as they were written, where one trace was wanted.
    collected: Vec<Collected>,
}

impl FileRead {
    /// Adds up what the workers found.
    fn new(
        path: String,
        format: Option<Format>,
        compression: Compression,
        harvests: Vec<Harvest>,
    ) -> Self {
        let mut spans = Vec::with_capacity(harvests.len());
        let mut collected = Vec::new();
        let mut all = Found::default();
        for harvest in harvests {
            spans.push(harvest.spans);
            collected.extend(harvest.collected);
            all.merge(harvest.found);
        }
        let told = FileTold::new(path, format, compression, all);
        Self { told, spans, collected }
    }
}

/// Puts together what the files hold, with the spans that stayed with them.
fn put_together(read: Vec<FileRead>) -> Ingested<Vec<Scattered>> {
    let (told, spans): (Vec<_>, Vec<_>) =
        read.into_iter().map(|file| (file.told, file.spans)).unzip();
    told::together(told).replace(spans.into_iter().flatten().collect()).1
}

/// Reads one file.
fn read_file(input: &Input, reading: &Reading<'_>) -> Result<FileRead, IngestError> {
    let source =
        input.open().map_err(|error| IngestError::Read { file: input.name.clone(), error })?;
    read_stream(&input.name, source, reading)
}

/// Reads the stream called `name`.
fn read_stream(
    name: &str,
    source: impl Read + Send,
    reading: &Reading<'_>,
) -> Result<FileRead, IngestError> {
    let settings = reading.settings;
    let file = || name.to_owned();
    let failed = |error| IngestError::Read { file: file(), error };
    let (compression, source) =
        source::decompressed(source, settings.limits, reading.progress).map_err(failed)?;
    let mut stream = Stream::new(source).map_err(failed)?;
    let format = sniff::sniff(&mut stream, settings.limits)
        .map_err(failed)?
        .transpose()
        .map_err(|why| IngestError::Refused { file: file(), why })?;
    let harvests = match format {
        Some(format) => {
            let not_handed_on = |error| IngestError::HandOver { file: file(), error };
            read_chunks(stream, format, reading, failed, not_handed_on)?
        }
        None if let Some(code) = stream.broken() => {
            let help = code.help();
            return Err(IngestError::NotDecompressed { file: file(), compression, help });
        }
        None if stream.start().is_empty() => vec![Harvest::of_empty()],
        None => return Err(IngestError::UnknownFormat { file: file() }),
    };
    reading.progress.file_done();
    Ok(FileRead::new(file(), format, compression, harvests))
}

/// Reads the chunks of a stream in parallel: what each worker gathered.
fn read_chunks(
    stream: Stream<impl Read + Send>,
    format: Format,
    reading: &Reading<'_>,
    failed: impl Fn(io::Error) -> IngestError + Sync,
    not_handed_on: impl Fn(io::Error) -> IngestError + Sync,
) -> Result<Vec<Harvest>, IngestError> {
    stream
        .chunks(format.framing, reading.settings.limits)
        .par_bridge()
        .try_fold(
            || Harvest::new(reading.only),
            |mut harvest, chunk: io::Result<Chunk>| {
                let chunk = chunk.map_err(&failed)?;
                let before = harvest.found.read;
                match reading.to {
                    To::File => read_chunk(&chunk, format, reading.settings, &mut harvest),
                    To::Partitions(gathering) => {
                        harvest.spans = gathering.take();
                        let bytes_before = harvest.spans.bytes();
                        read_chunk(&chunk, format, reading.settings, &mut harvest);
                        let scattered = std::mem::take(&mut harvest.spans);
                        drop(chunk);
                        gathering.give_back(scattered, bytes_before)?;
                    }
                    To::Taker(taker) => {
                        read_chunk(&chunk, format, reading.settings, &mut harvest);
                        let spans = together(vec![std::mem::take(&mut harvest.spans)]);
                        drop(chunk);
                        let mut take = taker.lock().unwrap_or_else(PoisonError::into_inner);
                        take(spans).map_err(&not_handed_on)?;
                    }
                }
                reading.progress.spans(harvest.found.read - before);
                Ok(harvest)
            },
        )
        .collect()
}

fn read_chunk(chunk: &Chunk, format: Format, settings: Settings<'_>, harvest: &mut Harvest) {
    harvest.found.bytes += chunk.len();
    for (bytes, place) in chunk.records() {
        let record = Record { bytes, place, is_unpacked: false };
        format.read(record, settings, harvest);
    }
    if let Some(rest) = &chunk.rest {
        harvest.found.ledger.note(rest.code, 1, rest.place.byte, || rest.place);
    }
}
