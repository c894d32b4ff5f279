//! The engine, Apache DataFusion, which nothing outside of this folder names.

mod checked;
mod explain;
mod plain;
mod scan;
mod statement;
mod wide_sum;

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use datafusion::common::DataFusionError;
use datafusion::execution::FunctionRegistry;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::{SQLOptions, SessionConfig, SessionContext};
use datafusion::sql::parser::Statement;
use futures::StreamExt;
use tokio::runtime::{Builder, Runtime};

use self::checked::CheckedArithmetic;
use self::explain::explained;
use self::plain::{plain_batch, plain_schema};
use self::scan::ScannedTable;
use super::{QueryError, Sql};
use crate::tables::{StoredTable, TABLES};

/// The rows of an answer, as they come.
pub struct Rows {
    sql: Sql,
    runtime: Runtime,
    stream: SendableRecordBatchStream,
    schema: SchemaRef,
}

impl Rows {
    /// The columns: of each only whole numbers, floating-point numbers, truth values, texts or lists
    /// of texts.
    pub fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch, QueryError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.runtime.block_on(self.stream.next())?;
        let batch = batch.and_then(|batch| plain_batch(&batch, &self.schema));
        Some(batch.map_err(|error| explained(&self.sql, &error)))
    }
}

/// Looks whether a query can be answered, before anything is read.
///
/// # Errors
/// It is not SQL, does more than read, or names what there is not.
pub fn check(sql: &Sql) -> Result<(), QueryError> {
    let tables = TABLES.iter().map(|&table| ScannedTable { table, stored: None });
    let plan = async |context: &SessionContext| {
        let plan = plan(context, sql).await?;
        let plan = context.state().optimize(&plan).map_err(|error| explained(sql, &error))?;
        plain_schema(plan.schema().as_arrow()).map_err(|error| explained(sql, &error))
    };
    let context = context(tables, u64::MAX).map_err(|error| explained(sql, &error))?;
    runtime(sql)?.block_on(plan(&context)).map(drop)
}

/// Answers a query from `tables`, within so much memory.
///
/// # Errors
/// As for [`check`].
pub fn run(sql: Sql, tables: Vec<StoredTable>, memory_bytes: u64) -> Result<Rows, QueryError> {
    let tables = tables
        .into_iter()
        .map(|stored| ScannedTable { table: stored.table(), stored: Some(Arc::new(stored)) });
    let context = context(tables, memory_bytes).map_err(|error| explained(&sql, &error))?;
    let runtime = runtime(&sql)?;
    let answer = async {
        let plan = plan(&context, &sql).await?;
        let answer = async { context.execute_logical_plan(plan).await?.execute_stream().await };
        let stream = answer.await.map_err(|error| explained(&sql, &error))?;
        let schema = plain_schema(&stream.schema()).map_err(|error| explained(&sql, &error))?;
        Ok((stream, schema))
    };
    let (stream, schema) = runtime.block_on(answer)?;
    Ok(Rows { sql, runtime, stream, schema })
}

/// One thread does all: what has no ORDER BY comes in the same order each time.
fn runtime(sql: &Sql) -> Result<Runtime, QueryError> {
    let built = Builder::new_current_thread().build();
    built.map_err(|error| QueryError::new(sql, None, error.to_string()))
}

/// A session that knows the tables and nothing of files.
fn context(
    tables: impl Iterator<Item = ScannedTable>,
    memory_bytes: u64,
) -> Result<SessionContext, DataFusionError> {
    let mut config = SessionConfig::new().with_target_partitions(1);
    let parser = &mut config.options_mut().sql_parser;
    parser.collect_spans = true;
    parser.map_string_types_to_utf8view = false;
    let no_disk = DiskManagerBuilder::default().with_mode(DiskManagerMode::Disabled);
    let environment = RuntimeEnvBuilder::new()
        .with_memory_limit(usize::try_from(memory_bytes).unwrap_or(usize::MAX), 1.0)
        .with_disk_manager_builder(no_disk)
        .build_arc()?;
    let state = SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(environment)
        .with_default_features()
        .build();
    let mut context = SessionContext::new_with_state(state);
    context.register_expr_planner(Arc::new(CheckedArithmetic))?;
    context.register_udaf(wide_sum::wide_sum());
    for table in tables {
        context.register_table(table.table.name, Arc::new(table))?;
    }
    Ok(context)
}

async fn plan(context: &SessionContext, sql: &Sql) -> Result<LogicalPlan, QueryError> {
    let statement = Statement::Statement(Box::new(statement::parse(sql)?));
    let plan = context.state().statement_to_plan(statement).await;
    let only_reads =
        SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    plan.and_then(|plan| only_reads.verify_plan(&plan).map(|()| plan))
        .map_err(|error| explained(sql, &error))
}
