//! Cuts a stream into chunks of whole records. One pass finds the records; workers then read the
//! chunks in parallel. A record larger than a chunk makes its chunk larger, by what is really
//! there and never by what a length claims. One larger than the limit is passed over unheld.

use std::io::{self, Read};

use memchr::{memchr, memchr_iter, memchr2};

use super::buffer::{Buffer, Spare};
use super::compression::Fault;
use super::limits::Limits;
use super::problems::{Code, Place};
use crate::otlp::wire::{self, Fields, Message, WireError};

/// How many bytes are read before records are handed on: as many as a core's own cache holds, so that
/// what was just copied from the file is there when it is read.
const CHUNK_BYTES: usize = 1 << 20;

/// How a stream is divided into records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// A line each.
    Lines,
    /// A line each, but that one may go on within double quotes.
    QuotedLines,
    /// JSON values in a row, over any number of lines.
    Documents,
    /// A length of four bytes, big-endian, before each.
    FixedFrames,
    /// A varint length before each.
    VarintFrames,
    /// All of it is one record.
    Whole,
    /// The top-level fields of one protobuf message, or of several back to back: the same thing.
    Fields,
}

/// What stands at the start of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// A record of `len` bytes, of which `header` are the frame's.
    Whole { header: usize, len: usize },
    /// The start of a record, which claims `len` bytes if it tells.
    Part { len: Option<u64> },
    /// Nothing that a record can start with.
    Damaged,
}

impl Framing {
    /// How many bytes of `bytes` are a frame's header.
    pub(crate) fn header_len(self, bytes: &[u8]) -> usize {
        match self {
            Self::FixedFrames => 4,
            Self::VarintFrames => wire::varint(bytes).map_or(0, |(_, len)| len),
            Self::Lines | Self::QuotedLines | Self::Documents | Self::Whole | Self::Fields => 0,
        }
    }

    /// Whether records are text, with lines.
    pub(crate) const fn is_text(self) -> bool {
        matches!(self, Self::Lines | Self::QuotedLines | Self::Documents)
    }

    /// Whether records stand in frames that tell their length.
    pub(crate) const fn is_framed(self) -> bool {
        matches!(self, Self::FixedFrames | Self::VarintFrames)
    }

    /// The record at the start of `bytes`, which are not empty.
    pub(crate) fn cut(self, bytes: &[u8]) -> Cut {
        match self {
            Self::Lines => whole(line_len(bytes)),
            Self::QuotedLines => whole(quoted_line_len(bytes)),
            Self::Documents => whole(Brackets::default().end(bytes)),
            Self::Whole => Cut::Part { len: None },
            Self::FixedFrames => match bytes.first_chunk() {
                Some(len) => frame(bytes, 4, u64::from(u32::from_be_bytes(*len))),
                None => Cut::Part { len: None },
            },
            Self::VarintFrames => match wire::varint(bytes) {
                Ok((len, header)) => frame(bytes, header, len),
                Err(WireError::CutOff) => Cut::Part { len: None },
                Err(WireError::Damaged) => Cut::Damaged,
            },
            Self::Fields => {
                let mut fields = Fields::new(Message { bytes, at: 0 });
                match fields.next() {
                    Some(Ok(_)) => Cut::Whole { header: 0, len: fields.position() },
                    Some(Err(WireError::CutOff)) | None => {
                        Cut::Part { len: wire::claimed_len(bytes) }
                    }
                    Some(Err(WireError::Damaged)) => Cut::Damaged,
                }
            }
        }
    }
}

/// A record without a frame, if its end was found.
fn whole(len: Option<usize>) -> Cut {
    len.map_or(Cut::Part { len: None }, |len| Cut::Whole { header: 0, len })
}

fn frame(bytes: &[u8], header: usize, len: u64) -> Cut {
    let len = len.saturating_add(header as u64);
    match usize::try_from(len) {
        Ok(len) if len <= bytes.len() => Cut::Whole { header, len },
        _ => Cut::Part { len: Some(len) },
    }
}

/// The brackets of a JSON object or array that has been looked at in part. Whether it is JSON is for
/// its reader to say.
#[derive(Clone, Copy, Debug, Default)]
struct Brackets {
    depth: usize,
    in_text: bool,
    is_escaped: bool,
}

impl Brackets {
    /// Where they balance in the bytes that come next.
    fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        let closes = |&byte: &u8| {
            if std::mem::take(&mut self.is_escaped) {
                return false;
            }
            match byte {
                b'"' => self.in_text = !self.in_text,
                b'\\' => self.is_escaped = self.in_text,
                b'{' | b'[' if !self.in_text => self.depth += 1,
                b'}' | b']' if !self.in_text => {
                    let is_last = self.depth == 1;
                    self.depth = self.depth.saturating_sub(1);
                    return is_last;
                }
                _ => {}
            }
            false
        };
        bytes.iter().position(closes).map(|at| at + 1)
    }
}

/// The length of the line in `bytes`.
fn line_len(bytes: &[u8]) -> Option<usize> {
    memchr(b'\n', bytes).map(|at| at + 1)
}

/// The length of the row of cells in `bytes`, which goes on over lines within double quotes. A quote
/// within quotes is doubled, or stands before the end of its cell. Where one does neither, quotes
/// do not balance: the row is its first line, so that no other is lost with it.
fn quoted_line_len(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        if *bytes.get(at)? == b'"' {
            at += 1;
            loop {
                at += memchr(b'"', bytes.get(at..)?)? + 1;
                match bytes.get(at)? {
                    b'"' => at += 1,
                    b',' | b'\r' | b'\n' => break,
                    _ => return line_len(bytes),
                }
            }
        }
        at += memchr2(b',', b'\n', bytes.get(at..)?)? + 1;
        if bytes.get(at - 1) == Some(&b'\n') {
            return Some(at);
        }
    }
}

/// How the end of a record is found that is not held.
enum Passing {
    /// It ends with its line. A row of cells may go on, but what follows is known as no row.
    Line,
    /// It ends where its brackets balance.
    Document(Brackets),
    /// So many bytes are left of it.
    Bytes(u64),
    /// It has no end but the stream's.
    Rest,
}

impl Passing {
    /// At the start of a record that claims `len` bytes, if it tells.
    fn new(framing: Framing, len: Option<u64>) -> Self {
        match (framing, len) {
            (_, Some(len)) => Self::Bytes(len),
            (Framing::Lines | Framing::QuotedLines, None) => Self::Line,
            (Framing::Documents, None) => Self::Document(Brackets::default()),
            (_, None) => Self::Rest,
        }
    }

    /// Where the record ends in the bytes that come next.
    fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Line => line_len(bytes),
            Self::Document(brackets) => brackets.end(bytes),
            Self::Bytes(left) => {
                let end = usize::try_from(*left).ok().filter(|&end| end <= bytes.len());
                *left = left.saturating_sub(bytes.len() as u64);
                end
            }
            Self::Rest => None,
        }
    }

    /// What is wrong with a record of which this was not found up to the stream's end.
    const fn code_at_end(&self) -> Code {
        match self {
            Self::Bytes(_) => Code::RecordCutOff,
            Self::Line | Self::Document(_) | Self::Rest => Code::RecordTooLarge,
        }
    }
}

/// How many lines end in `bytes`.
pub(crate) fn newlines(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
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
#[derive(Debug)]
pub(crate) struct Chunk {
    framing: Framing,
    bytes: Buffer,
    /// Where the bytes go when it is dropped.
    spare: Spare,
    records: Vec<Bounds>,
    /// The place of the first record.
    place: Counters,
    /// What follows the last record, where that is no record, or none that is read.
    pub(crate) rest: Option<Rest>,
}

/// A part of a stream that holds nothing to read: its end, or a record passed over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rest {
    /// Why not.
    pub code: Code,
    /// Where it begins.
    pub place: Place,
    /// How many bytes of it were looked at.
    len: u64,
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
            Framing::QuotedLines | Framing::Documents => newlines(bytes),
            _ => 0,
        };
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        self.spare.give_back(std::mem::take(&mut self.bytes), 2 * CHUNK_BYTES);
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
    buffer: Buffer,
    spare: Spare,
    /// The source has no more.
    ended: bool,
    /// What is wrong with the source's compression.
    broken: Option<Code>,
}

impl<R: Read> Stream<R> {
    /// Reads up to a chunk ahead.
    pub(crate) fn new(source: R) -> io::Result<Self> {
        let (buffer, spare) = (Buffer::default(), Spare::default());
        let mut stream = Self { source, buffer, spare, ended: false, broken: None };
        stream.fill(CHUNK_BYTES)?;
        Ok(stream)
    }

    /// Reads up to `len` bytes ahead, as far as there are so many.
    pub(crate) fn read_ahead(&mut self, len: usize) -> io::Result<()> {
        while !self.ended && self.buffer.len() < len {
            self.fill(len.min(self.buffer.len().saturating_mul(2)))?;
        }
        Ok(())
    }

    /// What was read ahead.
    pub(crate) fn start(&self) -> &[u8] {
        &self.buffer
    }

    /// What is wrong with the compression of what was read so far.
    pub(crate) const fn broken(&self) -> Option<Code> {
        self.broken
    }

    /// Reads until the buffer holds `len` bytes or there is no more.
    fn fill(&mut self, len: usize) -> io::Result<()> {
        if !self.ended {
            match self.buffer.fill(&mut self.source, len) {
                Ok(has_more) => self.ended = !has_more,
                // What was decoded before the fault is in the buffer.
                Err(error) => {
                    self.broken = Some(Fault::code(error)?);
                    self.ended = true;
                }
            }
        }
        Ok(())
    }

    /// The chunks of the stream.
    pub(crate) fn chunks(self, framing: Framing, limits: Limits) -> Chunks<R> {
        let place = Counters::default();
        Chunks { stream: self, framing, max_record_len: limits.record_bytes, place }
    }
}

/// The chunks of a stream, in order.
pub(crate) struct Chunks<R> {
    stream: Stream<R>,
    framing: Framing,
    max_record_len: usize,
    place: Counters,
}

impl<R: Read> Chunks<R> {
    /// Divides the buffer up to a record that is not whole, or too large. Returns the records and
    /// what follows.
    fn divide(&self) -> (Vec<Bounds>, Cut) {
        let mut records = Vec::new();
        let mut start = 0;
        loop {
            let rest = self.stream.buffer.get(start..).unwrap_or_default();
            if rest.is_empty() {
                return (records, Cut::Part { len: None });
            }
            match self.framing.cut(rest) {
                Cut::Whole { len, .. } if self.max_record_len < len => {
                    return (records, Cut::Part { len: Some(len as u64) });
                }
                Cut::Whole { header, len } => {
                    records.push(Bounds { start, content: start + header, end: start + len });
                    start += len;
                }
                Cut::Part { .. } if let Some(len) = self.line_of_lost_quote(rest) => {
                    records.push(Bounds { start, content: start, end: start + len });
                    start += len;
                }
                cut => return (records, cut),
            }
        }
    }

    /// The length of the line at the start of the last bytes of the stream, where they are rows of
    /// cells and a quote in it is never closed: the row is that line, and no other is lost with it.
    fn line_of_lost_quote(&self, rest: &[u8]) -> Option<usize> {
        let is_lost = self.stream.ended && self.framing == Framing::QuotedLines;
        is_lost.then(|| line_len(rest)).flatten().filter(|&len| len <= self.max_record_len)
    }

    fn next_chunk(&mut self) -> io::Result<Option<Chunk>> {
        let mut target = CHUNK_BYTES;
        let (mut records, cut) = loop {
            self.stream.fill(target)?;
            let (records, cut) = self.divide();
            if let Cut::Part { len } = cut
                && records.is_empty()
                && self.is_too_large(len, self.stream.buffer.len())
            {
                return self.pass_over(len).map(Some);
            }
            if !records.is_empty() || self.stream.ended || cut == Cut::Damaged {
                break (records, cut);
            }
            let twice = target.max(self.stream.buffer.len()).saturating_mul(2);
            target = twice.min(self.max_record_len.saturating_add(1));
        };
        let mut end = records.last().map_or(0, |bounds| bounds.end);
        let left = self.stream.buffer.len() - end;
        let is_last = cut == Cut::Damaged || self.stream.ended && left <= self.max_record_len;
        if is_last && 0 < left && cut != Cut::Damaged && !self.framing.is_framed() {
            // Whether the last record is whole is for its reader to say.
            let start = end;
            end = self.stream.buffer.len();
            records.push(Bounds { start, content: start, end });
        }
        let mut rest = self.stream.spare.take();
        self.stream.buffer.split_to(end, &mut rest);
        let bytes = std::mem::replace(&mut self.stream.buffer, rest);
        let place = self.place;
        for bounds in &records {
            self.place.pass(self.framing, bytes.get(bounds.start..bounds.end).unwrap_or_default());
        }
        let rest = if is_last { self.finish(cut) } else { None };
        if records.is_empty() && rest.is_none() {
            return Ok(None);
        }
        let spare = self.stream.spare.clone();
        Ok(Some(Chunk { framing: self.framing, bytes, spare, records, place, rest }))
    }

    /// Whether the record of which `found` bytes are there, and which claims `len`, is not to be
    /// held. A field's claim alone proves nothing: messages without frames may be damaged.
    fn is_too_large(&self, len: Option<u64>, found: usize) -> bool {
        let claims_more = len.is_some_and(|len| len > self.max_record_len as u64);
        self.max_record_len < found || self.framing.is_framed() && claims_more
    }

    /// Goes past the record at the start of the buffer, which claims `len` bytes, and says so.
    fn pass_over(&mut self, len: Option<u64>) -> io::Result<Chunk> {
        let (start, mut begun) = (self.place.byte, self.place);
        if let Framing::Documents = self.framing {
            let document = self.stream.buffer.trim_ascii_start();
            let blank = self.stream.buffer.len() - document.len();
            begun.byte += blank as u64;
            begun.line += newlines(self.stream.buffer.get(..blank).unwrap_or_default());
        }
        let mut passing = Passing::new(self.framing, len);
        let code = loop {
            let buffer = &mut self.stream.buffer;
            let end = passing.end(buffer);
            let passed = end.unwrap_or(buffer.len());
            self.place.byte += passed as u64;
            self.place.line += newlines(buffer.get(..passed).unwrap_or_default());
            buffer.forget(passed);
            if end.is_some() {
                break Code::RecordTooLarge;
            }
            // Nothing of what was held has to stay.
            buffer.shrink_to(CHUNK_BYTES);
            self.stream.fill(CHUNK_BYTES)?;
            if self.stream.buffer.is_empty() {
                break passing.code_at_end();
            }
        };
        self.place.record += 1;
        let len = self.place.byte - start;
        let rest = Some(Rest { code, place: begun.place(self.framing), len });
        Ok(Chunk {
            framing: self.framing,
            bytes: Buffer::default(),
            spare: Spare::default(),
            records: Vec::new(),
            place: begun,
            rest,
        })
    }

    /// Ends the stream. Says what is wrong with what is left.
    fn finish(&mut self, cut: Cut) -> Option<Rest> {
        self.stream.ended = true;
        let len = std::mem::take(&mut self.stream.buffer).len() as u64;
        let broken = self.stream.broken.take();
        let code = match cut {
            Cut::Damaged => Some(Code::RecordDamaged),
            _ => broken.or((len > 0).then_some(Code::RecordCutOff)),
        };
        code.map(|code| Rest { code, place: self.place.place(self.framing), len })
    }
}

impl<R: Read> Iterator for Chunks<R> {
    type Item = io::Result<Chunk>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_chunk().transpose()
    }
}
