//! Rows as JSON, so that they can be compared and printed whatever made them.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use dwindle::span::Interner;
use dwindle::tables::Row;
use serde_json::{Map, Value, json};

/// The rows with every column.
pub(crate) fn to_json<R: Row>(rows: &[R], strings: &Interner) -> Vec<Value> {
    let batch = R::to_batch(rows, strings);
    let schema = batch.schema();
    let row = |row: usize| {
        let cells = schema.fields().iter().zip(batch.columns());
        let cells = cells.map(|(field, column)| (field.name().clone(), cell(column, row)));
        Value::Object(cells.collect::<Map<_, _>>())
    };
    (0..batch.num_rows()).map(row).collect()
}

fn cell(column: &ArrayRef, row: usize) -> Value {
    if column.is_null(row) {
        return Value::Null;
    }
    match column.data_type() {
        DataType::Int64 => json!(column.as_primitive::<Int64Type>().value(row)),
        DataType::Int32 => json!(column.as_primitive::<Int32Type>().value(row)),
        DataType::Boolean => json!(column.as_boolean().value(row)),
        DataType::Utf8 => json!(column.as_string::<i32>().value(row)),
        DataType::List(_) => {
            let list = column.as_list::<i32>().value(row);
            (0..list.len()).map(|item| cell(&list, item)).collect()
        }
        other => json!(format!("a {other}, which no compared column is")),
    }
}

/// What differs between two tables whatever the order of their rows; nothing where they are
/// equal. `key` names the columns that tell one row from another.
pub(crate) fn differences(key: &[&str], one: &[Value], other: &[Value]) -> Vec<String> {
    let (one, other) = (by_key(key, one), by_key(key, other));
    let mut found = Vec::new();
    for (told, row) in &one {
        match other.get(told) {
            None => found.push(format!("{told}: only in the first: {row}")),
            Some(same) => {
                found.extend(differing_cells(row, same).map(|cell| format!("{told}: {cell}")))
            }
        }
    }
    let surplus = other.iter().filter(|(told, _)| !one.contains_key(*told));
    found.extend(surplus.map(|(told, row)| format!("{told}: only in the second: {row}")));
    found
}

/// The rows by what tells them apart; equal ones are counted through.
fn by_key(key: &[&str], rows: &[Value]) -> BTreeMap<String, Value> {
    let mut rows: Vec<&Value> = rows.iter().collect();
    rows.sort_by_cached_key(|row| row.to_string());
    let mut by_key = BTreeMap::new();
    for row in rows {
        let told: Vec<String> = key.iter().map(|column| row[column].to_string()).collect();
        let told = told.join(" ");
        let copies = (1..).map(|copy| format!("{told} ({copy})"));
        let name =
            std::iter::once(told.clone()).chain(copies).find(|name| !by_key.contains_key(name));
        by_key.insert(name.unwrap_or(told), row.clone());
    }
    by_key
}

fn differing_cells<'a>(one: &'a Value, other: &'a Value) -> impl Iterator<Item = String> + 'a {
    let columns = [one, other].into_iter().filter_map(Value::as_object).flat_map(Map::keys);
    let columns: BTreeSet<&String> = columns.collect();
    let cell = |row: &Value, column: &str| {
        row.get(column).map_or_else(|| "no such column".to_owned(), Value::to_string)
    };
    let differing = columns.into_iter().filter(|column| one.get(column) != other.get(column));
    differing.map(move |column| {
        format!(
            "{column} is {} in the first, {} in the second",
            cell(one, column),
            cell(other, column)
        )
    })
}
