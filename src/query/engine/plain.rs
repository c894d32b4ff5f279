//! Answers in the few types that every output knows.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::compute::{CastOptions, can_cast_types, cast_with_options};
use datafusion::common::{DataFusionError, plan_err};

/// The columns of an answer in plain types.
pub(super) fn plain_schema(schema: &Schema) -> Result<SchemaRef, DataFusionError> {
    let fields = schema.fields();
    let names = fields.iter().map(|field| field.name());
    for (place, name) in names.enumerate() {
        if fields.iter().take(place).any(|earlier| earlier.name() == name) {
            return plan_err!("two columns are named {name}: give them names of their own by AS");
        }
    }
    let plain = fields.iter().map(|field| {
        let plain = plain_type(field.data_type());
        if !can_cast_types(field.data_type(), &plain) {
            let (name, held) = (field.name(), field.data_type());
            return plan_err!(
                "column {name} holds {held}, which has no form in text: name its parts"
            );
        }
        Ok(Field::new(field.name(), plain, true))
    });
    Ok(Arc::new(Schema::new(plain.collect::<Result<Vec<_>, _>>()?)))
}

fn plain_type(held: &DataType) -> DataType {
    match held {
        DataType::Decimal128(_, 0) | DataType::Decimal256(_, 0) => DataType::Int64,
        whole if whole.is_integer() => DataType::Int64,
        number if number.is_numeric() => DataType::Float64,
        DataType::Boolean => DataType::Boolean,
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) => {
            DataType::new_list(DataType::Utf8, true)
        }
        _ => DataType::Utf8,
    }
}

/// Some rows in the types of `schema`.
pub(super) fn plain_batch(
    batch: &RecordBatch,
    schema: &SchemaRef,
) -> Result<RecordBatch, DataFusionError> {
    // What does not fit is an error, and not null.
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    let fields = schema.fields().iter().zip(batch.columns());
    let columns =
        fields.map(|(field, column)| cast_with_options(column, field.data_type(), &strict));
    let columns: Vec<ArrayRef> = columns.collect::<Result<_, _>>()?;
    let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?)
}
