//! From what the user named to bytes: files, folders, patterns and standard input, decompressed by
//! what their first bytes say.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use super::compression::Compression;
use super::limits::Limits;
use super::{IngestError, Progress};

/// One stream to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Input {
    /// As the user named it; within a folder, with `/` between the parts.
    pub name: String,
    /// The file; `None` is standard input.
    pub path: Option<PathBuf>,
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
    let options = glob::MatchOptions {
        require_literal_leading_dot: true,
        require_literal_separator: true,
        case_sensitive: true,
    };
    let matches = glob::glob_with(input, options)
        .map_err(|error| IngestError::Pattern { pattern: input.to_owned(), reason: error.msg })?;
    let mut found = Vec::new();
    for path in matches {
        let path = path.map_err(|error| IngestError::Read {
            file: error.path().display().to_string(),
            error: error.into(),
        })?;
        found.extend(expand_path(&path.to_string_lossy(), &path)?);
    }
    if found.is_empty() {
        return Err(IngestError::NoFiles { input: input.to_owned() });
    }
    Ok(found)
}

/// The file `path`, or all files below the folder `path`, but for hidden ones. Links to folders
/// are not followed: they could lead round in circles.
fn expand_path(name: &str, path: &Path) -> Result<Vec<Input>, IngestError> {
    let mut found = Vec::new();
    if !path.is_dir() {
        return Ok(vec![Input { name: name.to_owned(), path: Some(path.to_owned()) }]);
    }
    let mut folders = vec![(name.trim_end_matches('/').to_owned(), path.to_owned())];
    while let Some((folder, path)) = folders.pop() {
        let failed = |error| IngestError::Read { file: folder.clone(), error };
        for entry in fs::read_dir(&path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let file_name = entry.file_name();
            if file_name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let name = format!("{folder}/{}", file_name.to_string_lossy());
            if entry.file_type().map_err(failed)?.is_dir() {
                folders.push((name, entry.path()));
            } else if entry.path().is_file() {
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

/// Opens a stream and decompresses it by its first bytes.
pub(crate) fn open<'p>(
    input: &Input,
    limits: Limits,
    progress: &'p dyn Progress,
) -> io::Result<(Compression, Box<dyn Read + Send + 'p>)> {
    let inner: Box<dyn Read + Send> = match &input.path {
        Some(path) => Box::new(File::open(path)?),
        None => Box::new(io::stdin()),
    };
    let mut counted = Counted { inner, progress };
    let mut start = Vec::new();
    (&mut counted).take(4).read_to_end(&mut start)?;
    let compression = Compression::of(&start);
    let whole = Cursor::new(start).chain(counted);
    Ok((compression, compression.unpacked(whole, limits)?))
}
