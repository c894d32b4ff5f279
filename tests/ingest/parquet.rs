//! Rows of ClickHouse's `otel_traces` in Parquet files, which are made here.

use std::fs::File;
use std::sync::Arc;

use arrow_array::builder::{
    BinaryBuilder, ListBuilder, MapBuilder, StringBuilder, TimestampNanosecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch, StringArray, TimestampNanosecondArray, UInt64Array};
use dwindle::ingest::{IngestError, Refusal};
use dwindle::tables::Row;
use dwindle::tables::spans::SpanRow;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterProperties;
use serde_json::Value;

use super::support::{Folder, fixture, problems, read, spans, try_read};
use crate::support::command::run;

const TRACE: &str = "5b8efff798038103d269b633813fc60c";

fn texts(values: [&str; 2]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

/// Texts as ClickHouse wrote them before it called them text.
fn bytes(values: [&str; 2]) -> ArrayRef {
    let mut builder = BinaryBuilder::new();
    for value in values {
        builder.append_value(value);
    }
    Arc::new(builder.finish())
}

/// A map of texts.
type TextMap<'a> = Vec<(&'a str, &'a str)>;

fn append_map(builder: &mut MapBuilder<StringBuilder, StringBuilder>, map: TextMap<'_>) {
    for (key, value) in map {
        builder.keys().append_value(key);
        builder.values().append_value(value);
    }
    builder.append(true).unwrap();
}

fn map_builder() -> MapBuilder<StringBuilder, StringBuilder> {
    MapBuilder::new(None, StringBuilder::new(), StringBuilder::new())
}

fn maps<'a>(rows: impl IntoIterator<Item = TextMap<'a>>) -> ArrayRef {
    let mut builder = map_builder();
    for map in rows {
        append_map(&mut builder, map);
    }
    Arc::new(builder.finish())
}

fn lists<'a>(rows: impl IntoIterator<Item = Vec<&'a str>>) -> ArrayRef {
    let mut builder = ListBuilder::new(StringBuilder::new());
    for row in rows {
        for text in row {
            builder.values().append_value(text);
        }
        builder.append(true);
    }
    Arc::new(builder.finish())
}

fn lists_of_maps<'a>(rows: impl IntoIterator<Item = Vec<TextMap<'a>>>) -> ArrayRef {
    let mut builder = ListBuilder::new(map_builder());
    for row in rows {
        for map in row {
            append_map(builder.values(), map);
        }
        builder.append(true);
    }
    Arc::new(builder.finish())
}

fn lists_of_instants(rows: impl IntoIterator<Item = Vec<i64>>) -> ArrayRef {
    let mut builder = ListBuilder::new(TimestampNanosecondBuilder::new());
    for row in rows {
        builder.values().append_slice(&row);
        builder.append(true);
    }
    Arc::new(builder.finish())
}

/// Writes rows that ClickHouse wrote in JSON as it writes them in Parquet.
pub fn write_json_rows(path: &str, rows: &[Value]) {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let instant = |value: &Value| unix_ns(value.as_str().unwrap());
    let column =
        |name: &str| -> ArrayRef {
            let values = || rows.iter().map(|row| &row[name]);
            match name {
                "Timestamp" => {
                    let times: Vec<i64> = values().map(instant).collect();
                    Arc::new(TimestampNanosecondArray::from(times).with_timezone("UTC"))
                }
                "Duration" => {
                    Arc::new(values().map(|value| value.as_u64().unwrap()).collect::<UInt64Array>())
                }
                "Events.Timestamp" => lists_of_instants(
                    values().map(|value| value.as_array().unwrap().iter().map(instant).collect()),
                ),
                "Events.Attributes" | "Links.Attributes" => lists_of_maps(
                    values().map(|value| value.as_array().unwrap().iter().map(text_map).collect()),
                ),
                "ResourceAttributes" | "SpanAttributes" => maps(values().map(text_map)),
                _ if name.contains('.') => lists(values().map(|value| {
                    value.as_array().unwrap().iter().filter_map(Value::as_str).collect()
                })),
                _ => Arc::new(StringArray::from(values().map(text).collect::<Vec<_>>())),
            }
        };
    let names = rows[0].as_object().unwrap().keys();
    let columns = names.map(|name| (name.as_str(), column(name))).collect();
    write(path, columns, Compression::ZSTD(ZstdLevel::default()));
}

fn text_map(value: &Value) -> TextMap<'_> {
    let members = value.as_object().unwrap().iter();
    members.map(|(key, value)| (key.as_str(), value.as_str().unwrap())).collect()
}

/// An instant within the minute in which fixtures begin, as ClickHouse writes it.
fn unix_ns(text: &str) -> i64 {
    let within = text.strip_prefix("2023-11-14 22:13:").unwrap();
    let nanos: i64 = within.replace('.', "").parse().unwrap();
    1_699_999_980_000_000_000 + nanos
}

/// A SERVER span that failed, and a CLIENT span below it.
fn rows() -> Vec<(&'static str, ArrayRef)> {
    let starts = vec![1_786_060_425_569_257_300, 1_786_060_425_570_000_000];
    vec![
        ("Unknown", texts(["", ""])),
        ("Timestamp", Arc::new(TimestampNanosecondArray::from(starts).with_timezone("UTC"))),
        ("TraceId", texts([TRACE, TRACE])),
        ("SpanId", bytes(["00000000000000a1", "00000000000000b2"])),
        ("ParentSpanId", texts(["", "00000000000000a1"])),
        ("SpanName", texts(["POST /checkout", "pay"])),
        ("SpanKind", texts(["Server", "SPAN_KIND_CLIENT"])),
        ("ServiceName", texts(["shop", "shop"])),
        ("ResourceAttributes", maps([vec![("host.name", "h1")], vec![]])),
        ("SpanAttributes", maps([vec![], vec![("http.response.status_code", "503")]])),
        ("Duration", Arc::new(UInt64Array::from(vec![250_000_001, 200_000_000]))),
        ("StatusCode", texts(["Error", "Unset"])),
        ("Links.TraceId", lists([vec![TRACE], vec![]])),
    ]
}

fn write(path: &str, columns: Vec<(&str, ArrayRef)>, compression: Compression) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder().set_compression(compression).build();
    let file = File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn rows_in_parquet_are_read_however_compressed() {
    let folder = Folder::new();
    let compressions = [
        Compression::UNCOMPRESSED,
        Compression::GZIP(GzipLevel::default()),
        Compression::LZ4_RAW,
        Compression::LZ4,
        Compression::SNAPPY,
        Compression::ZSTD(ZstdLevel::default()),
    ];
    for compression in compressions {
        let path = folder.path("rows.parquet");
        write(&path, rows(), compression);
        let read = read(&[&path]);
        assert_eq!(
            spans(&read),
            [
                format!(
                    "{TRACE}/a1 shop POST /checkout Server 1786060425569257300+250000001 error links=1"
                ),
                format!("{TRACE}/b2<a1 shop pay Client 1786060425570000000+200000000"),
            ],
            "{compression}"
        );
        assert_eq!(problems(&read), Vec::<String>::new());
        assert_eq!(read.files[0].format.as_deref(), Some("ClickHouse otel_traces Parquet"));
        let partition =
            read.partitions.iter().find(|partition| !partition.rows.is_empty()).unwrap();
        let root = partition.rows.iter().find(|span| span.span_id.0 == 0xa1).unwrap();
        assert_eq!(partition.strings.get(root.clock_domain), "host.name=h1");
        let call = partition.rows.iter().find(|span| span.span_id.0 == 0xb2).unwrap();
        assert_eq!(call.http_status, Some(503));
    }
}

fn refusal(path: &str) -> Refusal {
    match try_read(&[path]).unwrap_err() {
        IngestError::Refused { why, .. } => why,
        other => panic!("{other}"),
    }
}

#[test]
fn parquet_files_that_are_no_spans_are_refused_by_what_they_are() {
    let folder = Folder::new();
    let path = folder.path("rows.parquet");
    let lacks = rows().into_iter().filter(|(name, _)| *name != "Duration").collect();
    write(&path, lacks, Compression::UNCOMPRESSED);
    assert_eq!(refusal(&path), Refusal::ColumnAbsent("Duration"));

    write(&path, vec![("a", texts(["", ""]))], Compression::UNCOMPRESSED);
    let refused = try_read(&[&path]).unwrap_err();
    assert!(matches!(refused, IngestError::UnknownFormat { .. }), "{refused}");

    write(&path, rows(), Compression::UNCOMPRESSED);
    let whole = std::fs::read(&path).unwrap();
    let cut = folder.write("cut.parquet", &whole[..whole.len() - 1]);
    assert_eq!(refusal(&cut), Refusal::ParquetDamaged);
}

#[test]
fn text_in_parquet_that_is_not_utf8_is_mended_and_told() {
    let mut names = BinaryBuilder::new();
    names.append_value(b"\xffame");
    names.append_value("pay");
    let mut columns = rows();
    let name = columns.iter_mut().find(|(name, _)| *name == "SpanName").unwrap();
    name.1 = Arc::new(names.finish());
    let folder = Folder::new();
    let path = folder.path("rows.parquet");
    write(&path, columns, Compression::SNAPPY);
    let read = read(&[&path]);
    assert!(spans(&read)[0].contains(" shop \u{fffd}ame Server "), "{:?}", spans(&read));
    assert_eq!(problems(&read), ["text-not-utf8 1 @0:-:0"]);
}

#[test]
fn texts_in_a_delta_encoding_are_refused_for_what_they_may_claim() {
    for name in ["delta-lengths", "deltas", "deltas-snappy"] {
        let path = fixture(&format!("fuzz/clickhouse_parquet/{name}.parquet"));
        assert_eq!(refusal(&path), Refusal::ParquetDeltaTexts, "{name}");
    }
}

#[test]
fn more_values_than_a_file_of_its_size_can_hold_are_damage() {
    let folder = Folder::new();
    let path = folder.path("rows.parquet");
    let same =
        |text: &'static str| -> ArrayRef { Arc::new(StringArray::from(vec![text; 1 << 18])) };
    let columns = vec![
        ("Timestamp", Arc::new(TimestampNanosecondArray::from(vec![1; 1 << 18])) as ArrayRef),
        ("TraceId", same(TRACE)),
        ("SpanId", same("00000000000000a1")),
        ("ParentSpanId", same("")),
        ("SpanName", same("GET /")),
        ("SpanKind", same("Server")),
        ("ServiceName", same("shop")),
        ("Duration", Arc::new(UInt64Array::from(vec![1; 1 << 18]))),
        ("StatusCode", same("Ok")),
    ];
    write(&path, columns, Compression::UNCOMPRESSED);
    let read = read(&[&path]);
    assert_eq!(spans(&read), Vec::<String>::new());
    assert_eq!(problems(&read), ["record-damaged 1 @0:-:0"]);
}

#[test]
fn our_own_tables_are_refused_as_such() {
    let folder = Folder::new();
    let spans = fixture("span-json/all-fields.jsonl");
    let tables = folder.path("tables");
    let ran = run(&["analyze", &spans, "--out", &tables]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(refusal(&format!("{tables}/requests.parquet")), Refusal::OwnTable);
}

#[test]
fn spans_that_a_cluster_kept_are_refused_with_who_takes_them() {
    let folder = Folder::new();
    let path = folder.path("part-00000.parquet");
    let columns = (SpanRow::TABLE.columns)();
    let names = columns.iter().map(|column| column.name).chain(["part"]);
    let column = |name| (name, Arc::new(StringArray::from(vec![""])) as ArrayRef);
    write(&path, names.map(column).collect(), Compression::SNAPPY);
    assert_eq!(refusal(&path), Refusal::KeptSpans);
}

#[test]
fn a_parquet_file_damaged_anywhere_is_refused_or_told() {
    let folder = Folder::new();
    let path = folder.path("rows.parquet");
    write(&path, rows(), Compression::SNAPPY);
    let whole = std::fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(7) {
        for wrong in [0x00, 0xff, whole[at] ^ 1] {
            let mut damaged = whole.clone();
            damaged[at] = wrong;
            // Whatever comes of it, `try_read` checks that the counts add up.
            let _outcome = try_read(&[&folder.write("damaged.parquet", damaged)]);
        }
    }
}

#[test]
fn a_parquet_file_damaged_within_gives_what_comes_before() {
    let folder = Folder::new();
    let path = folder.path("rows.parquet");
    write(&path, rows(), Compression::SNAPPY);
    let mut damaged = std::fs::read(&path).unwrap();
    let start = damaged.len() / 8;
    damaged[start..start + 64].fill(0xff);
    let read = read(&[&folder.write("damaged.parquet", damaged)]);
    assert_eq!(problems(&read), ["record-damaged 1 @0:-:0"]);
}

#[test]
fn a_list_of_values_that_take_no_bytes_is_damage_and_not_counted_to_its_end() {
    // The library would pass over two thousand million truths, again and again.
    let path = fixture("fuzz/clickhouse_parquet/list-of-truths.parquet");
    assert_eq!(refusal(&path), Refusal::ParquetDamaged);
}
