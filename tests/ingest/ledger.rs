//! The ledger as a whole: each kind of trouble is raised by some input, says all there is to know,
//! and fails a strict run if it is a loss.

use std::io::Write;

use dwindle::ingest::problems::Code;
use dwindle::tables::{Blame, Severity};
use serde_json::Value;

use super::reference::{span, to_json, traces};
use super::support::{Folder, fixture};
use crate::support::command::run;

/// A document of one span in one line.
fn line() -> Vec<u8> {
    format!("{}\n", to_json(&traces("shop", vec![span(1, 0)]))).into_bytes()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

/// Something to read.
enum Input {
    /// A file under `fixtures/`.
    Fixture(&'static str),
    /// What a file holds.
    Bytes(Vec<u8>),
}

/// An input that raises `code`.
fn raises(code: Code) -> Input {
    let behind = |tail: &[u8]| Input::Bytes([&zstd(&line())[..], tail].concat());
    let framed = |frame: &[u8]| {
        let frames = [&zstd(&line())[..], frame]
            .map(|frame| [&u32::try_from(frame.len()).unwrap().to_be_bytes()[..], frame].concat());
        Input::Bytes(frames.concat())
    };
    match code {
        // Alone it would be refused.
        Code::EmptyFile => Input::Bytes(Vec::new()),
        Code::CompressionCutOff => behind(&zstd(&line())[..20]),
        Code::CompressionDamaged => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(&line()).unwrap();
            let mut bytes = encoder.finish().unwrap();
            *bytes.last_mut().unwrap() ^= 1;
            Input::Bytes(bytes)
        }
        Code::BytesBehind => behind(b"hello world"),
        Code::WindowTooLarge => behind(b"\x28\xb5\x2f\xfd\x00\xa8\x01\0\0"),
        Code::ExpansionTooLarge => behind(&zstd(&vec![0; 66 << 20])),
        Code::RecordTooLarge => Input::Bytes([line(), vec![b'x'; 3 << 20]].concat()),
        Code::FrameDamaged => framed(&zstd(&line())[..20]),
        Code::RecordTooDeep => Input::Bytes([line(), vec![b'['; 200]].concat()),
        Code::ProcessesLost => Input::Bytes(
            br#"{"data":[{"traceID":"1","spans":[{"traceID":"1","spanID":"1","operationName":"o","startTime":5,"duration":5,"processID":"p1"}],"#
                .to_vec(),
        ),
        Code::ValueUnparsed => Input::Bytes(
            br#"{"trace_id":"1","span_id":"2","start_unix_ns":5,"end_unix_ns":6,"attributes":{"deadline.remaining_ms":"soon"}}"#
                .to_vec(),
        ),
        Code::RecordCutOff | Code::RecordDamaged | Code::RecordNotOtlp => {
            Input::Fixture("otlp/malformed-lines.jsonl")
        }
        Code::RecordNotSpan => Input::Fixture("span-json/bad-spans-among-good.jsonl"),
        Code::RecordNotJaeger => Input::Fixture("jaeger/services-answer.json"),
        Code::AnswerHasErrors => Input::Fixture("jaeger/partial-answer.json"),
        Code::OtherSignal => Input::Fixture("otlp/mixed-signals.jsonl"),
        Code::TextNotUtf8 => Input::Fixture("otlp/text-not-utf8.json"),
        Code::IdHashed => Input::Fixture("otlp/ids-of-other-length.json"),
        Code::FieldWrongType
        | Code::TraceIdAbsent
        | Code::TraceIdInvalid
        | Code::SpanIdAbsent
        | Code::SpanIdInvalid
        | Code::ParentIdInvalid
        | Code::StartAbsent
        | Code::StartInvalid
        | Code::EndAbsent
        | Code::EndInvalid
        | Code::SpanDamaged => Input::Fixture("otlp/bad-spans-among-good.json"),
    }
}

#[test]
fn each_kind_of_trouble_is_raised_told_in_full_and_strict_about_losses() {
    for &code in Code::ALL {
        let folder = Folder::new();
        let path = match raises(code) {
            Input::Fixture(name) => fixture(name),
            Input::Bytes(bytes) => folder.write("input", bytes),
        };
        let beside = folder.write("beside", line());
        let args = ["inspect", &beside, &path, "--format", "ndjson", "--max-record", "2"];
        let ran = run(&args);
        assert_eq!(ran.code, 0, "{}: {}", code.name(), ran.err);
        let files: Vec<Value> =
            ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let file = files.iter().find(|file| file["path"] == path.as_str()).unwrap();
        let all = file["problems"].as_array().unwrap();
        let of_code = |row: &&Value| row["code"] == code.name();
        let row = all.iter().find(of_code).unwrap_or_else(|| panic!("{}: {all:?}", code.name()));
        assert!(row["count"].as_u64().unwrap() > 0);
        for text in ["message", "help"] {
            assert!(row[text].as_str().unwrap().len() > 10, "{}: {text}", code.name());
        }
        // An empty file has no places.
        let has_place = code != Code::EmptyFile;
        assert_eq!(row["byte"].is_u64() && row["record"].is_u64(), has_place, "{}", code.name());
        let any_loss = all.iter().any(|row| row["severity"] == "loss");
        assert_eq!(row["severity"] == "loss", code.severity() == Severity::Loss);
        let strict = run(&[&args[..], &["--strict"]].concat());
        assert_eq!(strict.code, if any_loss { 3 } else { 0 }, "{}", code.name());
    }
}

#[test]
fn limits_that_are_ours_are_our_blame_and_name_their_flag() {
    let ours: Vec<&str> =
        Code::ALL.iter().filter(|code| code.blame() == Blame::Us).map(|code| code.name()).collect();
    assert_eq!(
        ours,
        ["window-too-large", "expansion-too-large", "record-too-large", "record-too-deep"]
    );
    assert!(Code::RecordTooLarge.help().contains("--max-record"));
    assert!(Code::ExpansionTooLarge.help().contains("--max-expansion"));
}

#[test]
fn counts_are_not_capped_and_one_place_stands_for_all() {
    let folder = Folder::new();
    let bad = [line(), b"{\"no\": \"span\"}\n".repeat(50_000)].concat();
    let ran = run(&["inspect", &folder.write("bad", bad), "--format", "ndjson"]);
    let file: Value = serde_json::from_str(&ran.out).unwrap();
    let [row] = &file["problems"].as_array().unwrap()[..] else { panic!("{file}") };
    assert_eq!((&row["code"], &row["count"]), (&"record-not-otlp".into(), &50_000.into()));
    assert_eq!((&row["line"], &row["record"]), (&2.into(), &1.into()));
}
