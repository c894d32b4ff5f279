//! Inputs made to exhaust the machine, and lengths that lie: what is good in them is read, the rest
//! is told.

use std::io::Write;

use dwindle::ingest::{Ingested, Limits, Settings, ingest};
use flate2::write::GzEncoder;
use prost::Message;

use super::reference::{span, to_json, traces};
use super::support::{Folder, conventions, fixture, problems, read, spans};

const MIB: usize = 1 << 20;

/// A document of one span.
fn document(id: u64) -> String {
    to_json(&traces("shop", vec![span(id, 0)])).to_string()
}

/// A message of one span.
fn message(id: u64) -> Vec<u8> {
    traces("shop", vec![span(id, 0)]).encode_to_vec()
}

/// Reads a file that holds `bytes`, where records may have a mebibyte.
fn read_within_a_mebibyte(bytes: impl AsRef<[u8]>) -> Ingested {
    let folder = Folder::new();
    let path = folder.write("input", bytes);
    let limits = Limits { record_bytes: MIB, ..Limits::default() };
    ingest(&[path], Settings { conventions: conventions(), limits }, &()).unwrap()
}

/// Frames of a length of four bytes each.
fn frames(records: &[Vec<u8>]) -> Vec<u8> {
    let frame = |record: &Vec<u8>| {
        [&u32::try_from(record.len()).unwrap().to_be_bytes()[..], &record[..]].concat()
    };
    records.iter().flat_map(frame).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_record_larger_than_the_limit_is_skipped_and_told_in_every_framing() {
    // Beyond a chunk and within one; the limit holds for both.
    for len in [6 * MIB, MIB + 1] {
        let fill = "x".repeat(len);
        let json = format!("{{\"a\": [\"{fill}\"]}}");
        let lines = format!("{}\n{json}\n{}\n", document(1), document(2));
        let documents = lines.replace("{\"resource", "{\n\"resource").replace("{\"a", "{\n\"a");
        let mut padded = traces("shop", vec![span(3, 0)]);
        padded.resource_spans[0].schema_url.clone_from(&fill);
        let messages = [message(1), padded.encode_to_vec(), message(2)];
        let header = "TraceId,SpanId,ParentSpanId,SpanName,SpanKind,ServiceName,Timestamp,Duration";
        let row = |id: u64, name: &str| format!("{id},{id},,\"{name}\",Server,shop,1700000000,5\n");
        let rows = [format!("{header}\n"), row(1, "op"), row(3, &fill), row(2, "op")].concat();
        let first = document(1).len();
        let second = documents.find("{\n\"a\": [\"x").unwrap();
        let told = |byte: usize, line: &str, record| {
            vec![format!("record-too-large 1 @{byte}:{line}:{record}")]
        };
        for (bytes, expected) in [
            (lines.into_bytes(), told(first + 1, "2", 1)),
            (documents.clone().into_bytes(), told(second, "5", 1)),
            (frames(&messages), told(message(1).len() + 4, "-", 1)),
            (messages.concat(), told(message(1).len(), "-", 1)),
            (rows.clone().into_bytes(), told(header.len() + 1 + row(1, "op").len(), "3", 2)),
        ] {
            let read = read_within_a_mebibyte(&bytes);
            assert_eq!(spans(&read).len(), 2, "{:?}", read.files[0].format);
            assert_eq!(problems(&read), expected, "{:?}", read.files[0].format);
            assert_eq!(read.files[0].bytes, bytes.len() as u64, "{:?}", read.files[0].format);
        }
    }
}

#[test]
fn a_last_record_larger_than_the_limit_is_told_too() {
    let text = format!("{}\n{{\"a\": \"{}", document(1), "x".repeat(6 * MIB));
    let read = read_within_a_mebibyte(text);
    assert_eq!(spans(&read).len(), 1);
    assert_eq!(problems(&read), [format!("record-too-large 1 @{}:2:1", document(1).len() + 1)]);
}

#[test]
fn a_record_of_just_the_limit_is_read() {
    let tail = "\"}\n";
    let head = document(1).replacen('{', "{\"a\": \"", 1);
    let (start, rest) = head.split_at("{\"a\": \"".len());
    let fill = MIB - head.len() - "\", ".len() - 1;
    let line = format!("{start}{}\", {rest}\n", "x".repeat(fill));
    assert!(line.len() == MIB && !line.ends_with(tail));
    assert_eq!(problems(&read_within_a_mebibyte(&line)), Vec::<String>::new());
    let one_more = line.replacen('x', "xx", 1);
    assert_eq!(
        problems(&read_within_a_mebibyte(one_more + &document(2))),
        ["record-too-large 1 @0:1:0"]
    );
}

#[test]
fn a_frame_that_unpacks_to_more_than_the_limit_is_skipped_and_told() {
    let pack = |bytes: &[u8]| zstd::encode_all(bytes, 1).unwrap();
    let bomb = pack(&vec![0; 2 * MIB]);
    let bytes = frames(&[pack(&message(1)), bomb.clone(), pack(&message(2))]);
    let told = format!("record-too-large 1 @{}:-:1", pack(&message(1)).len() + 8);
    let read = read_within_a_mebibyte(bytes);
    assert_eq!((spans(&read).len(), problems(&read)), (2, vec![told]));
}

#[test]
fn data_that_expands_without_end_is_read_no_further_and_told() {
    let folder = Folder::new();
    let zeros = vec![0; 66 << 20];
    let line = document(1) + "\n";
    let member = zstd::encode_all(&[line.as_bytes(), &zeros].concat()[..], 1).unwrap();
    let path = folder.write("bomb.zst", &member);
    let read = read(&[&path]);
    assert_eq!(spans(&read).len(), 1);
    assert!(read.files[0].bytes < 66 << 20);
    assert!(problems(&read)[0].starts_with("expansion-too-large 1 @"), "{:?}", problems(&read));
    // The ratio is the user's to choose.
    let limits = Limits { expansion: 50_000, ..Limits::default() };
    let settings = Settings { conventions: conventions(), limits };
    let read = ingest(&[path], settings, &()).unwrap();
    assert_eq!(read.files[0].bytes, (zeros.len() + line.len()) as u64);
}

#[test]
fn a_frame_that_expands_without_end_is_skipped_and_told() {
    let pack = |bytes: &[u8]| zstd::encode_all(bytes, 1).unwrap();
    let bytes = frames(&[pack(&message(1)), pack(&vec![0; 66 << 20]), pack(&message(2))]);
    let folder = Folder::new();
    let read = read(&[&folder.write("frames", bytes)]);
    let told = format!("expansion-too-large 1 @{}:-:1", pack(&message(1)).len() + 8);
    assert_eq!((spans(&read).len(), problems(&read)), (2, vec![told]));
}

/// `content` within a million arrays, and within a million objects.
fn nested(content: &str) -> [String; 2] {
    let count = 1_000_000;
    [("[", "]"), ("{\"a\":", "}")]
        .map(|(open, close)| [&open.repeat(count), content, &close.repeat(count)].concat())
}

#[test]
fn json_that_nests_without_end_is_told_in_every_format_and_the_rest_read() {
    let span_json = r#"{"trace_id":"1","span_id":"2","start_unix_ns":5,"end_unix_ns":6,"attributes":{"a":DEEP}}"#;
    let zipkin = r#"[{"traceId":"1","id":"2","timestamp":5,"duration":1,"tags":{"a":DEEP}}]"#;
    let zipkin_v1 = r#"[{"traceId":"1","id":"2","timestamp":5,"duration":1,"annotations":[],"binaryAnnotations":DEEP}]"#;
    let jaeger = r#"{"traceID":"1","spans":[{"traceID":"1","spanID":"1","operationName":"o","startTime":5,"duration":5,"tags":[{"key":"a","value":DEEP}],"processID":"p1"}],"processes":{}}"#;
    let otlp = r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"1","attributes":[{"key":"k","value":DEEP}]}]}]}]}"#;
    let rows = r#"{"Timestamp":"5","TraceId":"1","SpanId":"2","ParentSpanId":"","SpanName":"x","SpanKind":"Server","ServiceName":"s","Duration":3,"SpanAttributes":{"a":DEEP}}"#;
    let folder = Folder::new();
    for template in [span_json, zipkin, zipkin_v1, jaeger, otlp, rows] {
        for deep in nested("1") {
            let good = template.replace("DEEP", "0");
            let text = format!("{}\n{good}\n", template.replace("DEEP", &deep));
            let read = read(&[&folder.write("deep", text)]);
            assert_eq!(read.files[0].spans_read, 1, "{template}");
            let found = problems(&read);
            let is_told = |line: &String| line.starts_with("record-too-deep 1 @");
            assert!(found.iter().any(is_told), "{template}: {found:?}");
        }
    }
    for deep in nested("1") {
        let text = format!("{}\n{deep}\n{}\n", document(1), document(2));
        let read = read(&[&folder.write("deep", text)]);
        assert_eq!(spans(&read).len(), 2);
        assert!(problems(&read)[0].starts_with("record-too-deep 1 @"), "{:?}", problems(&read));
    }
}

/// `content` as field `number` of a message.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![number << 3 | 2];
    prost::encoding::encode_varint(content.len() as u64, &mut bytes);
    [&bytes[..], content].concat()
}

#[test]
fn protobuf_values_that_nest_without_end_are_read_past() {
    // Lists within lists, and maps within maps, each within its value.
    for wrap in [(|value: &[u8]| field(5, &field(1, value))) as fn(&[u8]) -> Vec<u8>, |value| {
        field(6, &field(1, &field(2, value)))
    }] {
        let mut value = vec![0x18, 1];
        for _ in 0..10_000 {
            value = wrap(&value);
        }
        let attribute = [field(1, b"key"), field(2, &value)].concat();
        let with_deep = [span(1, 0).encode_to_vec(), field(9, &attribute)].concat();
        let bytes = field(1, &field(2, &field(2, &with_deep)));
        let read = read_within_a_mebibyte(bytes);
        assert_eq!((spans(&read).len(), problems(&read)), (1, Vec::new()));
    }
}

#[test]
fn lengths_that_lie_are_told_and_cost_nothing() {
    let first = message(1);
    let varint = |len: u64| {
        let mut bytes = Vec::new();
        prost::encoding::encode_varint(len, &mut bytes);
        bytes
    };
    let fixed = |tail: &[u8]| [&frames(std::slice::from_ref(&first))[..], tail].concat();
    let framed = |tail: &[u8]| [&varint(first.len() as u64)[..], &first, tail].concat();
    let header = varint(first.len() as u64).len();
    let lies = [varint(1 << 63), varint(u64::MAX), varint(1 << 32)];
    let mut cases = vec![(fixed(b"\xff\xff\xff\xffabc"), 4 + first.len())];
    for lie in &lies {
        cases.push((framed(&[&lie[..], b"abc"].concat()), header + first.len()));
        cases.push(([&first[..], b"\x0a", lie, b"abc"].concat(), first.len()));
    }
    for (bytes, at) in cases {
        let read = read_within_a_mebibyte(bytes);
        let told = ["cut-off", "damaged"].map(|what| vec![format!("record-{what} 1 @{at}:-:1")]);
        assert_eq!(spans(&read).len(), 1);
        assert!(told.contains(&problems(&read)), "{:?}", problems(&read));
    }
}

#[test]
fn a_span_whose_length_lies_loses_what_is_behind_it_and_tells() {
    let mut bytes = message(1);
    let at = bytes.windows(2).position(|pair| pair == [0x12, 0x02]);
    assert_eq!(at, None, "the length below is the span's alone");
    let span_len = span(1, 0).encode_to_vec().len();
    let len_at = bytes.len() - span_len - 1;
    bytes[len_at] = 0x7f;
    let read = read_within_a_mebibyte(bytes);
    assert_eq!(spans(&read), Vec::<String>::new());
    assert_eq!(problems(&read).len(), 1, "{:?}", problems(&read));
}

#[test]
fn gzip_whose_sums_lie_is_read_and_told() {
    let line = document(1) + "\n";
    let whole = gzip(line.as_bytes());
    // The last eight bytes are the check sum and the length.
    for at in [whole.len() - 1, whole.len() - 8] {
        let mut lying = whole.clone();
        lying[at] ^= 1;
        let read = read_within_a_mebibyte(lying);
        let told = format!("compression-damaged 1 @{}:2:1", line.len());
        assert_eq!((spans(&read).len(), problems(&read)), (1, vec![told]));
    }
}

#[test]
fn quotes_that_do_not_balance_lose_their_row_alone() {
    let text = std::fs::read_to_string(fixture("clickhouse/with-names.csv")).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    // One of them in a text of several lines, one a cell.
    let names = ["\"pay\"", ",\"pay\","];
    let bad = ["\"pay", "pay\"", "\"p\"ay\"", "\"pay\"\"", "\"\"\"pay\"", "\"pay\",\"", "\""];
    let within = names
        .into_iter()
        .flat_map(|name| bad.map(|bad| rows.replacen(name, &name.replace("\"pay\"", bad), 1)));
    let at_end = rows.strip_suffix("\"\n").map(|rows| format!("{rows}\n"));
    for damaged in within.chain(at_end) {
        let text = [header, "\n", &rows.repeat(50), &damaged, &rows.repeat(50)].concat();
        let folder = Folder::new();
        let read = read(&[&folder.write("rows.csv", &text)]);
        let is_told = !problems(&read).is_empty();
        let told = (read.files[0].spans_admitted, is_told);
        assert!([(201, true), (202, false)].contains(&told), "{told:?}: {damaged}");
    }
}

#[test]
fn json_may_say_late_what_it_is() {
    let long = serde_json::to_string(&vec!["x".repeat(100); 20_000]).unwrap();
    let trace = std::fs::read_to_string(fixture("jaeger/bare-trace.json")).unwrap();
    let folder = Folder::new();
    let answer = format!("{{\"notes\": {long}, \"data\": [{trace}]}}");
    let answer = read(&[&folder.write("answer", answer)]);
    assert_eq!(spans(&answer), spans(&read(&[&fixture("jaeger/bare-trace.json")])));
    let line = document(1).replacen('{', &format!("{{\"notes\": {long}, "), 1);
    assert_eq!(spans(&read(&[&folder.write("line", line)])).len(), 1);
}
