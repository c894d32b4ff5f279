//! A column of some rows, gathered from their fields: numbers as they are, names by number. Table
//! files are made of these.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, ListBuilder, PrimitiveBuilder, StringBuilder};
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{ArrayRef, ArrowPrimitiveType};

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

    /// How many cells there are.
    pub(super) fn len(&self) -> usize {
        self.present.as_ref().map_or_else(|| self.values.len(), Vec::len)
    }

    /// The same as an Arrow array of `len` cells: those behind its own are null.
    pub(super) fn to_arrow(&self, strings: &Interner, len: usize) -> ArrayRef {
        let behind = len.saturating_sub(self.len());
        match &self.values {
            Values::Int64(values) => self.numbers::<Int64Type>(values, behind),
            Values::Int32(values) => self.numbers::<Int32Type>(values, behind),
            Values::Float64(values) => self.numbers::<Float64Type>(values, behind),
            Values::Boolean(values) => {
                let mut builder = BooleanBuilder::with_capacity(len);
                self.cells(values).for_each(|cell| builder.append_option(cell));
                builder.append_nulls(behind);
                Arc::new(builder.finish())
            }
            Values::TraceId(ids) => {
                self.texts(ids, behind, |texts, id| texts.append_value(digits(&id.hex())))
            }
            Values::SpanId(ids) => {
                self.texts(ids, behind, |texts, id| texts.append_value(digits(&id.hex())))
            }
            Values::Name(names) => {
                self.texts(names, behind, |texts, name| texts.append_value(strings.get(name)))
            }
            Values::Word(words, name) => {
                self.texts(words, behind, |texts, word| texts.append_value(name(word)))
            }
            Values::BlindSpots(sets) => {
                let mut builder = ListBuilder::new(StringBuilder::new());
                for set in sets {
                    set.iter().for_each(|spot| builder.values().append_value(spot.name()));
                    builder.append(true);
                }
                (0..behind).for_each(|_| builder.append_null());
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

    fn numbers<T: ArrowPrimitiveType>(&self, values: &[T::Native], behind: usize) -> ArrayRef {
        let mut builder = PrimitiveBuilder::<T>::with_capacity(self.len() + behind);
        match &self.present {
            None => builder.append_slice(values),
            Some(_) => self.cells(values).for_each(|cell| builder.append_option(cell)),
        }
        builder.append_nulls(behind);
        Arc::new(builder.finish())
    }

    /// Texts, of which `append` appends that of a value.
    fn texts<T: Copy>(
        &self,
        values: &[T],
        behind: usize,
        append: impl Fn(&mut StringBuilder, T),
    ) -> ArrayRef {
        let mut texts = StringBuilder::with_capacity(self.len() + behind, 16 * values.len());
        for cell in self.cells(values) {
            match cell {
                Some(value) => append(&mut texts, value),
                None => texts.append_null(),
            }
        }
        texts.append_nulls(behind);
        Arc::new(texts.finish())
    }
}

/// Hexadecimal digits as text.
fn digits<const LEN: usize>(digits: &[u8; LEN]) -> &str {
    str::from_utf8(digits).unwrap_or_default()
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Self::Int64(values) => values.len(),
            Self::Int32(values) => values.len(),
            Self::Float64(values) => values.len(),
            Self::Boolean(values) => values.len(),
            Self::TraceId(values) => values.len(),
            Self::SpanId(values) => values.len(),
            Self::Name(values) => values.len(),
            Self::Word(values, _) => values.len(),
            Self::BlindSpots(values) => values.len(),
        }
    }
}
