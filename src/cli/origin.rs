//! What a page that outlives its files says of how it was made.

use std::fs::File;
use std::io::{self, Read};

use sha2::{Digest, Sha256};

use super::output::Fatal;
use crate::report::{Origin, OriginFile};

/// How standard input is named.
const STANDARD_INPUT: &str = "-";

/// The command as it was given, and digests of the files that were read.
///
/// # Errors
/// A file that was read a moment ago cannot be read any more.
pub(super) fn of(files: &[String]) -> Result<Origin, Fatal> {
    let files = files.iter().map(|name| {
        let unreadable = |error| Fatal::Unreadable { flag: "INPUT", path: name.clone(), error };
        let is_file = name != STANDARD_INPUT;
        let content = is_file.then(|| digest(name).map_err(unreadable)).transpose()?;
        Ok(OriginFile { name: name.clone(), content })
    });
    Ok(Origin { command: command(), files: files.collect::<Result<_, Fatal>>()? })
}

fn digest(path: &str) -> io::Result<(u64, String)> {
    let mut file = File::open(path)?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    let mut bytes = 0;
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        digest.update(buffer.get(..read).unwrap_or_default());
        bytes += read as u64;
    }
    let digits = |byte: &u8| [byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16));
    let digest = digest.finalize();
    Ok((bytes, digest.iter().flat_map(digits).flatten().collect()))
}

/// The arguments as a shell reads them.
pub(super) fn command() -> String {
    let arguments = std::env::args_os().skip(1);
    let words = arguments.map(|argument| quoted(&argument.to_string_lossy()));
    std::iter::once("dwindle".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// A word as a shell reads it.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
