//! Tables as the engine sees them: it names the columns that it wants, and rows come as it asks.

use std::fmt;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use futures::stream;

use crate::tables::{Batches, StoredTable, Table};

/// A table that queries may name.
#[derive(Debug)]
pub(super) struct ScannedTable {
    /// The table.
    pub table: Table,
    /// Its rows; `None` where a query is only looked at.
    pub stored: Option<Arc<StoredTable>>,
}

/// Some columns of it.
struct Scan {
    stored: Option<Arc<StoredTable>>,
    columns: Vec<usize>,
    schema: SchemaRef,
}

impl fmt::Debug for Scan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scan").field("columns", &self.columns).finish_non_exhaustive()
    }
}

#[async_trait]
impl TableProvider for ScannedTable {
    fn schema(&self) -> SchemaRef {
        self.table.arrow_schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _session: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        let all = self.table.arrow_schema();
        let columns = projection.cloned().unwrap_or_else(|| (0..all.fields().len()).collect());
        let schema = Arc::new(all.project(&columns)?);
        let scan = Scan { stored: self.stored.clone(), columns, schema: Arc::clone(&schema) };
        let scan = vec![Arc::new(scan) as Arc<dyn PartitionStream>];
        Ok(Arc::new(StreamingTableExec::try_new(schema, scan, None, [], false, limit)?))
    }
}

impl PartitionStream for Scan {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let none = || Ok(Box::new(std::iter::empty()) as Batches);
        let rows = self.stored.as_ref().map_or_else(none, |stored| stored.batches(&self.columns));
        let batches = rows.unwrap_or_else(|error| Box::new(std::iter::once(Err(error))));
        let batches =
            batches.map(|batch| batch.map_err(|error| DataFusionError::External(error.into())));
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), stream::iter(batches)))
    }
}
