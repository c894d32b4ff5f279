//! Files as they come: padded, with a few bytes, in other encodings, packed by other tools.

use std::io::Write;

use dwindle::ingest::{IngestError, Refusal};
use flate2::write::GzEncoder;

use super::reference::{span, to_json, traces};
use super::support::{Folder, problems, read, spans, try_read};

/// A document of one span in one line.
fn line() -> String {
    to_json(&traces("shop", vec![span(1, 0)])).to_string() + "\n"
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

/// A frame of zstd that is to be skipped, as `pzstd` writes them.
const SKIPPABLE: &[u8] = b"\x50\x2a\x4d\x18\x04\0\0\0\x01\x02\x03\x04";

/// A frame of zstd that asks for a window of 2 GiB.
const WIDE_WINDOW: &[u8] = b"\x28\xb5\x2f\xfd\x00\xa8\x01\0\0";

/// Checks how many spans `bytes` hold, and what is told.
fn holds(bytes: &[u8], count: usize, told: &[&str]) {
    let folder = Folder::new();
    let read = read(&[&folder.write("input", bytes)]);
    assert_eq!(
        (spans(&read).len(), problems(&read)),
        (count, told.iter().map(|&t| t.into()).collect())
    );
}

fn refusal(bytes: &[u8]) -> IngestError {
    let folder = Folder::new();
    try_read(&[&folder.write("input", bytes)]).unwrap_err()
}

#[test]
fn zeros_behind_gzip_are_padding() {
    let one = gzip(line().as_bytes());
    for len in [1, 511, 300_000] {
        let zeros = vec![0; len];
        holds(&[&one[..], &zeros].concat(), 1, &[]);
        holds(&[&one[..], &zeros, &one, &zeros].concat(), 2, &[]);
    }
}

#[test]
fn other_bytes_behind_compressed_data_are_told_and_what_came_before_is_read() {
    let told = format!("bytes-behind 1 @{}:2:1", line().len());
    for compressed in [gzip(line().as_bytes()), zstd(line().as_bytes())] {
        holds(&[&compressed[..], b"hello world"].concat(), 1, &[&told]);
    }
    let padded = [&gzip(line().as_bytes())[..], &[0; 100], b"hello world"].concat();
    holds(&padded, 1, &[&told]);
}

#[test]
fn empty_members_and_frames_to_be_skipped_say_nothing() {
    let (gz, zst) = (gzip(line().as_bytes()), zstd(line().as_bytes()));
    holds(&[&gzip(b"")[..], &gz, &gzip(b"")].concat(), 1, &[]);
    holds(&[SKIPPABLE, &zst, SKIPPABLE, &zst, SKIPPABLE].concat(), 2, &[]);
    let lying = [&zst[..], b"\x5f\x2a\x4d\x18\xff\xff\xff\xff", b"abc"].concat();
    holds(&lying, 1, &[&format!("compression-cut-off 1 @{}:2:1", line().len())]);
    for empty in [gzip(b""), zstd(b""), SKIPPABLE.to_vec()] {
        let refused = refusal(&empty);
        assert!(matches!(refused, IngestError::Empty { .. }), "{refused}");
    }
}

#[test]
fn a_window_of_zstd_that_is_too_large_is_told_with_what_to_do() {
    let refused = refusal(WIDE_WINDOW).to_string();
    assert!(refused.contains("zstd -d --long=31"), "{refused}");
    let told = format!("window-too-large 1 @{}:2:1", line().len());
    holds(&[&zstd(line().as_bytes())[..], WIDE_WINDOW].concat(), 1, &[&told]);
}

#[test]
fn the_first_bytes_of_a_compressed_file_alone_are_refused() {
    for (whole, told) in [(gzip(line().as_bytes()), "gzip"), (zstd(line().as_bytes()), "zstd")] {
        for len in 1..12 {
            let refused = refusal(&whole[..len]);
            let is_known = match &refused {
                IngestError::UnknownFormat { .. } => len < 4,
                IngestError::NotDecompressed { .. } => refused.to_string().contains(told),
                _ => false,
            };
            assert!(is_known, "{len}: {refused}");
        }
    }
}

#[test]
fn files_packed_by_other_tools_are_refused_by_name_with_what_to_do() {
    let tar = [&[b'a'; 257][..], b"ustar\x0000", &[0; 248]].concat();
    let good = line();
    for (bytes, name) in [
        (b"BZh91AY&SY".to_vec(), "bzip2"),
        (b"\xfd7zXZ\0\0\x04".to_vec(), "xz"),
        (b"\x04\x22\x4d\x18\x64\x40\xa7".to_vec(), "LZ4"),
        (b"\xff\x06\0\0sNaPpY".to_vec(), "Snappy"),
        (b"PK\x03\x04\x14\0".to_vec(), "zip"),
        (b"7z\xbc\xaf\x27\x1c\0\x04".to_vec(), "7z"),
        (tar.clone(), "tar"),
        (gzip(&tar), "tar"),
        (gzip(&gzip(good.as_bytes())), "gzip within"),
        (gzip(&zstd(good.as_bytes())), "zstd within"),
    ] {
        let refused = refusal(&bytes);
        assert!(matches!(refused, IngestError::Refused { .. }), "{name}: {refused}");
        let text = refused.to_string();
        assert!(text.contains(name) && text.contains("unpack it first"), "{text}");
    }
}

#[test]
fn one_packed_file_in_a_folder_is_named() {
    let folder = Folder::new();
    folder.write("in/a.json", line());
    folder.write("in/b.json.gz", gzip(line().as_bytes()));
    folder.write("in/c/d.json.zst", zstd(line().as_bytes()));
    assert_eq!(spans(&read(&[&folder.path("in")])).len(), 3);
    folder.write("in/c/e.zip", b"PK\x03\x04\x14\0");
    let refused = try_read(&[&folder.path("in")]).unwrap_err().to_string();
    assert!(refused.contains("in/c/e.zip: a zip archive"), "{refused}");
}

#[test]
fn text_of_two_bytes_a_letter_is_refused_by_name() {
    let text = line();
    let units = || text.encode_utf16();
    let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
    for bytes in [[b"\xff\xfe", &little[..]].concat(), [b"\xfe\xff", &big[..]].concat(), little] {
        let refused = refusal(&bytes);
        let IngestError::Refused { why, .. } = refused else { panic!("{refused}") };
        assert_eq!(why, Refusal::Utf16);
    }
}

#[test]
fn zeros_within_text_break_their_line_alone() {
    let bad = line().replacen("op", "o\0", 1);
    assert!(bad.contains('\0'));
    let at = bad.find('\0').unwrap();
    holds(format!("{bad}{}", line()).as_bytes(), 1, &[&format!("record-damaged 1 @{at}:1:0")]);
    // Where a machine lost its power the file system leaves zeros.
    let padded = [line().as_bytes(), &[0; 4096]].concat();
    holds(&padded, 1, &[&format!("record-damaged 1 @{}:2:1", line().len())]);
}

#[test]
fn text_that_is_not_utf8_is_mended_and_told_in_every_format() {
    let rows = "Timestamp,TraceId,SpanId,ParentSpanId,SpanName,SpanKind,ServiceName,Duration\n\
        1700000000,1,2,,NAME,Server,NAME,5\n";
    for template in [
        r#"{"trace_id":"1","span_id":"2","name":"NAME","service":"NAME","start_unix_ns":5,"end_unix_ns":6,"attributes":{"NAME":"NAME"}}"#,
        r#"[{"traceId":"1","id":"2","name":"NAME","timestamp":5,"duration":1,"localEndpoint":{"serviceName":"NAME"},"tags":{"NAME":"NAME"}}]"#,
        r#"[{"traceId":"1","id":"2","name":"NAME","timestamp":5,"duration":1,"annotations":[],"binaryAnnotations":[{"key":"NAME","value":"NAME","endpoint":{"serviceName":"NAME"}}]}]"#,
        r#"{"traceID":"1","spans":[{"traceID":"1","spanID":"1","operationName":"NAME","startTime":5,"duration":5,"tags":[{"key":"NAME","value":"NAME"}],"processID":"p1"}],"processes":{"p1":{"serviceName":"NAME"}}}"#,
        r#"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"NAME"}}]},"scopeSpans":[{"spans":[{"traceId":"1","spanId":"1","name":"NAME","startTimeUnixNano":"5","endTimeUnixNano":"6","attributes":[{"key":"NAME","value":{"stringValue":"NAME"}}]}]}]}]}"#,
        r#"{"Timestamp":"1700000000","TraceId":"1","SpanId":"2","ParentSpanId":"","SpanName":"NAME","SpanKind":"Server","ServiceName":"NAME","Duration":3,"SpanAttributes":{"NAME":"NAME"}}"#,
        rows,
        &rows.replace(',', "\t"),
    ] {
        let mut bytes = template.replace("NAME", "?ame").into_bytes();
        for byte in &mut bytes {
            *byte = if *byte == b'?' { 0xff } else { *byte };
        }
        let folder = Folder::new();
        let read = read(&[&folder.write("input", bytes)]);
        let [span] = &spans(&read)[..] else { panic!("{template}: {:?}", problems(&read)) };
        assert!(span.contains(" \u{fffd}ame \u{fffd}ame "), "{template}: {span}");
        let told = problems(&read);
        let is_told = |line: &String| line.starts_with("text-not-utf8 ");
        assert!(told.iter().any(is_told), "{template}: {told:?}");
    }
}
