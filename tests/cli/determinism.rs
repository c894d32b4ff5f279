//! The same input gives the same bytes, whatever the threads, the order and the cutting of files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::command::{run, run_with_input, scratch};

const MANY: &str = "fixtures/cases/random-60.json";

/// The bytes of every table that an analyze of `inputs` writes; the manifest names the inputs.
fn tables(name: &str, inputs: &[&str], flags: &[&str], format: &str) -> BTreeMap<String, Vec<u8>> {
    let dir = scratch(name);
    let out = dir.to_str().unwrap();
    let args = [&["analyze", "--out", out, "--format", format], flags, inputs].concat();
    let ran = run(&args);
    assert_eq!(ran.code, 0, "{ran:?}");
    bytes_of(&dir)
}

fn bytes_of(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(path).unwrap())
        })
        // Problems name the files, and so does the manifest.
        .filter(|(name, _)| !name.starts_with("manifest") && !name.starts_with("problems"))
        .collect()
}

#[test]
fn threads_change_no_byte() {
    for format in ["parquet", "ndjson", "csv"] {
        let one = tables(&format!("threads-1-{format}"), &[MANY], &["--threads", "1"], format);
        let four = tables(&format!("threads-4-{format}"), &[MANY], &["--threads", "4"], format);
        assert_eq!(one.len(), 5);
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
    let whole = tables("cut-whole", &[MANY], &[], "ndjson");
    let forth: Vec<&str> = files.iter().map(String::as_str).collect();
    let back: Vec<&str> = forth.iter().rev().copied().collect();
    assert!(whole == tables("cut-forth", &forth, &[], "ndjson"));
    assert!(whole == tables("cut-back", &back, &[], "ndjson"));
    assert!(whole == tables("cut-folder", &[dir.to_str().unwrap()], &[], "ndjson"));
    let pattern = dir.join("part-*.jsonl");
    assert!(whole == tables("cut-pattern", &[pattern.to_str().unwrap()], &[], "ndjson"));
}

#[test]
fn standard_input_gives_what_the_file_gives() {
    let bytes = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(MANY)).unwrap();
    let dir = scratch("stdin");
    let args = ["analyze", "-", "--out", dir.to_str().unwrap(), "--format", "ndjson"];
    assert_eq!(run_with_input(&args, &bytes).code, 0);
    assert!(bytes_of(&dir) == tables("stdin-file", &[MANY], &[], "ndjson"));
}
