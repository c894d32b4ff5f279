//! Tells what a stream is by its first bytes, never by its name.

use std::io::{self, Read};

use memchr::memchr;

use super::clickhouse_parquet;
use super::clickhouse_text::Layout;
use super::compression::{Compression, unpack};
use super::format::{Format, Payload};
use super::json::JsonError;
use super::limits::Limits;
use super::magic;
use super::otlp_json;
use super::outline::{outline, outline_until};
use super::refusal::Refusal;
use super::stream::{Cut, Framing, Stream};
use crate::otlp::shape;
use crate::tables::foreign::is_parquet;

/// How many bytes are looked at.
const LOOK_BYTES: usize = 1 << 20;

/// How many, where these are JSON that has not said yet what it is.
const FURTHER_LOOK_BYTES: usize = 64 << 20;

/// How many tell text from anything else.
const TEXT_LOOK_BYTES: usize = 64;

/// How many times a value over several lines is looked for, and how many frames are looked at.
const MAX_TRIES: usize = 16;

/// A length of four bytes that claims so much is text: no text begins with a byte below a tab's.
const TEXT_FRAME_BYTES: u32 = 8 << 24;

/// What Zipkin answers where it has no trace.
const NOTHING_FOUND: &[u8] = b"[]";

/// What is found: a payload, or one that is known and not read.
type Claim<T> = Result<T, Refusal>;

/// The format of a stream, of which as much is read ahead as it takes to tell.
pub(crate) fn sniff<R: Read>(
    stream: &mut Stream<R>,
    limits: Limits,
) -> io::Result<Option<Claim<Format>>> {
    if is_parquet(stream.start()) {
        // It says at its end what is in it.
        stream.read_ahead(limits.record_bytes.saturating_add(1))?;
        return Ok(parquet(stream.start(), limits));
    }
    let start = stream.start();
    let near = start.get(..LOOK_BYTES).unwrap_or(start);
    let format = of_start(near);
    if format.is_some() || outline(near).error != Some(JsonError::CutOff) {
        return Ok(format);
    }
    stream.read_ahead(FURTHER_LOOK_BYTES.min(limits.record_bytes))?;
    Ok(of_start(stream.start()))
}

/// The format of a Parquet file, of which more than is held would be in `bytes`.
fn parquet(bytes: &[u8], limits: Limits) -> Option<Claim<Format>> {
    if limits.record_bytes < bytes.len() {
        return Some(Err(Refusal::ParquetTooLarge));
    }
    let claim = clickhouse_parquet::claims(bytes)?;
    let (framing, payload) = (Framing::Whole, Payload::ClickhouseParquet);
    Some(claim.map(|()| Format { framing, payload, is_packed: false }))
}

/// The format of a stream that starts with `start`.
fn of_start(start: &[u8]) -> Option<Claim<Format>> {
    let unpacked = |framing, payload| Format { framing, payload, is_packed: false };
    if start.trim_ascii_start().is_empty() {
        return None;
    }
    if let Some(refusal) = magic::refusal(start) {
        return Some(Err(refusal));
    }
    if start.trim_ascii() == NOTHING_FOUND {
        return Some(Ok(unpacked(Framing::Documents, Payload::Zipkin)));
    }
    // To look for JSON in each line of what is no text would take long.
    if !is_text(start)
        && let Some(format) = binary(start)
    {
        return Some(format);
    }
    if let Some((framing, payload)) = json(start) {
        return Some(payload.map(|payload| unpacked(framing, payload)));
    }
    if let Some(layout) = Layout::of(start) {
        return Some(
            layout
                .map(|layout| unpacked(layout.dialect.framing(), Payload::ClickhouseText(layout))),
        );
    }
    binary(start)
}

/// The format of a stream that starts with `start`, if it is protobuf or in frames.
fn binary(start: &[u8]) -> Option<Claim<Format>> {
    let has_text_len =
        start.first_chunk().is_some_and(|len| TEXT_FRAME_BYTES <= u32::from_be_bytes(*len));
    if !has_text_len && let Some(format) = frames(start, Framing::FixedFrames) {
        return Some(format);
    }
    if shape::looks_like_message(start) {
        let (framing, payload) = (Framing::Fields, Payload::OtlpProtobuf);
        return Some(Ok(Format { framing, payload, is_packed: false }));
    }
    frames(start, Framing::VarintFrames)
}

/// Whether there is nothing near the start of `start` that no text holds.
fn is_text(start: &[u8]) -> bool {
    let near = start.get(..TEXT_LOOK_BYTES).unwrap_or(start);
    !near.iter().any(|&byte| byte < b' ' && !byte.is_ascii_whitespace())
}

/// What JSON is in `content`, and how it is divided. Lines may be bad; a value that goes over
/// several lines and is whole proves documents.
fn json(content: &[u8]) -> Option<(Framing, Claim<Payload>)> {
    let mut of_lines = None;
    let mut of_broken = None;
    let mut tries = 0;
    let mut at = 0;
    while let Some(rest) = content.get(at..)
        && !rest.is_empty()
    {
        let line_len = memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let (line, _) = rest.split_at(line_len);
        at += line_len;
        let is_balanced = looks_balanced(line) && !goes_on(content.get(at..).unwrap_or_default());
        if is_balanced && matches!(of_lines, Some(Ok(_))) {
            continue;
        }
        // Whatever else stands in them, such a line is a message, and the last is no document of
        // several lines.
        if (is_balanced || line_len == rest.len())
            && otlp_json::claims(&outline_until(line, otlp_json::claims).outline)
        {
            if is_balanced {
                of_lines = of_lines.or(Some(Ok(Payload::OtlpJson)));
            } else {
                of_broken = of_broken.or(Some((Framing::Lines, Ok(Payload::OtlpJson))));
            }
            continue;
        }
        let of_line = outline(line);
        let payload = Payload::of_json(&of_line.outline);
        if of_line.error.is_none() {
            of_lines = of_lines.or(payload);
            continue;
        }
        // What does not break at once may go on over the next lines.
        if of_line.error != Some(JsonError::CutOff)
            || line.trim_ascii().is_empty()
            || tries == MAX_TRIES
        {
            of_broken = of_broken.or(payload.map(|payload| (Framing::Lines, payload)));
            continue;
        }
        tries += 1;
        let found = outline(rest);
        match (found.error, Payload::of_json(&found.outline)) {
            (None, Some(payload)) => return Some((Framing::Documents, payload)),
            (None, None) => at += found.end.saturating_sub(line_len),
            (Some(_), Some(payload)) => {
                let is_within_line = found.end <= line_len;
                let framing = if is_within_line { Framing::Lines } else { Framing::Documents };
                of_broken = of_broken.or(Some((framing, payload)));
            }
            (Some(_), None) => {}
        }
    }
    of_lines.map(|payload| (Framing::Lines, payload)).or(of_broken)
}

/// Whether a line begins and ends as an object or an array does that is whole.
fn looks_balanced(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    matches!((line.first(), line.last()), (Some(b'{'), Some(b'}')) | (Some(b'['), Some(b']')))
}

/// Whether what comes next belongs to a value that has begun before: behind a bracket that closes
/// within it nothing else can come.
fn goes_on(next: &[u8]) -> bool {
    matches!(next.trim_ascii_start().first(), Some(b',' | b']' | b'}'))
}

/// What the first frame that says something holds, and whether it is compressed.
fn frames(start: &[u8], framing: Framing) -> Option<Claim<Format>> {
    let mut rest = start;
    for _ in 0..MAX_TRIES {
        if rest.is_empty() {
            return None;
        }
        match framing.cut(rest) {
            Cut::Whole { header, len } => {
                if let Some(format) = frame(rest.get(header..len)?, framing, true) {
                    return Some(format);
                }
                rest = rest.get(len..)?;
            }
            // A frame larger than what is looked at, or cut off.
            Cut::Part { .. } => {
                return frame(rest.get(framing.header_len(rest)..)?, framing, false);
            }
            Cut::Damaged => return None,
        }
    }
    None
}

/// The format of a frame, of which the end may be missing unless it `is_whole`.
fn frame(content: &[u8], framing: Framing, is_whole: bool) -> Option<Claim<Format>> {
    let is_packed = Compression::of(content) == Compression::Zstd;
    let payload = if is_packed {
        let look = Limits { record_bytes: LOOK_BYTES, ..Limits::default() };
        let (content, trouble) = unpack(content, look);
        payload(&content, trouble.is_none())
    } else {
        payload(content, is_whole)
    };
    Some(payload?.map(|payload| Format { framing, payload, is_packed }))
}

/// What a frame holds. JSON that ends before its frame or after it is text whose first byte was
/// taken for a length.
fn payload(content: &[u8], is_whole: bool) -> Option<Claim<Payload>> {
    let found = outline(content);
    let behind = content.get(found.end..).unwrap_or_default();
    let fills_frame = match found.error {
        None => is_whole && behind.trim_ascii_start().is_empty(),
        Some(error) => !is_whole && error == JsonError::CutOff,
    };
    let of_json = Payload::of_json(&found.outline).filter(|_| fills_frame);
    of_json.or_else(|| shape::looks_like_message(content).then_some(Ok(Payload::OtlpProtobuf)))
}
