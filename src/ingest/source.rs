//! From what the user named to bytes: files, folders, patterns and standard input, decompressed by
//! what their first bytes say.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use super::compression::Compression;
use super::limits::{FREE_BYTES, Limits};
use super::{IngestError, Progress};

/// One stream to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Input {
    /// As the user named it; within a folder, with `/` between the parts.
    pub name: String,
    /// The file; `None` is standard input.
    pub path: Option<PathBuf>,
}

impl Input {
    /// Its bytes.
    pub(crate) fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(match &self.path {
            Some(path) => Box::new(File::open(path)?),
            None => Box::new(io::stdin()),
        })
    }
}

/// All files that `inputs` name, by name; a file named twice is read once.
pub(crate) fn expand(inputs: &[String]) -> Result<Vec<Input>, IngestError> {
    let mut by_identity = BTreeMap::new();
    for input in inputs {
        for found in expand_one(input)? {
            // Where a file cannot be resolved, opening it will say why.
            let identity =
                found.path.as_ref().map(|path| fs::canonicalize(path).unwrap_or(path.clone()));
            let known = by_identity.entry(identity).or_insert_with(|| found.clone());
            if found.name < known.name {
                *known = found;
            }
        }
    }
    let mut found: Vec<Input> = by_identity.into_values().collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

fn expand_one(input: &str) -> Result<Vec<Input>, IngestError> {
    if input == "-" {
        return Ok(vec![Input { name: input.to_owned(), path: None }]);
    }
    let path = Path::new(input);
    if path.exists() {
        return expand_path(input, path);
    }
    if !input.contains(['*', '?', '[']) {
        return Err(IngestError::NotFound { input: input.to_owned() });
    }
    let found = if input.contains("**") { walk(input)? } else { matches(input)? };
    if found.is_empty() {
        return Err(IngestError::NoFiles { input: input.to_owned() });
    }
    Ok(found)
}

/// How patterns match: as in a shell.
const OPTIONS: glob::MatchOptions = glob::MatchOptions {
    require_literal_leading_dot: true,
    require_literal_separator: true,
    case_sensitive: true,
};

fn pattern_error(pattern: &str, error: &glob::PatternError) -> IngestError {
    IngestError::Pattern { pattern: pattern.to_owned(), reason: error.msg }
}

/// The files that match a pattern of any depth. The library would follow links round in circles.
fn walk(pattern: &str) -> Result<Vec<Input>, IngestError> {
    let matcher = glob::Pattern::new(pattern).map_err(|error| pattern_error(pattern, &error))?;
    let until = pattern.find(['*', '?', '[']).unwrap_or(pattern.len());
    let base = pattern.get(..until).and_then(|fixed| fixed.rfind('/')).map_or(0, |at| at + 1);
    let (base, prefix) = match pattern.get(..base) {
        Some(base) if !base.is_empty() => (base, ""),
        _ => (".", "./"),
    };
    if !Path::new(base).is_dir() {
        return Ok(Vec::new());
    }
    let mut found = expand_path(base, Path::new(base))?;
    found.retain_mut(|file| {
        file.name = file.name.strip_prefix(prefix).unwrap_or(&file.name).to_owned();
        matcher.matches_with(&file.name, OPTIONS)
    });
    Ok(found)
}

/// The files that match a pattern, and those below the folders that do.
fn matches(pattern: &str) -> Result<Vec<Input>, IngestError> {
    let matches =
        glob::glob_with(pattern, OPTIONS).map_err(|error| pattern_error(pattern, &error))?;
    let mut found = Vec::new();
    for path in matches {
        let path = path.map_err(|error| IngestError::Read {
            file: error.path().display().to_string(),
            error: error.into(),
        })?;
        found.extend(expand_path(&path.to_string_lossy(), &path)?);
    }
    Ok(found)
}

/// The file `path`, or all files below the folder `path`, but for hidden ones. A folder that links
/// lead to again and again is looked at once.
fn expand_path(name: &str, path: &Path) -> Result<Vec<Input>, IngestError> {
    if !path.is_dir() {
        return Ok(vec![Input { name: name.to_owned(), path: Some(path.to_owned()) }]);
    }
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut folders = vec![(name.trim_end_matches('/').to_owned(), path.to_owned())];
    while let Some((folder, path)) = folders.pop() {
        let failed = |error| IngestError::Read { file: folder.clone(), error };
        if !seen.insert(fs::canonicalize(&path).map_err(failed)?) {
            continue;
        }
        let entries: io::Result<Vec<_>> = fs::read_dir(&path).and_then(Iterator::collect);
        let mut entries = entries.map_err(failed)?;
        // Whatever the order of the file system, a folder with several names is read by the same.
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.file_name()));
        for entry in entries {
            let file_name = entry.file_name();
            if file_name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let name = format!("{folder}/{}", file_name.to_string_lossy());
            if entry.path().is_dir() {
                folders.push((name, entry.path()));
            } else if entry.path().is_file() || !entry.path().exists() {
                // A link that leads nowhere is told when it is opened.
                found.push(Input { name, path: Some(entry.path()) });
            }
        }
    }
    if found.is_empty() {
        return Err(IngestError::NoFiles { input: name.to_owned() });
    }
    Ok(found)
}

/// A stream that tells how many bytes went through.
struct Counted<'p, R> {
    inner: R,
    progress: &'p dyn Progress,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.inner.read(buffer)?;
        self.progress.bytes(len as u64);
        Ok(len)
    }
}

/// A stream decompressed by its first bytes.
pub(crate) fn decompressed<'s>(
    source: impl Read + Send + 's,
    limits: Limits,
    progress: &'s dyn Progress,
) -> io::Result<(Compression, Box<dyn Read + Send + 's>)> {
    let mut counted = Counted { inner: source, progress };
    let mut start = Vec::new();
    (&mut counted).take(4).read_to_end(&mut start)?;
    let compression = Compression::of(&start);
    let whole = Cursor::new(start).chain(counted);
    Ok((compression, compression.unpacked(whole, limits, FREE_BYTES)?))
}
