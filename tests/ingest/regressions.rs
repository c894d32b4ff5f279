//! What the fuzzer found, and some of what it kept: `fixtures/fuzz` has a folder for each target.

use std::fs;
use std::path::PathBuf;

use dwindle::contract::Contract;
use dwindle::reconstruct::Policy;

use super::support::{Folder, conventions, everything, fixture, problems, try_read};
use crate::support::invariants::{check_requests, read_requests};

/// The files of the targets that `wanted` affirms, sorted.
fn files(wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let targets = fs::read_dir(fixture("fuzz")).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<PathBuf> = targets
        .filter(|target| wanted(target.file_name().to_str().unwrap()))
        .flat_map(|target| fs::read_dir(target.path()).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

/// The text of all files of one target.
fn texts(target: &str) -> impl Iterator<Item = String> {
    files(|found| found == target).into_iter().map(|path| fs::read_to_string(path).unwrap())
}

/// All that reading a file on some threads gives.
fn told(path: &str, threads: usize) -> Result<(Vec<String>, Vec<String>), String> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let read = pool.install(|| try_read(&[path])).map_err(|error| error.to_string())?;
    check_requests(&read, &Policy::default());
    Ok((everything(&read), problems(&read)))
}

#[test]
fn what_a_fuzzer_found_is_read_or_refused_and_the_same_on_any_threads() {
    let files = files(|target| !["contract", "conventions", "tables"].contains(&target));
    assert!(files.len() > 10, "the fixtures are there");
    for path in files {
        let path = path.to_str().unwrap();
        assert_eq!(told(path, 1), told(path, 2), "{path}");
    }
}

#[test]
fn contracts_and_conventions_that_a_fuzzer_found_are_read_or_refused() {
    for text in texts("contract") {
        drop(Contract::parse_file("contract.toml", &text));
    }
    for text in texts("conventions") {
        drop(conventions().clone().with_file("conventions.toml", &text));
    }
}

#[test]
fn tables_that_a_fuzzer_found_are_read_or_refused() {
    let folder = Folder::new();
    for path in files(|target| target == "tables") {
        let bytes = fs::read(&path).unwrap();
        let is_seed = path.file_stem().unwrap() == "requests";
        let read = read_requests(folder.path("").as_ref(), &bytes);
        assert!(read.is_ok() || !is_seed, "{}", path.display());
    }
}
