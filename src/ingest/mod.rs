//! From files to admitted spans in partitions: open, sniff, cut into chunks, read them in parallel,
//! admit, scatter. A format is a file; all share one admission step and one ledger of trouble.
//!
//! Nothing that comes out depends on the order of inputs, on threads or on the number of
//! partitions.

mod admit;
mod document;
mod format;
mod inspect;
mod json;
mod otlp_json;
mod otlp_proto;
mod outline;
pub mod problems;
mod scalar;
mod scatter;
mod shared_ids;
mod sniff;
mod source;
mod stream;
mod zipkin;
mod zipkin_v1;

use std::io::{self, Read};

use rayon::iter::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefMutIterator, ParallelBridge,
    ParallelIterator,
};

use crate::conventions::{Conventions, Seen};
use crate::span::{Interner, Spans};
use crate::tables::ProblemRow;
use admit::{Harvest, Record};
use format::{Format, WHAT_WE_READ};
pub use inspect::{Evidence, FileInspection};
use problems::Code;
pub use source::Compression;
use source::Input;
use stream::{Chunk, Stream, Tail};

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
    /// A compressed file cannot be decompressed at all.
    #[error("{file}: looks like {} but cannot be decompressed", compression.name())]
    NotDecompressed {
        /// The file.
        file: String,
        /// What its first bytes say.
        compression: Compression,
    },
}

/// What is known of one file.
#[derive(Clone, Debug)]
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

/// All that was read.
#[derive(Debug)]
pub struct Ingested {
    /// The spans; whole traces, and the partitions in the order of the traces within them.
    pub partitions: Vec<Spans>,
    /// The files, by path.
    pub files: Vec<FileFacts>,
    /// Trouble, by file and code.
    pub problems: Vec<ProblemRow>,
    /// The strings behind `problems`.
    pub problem_strings: Interner,
    /// Convention keys met in all files.
    pub seen: Seen,
}

/// Reads all that `inputs` name: files, folders, patterns, or `-` for standard input.
pub fn ingest(
    inputs: &[String],
    conventions: &Conventions,
    progress: &dyn Progress,
) -> Result<Ingested, IngestError> {
    let inputs = begin(inputs, progress)?;
    let read: Vec<_> = (0..inputs.len())
        .into_par_iter()
        .zip(&inputs)
        .map(|(file, input)| read_file(file, input, conventions, progress))
        .collect();
    let mut files = Vec::with_capacity(read.len());
    let mut harvests = Vec::new();
    for outcome in read {
        let (facts, harvested) = outcome?;
        files.push(facts);
        harvests.extend(harvested);
    }
    refuse_nothing(&files)?;
    let mut ingested = finish(files, harvests);
    ingested.partitions.par_iter_mut().for_each(shared_ids::split);
    Ok(ingested)
}

/// Counts what each of the files that `inputs` name holds, one after another.
pub fn inspect(
    inputs: &[String],
    conventions: &Conventions,
    progress: &dyn Progress,
) -> Result<Vec<FileInspection>, IngestError> {
    let mut inspections = Vec::new();
    let mut files = Vec::new();
    for input in begin(inputs, progress)? {
        let (facts, harvests) = read_file(0, &input, conventions, progress)?;
        files.push(facts.clone());
        inspections.extend(FileInspection::new(finish(vec![facts], harvests)));
    }
    refuse_nothing(&files)?;
    Ok(inspections)
}

/// The files to read, told to `progress` before any is.
fn begin(inputs: &[String], progress: &dyn Progress) -> Result<Vec<Input>, IngestError> {
    let inputs = source::expand(inputs)?;
    let len = |input: &Input| input.path.as_ref()?.metadata().ok().map(|file| file.len());
    progress.begin(inputs.len(), inputs.iter().filter_map(len).sum());
    Ok(inputs)
}

/// An empty file beside others is told and no more; where all are empty somebody erred.
fn refuse_nothing(files: &[FileFacts]) -> Result<(), IngestError> {
    match files.first() {
        Some(first) if files.iter().all(|facts| facts.format.is_none()) => {
            Err(IngestError::Empty { file: first.path.clone() })
        }
        _ => Ok(()),
    }
}

/// Adds up what was found in each file and gathers the spans.
fn finish(mut files: Vec<FileFacts>, mut harvests: Vec<Harvest>) -> Ingested {
    let mut totals = Harvest::default();
    for harvest in &mut harvests {
        for (file, found) in std::mem::take(&mut harvest.files) {
            totals.merge_file(file, found);
        }
    }
    let mut seen = Seen::default();
    let mut problems = Vec::new();
    let mut problem_strings = Interner::default();
    for (facts, (_, mut found)) in files.iter_mut().zip(totals.files) {
        for (key, count) in &found.seen.keys {
            if count.unparsed > 0 {
                found.ledger.note_unparsed(key, count.unparsed);
            }
        }
        facts.spans_read = found.read;
        facts.spans_admitted = found.admitted;
        facts.spans_rejected = found.rejected;
        facts.other_signal_records = found.ledger.count(Code::OtherSignal);
        problems.extend(found.ledger.rows(&facts.path, &mut problem_strings));
        facts.seen = found.seen.clone();
        seen.merge(found.seen);
    }
    Ingested { partitions: scatter::gather(harvests), files, problems, problem_strings, seen }
}

/// Reads one file; its spans come as gathered by several workers.
fn read_file(
    file: usize,
    input: &Input,
    conventions: &Conventions,
    progress: &dyn Progress,
) -> Result<(FileFacts, Vec<Harvest>), IngestError> {
    let failed = |error| IngestError::Read { file: input.name.clone(), error };
    let (compression, source) = source::open(input, progress).map_err(failed)?;
    let stream = Stream::new(source).map_err(failed)?;
    let mut facts = FileFacts {
        path: input.name.clone(),
        format: None,
        compression,
        bytes: 0,
        spans_read: 0,
        spans_admitted: 0,
        spans_rejected: 0,
        other_signal_records: 0,
        seen: Seen::default(),
    };
    if stream.start().is_empty() && stream.broken().is_none() {
        return Ok((facts, vec![Harvest::of_empty(file)]));
    }
    let Some(format) = sniff::sniff(stream.start()) else {
        let file = input.name.clone();
        return Err(match stream.broken() {
            Some(_) => IngestError::NotDecompressed { file, compression },
            None => IngestError::UnknownFormat { file },
        });
    };
    facts.format = Some(format.name());
    let harvests = read_chunks(stream, format, file, conventions, progress).map_err(failed)?;
    facts.bytes = harvests.iter().map(|(_, bytes)| bytes).sum();
    progress.file_done();
    Ok((facts, harvests.into_iter().map(|(harvest, _)| harvest).collect()))
}

/// Reads the chunks of a stream in parallel: what each worker gathered, and from how many bytes.
fn read_chunks(
    stream: Stream<impl Read + Send>,
    format: Format,
    file: usize,
    conventions: &Conventions,
    progress: &dyn Progress,
) -> io::Result<Vec<(Harvest, u64)>> {
    stream
        .chunks(format.framing)
        .par_bridge()
        .try_fold(
            || (Harvest::default(), 0),
            |(mut harvest, bytes), chunk: io::Result<Chunk>| {
                let chunk = chunk?;
                let before = harvest.spans_read(file);
                read_chunk(&chunk, format, file, conventions, &mut harvest);
                progress.spans(harvest.spans_read(file) - before);
                Ok((harvest, bytes + chunk.len()))
            },
        )
        .collect()
}

fn read_chunk(
    chunk: &Chunk,
    format: Format,
    file: usize,
    conventions: &Conventions,
    harvest: &mut Harvest,
) {
    for (bytes, place) in chunk.records() {
        let record = Record { bytes, place, is_unpacked: false };
        format.read(record, file, conventions, harvest);
    }
    if let Some(rest) = &chunk.rest {
        let code = match rest.tail {
            Tail::CutOff => Code::RecordCutOff,
            Tail::Damaged => Code::RecordDamaged,
            Tail::CompressionCutOff => Code::CompressionCutOff,
            Tail::CompressionDamaged => Code::CompressionDamaged,
        };
        let ledger = &mut harvest.files.entry(file).or_default().ledger;
        ledger.note(code, 1, rest.place.byte, || rest.place);
    }
}
