//! Where the rows of a table lie: in one file, or in a folder of parts, which a cluster writes, each
//! task its own.

use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

/// Says that all parts are there, even where there is none.
const SUCCESS: &str = "_SUCCESS";

/// The folder for what tasks have begun and not ended; a cluster that is killed leaves it.
const BEGUN: &str = "_temporary";

/// The files that hold the rows of the table at `path`, in their order.
pub(super) fn parts(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut parts = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if is_part(&name(&entry)) {
            parts.push(entry.path());
        }
    }
    if parts.is_empty() && !path.join(SUCCESS).exists() {
        let missing = "there is neither a part of the table nor _SUCCESS, which would say that it has no rows";
        return Err(io::Error::new(io::ErrorKind::NotFound, missing));
    }
    // They are numbered, with zeros before.
    parts.sort_unstable();
    Ok(parts)
}

/// The first thing in a folder of parts that no cluster put there.
pub(super) fn foreign(folder: &Path) -> io::Result<Option<PathBuf>> {
    let entries: io::Result<Vec<_>> = fs::read_dir(folder)?.collect();
    let mut others: Vec<PathBuf> =
        entries?.into_iter().filter(|entry| !is_of_cluster(entry)).map(|it| it.path()).collect();
    others.sort_unstable();
    Ok(others.into_iter().next())
}

/// Removes a folder of parts with all that a cluster put there, and nothing else.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if is_of_cluster(&entry) {
            let remove = if is_begun(&entry) { fs::remove_dir_all } else { fs::remove_file };
            remove(&entry.path())?;
        }
    }
    fs::remove_dir(folder)
}

fn name(entry: &DirEntry) -> String {
    entry.file_name().to_string_lossy().into_owned()
}

fn is_part(name: &str) -> bool {
    name.starts_with("part-") && has_extension(name, "parquet")
}

fn is_of_cluster(entry: &DirEntry) -> bool {
    let name = name(entry);
    let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
    let is_checksum = name.starts_with('.') && has_extension(&name, "crc");
    is_begun(entry) || is_file && (is_part(&name) || name == SUCCESS || is_checksum)
}

fn is_begun(entry: &DirEntry) -> bool {
    name(entry) == BEGUN && entry.file_type().is_ok_and(|kind| kind.is_dir())
}

fn has_extension(name: &str, extension: &str) -> bool {
    Path::new(name).extension().is_some_and(|found| found == extension)
}
