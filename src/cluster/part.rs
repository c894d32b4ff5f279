//! What a task tells besides rows, as bytes: read only by the same version of the program.

use std::io::{Read, Write};
use std::sync::Arc;

use arrow_array::{Array, BinaryArray, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Failure;
use super::stream::{self, Out};
use crate::tables::ReadError;

/// The column that holds it.
pub(super) const PART: &str = "part";

/// A table of nothing else.
pub(super) fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new(PART, DataType::Binary, true)]))
}

/// The table of these columns, and it beside them.
pub(super) fn beside(columns: &Schema) -> SchemaRef {
    let part = Arc::new(Field::new(PART, DataType::Binary, true));
    Arc::new(Schema::new(columns.fields().iter().cloned().chain([part]).collect::<Vec<_>>()))
}

/// It as bytes.
pub(super) fn bytes(told: &impl Serialize) -> Result<Vec<u8>, Failure> {
    Ok(postcard::to_allocvec(told)?)
}

/// It as a batch of one row.
pub(super) fn batch(told: &impl Serialize) -> Result<RecordBatch, Failure> {
    let bytes = bytes(told)?;
    let column = BinaryArray::from_iter_values([bytes]);
    Ok(RecordBatch::try_new(schema(), vec![Arc::new(column)])?)
}

/// It as a whole stream.
pub(super) fn write(told: &impl Serialize, output: impl Write) -> Result<(), Failure> {
    let mut out = Out::new(output, &schema())?;
    out.write(&batch(told)?)?;
    out.finish()
}

/// What bytes tell.
pub(super) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Failure> {
    Ok(postcard::from_bytes(bytes)?)
}

/// All that a batch tells, of which other rows may be null.
pub(super) fn all(batch: &RecordBatch) -> Result<impl Iterator<Item = &[u8]>, Failure> {
    let missing = ReadError::NoColumn { table: "parts", column: PART };
    let column = batch.column_by_name(PART);
    let column = column.and_then(|column| column.as_any().downcast_ref::<BinaryArray>());
    Ok(column.ok_or(missing)?.iter().flatten())
}

/// Hands all that a stream tells to `take`, in the order in which it comes.
pub(super) fn for_each<T: DeserializeOwned>(
    input: impl Read,
    mut take: impl FnMut(T),
) -> Result<(), Failure> {
    for batch in stream::batches(input)? {
        for bytes in all(&batch?)? {
            take(read(bytes)?);
        }
    }
    Ok(())
}
