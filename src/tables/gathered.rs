//! A column of some rows, gathered from their fields: numbers as they are, names by number. Table
//! files are made of these.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array};

use super::rows::BlindSpots;
use crate::span::{Interner, SpanId, Sym, TraceId};

/// The columns of some neighbouring rows of one table.
#[derive(Debug)]
pub(super) struct Piece {
    /// How many rows.
    pub rows: usize,
    /// The columns, in the order in which the table declares them.
    pub columns: Vec<Gathered>,
}

/// The cells of one column.
#[derive(Debug)]
pub struct Gathered {
    /// Whether each row has a value; `None` where all have.
    pub(super) present: Option<Vec<bool>>,
    /// The values of those that have.
    pub(super) values: Values,
}

/// Values of one column.
#[derive(Debug)]
pub(super) enum Values {
    /// Numbers.
    Int64(Vec<i64>),
    /// Small numbers.
    Int32(Vec<i32>),
    /// Numbers that need not be whole.
    Float64(Vec<f64>),
    /// Yes or no.
    Boolean(Vec<bool>),
    /// Written as 32 hexadecimal digits.
    TraceId(Vec<TraceId>),
    /// Written as 16 hexadecimal digits.
    SpanId(Vec<SpanId>),
    /// Strings of the partition.
    Name(Vec<Sym>),
    /// Names of a closed set, by number, and what tells them.
    Word(Vec<u32>, fn(u32) -> &'static str),
    /// Sets of names.
    BlindSpots(Vec<BlindSpots>),
}

impl Gathered {
    /// A column without nulls.
    pub(super) fn required(values: Values) -> Self {
        Self { present: None, values }
    }

    /// A column with nulls; `value` tells a cell that has one.
    pub(super) fn optional<'a, T: 'a, V>(
        cells: impl ExactSizeIterator<Item = &'a Option<T>>,
        value: impl Fn(&T) -> V,
        values: impl FnOnce(Vec<V>) -> Values,
    ) -> Self {
        let mut present = Vec::with_capacity(cells.len());
        let mut kept = Vec::with_capacity(cells.len());
        for cell in cells {
            present.push(cell.is_some());
            if let Some(cell) = cell {
                kept.push(value(cell));
            }
        }
        Self { present: Some(present), values: values(kept) }
    }

    /// The same as an Arrow array.
    pub(super) fn to_arrow(&self, strings: &Interner) -> ArrayRef {
        match &self.values {
            Values::Int64(values) => Arc::new(self.cells(values).collect::<Int64Array>()),
            Values::Int32(values) => Arc::new(self.cells(values).collect::<Int32Array>()),
            Values::Float64(values) => Arc::new(self.cells(values).collect::<Float64Array>()),
            Values::Boolean(values) => Arc::new(self.cells(values).collect::<BooleanArray>()),
            Values::TraceId(ids) => self.texts(ids, |id| id.to_string()),
            Values::SpanId(ids) => self.texts(ids, |id| id.to_string()),
            Values::Name(names) => self.texts(names, |name| strings.get(name)),
            Values::Word(words, name) => self.texts(words, name),
            Values::BlindSpots(sets) => {
                let mut builder = ListBuilder::new(StringBuilder::new());
                for set in sets {
                    set.iter().for_each(|spot| builder.values().append_value(spot.name()));
                    builder.append(true);
                }
                Arc::new(builder.finish())
            }
        }
    }

    /// Each row's value, or none.
    fn cells<'a, T: Copy>(&'a self, values: &'a [T]) -> impl Iterator<Item = Option<T>> + 'a {
        let mut values = values.iter().copied();
        let rows = self.present.as_ref().map_or(values.len(), Vec::len);
        (0..rows).map(move |row| match &self.present {
            Some(present) if present.get(row) != Some(&true) => None,
            _ => values.next(),
        })
    }

    fn texts<T: Copy, S: AsRef<str>>(&self, values: &[T], text: impl Fn(T) -> S) -> ArrayRef {
        let mut builder = StringBuilder::with_capacity(values.len(), 16 * values.len());
        self.cells(values).for_each(|cell| builder.append_option(cell.map(&text)));
        Arc::new(builder.finish())
    }
}
