//! What each step gives and the columns of each table, in Spark's words: the job knows none by itself.

use std::io::Write;

use arrow_schema::{ArrowError, DataType, Fields, Schema};
use serde_json::{Map, Value, json};

use super::{Failure, exemplars, graveyard, ingest, part, values, wide};
use crate::tables::{TABLES, spans};

/// Tells it as one JSON object.
pub fn schema(mut out: impl Write) -> Result<(), Failure> {
    let steps = [
        ("ingest", ingest::schema()),
        ("survey", part::schema()),
        ("observe", part::schema()),
        ("reconstruct", wide::schema()),
        ("graveyard", graveyard::schema()),
        ("distributions", values::schema()),
        ("exemplars", exemplars::schema()),
    ];
    let steps = steps.iter().map(|(step, gives)| Ok(((*step).to_owned(), ddl(gives)?.into())));
    let steps = steps.collect::<Result<Map<String, Value>, Failure>>()?;
    let tables = TABLES.iter().map(|table| (table.name, table.arrow_schema()));
    let tables = tables.chain([("spans", spans::schema())]);
    let tables = tables.map(|(name, schema)| Ok((name.to_owned(), columns(&schema)?)));
    let tables = tables.collect::<Result<Map<String, Value>, Failure>>()?;
    let text = json!({ "steps": steps, "tables": tables });
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

/// Columns as Spark's definition of a table: `a string, b bigint`.
fn ddl(schema: &Schema) -> Result<String, Failure> {
    fields(schema.fields(), " ")
}

/// Name, type and whether it may be null, of each column.
fn columns(schema: &Schema) -> Result<Value, Failure> {
    let column = |field: &arrow_schema::FieldRef| {
        Ok(json!([field.name(), spark_type(field.data_type())?, field.is_nullable()]))
    };
    schema.fields().iter().map(column).collect()
}

/// The fields of a table or a struct; what stands between a name and its type differs.
fn fields(fields: &Fields, between: &str) -> Result<String, Failure> {
    let field = |field: &arrow_schema::FieldRef| {
        Ok(format!("{}{between}{}", field.name(), spark_type(field.data_type())?))
    };
    Ok(fields.iter().map(field).collect::<Result<Vec<String>, Failure>>()?.join(", "))
}

/// What Spark calls a type.
fn spark_type(data_type: &DataType) -> Result<String, Failure> {
    Ok(match data_type {
        DataType::Boolean => "boolean".to_owned(),
        DataType::Int32 => "int".to_owned(),
        DataType::Int64 => "bigint".to_owned(),
        DataType::Float64 => "double".to_owned(),
        DataType::Utf8 => "string".to_owned(),
        DataType::Binary => "binary".to_owned(),
        DataType::List(element) => format!("array<{}>", spark_type(element.data_type())?),
        DataType::Struct(inner) => format!("struct<{}>", fields(inner, ": ")?),
        other => {
            let message = format!("no column is of type {other}, which Spark has no name for");
            return Err(ArrowError::SchemaError(message).into());
        }
    })
}
