//! Rows of ClickHouse in Parquet.

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float64Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, TimeUnit};

use super::admit::Desk;
use super::cell::Cell;
use super::clickhouse::{self, Column, Row};
use super::problems::Code;
use super::refusal::Refusal;
use crate::tables::foreign::ParquetFile;
use crate::tables::format::FormatError;

/// Whether a Parquet file, all of which is in `bytes`, holds rows of this table.
pub(crate) fn claims(bytes: &[u8]) -> Option<Result<(), Refusal>> {
    let Ok(file) = ParquetFile::open(bytes) else { return Some(Err(Refusal::ParquetDamaged)) };
    if file.is_ours() {
        return Some(Err(Refusal::OwnTable));
    }
    if file.holds_kept_spans() {
        return Some(Err(Refusal::KeptSpans));
    }
    let claim = clickhouse::claims(|name| file.columns().any(|column| column == name))?;
    let has_delta_texts = file.has_delta_texts(|name| Column::from_name(name).is_some());
    Some(if has_delta_texts { claim.and(Err(Refusal::ParquetDeltaTexts)) } else { claim })
}

/// Reads a whole file.
pub(crate) fn read(bytes: &[u8], desk: &mut Desk<'_>) {
    if read_batches(bytes, desk).is_err() {
        desk.note(Code::RecordDamaged, 0);
    }
}

fn read_batches(bytes: &[u8], desk: &mut Desk<'_>) -> Result<(), FormatError> {
    let file = ParquetFile::open(bytes)?;
    for batch in file.batches(|name| Column::from_name(name).is_some())? {
        read_batch(&batch?, desk);
    }
    Ok(())
}

/// Reads some rows.
pub(crate) fn read_batch(batch: &RecordBatch, desk: &mut Desk<'_>) {
    let columns: Vec<(Column, &dyn Array)> = batch
        .schema_ref()
        .fields()
        .iter()
        .zip(batch.columns())
        .filter_map(|(field, array)| Some((Column::from_name(field.name())?, array.as_ref())))
        .collect();
    for place in 0..batch.num_rows() {
        let mut row = Row::new();
        for &(column, array) in &columns {
            match cell(array, place) {
                Some(cell) => {
                    desk.note_many(Code::TextNotUtf8, u64::from(is_mended(&cell)), 0);
                    row.set(column, cell, desk, 0);
                }
                None => desk.note(Code::FieldWrongType, 0),
            }
        }
        row.hand_over(desk, 0);
    }
}

/// Whether a text in it was not UTF-8: all others are borrowed.
fn is_mended(cell: &Cell<'_>) -> bool {
    match cell {
        Cell::Text(text) => matches!(text, Cow::Owned(_)),
        Cell::List(elements) => elements.iter().any(is_mended),
        Cell::Map(members) => {
            members.iter().any(|(key, cell)| matches!(key, Cow::Owned(_)) || is_mended(cell))
        }
        _ => false,
    }
}

/// The value at `place`; `None` where it is of a type that this table has no use for.
fn cell(array: &dyn Array, place: usize) -> Option<Cell<'_>> {
    if array.is_null(place) {
        return Some(Cell::Null);
    }
    let number = |text: String| Cell::Number(Cow::Owned(text));
    Some(match array.data_type() {
        DataType::Utf8 => Cell::Text(Cow::Borrowed(array.as_string::<i32>().value(place))),
        DataType::Binary => {
            Cell::Text(String::from_utf8_lossy(array.as_binary::<i32>().value(place)))
        }
        DataType::FixedSizeBinary(_) => {
            Cell::Text(String::from_utf8_lossy(array.as_fixed_size_binary().value(place)))
        }
        DataType::Timestamp(unit, _) => Cell::Instant(unix_ns(array, *unit, place)?),
        DataType::Int32 => number(array.as_primitive::<Int32Type>().value(place).to_string()),
        DataType::Int64 => number(array.as_primitive::<Int64Type>().value(place).to_string()),
        DataType::UInt32 => number(array.as_primitive::<UInt32Type>().value(place).to_string()),
        DataType::UInt64 => number(array.as_primitive::<UInt64Type>().value(place).to_string()),
        // Engines that know no unsigned numbers have them so.
        DataType::Decimal128(_, 0) => {
            number(array.as_primitive::<Decimal128Type>().value(place).to_string())
        }
        DataType::Float64 => number(array.as_primitive::<Float64Type>().value(place).to_string()),
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            let elements = range(list.value_offsets(), place)?;
            Cell::List(elements.map(|at| cell(list.values(), at)).collect::<Option<_>>()?)
        }
        DataType::Map(..) => {
            let map = array.as_map();
            let member = |at| Some((cell(map.keys(), at)?.into_text()?, cell(map.values(), at)?));
            Cell::Map(range(map.value_offsets(), place)?.map(member).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

/// Where the elements of the list at `place` stand among those of all.
fn range(offsets: &[i32], place: usize) -> Option<std::ops::Range<usize>> {
    let offset = |place: usize| usize::try_from(*offsets.get(place)?).ok();
    Some(offset(place)?..offset(place + 1)?)
}

/// An instant of any unit; `None` where it lies beyond those of nanoseconds.
fn unix_ns(array: &dyn Array, unit: TimeUnit, place: usize) -> Option<i64> {
    match unit {
        TimeUnit::Nanosecond => Some(array.as_primitive::<TimestampNanosecondType>().value(place)),
        TimeUnit::Microsecond => {
            array.as_primitive::<TimestampMicrosecondType>().value(place).checked_mul(1_000)
        }
        TimeUnit::Millisecond => {
            array.as_primitive::<TimestampMillisecondType>().value(place).checked_mul(1_000_000)
        }
        // Parquet has no such type.
        TimeUnit::Second => None,
    }
}
