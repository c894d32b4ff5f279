//! What is wrong with a file that a person wrote, and where: shared by contracts and conventions.

use serde::de::DeserializeOwned;

/// What is wrong with a TOML file, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {key}{message}", key = key.as_ref().map_or_else(String::new, |key| format!("key `{key}`: ")))]
pub struct ConfigError {
    /// The file as it was named.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The key, if the trouble is at one.
    pub key: Option<String>,
    /// What was expected.
    pub message: String,
}

impl ConfigError {
    /// The error `message` at `byte` of `text`, which is what `file` holds.
    pub fn at_byte(
        file: &str,
        text: &str,
        byte: usize,
        key: Option<String>,
        message: String,
    ) -> Self {
        Self { file: file.to_owned(), line: line_of(text, byte), key, message }
    }
}

/// The line, from 1, on which `byte` of `text` stands.
pub fn line_of(text: &str, byte: usize) -> usize {
    Lines::of(text).at(byte)
}

/// Where the lines of a text end, for many questions.
#[derive(Debug)]
pub struct Lines(Vec<usize>);

impl Lines {
    /// Those of `text`.
    pub fn of(text: &str) -> Self {
        Self(
            text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect(),
        )
    }

    /// The line, from 1, on which a byte stands.
    pub fn at(&self, byte: usize) -> usize {
        self.0.partition_point(|&end| end < byte) + 1
    }
}

/// Where a line of `text` begins with `key`, from `byte` on and within the same table.
pub fn key_after(text: &str, byte: usize, key: &str) -> Option<usize> {
    let mut at = byte;
    for (number, line) in text.get(byte..)?.split_inclusive('\n').enumerate() {
        let rest = line.trim_start();
        if number > 0 && rest.starts_with('[') {
            return None;
        }
        if rest.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(['=', '.'])) {
            return Some(at + line.len() - rest.len());
        }
        at += line.len();
    }
    None
}

/// Reads `text`, which is what `file` holds, as TOML of the shape `T`.
///
/// # Errors
/// The first trouble, with its line and key.
pub fn parse_toml<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, ConfigError> {
    toml::from_str(text).map_err(|error| {
        let byte = error.span().map_or(0, |span| span.start);
        let key = key_at(text, byte);
        let mut message = error.message().to_owned();
        if message == "invalid type: map, expected a sequence" {
            message +=
                ": a table that may come several times stands in double brackets, [[like this]]";
        }
        ConfigError::at_byte(file, text, byte, key, message)
    })
}

/// The key whose value, or whose own name, stands at `byte`.
fn key_at(text: &str, byte: usize) -> Option<String> {
    let is_key = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let (before, at) = (text.get(..byte)?, text.get(byte..)?);
    // The error stands on the key itself, or somewhere right of its equals sign.
    let own = at.split(|c| !is_key(c)).next().filter(|word| !word.is_empty());
    if let Some(word) = own
        && at.get(word.len()..)?.trim_start().starts_with('=')
    {
        return Some(word.to_owned());
    }
    if before.is_empty() || before.ends_with('\n') {
        return None;
    }
    // A value may go on for several lines, and hold equals signs; a table's head ends the search.
    let mut lines = before.lines().rev().take_while(|line| !line.starts_with('['));
    let word_before = |line: &str, at: usize| {
        let word = line.get(..at)?.trim_end().rsplit(|c| !is_key(c)).next();
        word.filter(|word| !word.is_empty()).map(str::to_owned)
    };
    lines.find_map(|line| line.rmatch_indices('=').find_map(|(at, _)| word_before(line, at)))
}
