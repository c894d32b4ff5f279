//! What the engine says of a query, told of its text.

use std::collections::BTreeSet;

use datafusion::common::{Column, DataFusionError, SchemaError};

use super::statement::first_place;
use crate::query::{Place, QueryError, Sql};
use crate::tables::TABLES;

/// How alike two names are before one is taken for a slip of the other, of 1.
const ALIKE: f64 = 0.8;

/// What the engine puts before the name of a table that it was told without more.
const OUR_SCHEMA: &str = "datafusion.public.";

/// What the engine puts before a message.
const PREFIXES: [&str; 5] = [
    "Error during planning: ",
    "Execution error: ",
    "Arrow error: ",
    "This feature is not implemented: ",
    "type_coercion\ncaused by\n",
];

/// What is wrong, where, and what may have been meant.
pub(super) fn explained(sql: &Sql, error: &DataFusionError) -> QueryError {
    let place = error
        .diagnostic()
        .and_then(|diagnostic| diagnostic.span)
        .map(|span| Place { line: span.start.line, column: span.start.column });
    match error.find_root() {
        DataFusionError::SchemaError(unknown, _) => match unknown.as_ref() {
            SchemaError::FieldNotFound { field, valid_fields } => {
                // As the query writes it: with the name of its table, or without.
                let is_short = field.relation.is_none();
                let name =
                    |field: &Column| if is_short { field.name.clone() } else { field.flat_name() };
                let known: BTreeSet<String> = valid_fields.iter().map(name).collect();
                let known = known.iter().map(String::as_str);
                unknown_name(sql, place, "column", &name(field), known)
            }
            other => QueryError::new(sql, place, one_line(&other.to_string())),
        },
        DataFusionError::ResourcesExhausted(_) => QueryError::new(
            sql,
            None,
            "the query keeps more rows in memory than --memory allows: group or filter earlier, or \
             give more",
        ),
        DataFusionError::External(inner) => QueryError::new(sql, None, inner.to_string()),
        DataFusionError::Plan(message) => {
            if let Some(name) = quoted(message, "table '", "' not found") {
                let name = name.strip_prefix(OUR_SCHEMA).unwrap_or(name);
                unknown_name(sql, place, "table", name, TABLES.iter().map(|table| table.name))
            } else if let Some(name) = quoted(message, "Invalid function '", "'") {
                let meant = quoted_after(message, "Did you mean '");
                unknown_name(sql, place, "function", name, meant.into_iter())
            } else if let Some(name) = quoted(message, "table function '", "' not found") {
                unknown_name(sql, place, "table function", name, std::iter::empty())
            } else {
                QueryError::new(sql, place, one_line(message))
            }
        }
        other => QueryError::new(sql, place, one_line(&other.to_string())),
    }
}

fn unknown_name<'a>(
    sql: &Sql,
    place: Option<Place>,
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'a str>,
) -> QueryError {
    let alike = known.map(|known| (strsim::jaro_winkler(known, name), known));
    let nearest = alike.filter(|(alike, _)| *alike >= ALIKE).max_by(|a, b| a.0.total_cmp(&b.0));
    let hint = match nearest {
        Some((_, known)) => format!(": did you mean {known}?"),
        None if what.contains("function") => String::new(),
        None => ": dwindle schema tells all tables and columns".to_owned(),
    };
    let place = place.or_else(|| first_place(sql, name));
    QueryError::new(sql, place, format!("no {what} {name}{hint}"))
}

fn quoted<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    text.strip_prefix(before)?.split_once(after).map(|(name, _)| name)
}

fn quoted_after<'a>(text: &'a str, before: &str) -> Option<&'a str> {
    text.split_once(before)?.1.split_once('\'').map(|(name, _)| name)
}

fn one_line(message: &str) -> String {
    let mut message = message;
    while let Some(rest) = PREFIXES.iter().find_map(|prefix| message.strip_prefix(prefix)) {
        message = rest;
    }
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
