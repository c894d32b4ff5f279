//! No engine: what this build says in place of an answer.

use std::convert::Infallible;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};

use super::{QueryError, Sql};
use crate::tables::StoredTable;

/// The rows of an answer, of which there is none here.
pub struct Rows(Infallible);

impl Rows {
    /// The columns.
    pub fn schema(&self) -> SchemaRef {
        SchemaRef::new(Schema::empty())
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch, QueryError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.0 {}
    }
}

/// Says that there is no engine.
///
/// # Errors
/// Always.
pub fn check(sql: &Sql) -> Result<(), QueryError> {
    Err(absent(sql))
}

/// Says the same.
///
/// # Errors
/// Always.
pub fn run(sql: Sql, tables: Vec<StoredTable>, _memory_bytes: u64) -> Result<Rows, QueryError> {
    let error = absent(&sql);
    drop((sql, tables));
    Err(error)
}

fn absent(sql: &Sql) -> QueryError {
    let message = "this dwindle was built without its SQL engine (cargo feature `query`); the text \
                   of a query also runs in DuckDB over what dwindle analyze writes";
    QueryError::new(sql, None, message)
}
