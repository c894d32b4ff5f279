//! The formats: how a stream is divided into records, and what reads a record. A further format is
//! a further [`Payload`] and its file.

use super::admit::{Desk, Record};
use super::compression::{Compression, unpack};
use super::harvest::Harvest;
use super::limits::Settings;
use super::outline::Outline;
use super::refusal::Refusal;
use super::stream::Framing;
use super::{
    clickhouse, clickhouse_parquet, clickhouse_text, jaeger, otlp_json, otlp_proto, span_json,
    zipkin, zipkin_v1,
};

/// What people are told when a file is none of them.
pub(crate) const WHAT_WE_READ: &str = "OTLP traces as JSON (one document, several in a row or in \
     a list, or JSON lines) or protobuf (one message, several back to back, or frames with a 4-byte \
     or varint length, as the collector's file exporter writes); Tempo's traces; Jaeger JSON \
     (answers of its API, downloads from its UI, single traces); Zipkin JSON (v2 or v1); \
     ClickHouse's otel_traces as JSONEachRow, JSON, CSVWithNames, TSVWithNames or Parquet; or span \
     JSON lines (docs/span-json.md); plain or compressed with gzip or zstd";

/// What a record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Payload {
    /// Jaeger's own JSON.
    Jaeger,
    /// OTLP in JSON.
    OtlpJson,
    /// OTLP in protobuf.
    OtlpProtobuf,
    /// Rows of ClickHouse in JSON.
    ClickhouseJson,
    /// Rows of ClickHouse in CSV or TSV.
    ClickhouseText(clickhouse_text::Layout),
    /// Rows of ClickHouse in Parquet.
    ClickhouseParquet,
    /// Our own plain format.
    SpanJson,
    /// Zipkin's JSON, version 2.
    Zipkin,
    /// Zipkin's JSON, version 1.
    ZipkinV1,
}

/// A format that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// How records follow one another.
    pub framing: Framing,
    /// What a record holds.
    pub payload: Payload,
    /// Each record is compressed by itself.
    pub is_packed: bool,
}

impl Format {
    /// The name that people see.
    pub(crate) fn name(self) -> String {
        let payload = self.payload.name();
        let packed = if self.is_packed { ", zstd" } else { "" };
        match self.framing {
            // Rows of text are lines of themselves.
            _ if matches!(self.payload, Payload::ClickhouseText(_)) => payload.to_owned(),
            Framing::Lines => format!("{payload} lines"),
            Framing::FixedFrames => format!("{payload} in 4-byte frames{packed}"),
            Framing::VarintFrames => format!("{payload} in varint frames{packed}"),
            Framing::QuotedLines | Framing::Documents | Framing::Whole | Framing::Fields => {
                payload.to_owned()
            }
        }
    }

    /// Reads a record.
    pub(crate) fn read(self, record: Record<'_>, settings: Settings<'_>, harvest: &mut Harvest) {
        harvest.begin_record();
        let Settings { conventions, limits } = settings;
        if !self.framing.is_framed() || Compression::of(record.bytes) != Compression::Zstd {
            return self.payload.read(&mut Desk { conventions, harvest, record });
        }
        let (bytes, trouble) = unpack(record.bytes, limits);
        if let Some(code) = trouble {
            return Desk { conventions, harvest, record }.note(code, 0);
        }
        let record = Record { bytes: &bytes, place: record.place, is_unpacked: true };
        self.payload.read(&mut Desk { conventions, harvest, record });
    }
}

impl Payload {
    /// The payload of a JSON value that looks so.
    pub(crate) fn of_json(outline: &Outline<'_>) -> Option<Result<Self, Refusal>> {
        // All are told by their keys.
        if outline.members.is_empty() {
            return None;
        }
        let claims = [
            (otlp_json::claims(outline), Self::OtlpJson),
            (jaeger::claims(outline), Self::Jaeger),
            (zipkin_v1::claims(outline), Self::ZipkinV1),
            (zipkin::claims(outline), Self::Zipkin),
            (span_json::claims(outline), Self::SpanJson),
        ];
        if let Some((_, payload)) = claims.into_iter().find(|(is_claimed, _)| *is_claimed) {
            return Some(Ok(payload));
        }
        let rows = clickhouse::claims_json(outline).map(|rows| rows.map(|()| Self::ClickhouseJson));
        rows.or_else(|| Refusal::of_json(outline).map(Err))
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Jaeger => "Jaeger JSON",
            Self::OtlpJson => "OTLP JSON",
            Self::OtlpProtobuf => "OTLP protobuf",
            Self::ClickhouseJson => "ClickHouse otel_traces JSON",
            Self::ClickhouseText(layout) => layout.dialect.name(),
            Self::ClickhouseParquet => "ClickHouse otel_traces Parquet",
            Self::SpanJson => "span JSON",
            Self::Zipkin => "Zipkin JSON",
            Self::ZipkinV1 => "Zipkin v1 JSON",
        }
    }

    fn read(self, desk: &mut Desk<'_>) {
        match self {
            Self::Jaeger => jaeger::read(desk.record.bytes, desk),
            Self::OtlpJson => otlp_json::read(desk.record.bytes, desk),
            Self::OtlpProtobuf => otlp_proto::read(desk.record.bytes, desk),
            Self::ClickhouseJson => clickhouse::read_json(desk.record.bytes, desk),
            Self::ClickhouseText(layout) => {
                clickhouse_text::read(desk.record.bytes, &layout, desk);
            }
            Self::ClickhouseParquet => clickhouse_parquet::read(desk.record.bytes, desk),
            Self::SpanJson => span_json::read(desk.record.bytes, desk),
            Self::Zipkin => zipkin::read(desk.record.bytes, desk),
            Self::ZipkinV1 => zipkin_v1::read(desk.record.bytes, desk),
        }
    }
}
