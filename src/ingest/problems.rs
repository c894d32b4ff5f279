//! The ledger: every trouble in the input has a code, a count that is never capped, and its first
//! example. It never quotes what was read: content may be private.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::span::Interner;
use crate::tables::{Blame, ProblemRow, Severity};

/// Declares the kinds of trouble, each with all that a row says about it.
macro_rules! problems {
    ($($(#[$doc:meta])* $code:ident = $name:literal, $severity:ident, $message:literal, $help:literal;)+) => {
        /// A kind of trouble in the input.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Code { $($(#[$doc])* $code,)+ }

        impl Code {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$code,)+];

            /// The name in the table.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$code => $name,)+ }
            }

            /// Whether spans or evidence were lost.
            pub const fn severity(self) -> Severity {
                match self { $(Self::$code => Severity::$severity,)+ }
            }

            /// What is wrong, in words.
            pub const fn message(self) -> &'static str {
                match self { $(Self::$code => $message,)+ }
            }

            /// What to do about it.
            pub const fn help(self) -> &'static str {
                match self { $(Self::$code => $help,)+ }
            }
        }
    };
}

problems! {
    /// Nothing in the file.
    EmptyFile = "empty-file", Info,
        "the file is empty",
        "export again if it should hold spans";
    /// The compressed stream stops early.
    CompressionCutOff = "compression-cut-off", Loss,
        "the compressed data ends early; what came before was read",
        "copy or download the file again, or wait until its writer has closed it";
    /// The compressed stream is broken.
    CompressionDamaged = "compression-damaged", Loss,
        "the compressed data is damaged from here on; what came before was read",
        "copy or download the file again";
    /// Behind the compressed stream stands something else.
    BytesBehind = "bytes-behind", Loss,
        "what follows the compressed data is not compressed and was not read",
        "if spans should follow it, copy or download the file again";
    /// The compressed stream asks for more memory than its format allows by default.
    WindowTooLarge = "window-too-large", Loss,
        "zstd data that needs a window of more than 128 MiB was not read; what came before was",
        "decompress it first: zstd -d --long=31, or compress without --long";
    /// The compressed stream is a bomb.
    ExpansionTooLarge = "expansion-too-large", Loss,
        "compressed data expands more than --max-expansion allows (1000 times unless given); what \
         came out before was read, but for frames",
        "no real export expands so much: look at what wrote the file, or raise --max-expansion";
    /// A record is larger than may be held.
    RecordTooLarge = "record-too-large", Loss,
        "a line, document, frame or message is larger than --max-record allows (1024 MiB unless \
         given) and was skipped",
        "raise --max-record if there is memory for it, or export fewer traces at a time";
    /// The last record stops early.
    RecordCutOff = "record-cut-off", Loss,
        "a line, frame or message ends early; but for frames the spans before the cut were read",
        "the writer was stopped or was still writing: export again to get the rest";
    /// A compressed frame is broken.
    FrameDamaged = "frame-damaged", Loss,
        "a compressed frame cannot be decompressed and was skipped",
        "copy or download the file again";
    /// A record cannot be decoded.
    RecordDamaged = "record-damaged", Loss,
        "a line, frame or document cannot be decoded from here on; spans before this were read",
        "look at this place in the file and export it again";
    /// A JSON record nests too deeply.
    RecordTooDeep = "record-too-deep", Loss,
        "JSON nested more than 128 deep; spans before this were read",
        "no trace looks like this: look at what wrote the file";
    /// A readable record that is none of ours.
    RecordNotOtlp = "record-not-otlp", Loss,
        "a line, frame or document that is no OTLP message",
        "remove it, or look at why other data is mixed in";
    /// A readable record of a file of spans that is none.
    RecordNotSpan = "record-not-span", Loss,
        "a line, document or row that is no span as the others are",
        "remove it, or look at why other data is mixed in";
    /// Something that is none of Jaeger's traces where one should be.
    RecordNotJaeger = "record-not-jaeger", Loss,
        "a line, document or element that is no trace of Jaeger's",
        "export traces: services, operations and dependencies hold no spans";
    /// Jaeger told errors beside, or instead of, traces, or Tempo that a trace is not all there.
    AnswerHasErrors = "answer-has-errors", Loss,
        "an answer tells of errors, or that it is partial, so spans are missing from it",
        "read what the file says about it, then ask for the trace again";
    /// The processes of a trace are beyond its readable part.
    ProcessesLost = "processes-lost", Loss,
        "a trace breaks off before the processes that say whose its spans are; these were rejected",
        "export the trace again";
    /// A record of another signal.
    OtherSignal = "other-signal", Info,
        "logs or metrics, which were skipped",
        "nothing to do: only traces are read";
    /// A field of a type that it never has.
    FieldWrongType = "field-wrong-type", Loss,
        "a field has another type than its format gives it and was ignored",
        "look at what wrote the file; the format's definition names the types";
    /// A span without a trace id.
    TraceIdAbsent = "trace-id-absent", Loss,
        "a span has no trace id, or one of zeros only, and was rejected",
        "look at the instrumentation that made the span";
    /// A span whose trace id is no id.
    TraceIdInvalid = "trace-id-invalid", Loss,
        "a span's trace id is neither hexadecimal nor base64, and the span was rejected",
        "ids are 32 hexadecimal digits, or 16 bytes in base64";
    /// A span without an id.
    SpanIdAbsent = "span-id-absent", Loss,
        "a span has no span id, or one of zeros only, and was rejected",
        "look at the instrumentation that made the span";
    /// A span whose id is no id.
    SpanIdInvalid = "span-id-invalid", Loss,
        "a span's id is neither hexadecimal nor base64, and the span was rejected",
        "ids are 16 hexadecimal digits, or 8 bytes in base64";
    /// A span whose parent id is no id.
    ParentIdInvalid = "parent-id-invalid", Loss,
        "a span's parent id is neither hexadecimal nor base64, and the span was rejected",
        "a root span has no parent id, an empty one, or one of zeros only";
    /// An id that is not written as ids are.
    IdHashed = "id-hashed", Info,
        "a span has an id of another length than ids have, or of other letters; a hash stands for it",
        "nothing to do, but such ids cannot be looked up as they were written";
    /// A span without a start.
    StartAbsent = "start-absent", Loss,
        "a span has no start time, or 0, and was rejected",
        "look at the instrumentation that made the span";
    /// A span whose start cannot be.
    StartInvalid = "start-invalid", Loss,
        "a span's start is no time between 1970 and 2116, and the span was rejected",
        "check the unit: OTLP counts nanoseconds since 1970, Jaeger and Zipkin microseconds";
    /// A span without an end.
    EndAbsent = "end-absent", Info,
        "a span has no end time, or 0, and counts as ended when it started",
        "spans still open when they were exported look like this";
    /// A span whose end cannot be.
    EndInvalid = "end-invalid", Loss,
        "a span's end is no time between 1970 and 2116, and the span was rejected",
        "check the unit: OTLP counts nanoseconds since 1970, Jaeger and Zipkin microseconds";
    /// A span that cannot be decoded.
    SpanDamaged = "span-damaged", Loss,
        "a span cannot be decoded and was rejected",
        "look at what wrote the file";
    /// Text that is not UTF-8.
    TextNotUtf8 = "text-not-utf8", Info,
        "text that is not UTF-8; what could not be read was replaced",
        "look at the instrumentation that wrote the text";
    /// A convention key whose value does not parse.
    ValueUnparsed = "value-unparsed", Loss,
        "a value does not parse and was ignored",
        "see the key in `dwindle inspect`; a conventions file can give it another unit or grammar";
}

impl Code {
    /// Whose trouble it is.
    pub const fn blame(self) -> Blame {
        match self {
            // Real exports stay far below our limits, but they are ours.
            Self::RecordTooDeep
            | Self::RecordTooLarge
            | Self::ExpansionTooLarge
            | Self::WindowTooLarge => Blame::Us,
            _ => Blame::Input,
        }
    }
}

/// Where something is in a file. Ordered by the file's own order; the whole file comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Place {
    /// Bytes from 0 of the file as decompressed.
    pub byte: Option<u64>,
    /// The record: line, frame or document, from 0.
    pub record: Option<u64>,
    /// The line, from 1.
    pub line: Option<u64>,
}

/// One kind of trouble in one file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Entry {
    count: u64,
    first: Place,
}

/// All trouble met in one file. Merging is independent of order.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Ledger {
    entries: BTreeMap<(Code, Option<String>), Entry>,
}

impl Ledger {
    /// Counts `count` more of `code`, first met at `byte` of the file. What else there is to know
    /// of that place is asked for only where it comes first: lines take time to count.
    pub(crate) fn note(
        &mut self,
        code: Code,
        count: u64,
        byte: Option<u64>,
        place: impl FnOnce() -> Place,
    ) {
        self.note_of((code, None), count, byte, place);
    }

    /// Counts a value of a convention key that does not parse, at `byte` of the file.
    pub(crate) fn note_unparsed(
        &mut self,
        key: String,
        byte: Option<u64>,
        place: impl FnOnce() -> Place,
    ) {
        self.note_of((Code::ValueUnparsed, Some(key)), 1, byte, place);
    }

    fn note_of(
        &mut self,
        key: (Code, Option<String>),
        count: u64,
        byte: Option<u64>,
        place: impl FnOnce() -> Place,
    ) {
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.count += count;
            if byte < entry.first.byte {
                entry.first = place();
            }
        } else {
            self.entries.insert(key, Entry { count, first: place() });
        }
    }

    /// How many of `code` were counted.
    pub(crate) fn count(&self, code: Code) -> u64 {
        self.entries.get(&(code, None)).map_or(0, |entry| entry.count)
    }

    /// Adds what another part of the same file showed.
    pub(crate) fn merge(&mut self, other: Self) {
        for (key, entry) in other.entries {
            self.entries
                .entry(key)
                .and_modify(|known| {
                    known.count += entry.count;
                    known.first = known.first.min(entry.first);
                })
                .or_insert(entry);
        }
    }

    /// The rows of `file`, by code.
    pub(crate) fn rows(&self, file: &str, strings: &mut Interner) -> Vec<ProblemRow> {
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let mut rows = Vec::with_capacity(self.entries.len());
        for ((code, key), entry) in &self.entries {
            let message = match key {
                Some(key) => {
                    strings.intern(&format!("a value of {key} does not parse and was ignored"))
                }
                None => strings.intern(code.message()),
            };
            rows.push(ProblemRow {
                code: strings.intern(code.name()),
                severity: code.severity(),
                blame: code.blame(),
                count: number(entry.count),
                file: strings.intern(file),
                byte: entry.first.byte.map(number),
                line: entry.first.line.map(number),
                record: entry.first.record.map(number),
                message,
                help: strings.intern(code.help()),
            });
        }
        rows
    }
}
