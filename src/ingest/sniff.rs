//! Tells what a stream is by its first bytes, never by its name.

use super::format::{Format, Payload};
use super::json::JsonError;
use super::otlp_json::{self, Signals};
use super::otlp_proto;
use super::source::Compression;
use super::stream::{Cut, Framing};

/// A byte order mark says nothing in UTF-8, but some tools write one.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// How many bytes are looked at.
const LOOK_BYTES: usize = 1 << 20;

/// How many times a value over several lines is looked for, and how many frames are looked at.
const MAX_TRIES: usize = 16;

/// The format of a stream that starts with `start`, and how many bytes of it are no record.
pub(crate) fn sniff(start: &[u8]) -> Option<(Format, usize)> {
    let start = start.get(..LOOK_BYTES).unwrap_or(start);
    let skip = if start.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let content = start.get(skip..).unwrap_or_default();
    if let Some(framing) = json(content) {
        return Some((Format { framing, payload: Payload::Json, is_packed: false }, skip));
    }
    if let Some((payload, is_packed)) = frames(start, Framing::FixedFrames) {
        return Some((Format { framing: Framing::FixedFrames, payload, is_packed }, 0));
    }
    if otlp_proto::looks_like_message(start) {
        let framing = Framing::Fields;
        return Some((Format { framing, payload: Payload::Protobuf, is_packed: false }, 0));
    }
    let (payload, is_packed) = frames(start, Framing::VarintFrames)?;
    Some((Format { framing: Framing::VarintFrames, payload, is_packed }, 0))
}

/// Whether OTLP JSON is in `content`, and how it is divided. Lines may be bad; a value that goes
/// over several lines and is whole proves documents.
fn json(content: &[u8]) -> Option<Framing> {
    let mut signals = Signals::default();
    let mut has_lines = false;
    let mut of_broken = None;
    let mut tries = 0;
    let mut at = 0;
    while let Some(rest) = content.get(at..)
        && !rest.is_empty()
    {
        let line_len = rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |at| at + 1);
        let (line, _) = rest.split_at(line_len);
        at += line_len;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let (found, end) = otlp_json::probe(line);
        if end.is_ok() {
            has_lines |= found.any();
            signals.traces |= found.traces;
            signals.others |= found.others;
            continue;
        }
        if !line.trim_ascii_start().starts_with(b"{") || tries == MAX_TRIES {
            continue;
        }
        tries += 1;
        let (found, end) = otlp_json::probe(rest);
        match end {
            Ok(_) if found.any() => return Some(Framing::Documents),
            Ok(len) => at += len.saturating_sub(line_len),
            Err(_) if !found.any() => {}
            Err(error) => {
                let is_within_line = line_len == rest.len() || error != JsonError::CutOff;
                let framing = if is_within_line { Framing::Lines } else { Framing::Documents };
                of_broken.get_or_insert(framing);
            }
        }
    }
    if has_lines && signals.any() { Some(Framing::Lines) } else { of_broken }
}

/// What the first frame that says something holds, and whether it is compressed.
fn frames(start: &[u8], framing: Framing) -> Option<(Payload, bool)> {
    let mut rest = start;
    for _ in 0..MAX_TRIES {
        if rest.is_empty() {
            return None;
        }
        match framing.cut(rest) {
            Cut::Whole { header, len } => {
                if let Some(found) = frame(rest.get(header..len)?) {
                    return Some(found);
                }
                rest = rest.get(len..)?;
            }
            // A frame larger than what is looked at, or cut off.
            Cut::Part => return frame(rest.get(framing.header_len(rest)..)?),
            Cut::Damaged => return None,
        }
    }
    None
}

/// What a frame holds, of which the end may be missing.
fn frame(content: &[u8]) -> Option<(Payload, bool)> {
    if Compression::of(content) == Compression::Zstd {
        return payload(&super::format::unpack(content).0).map(|payload| (payload, true));
    }
    payload(content).map(|payload| (payload, false))
}

fn payload(content: &[u8]) -> Option<Payload> {
    if otlp_json::probe(content).0.any() {
        Some(Payload::Json)
    } else {
        otlp_proto::looks_like_message(content).then_some(Payload::Protobuf)
    }
}
