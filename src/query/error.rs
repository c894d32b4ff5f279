//! What is wrong with a query, and where.

use super::Sql;

/// A place in a query's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// From 1.
    pub line: u64,
    /// In characters, from 1.
    pub column: u64,
}

/// A query that cannot be answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{}{message}", place_text(*place))]
pub struct QueryError {
    /// Where the query was read from.
    pub file: String,
    /// Where in it, if it is about one place.
    pub place: Option<Place>,
    /// What is wrong.
    pub message: String,
}

impl QueryError {
    /// Something is wrong at a place of `sql`, or with all of it.
    pub(super) fn new(sql: &Sql, place: Option<Place>, message: impl Into<String>) -> Self {
        Self { file: sql.file.clone(), place, message: message.into() }
    }
}

fn place_text(place: Option<Place>) -> String {
    place.map_or_else(|| " ".to_owned(), |place| format!("{}:{}: ", place.line, place.column))
}
