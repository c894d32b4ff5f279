//! SQL over the tables: the queries that come along, and one's own. Only [`run`] needs the engine; the
//! same SQL runs in DuckDB over an analyze folder.

mod error;
mod named;

/// Stands in where there is no engine.
#[cfg(not(feature = "query"))]
#[path = "absent.rs"]
mod engine;
#[cfg(feature = "query")]
mod engine;

pub use engine::{Rows, check, run};
pub use error::{Place, QueryError};
pub use named::{NAMED, Named};

/// A query, and where it was read from.
#[derive(Clone, Debug)]
pub struct Sql {
    /// What errors name: a file, or the flag.
    pub file: String,
    /// The text.
    pub text: String,
}
