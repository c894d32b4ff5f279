//! Compact spellings of what exporters write: keys with alternatives, names with one star.

use std::fmt;

use serde::Deserialize;

/// How many keys one pattern may stand for; more is a slip of the pen.
const MAX_SPELLINGS: usize = 1_000;

/// The keys that a pattern stands for, in lower case and in the order in which they are tried:
/// `{a|b}` is each of its alternatives, `~` is `-` in all places or `_` in all places.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Spellings(pub(super) Vec<String>);

impl TryFrom<String> for Spellings {
    type Error = String;

    fn try_from(pattern: String) -> Result<Self, String> {
        let alternatives = expand(&pattern.to_ascii_lowercase())?;
        if !pattern.contains('~') {
            return Ok(Self(alternatives));
        }
        let joined_by = |by: &str| -> Vec<String> {
            alternatives.iter().map(|key| key.replace('~', by)).collect()
        };
        Ok(Self([joined_by("-"), joined_by("_")].concat()))
    }
}

/// Every choice of one alternative out of each pair of braces, the first of each first.
fn expand(pattern: &str) -> Result<Vec<String>, String> {
    let mut expanded = vec![String::new()];
    let mut rest = pattern;
    while let Some((literal, tail)) = rest.split_once('{') {
        let (choices, tail) =
            tail.split_once('}').ok_or_else(|| format!("{pattern:?}: expected `}}` after `{{`"))?;
        let choices: Vec<&str> = choices.split('|').collect();
        if expanded.len() * choices.len() > MAX_SPELLINGS {
            return Err(format!("{pattern:?} stands for more than {MAX_SPELLINGS} keys"));
        }
        expanded = expanded
            .iter()
            .flat_map(|head| choices.iter().map(move |choice| format!("{head}{literal}{choice}")))
            .collect();
        rest = tail;
    }
    for key in &mut expanded {
        key.push_str(rest);
    }
    if expanded.iter().any(|key| key.is_empty() || key.contains(['{', '}', '|'])) {
        return Err(format!("{pattern:?}: expected a key such as `a.{{b|c}}.d~e`"));
    }
    Ok(expanded)
}

/// A span name, or what stands before and after the one `*` in it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct NamePattern {
    head: String,
    tail: Option<String>,
}

impl TryFrom<String> for NamePattern {
    type Error = String;

    fn try_from(pattern: String) -> Result<Self, String> {
        match pattern.split_once('*') {
            Some((_, tail)) if tail.contains('*') => {
                Err(format!("{pattern:?}: expected at most one `*`"))
            }
            Some((head, tail)) => Ok(Self { head: head.to_owned(), tail: Some(tail.to_owned()) }),
            None => Ok(Self { head: pattern, tail: None }),
        }
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.head)?;
        self.tail.as_ref().map_or(Ok(()), |tail| write!(f, "*{tail}"))
    }
}

impl NamePattern {
    /// The one name that matches, where there is no star.
    pub(super) fn exact(&self) -> Option<&str> {
        self.tail.is_none().then_some(&self.head)
    }

    /// The name in which the star stands for `text`.
    pub(super) fn with_star(&self, text: &str) -> String {
        [&self.head, text, self.tail.as_deref().unwrap_or_default()].concat()
    }

    /// Whether `name` is one of those that it stands for.
    pub(super) fn matches(&self, name: &str) -> bool {
        self.exact() == Some(name) || self.star(name).is_some()
    }

    /// What the star stands for in `name`; nothing where the name does not match.
    pub(super) fn star<'a>(&self, name: &'a str) -> Option<&'a str> {
        // Most names are told apart by their first letter.
        let first = self.head.as_bytes().first();
        if first.is_some() && first != name.as_bytes().first() {
            return None;
        }
        name.strip_prefix(self.head.as_str())?.strip_suffix(self.tail.as_deref()?)
    }
}
