//! What inputs name, and that how they are divided and in which order they come changes nothing.

use dwindle::ingest::{Compression, IngestError, Progress, ingest};
use std::sync::atomic::{AtomicU64, Ordering};

use super::reference::{span, to_json, traces};
use super::support::{Folder, conventions, everything, problems, read, read_fixture, try_read};

/// A document of one span in one line.
fn line(id: u64, parent: u64) -> String {
    format!("{}\n", to_json(&traces("shop", vec![span(id, parent)])))
}

fn names(read: &dwindle::ingest::Ingested) -> Vec<&str> {
    read.files.iter().map(|file| file.path.as_str()).collect()
}

#[test]
fn a_folder_is_read_to_its_depth_by_name_without_hidden_files() {
    let folder = Folder::new();
    folder.write("in/b.json", line(2, 1));
    folder.write("in/a/z.json", line(1, 0));
    folder.write("in/.hidden", "not a trace");
    folder.write("in/.git/x", "not a trace");
    let root = folder.path("in");
    let read = read(&[&format!("{root}/")]);
    assert_eq!(names(&read), [format!("{root}/a/z.json"), format!("{root}/b.json")]);
    assert_eq!(everything(&read).len(), 2);
}

#[test]
fn a_pattern_names_the_files_that_match() {
    let folder = Folder::new();
    let first = folder.write("one.jsonl", line(1, 0));
    let second = folder.write("two.jsonl", line(2, 1));
    folder.write("other.txt", "not a trace");
    folder.write(".three.jsonl", "not a trace");
    assert_eq!(names(&read(&[&folder.path("*.jsonl")])), [first, second]);
    let nothing = try_read(&[&folder.path("*.nothing")]).unwrap_err();
    assert!(matches!(&nothing, IngestError::NoFiles { input } if input.ends_with("*.nothing")));
}

#[test]
fn links_to_folders_are_followed_and_lead_round_in_no_circles() {
    let folder = Folder::new();
    let far = Folder::new();
    far.write("x.json", line(2, 1));
    folder.write("in/a.json", line(1, 0));
    for (to, link) in [(far.path(""), "in/far"), (folder.path("in"), "in/round")] {
        std::os::unix::fs::symlink(to, folder.path(link)).unwrap();
    }
    std::os::unix::fs::symlink(folder.path("in"), folder.path("in/again")).unwrap();
    let root = folder.path("in");
    for input in [root.clone(), format!("{root}/**/*.json"), folder.path("*/**/*.json")] {
        let read = read(&[&input]);
        assert_eq!(names(&read), [format!("{root}/a.json"), format!("{root}/far/x.json")]);
    }
    std::os::unix::fs::symlink("nowhere", folder.path("in/dangling")).unwrap();
    assert!(try_read(&[&root]).unwrap_err().to_string().contains("in/dangling"));
}

#[test]
fn an_answer_without_traces_is_one_beside_others() {
    let folder = Folder::new();
    folder.write("a.json", line(1, 0));
    folder.write("zipkin.json", "[]\n");
    folder.write("jaeger.json", "{\"data\": [], \"total\": 0, \"errors\": null}");
    folder.write("jaeger-old.json", "{\"data\": []}");
    let read = read(&[&folder.path("")]);
    assert_eq!(read.files.iter().map(|file| file.spans_read).sum::<u64>(), 1);
    assert!(problems(&read).is_empty(), "{:?}", problems(&read));
}

#[test]
fn a_file_named_twice_is_read_once() {
    let folder = Folder::new();
    let file = folder.write("a.json", line(1, 0));
    let read = read(&[&file, &folder.path(""), &file]);
    assert_eq!(names(&read), [file.as_str()]);
}

#[test]
fn a_missing_file_is_refused_by_its_name() {
    let refused = try_read(&["no/such/file.json"]).unwrap_err();
    assert_eq!(refused.to_string(), "no/such/file.json: no such file or folder");
}

#[test]
fn an_empty_file_is_told_beside_others_and_refused_alone() {
    let folder = Folder::new();
    let empty = folder.write("empty", "");
    let full = folder.write("full", line(1, 0));
    let read = read(&[&empty, &full]);
    assert_eq!(problems(&read), ["empty-file 1 @-:-:-"]);
    assert_eq!((read.files[0].format.as_deref(), read.files[0].bytes), (None, 0));
    let refused = try_read(&[&empty]).unwrap_err();
    assert!(matches!(refused, IngestError::Empty { .. }), "{refused}");
}

#[test]
fn one_file_of_no_format_among_others_is_refused_by_its_name() {
    let folder = Folder::new();
    let good = folder.write("a.json", line(1, 0));
    // JSON text sequences: the first byte is none of JSON's.
    let sequence = format!("\u{1e}{}\n", line(1, 0)).repeat(2);
    let newlines = "\n".repeat(100_000);
    for content in [
        "some text\n",
        "{\"spans\": []}",
        "[1, 2]",
        "[{\"spans\": []}]",
        &newlines,
        &sequence,
        "\u{0}\u{0}",
        "\x0a\x02\x08\x01",
    ] {
        let bad = folder.write("b.json", content);
        let refused = try_read(&[&good, &bad]).unwrap_err();
        assert!(
            matches!(&refused, IngestError::UnknownFormat { file } if *file == bad),
            "{content}"
        );
        assert!(refused.to_string().contains("expected OTLP traces as JSON"));
    }
}

#[test]
fn compression_is_told_by_content() {
    let folder = Folder::new();
    let bytes = zstd::encode_all(line(1, 0).as_bytes(), 1).unwrap();
    let read = read(&[&folder.write("a.json", bytes)]);
    assert_eq!(read.files[0].compression, Compression::Zstd);
    assert_eq!(read.files[0].bytes, line(1, 0).len() as u64);
}

/// 6 MB, so that it comes in several chunks, with a bad line near the end.
fn large() -> (Vec<String>, String) {
    let template = line(0xaaaa_aaaa_aaaa_aaaa, 0xbbbb_bbbb_bbbb_bbbb);
    let of = |id: u64| {
        let with_id = template.replace("aaaaaaaaaaaaaaaa", &format!("{id:016x}"));
        with_id.replace("bbbbbbbbbbbbbbbb", &format!("{:016x}", id / 2))
    };
    let mut lines: Vec<String> = (1..=15_000).map(of).collect();
    "{not json\n".clone_into(&mut lines[14_000]);
    let text = lines.concat();
    assert!(text.len() > 5 << 20, "{}", text.len());
    (lines, text)
}

#[test]
fn order_splitting_and_threads_change_nothing() {
    let folder = Folder::new();
    let (mut lines, text) = large();
    let offset = lines[..14_000].concat().len();
    let whole = folder.write("whole", text);
    let of_one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let of_five_threads = rayon::ThreadPoolBuilder::new().num_threads(5).build().unwrap();
    let one = of_one_thread.install(|| read(&[&whole]));
    let five = of_five_threads.install(|| read(&[&whole]));
    let expected = everything(&one);
    assert_eq!(expected.len(), 14_999);
    assert_eq!(everything(&five), expected);
    let told = format!("record-damaged 1 @{}:14001:14000", offset + 1);
    assert_eq!(problems(&one), [told]);
    assert_eq!(problems(&five), problems(&one));

    lines.reverse();
    let parts: Vec<String> = lines
        .chunks(4_000)
        .enumerate()
        .map(|(index, part)| folder.write(&format!("part-{index}"), part.concat()))
        .collect();
    let mut parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let split = read(&parts);
    assert_eq!(everything(&split), expected);
    parts.reverse();
    let reversed = read(&parts);
    assert_eq!(everything(&reversed), expected);
    assert_eq!(problems(&reversed), problems(&split));
    assert_eq!(names(&reversed), names(&split));
}

#[test]
fn a_document_larger_than_a_chunk_is_read() {
    let spans = (1..=8_000).map(|id| span(id, id / 2)).collect();
    let document = to_json(&traces("shop", spans));
    let folder = Folder::new();
    let pretty = format!("{document:#}");
    assert!(pretty.len() > 4 << 20, "{}", pretty.len());
    let read_pretty = read(&[&folder.write("pretty", pretty)]);
    assert_eq!(read_pretty.files[0].spans_admitted, 8_000);
    let read_plain = read(&[&folder.write("plain", document.to_string())]);
    assert_eq!(everything(&read_plain), everything(&read_pretty));
}

#[test]
fn partitions_hold_whole_traces_in_the_order_of_all_tables() {
    let read = read_fixture("ids-base64.json");
    let mut last = None;
    for partition in &read.partitions {
        let keys = partition.rows.iter().map(|span| span.trace_id.sort_key());
        let (least, greatest) = (keys.clone().min(), keys.max());
        assert!(last.is_none() || least.is_none() || last < least);
        last = greatest.or(last);
    }
    assert!(last.is_some());
}

/// Adds up what is told.
#[derive(Default)]
struct Told {
    files: AtomicU64,
    expected_bytes: AtomicU64,
    bytes: AtomicU64,
    spans: AtomicU64,
    done: AtomicU64,
}

impl Progress for Told {
    fn begin(&self, files: usize, bytes: u64) {
        self.files.fetch_add(files as u64, Ordering::Relaxed);
        self.expected_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    fn bytes(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    fn spans(&self, spans: u64) {
        self.spans.fetch_add(spans, Ordering::Relaxed);
    }

    fn file_done(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn progress_adds_up_to_all_files_bytes_and_spans() {
    let folder = Folder::new();
    let first = folder.write("a", line(1, 0));
    let second = folder.write("b", line(2, 1).repeat(3));
    let told = Told::default();
    ingest(&[first, second], conventions(), &told).unwrap();
    let bytes = (line(1, 0).len() + 3 * line(2, 1).len()) as u64;
    let loaded = |number: &AtomicU64| number.load(Ordering::Relaxed);
    assert_eq!((loaded(&told.files), loaded(&told.done), loaded(&told.spans)), (2, 2, 4));
    assert_eq!((loaded(&told.expected_bytes), loaded(&told.bytes)), (bytes, bytes));
}
