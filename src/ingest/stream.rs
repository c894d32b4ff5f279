//! Cuts a stream into chunks of whole records. One pass finds the records; workers then read the
//! chunks in parallel. A record larger than a chunk makes its chunk larger, by what is really
//! there and never by what a length claims.

use std::io::{self, Read};

use super::problems::Place;
use crate::otlp::wire::{self, Fields, Message, WireError};

/// How many bytes are read before records are handed on.
const CHUNK_BYTES: usize = 4 << 20;

/// How a stream is divided into records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// A line each.
    Lines,
    /// JSON values in a row, over any number of lines.
    Documents,
    /// A length of four bytes, big-endian, before each.
    FixedFrames,
    /// A varint length before each.
    VarintFrames,
    /// The top-level fields of one protobuf message, or of several back to back: the same thing.
    Fields,
}

/// What stands at the start of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// A record of `len` bytes, of which `header` are the frame's.
    Whole { header: usize, len: usize },
    /// The start of a record.
    Part,
    /// Nothing that a record can start with.
    Damaged,
}

impl Framing {
    /// How many bytes of `bytes` are a frame's header.
    pub(crate) fn header_len(self, bytes: &[u8]) -> usize {
        match self {
            Self::FixedFrames => 4,
            Self::VarintFrames => wire::varint(bytes).map_or(0, |(_, len)| len),
            Self::Lines | Self::Documents | Self::Fields => 0,
        }
    }

    /// Whether records are text, with lines.
    pub(crate) const fn is_text(self) -> bool {
        matches!(self, Self::Lines | Self::Documents)
    }

    /// Whether records stand in frames that tell their length.
    pub(crate) const fn is_framed(self) -> bool {
        matches!(self, Self::FixedFrames | Self::VarintFrames)
    }

    /// The record at the start of `bytes`, which are not empty.
    pub(crate) fn cut(self, bytes: &[u8]) -> Cut {
        match self {
            Self::Lines => match bytes.iter().position(|&byte| byte == b'\n') {
                Some(at) => Cut::Whole { header: 0, len: at + 1 },
                None => Cut::Part,
            },
            Self::Documents => match document_len(bytes) {
                Some(len) => Cut::Whole { header: 0, len },
                None => Cut::Part,
            },
            Self::FixedFrames => match bytes.first_chunk() {
                Some(len) => frame(bytes, 4, u64::from(u32::from_be_bytes(*len))),
                None => Cut::Part,
            },
            Self::VarintFrames => match wire::varint(bytes) {
                Ok((len, header)) => frame(bytes, header, len),
                Err(WireError::CutOff) => Cut::Part,
                Err(WireError::Damaged) => Cut::Damaged,
            },
            Self::Fields => {
                let mut fields = Fields::new(Message { bytes, at: 0 });
                match fields.next() {
                    Some(Ok(_)) => Cut::Whole { header: 0, len: fields.position() },
                    Some(Err(WireError::CutOff)) | None => Cut::Part,
                    Some(Err(WireError::Damaged)) => Cut::Damaged,
                }
            }
        }
    }
}

fn frame(bytes: &[u8], header: usize, len: u64) -> Cut {
    match usize::try_from(len).ok().and_then(|len| header.checked_add(len)) {
        Some(len) if len <= bytes.len() => Cut::Whole { header, len },
        _ => Cut::Part,
    }
}

/// The length of the JSON object or array in `bytes`, with all before it: up to where its brackets
/// balance. Whether it is JSON is for its reader to say.
fn document_len(bytes: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 1 => return Some(at),
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                while let Some(&byte) = bytes.get(at) {
                    at += 1;
                    match byte {
                        b'"' => break,
                        b'\\' => at += 1,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    None
}

/// How many lines end in `bytes`.
pub(crate) fn newlines(bytes: &[u8]) -> u64 {
    bytes.split(|&byte| byte == b'\n').count() as u64 - 1
}

/// A record within its chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bounds {
    /// Where its frame begins.
    start: usize,
    /// Where its content begins.
    content: usize,
    /// Where it ends.
    end: usize,
}

/// Some whole records, one after another.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    framing: Framing,
    bytes: Vec<u8>,
    records: Vec<Bounds>,
    /// The place of the first record.
    place: Counters,
    /// What follows the last record, where the stream cannot be divided further.
    pub(crate) rest: Option<Rest>,
}

/// The end of a stream that cannot be divided further.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rest {
    /// Why not.
    pub tail: Tail,
    /// Where it begins.
    pub place: Place,
    /// How many bytes of it were looked at.
    len: u64,
}

/// Why a stream cannot be divided further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// It ends within a record.
    CutOff,
    /// No record can start so.
    Damaged,
    /// Its compression ends early.
    CompressionCutOff,
    /// Its compression is broken.
    CompressionDamaged,
}

/// How far a stream has been read.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    byte: u64,
    record: u64,
    line: u64,
}

impl Counters {
    fn place(self, framing: Framing) -> Place {
        Place {
            byte: Some(self.byte),
            record: Some(self.record),
            line: framing.is_text().then_some(self.line + 1),
        }
    }

    fn pass(&mut self, framing: Framing, bytes: &[u8]) {
        self.byte += bytes.len() as u64;
        self.record += 1;
        self.line += match framing {
            Framing::Lines => 1,
            Framing::Documents => newlines(bytes),
            _ => 0,
        };
    }
}

impl Chunk {
    /// How many bytes of the stream it stands for.
    pub(crate) fn len(&self) -> u64 {
        self.bytes.len() as u64 + self.rest.map_or(0, |rest| rest.len)
    }

    /// The content of each record with its place.
    pub(crate) fn records(&self) -> impl Iterator<Item = (&[u8], Place)> {
        let mut counters = self.place;
        self.records.iter().map(move |bounds| {
            let place = counters.place(self.framing);
            counters
                .pass(self.framing, self.bytes.get(bounds.start..bounds.end).unwrap_or_default());
            let content = self.bytes.get(bounds.content..bounds.end).unwrap_or_default();
            // A line that is cut off must not look damaged at its end.
            let content = content
                .strip_suffix(b"\n")
                .filter(|_| self.framing == Framing::Lines)
                .unwrap_or(content);
            let header = (bounds.content - bounds.start) as u64;
            (content, Place { byte: place.byte.map(|byte| byte + header), ..place })
        })
    }
}

/// A stream, of which the first bytes were looked at.
pub(crate) struct Stream<R> {
    source: R,
    buffer: Vec<u8>,
    /// The source has no more.
    ended: bool,
    /// What is wrong with the source's compression.
    broken: Option<Tail>,
}

impl<R: Read> Stream<R> {
    /// Reads up to a chunk ahead.
    pub(crate) fn new(source: R) -> io::Result<Self> {
        let mut stream = Self { source, buffer: Vec::new(), ended: false, broken: None };
        stream.fill(CHUNK_BYTES)?;
        Ok(stream)
    }

    /// What was read ahead.
    pub(crate) fn start(&self) -> &[u8] {
        &self.buffer
    }

    /// What is wrong with the compression of what was read so far.
    pub(crate) const fn broken(&self) -> Option<Tail> {
        self.broken
    }

    /// Reads until the buffer holds `len` bytes or there is no more.
    fn fill(&mut self, len: usize) -> io::Result<()> {
        let missing = len.saturating_sub(self.buffer.len()) as u64;
        if self.ended || missing == 0 {
            return Ok(());
        }
        match (&mut self.source).take(missing).read_to_end(&mut self.buffer) {
            Ok(got) => self.ended = (got as u64) < missing,
            // What was decoded before the fault is in the buffer.
            Err(error) => {
                self.ended = true;
                self.broken = Some(match error.kind() {
                    io::ErrorKind::UnexpectedEof => Tail::CompressionCutOff,
                    io::ErrorKind::InvalidData
                    | io::ErrorKind::InvalidInput
                    | io::ErrorKind::Other
                        if error.raw_os_error().is_none() =>
                    {
                        Tail::CompressionDamaged
                    }
                    _ => return Err(error),
                });
            }
        }
        Ok(())
    }

    /// The chunks of the stream.
    pub(crate) fn chunks(self, framing: Framing) -> Chunks<R> {
        Chunks { stream: self, framing, place: Counters::default() }
    }
}

/// The chunks of a stream, in order.
pub(crate) struct Chunks<R> {
    stream: Stream<R>,
    framing: Framing,
    place: Counters,
}

impl<R: Read> Chunks<R> {
    /// Divides the buffer as far as it goes. Returns the records and why it goes no further.
    fn divide(&self) -> (Vec<Bounds>, Cut) {
        let mut records = Vec::new();
        let mut start = 0;
        loop {
            let rest = self.stream.buffer.get(start..).unwrap_or_default();
            if rest.is_empty() {
                return (records, Cut::Part);
            }
            match self.framing.cut(rest) {
                Cut::Whole { header, len } => {
                    records.push(Bounds { start, content: start + header, end: start + len });
                    start += len;
                }
                cut => return (records, cut),
            }
        }
    }

    fn next_chunk(&mut self) -> io::Result<Option<Chunk>> {
        let mut target = CHUNK_BYTES;
        let (mut records, cut) = loop {
            self.stream.fill(target)?;
            let (records, cut) = self.divide();
            if !records.is_empty() || self.stream.ended || cut == Cut::Damaged {
                break (records, cut);
            }
            target = target.max(self.stream.buffer.len()).saturating_mul(2);
        };
        let mut end = records.last().map_or(0, |bounds| bounds.end);
        let is_last = self.stream.ended || cut == Cut::Damaged;
        let has_rest = end < self.stream.buffer.len();
        if is_last && has_rest && cut != Cut::Damaged && !self.framing.is_framed() {
            // Whether the last line, document or message is whole is for its reader to say.
            let start = end;
            end = self.stream.buffer.len();
            records.push(Bounds { start, content: start, end });
        }
        let rest = self.stream.buffer.split_off(end);
        let bytes = std::mem::replace(&mut self.stream.buffer, rest);
        let place = self.place;
        for bounds in &records {
            self.place.pass(self.framing, bytes.get(bounds.start..bounds.end).unwrap_or_default());
        }
        let rest = if is_last { self.finish(cut) } else { None };
        if records.is_empty() && rest.is_none() {
            return Ok(None);
        }
        Ok(Some(Chunk { framing: self.framing, bytes, records, place, rest }))
    }

    /// Ends the stream. Says what is wrong with what is left.
    fn finish(&mut self, cut: Cut) -> Option<Rest> {
        self.stream.ended = true;
        let len = std::mem::take(&mut self.stream.buffer).len() as u64;
        let broken = self.stream.broken.take();
        let tail = match cut {
            Cut::Damaged => Some(Tail::Damaged),
            _ => broken.or((len > 0).then_some(Tail::CutOff)),
        };
        tail.map(|tail| Rest { tail, place: self.place.place(self.framing), len })
    }
}

impl<R: Read> Iterator for Chunks<R> {
    type Item = io::Result<Chunk>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_chunk().transpose()
    }
}
