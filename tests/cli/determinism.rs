//! The same input gives the same bytes, whatever the threads, the order and the cutting of files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::command::{run, run_with_input, scratch};

const MANY: &str = "fixtures/cases/random-60.json";

/// Larger than what is read at a time, in three files.
const SHOP: &str = "fixtures/shop";

/// The bytes of every file that an analyze of `inputs` writes.
pub(super) fn tables(
    name: &str,
    inputs: &[&str],
    flags: &[&str],
    format: &str,
) -> BTreeMap<String, Vec<u8>> {
    let dir = scratch(name);
    let out = dir.to_str().unwrap();
    let args = [&["analyze", "--out", out, "--format", format], flags, inputs].concat();
    let ran = run(&args);
    assert_eq!(ran.code, 0, "{ran:?}");
    bytes_of(&dir)
}

fn bytes_of(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let named = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let paths = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (named(&path), fs::read(path).unwrap())).collect()
}

/// The same without what names the files that were read.
fn rows_of(mut files: BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Vec<u8>> {
    files.retain(|name, _| !name.starts_with("manifest") && !name.starts_with("problems"));
    assert_eq!(files.len(), 7);
    files
}

#[test]
fn threads_change_no_byte() {
    for format in ["parquet", "ndjson", "csv"] {
        let one = tables(&format!("threads-1-{format}"), &[SHOP], &["--threads", "1"], format);
        let four = tables(&format!("threads-4-{format}"), &[SHOP], &["--threads", "4"], format);
        assert_eq!(one.len(), 9);
        assert!(one == four, "{format} differs");
    }
}

#[test]
fn order_and_cutting_of_files_change_no_byte() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(MANY)).unwrap();
    let dir = scratch("cut");
    let mut lines: Vec<&str> = text.lines().collect();
    lines.reverse();
    let mut files = Vec::new();
    for (place, part) in lines.chunks(7).enumerate() {
        let file = dir.join(format!("part-{place}.jsonl"));
        fs::write(&file, part.join("\n")).unwrap();
        files.push(file.to_str().unwrap().to_owned());
    }
    let whole = rows_of(tables("cut-whole", &[MANY], &[], "ndjson"));
    let forth: Vec<&str> = files.iter().map(String::as_str).collect();
    let back: Vec<&str> = forth.iter().rev().copied().collect();
    assert!(whole == rows_of(tables("cut-forth", &forth, &[], "ndjson")));
    assert!(whole == rows_of(tables("cut-back", &back, &[], "ndjson")));
    assert!(whole == rows_of(tables("cut-folder", &[dir.to_str().unwrap()], &[], "ndjson")));
    let pattern = dir.join("part-*.jsonl");
    assert!(whole == rows_of(tables("cut-pattern", &[pattern.to_str().unwrap()], &[], "ndjson")));
}

#[test]
fn standard_input_gives_what_the_file_gives() {
    let bytes = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(MANY)).unwrap();
    let dir = scratch("stdin");
    let args = ["analyze", "-", "--out", dir.to_str().unwrap(), "--format", "ndjson"];
    assert_eq!(run_with_input(&args, &bytes).code, 0);
    assert!(rows_of(bytes_of(&dir)) == rows_of(tables("stdin-file", &[MANY], &[], "ndjson")));
}
