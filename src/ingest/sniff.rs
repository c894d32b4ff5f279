//! Tells what a stream is by its first bytes, never by its name.

use super::format::{self, Format, Payload};
use super::json::JsonError;
use super::outline::outline;
use super::source::Compression;
use super::stream::{Cut, Framing};
use crate::otlp::shape;

/// How many bytes are looked at.
const LOOK_BYTES: usize = 1 << 20;

/// How many times a value over several lines is looked for, and how many frames are looked at.
const MAX_TRIES: usize = 16;

/// A length of four bytes that claims so much is text: no text begins with a byte below a tab's.
const TEXT_FRAME_BYTES: u32 = 8 << 24;

/// The format of a stream that starts with `start`.
pub(crate) fn sniff(start: &[u8]) -> Option<Format> {
    let start = start.get(..LOOK_BYTES).unwrap_or(start);
    if start.trim_ascii_start().is_empty() {
        return None;
    }
    let unpacked = |framing, payload| Format { framing, payload, is_packed: false };
    if let Some((framing, payload)) = json(start) {
        return Some(unpacked(framing, payload));
    }
    let is_text =
        start.first_chunk().is_some_and(|len| TEXT_FRAME_BYTES <= u32::from_be_bytes(*len));
    if !is_text && let Some(format) = frames(start, Framing::FixedFrames) {
        return Some(format);
    }
    if shape::looks_like_message(start) {
        return Some(unpacked(Framing::Fields, Payload::OtlpProtobuf));
    }
    frames(start, Framing::VarintFrames)
}

/// What JSON is in `content`, and how it is divided. Lines may be bad; a value that goes over
/// several lines and is whole proves documents.
fn json(content: &[u8]) -> Option<(Framing, Payload)> {
    let mut of_lines = None;
    let mut of_broken = None;
    let mut tries = 0;
    let mut at = 0;
    while let Some(rest) = content.get(at..)
        && !rest.is_empty()
    {
        let line_len = rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |at| at + 1);
        let (line, _) = rest.split_at(line_len);
        at += line_len;
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

/// What the first frame that says something holds, and whether it is compressed.
fn frames(start: &[u8], framing: Framing) -> Option<Format> {
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
            Cut::Part => {
                return frame(rest.get(framing.header_len(rest)..)?, framing, false);
            }
            Cut::Damaged => return None,
        }
    }
    None
}

/// The format of a frame, of which the end may be missing unless it `is_whole`.
fn frame(content: &[u8], framing: Framing, is_whole: bool) -> Option<Format> {
    let is_packed = Compression::of(content) == Compression::Zstd;
    let payload = if is_packed {
        let (content, trouble) = format::unpack(content, LOOK_BYTES);
        payload(&content, trouble.is_none())
    } else {
        payload(content, is_whole)
    };
    Some(Format { framing, payload: payload?, is_packed })
}

/// What a frame holds. JSON that ends before its frame or after it is text whose first byte was
/// taken for a length.
fn payload(content: &[u8], is_whole: bool) -> Option<Payload> {
    let found = outline(content);
    let behind = content.get(found.end..).unwrap_or_default();
    let fills_frame = match found.error {
        None => is_whole && behind.trim_ascii_start().is_empty(),
        Some(error) => !is_whole && error == JsonError::CutOff,
    };
    let of_json = Payload::of_json(&found.outline).filter(|_| fills_frame);
    of_json.or_else(|| shape::looks_like_message(content).then_some(Payload::OtlpProtobuf))
}
