//! The files that are to be read, for an engine to deal out.

use std::io::{self, Write};
use std::path;

use serde::Serialize;

use super::Failure;
use crate::ingest::{IngestError, files};

/// A file to read.
#[derive(Debug, Serialize)]
struct File<'f> {
    /// As `analyze` names it.
    name: &'f str,
    /// Where it is, from the root.
    path: &'f str,
    /// How long it is, as it lies there.
    bytes: u64,
}

/// Tells the files that `inputs` name, by name, a JSON object a line.
pub fn list(inputs: &[String], mut out: impl Write) -> Result<(), Failure> {
    for (name, path) in files(inputs)? {
        let path = path.ok_or(Failure::StandardInput)?;
        let unreadable = |error| IngestError::Read { file: name.clone(), error };
        let absolute = path::absolute(&path).map_err(unreadable)?;
        let bytes = path.metadata().map_err(unreadable)?.len();
        let no_text = || io::Error::new(io::ErrorKind::InvalidInput, "its name is not UTF-8");
        let path = absolute.to_str().ok_or_else(no_text).map_err(unreadable)?;
        let line = serde_json::to_string(&File { name: &name, path, bytes });
        writeln!(out, "{}", line.map_err(io::Error::from)?)?;
    }
    Ok(out.flush()?)
}
