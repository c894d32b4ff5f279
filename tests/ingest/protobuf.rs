//! OTLP protobuf: how messages follow one another, what is cut off, what is damaged, and the
//! collector's own compressed files. All inputs are built here.

use std::io::Write;

use dwindle::ingest::IngestError;
use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;

use super::reference::{Span, logs, metrics, span, to_json, traces};
use super::support::{Folder, problems, read, spans, try_read};

const A: &str = "5b8efff798038103d269b633813fc60c/a1 shop op Server 1700000000000000001+250000001";
const B: &str =
    "5b8efff798038103d269b633813fc60c/b2<a1 shop op Server 1700000000000000001+250000001";

fn root() -> Vec<u8> {
    traces("shop", vec![span(0xa1, 0)]).encode_to_vec()
}

fn child() -> Vec<u8> {
    traces("shop", vec![span(0xb2, 0xa1)]).encode_to_vec()
}

/// `messages` each behind its length in four bytes.
fn fixed_frames(messages: &[Vec<u8>]) -> Vec<u8> {
    let frame = |message: &Vec<u8>| {
        let mut frame = u32::try_from(message.len()).unwrap().to_be_bytes().to_vec();
        frame.extend_from_slice(message);
        frame
    };
    messages.iter().flat_map(frame).collect()
}

/// `messages` each behind its length as a varint.
fn varint_frames(messages: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for message in messages {
        prost::encoding::encode_varint(message.len() as u64, &mut bytes);
        bytes.extend_from_slice(message);
    }
    bytes
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Checks format, spans and problems of a file that holds `bytes`.
fn reads_as(bytes: &[u8], format: &str, expected: &[&str], expected_problems: &[&str]) {
    let folder = Folder::new();
    // The name says something else: it must not matter.
    let read = read(&[&folder.write("traces.parquet", bytes)]);
    assert_eq!(read.files[0].format.as_deref(), Some(format));
    assert_eq!(spans(&read), expected);
    assert_eq!(problems(&read), expected_problems);
}

#[test]
fn one_message_and_messages_back_to_back_are_the_same() {
    reads_as(&root(), "OTLP protobuf", &[A], &[]);
    reads_as(&[root(), child()].concat(), "OTLP protobuf", &[A, B], &[]);
}

#[test]
fn a_message_cut_off_is_a_loss_that_is_told() {
    let whole = [root(), child()].concat();
    let cut = root().len();
    let told = format!("record-cut-off 1 @{cut}:-:1");
    for len in [cut + 1, cut + 2, whole.len() - 1] {
        reads_as(&whole[..len], "OTLP protobuf", &[A], &[&told]);
    }
    reads_as(&root()[..20], "OTLP protobuf", &[], &["record-cut-off 1 @0:-:0"]);
}

#[test]
fn a_message_cut_off_gives_the_spans_before_the_cut() {
    let message = |count| traces("shop", (1..=count).map(|id| span(id, 0)).collect());
    let whole = message(40).encode_to_vec();
    let folder = Folder::new();
    // Up to where three whole spans end, and on to where the fourth does.
    let ends_at = |count| {
        let rest = (count..40).map(|id| 2 + span(id + 1, 0).encode_to_vec().len());
        whole.len() - rest.sum::<usize>()
    };
    for len in ends_at(3)..ends_at(4) {
        let read = read(&[&folder.write("cut", &whole[..len])]);
        assert_eq!(spans(&read).len(), 3, "{len}");
        assert!(spans(&read)[0].contains(" shop op "));
        assert_eq!(problems(&read), ["record-cut-off 1 @0:-:0"]);
    }
    // Cut within the resource nobody knows whose the spans are; logs are no spans.
    for bytes in [&whole[..12], &logs().encode_to_vec()[..logs().encode_to_vec().len() - 1]] {
        let read = read(&[&folder.write("cut", bytes)]);
        assert_eq!((read.files[0].spans_read, read.files[0].spans_rejected), (0, 0));
    }
}

#[test]
fn frames_with_a_length_of_four_bytes_are_read() {
    let bytes = fixed_frames(&[root(), Vec::new(), child()]);
    reads_as(&bytes, "OTLP protobuf in 4-byte frames", &[A, B], &[]);
}

#[test]
fn frames_with_a_varint_length_are_read() {
    let bytes = varint_frames(&[root(), child()]);
    reads_as(&bytes, "OTLP protobuf in varint frames", &[A, B], &[]);
}

#[test]
fn a_last_frame_cut_off_is_a_loss_that_is_told() {
    let bytes = fixed_frames(&[root(), child()]);
    let told = format!("record-cut-off 1 @{}:-:1", 4 + root().len());
    let cut = &bytes[..bytes.len() - 3];
    reads_as(cut, "OTLP protobuf in 4-byte frames", &[A], &[&told]);
    let bytes = varint_frames(&[root(), child()]);
    let told = format!("record-cut-off 1 @{}:-:1", 1 + root().len());
    let cut = &bytes[..bytes.len() - 3];
    reads_as(cut, "OTLP protobuf in varint frames", &[A], &[&told]);
}

#[test]
fn the_collectors_compressed_files_are_frames_of_zstd() {
    let bytes = fixed_frames(&[zstd(&root()), zstd(&child())]);
    reads_as(&bytes, "OTLP protobuf in 4-byte frames, zstd", &[A, B], &[]);
    let json = |id, parent| to_json(&traces("shop", vec![span(id, parent)])).to_string();
    let frames = [zstd(json(0xa1, 0).as_bytes()), zstd(json(0xb2, 0xa1).as_bytes())];
    reads_as(&fixed_frames(&frames), "OTLP JSON in 4-byte frames, zstd", &[A, B], &[]);
}

#[test]
fn a_damaged_frame_loses_no_other() {
    let mut broken = zstd(&child());
    broken.truncate(broken.len() - 4);
    let bytes = fixed_frames(&[zstd(&root()), broken, vec![7; 9], zstd(&child())]);
    let second = zstd(&root()).len() + 8;
    let third = second + zstd(&child()).len();
    let told = [format!("frame-damaged 1 @{second}:-:1"), format!("record-damaged 1 @{third}:-:2")];
    let told: Vec<&str> = told.iter().map(String::as_str).collect();
    reads_as(&bytes, "OTLP protobuf in 4-byte frames, zstd", &[A, B], &told);
}

#[test]
fn logs_and_metrics_messages_are_told_apart_and_skipped() {
    let (logs, metrics) = (logs().encode_to_vec(), metrics().encode_to_vec());
    let first = root().len();
    let told = format!("other-signal 2 @{first}:-:1");
    let bytes = [root(), logs.clone(), child(), metrics.clone()].concat();
    reads_as(&bytes, "OTLP protobuf", &[A, B], &[&told]);
    let bytes = fixed_frames(&[logs, metrics, root(), child()]);
    reads_as(&bytes, "OTLP protobuf in 4-byte frames", &[A, B], &["other-signal 2 @4:-:0"]);
}

#[test]
fn gzip_of_several_members_and_zstd_of_several_frames_are_read_to_their_end() {
    let bytes = [gzip(&root()), gzip(&child())].concat();
    reads_as(&bytes, "OTLP protobuf", &[A, B], &[]);
    let bytes = [zstd(&root()), zstd(&child())].concat();
    reads_as(&bytes, "OTLP protobuf", &[A, B], &[]);
}

#[test]
fn compressed_data_that_ends_early_gives_what_came_before() {
    for compress in [gzip, zstd] {
        // Enough that the first message comes out before the cut.
        let noise = |id: u64| Span {
            name: format!("{:x}", id.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            ..span(id, 0)
        };
        let messages = (1..20_000).flat_map(|id| traces("shop", vec![noise(id)]).encode_to_vec());
        let mut bytes = compress(&messages.collect::<Vec<u8>>());
        bytes.truncate(bytes.len() - 9);
        let folder = Folder::new();
        let read = read(&[&folder.write("cut", &bytes)]);
        assert!(read.files[0].spans_admitted > 5_000);
        assert!(problems(&read)[0].starts_with("compression-cut-off 1 @"), "{:?}", problems(&read));
    }
}

#[test]
fn compressed_data_of_which_nothing_comes_out_is_refused() {
    let folder = Folder::new();
    let path = folder.write("cut", &gzip(&root())[..12]);
    let refused = try_read(&[&path]).unwrap_err();
    assert!(matches!(refused, IngestError::NotDecompressed { .. }), "{refused}");
}

#[test]
fn a_damaged_span_loses_no_neighbour() {
    let bad_attribute = b"\x4a\x03\x0a\x05k".to_vec();
    let mut damaged = span(0xd4, 0xa1).encode_to_vec();
    damaged.extend_from_slice(&bad_attribute);
    let mut scope = Vec::new();
    for span in [span(0xa1, 0).encode_to_vec(), damaged, span(0xb2, 0xa1).encode_to_vec()] {
        scope.push(0x12);
        prost::encoding::encode_varint(span.len() as u64, &mut scope);
        scope.extend_from_slice(&span);
    }
    let mut resource_spans = traces("shop", Vec::new()).resource_spans[0].encode_to_vec();
    resource_spans.truncate(resource_spans.len() - 2);
    resource_spans.push(0x12);
    prost::encoding::encode_varint(scope.len() as u64, &mut resource_spans);
    resource_spans.extend_from_slice(&scope);
    let mut message = vec![0x0a];
    prost::encoding::encode_varint(resource_spans.len() as u64, &mut message);
    message.extend_from_slice(&resource_spans);
    let at = message.len()
        - span(0xb2, 0xa1).encode_to_vec().len()
        - 2
        - span(0xd4, 0xa1).encode_to_vec().len()
        - bad_attribute.len();
    let told = format!("span-damaged 1 @{at}:-:0");
    reads_as(&message, "OTLP protobuf", &[A, B], &[&told]);
}

#[test]
fn names_that_are_not_utf8_are_mended_and_told() {
    let mut bytes = root();
    let at = bytes.windows(2).rposition(|name| name == b"op").unwrap();
    bytes[at] = 0xff;
    let expected = A.replace(" op", " \u{fffd}p");
    let told = format!("text-not-utf8 1 @{at}:-:0");
    reads_as(&bytes, "OTLP protobuf", &[&expected], &[&told]);
}

#[test]
fn a_length_that_lies_costs_nothing() {
    let bytes = [&fixed_frames(&[root()])[..], b"\xff\xff\xff\xff12345"].concat();
    let told = format!("record-cut-off 1 @{}:-:1", 4 + root().len());
    reads_as(&bytes, "OTLP protobuf in 4-byte frames", &[A], &[&told]);
    let bytes = [&root()[..], b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f12345"].concat();
    let told = format!("record-cut-off 1 @{}:-:1", root().len());
    reads_as(&bytes, "OTLP protobuf", &[A], &[&told]);
}
