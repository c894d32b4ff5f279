//! How a field of a row becomes a column of a table and comes back.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_schema::{DataType, Field};

use super::gathered::{Gathered, Values};
use super::rows::{BlindSpot, BlindSpots};
use crate::span::{Interner, SpanId, Sym, Target, TraceId};
use crate::units::{Nanos, UnixNanos};

/// A type that a column may have. Only types that Spark, `DuckDB` and `ClickHouse` all read.
pub trait Cell: Sized {
    /// The type on disk.
    fn data_type() -> DataType;

    /// A column of such cells.
    fn gather<'a>(cells: impl ExactSizeIterator<Item = &'a Self>) -> Gathered
    where
        Self: 'a;

    /// The cell of `row`; `None` where the column has another type or the value cannot be.
    fn get(column: &ArrayRef, row: usize, strings: &mut Interner) -> Option<Self>;

    /// Gives its string, if it is one, another number.
    fn renumber(&mut self, _new: &mut dyn FnMut(Sym) -> Sym) {}
}

/// Cells that are numbers of Arrow's own types, with or without nulls.
macro_rules! primitive_cell {
    ($ty:ty, $shape:ident, $to:expr, $from:expr, $as:ident $(::<$arrow:ty>)?) => {
        impl Cell for $ty {
            fn data_type() -> DataType {
                DataType::$shape
            }

            fn gather<'a>(cells: impl ExactSizeIterator<Item = &'a Self>) -> Gathered {
                Gathered::required(Values::$shape(cells.map(|cell| ($to)(*cell)).collect()))
            }

            fn get(column: &ArrayRef, row: usize, _: &mut Interner) -> Option<Self> {
                let column = column.$as$(::<$arrow>)?()?;
                column.is_valid(row).then(|| ($from)(column.value(row)))
            }
        }

        impl Cell for Option<$ty> {
            fn data_type() -> DataType {
                DataType::$shape
            }

            fn gather<'a>(cells: impl ExactSizeIterator<Item = &'a Self>) -> Gathered {
                Gathered::optional(cells, |cell| ($to)(*cell), Values::$shape)
            }

            fn get(column: &ArrayRef, row: usize, _: &mut Interner) -> Option<Self> {
                let column = column.$as$(::<$arrow>)?()?;
                Some(column.is_valid(row).then(|| ($from)(column.value(row))))
            }
        }
    };
}

primitive_cell!(Nanos, Int64, Nanos::as_nanos, Nanos::from_nanos, as_primitive_opt::<Int64Type>);
primitive_cell!(
    UnixNanos,
    Int64,
    UnixNanos::as_nanos,
    UnixNanos::from_nanos,
    as_primitive_opt::<Int64Type>
);
primitive_cell!(
    Target,
    Int64,
    |target: Target| target.bits().cast_signed(),
    |bits: i64| Target::new(bits.cast_unsigned()),
    as_primitive_opt::<Int64Type>
);
primitive_cell!(
    i64,
    Int64,
    std::convert::identity,
    std::convert::identity,
    as_primitive_opt::<Int64Type>
);
primitive_cell!(
    i32,
    Int32,
    std::convert::identity,
    std::convert::identity,
    as_primitive_opt::<Int32Type>
);
primitive_cell!(
    f64,
    Float64,
    std::convert::identity,
    std::convert::identity,
    as_primitive_opt::<Float64Type>
);
primitive_cell!(bool, Boolean, std::convert::identity, std::convert::identity, as_boolean_opt);

/// Cells that are text: in what shape they are gathered, and how to read one.
trait TextCell: Sized {
    type Value;
    const SHAPE: fn(Vec<Self::Value>) -> Values;
    fn value(&self) -> Self::Value;
    fn read(text: &str, strings: &mut Interner) -> Option<Self>;
    fn renumber(&mut self, _new: &mut dyn FnMut(Sym) -> Sym) {}
}

macro_rules! text_cell {
    ($ty:ty) => {
        impl Cell for $ty {
            fn data_type() -> DataType {
                DataType::Utf8
            }

            fn gather<'a>(cells: impl ExactSizeIterator<Item = &'a Self>) -> Gathered {
                let values = cells.map(TextCell::value).collect();
                Gathered::required(<$ty as TextCell>::SHAPE(values))
            }

            fn get(column: &ArrayRef, row: usize, strings: &mut Interner) -> Option<Self> {
                let column: &StringArray = column.as_string_opt::<i32>()?;
                let text = column.is_valid(row).then(|| column.value(row))?;
                <$ty as TextCell>::read(text, strings)
            }

            fn renumber(&mut self, new: &mut dyn FnMut(Sym) -> Sym) {
                TextCell::renumber(self, new);
            }
        }

        impl Cell for Option<$ty> {
            fn data_type() -> DataType {
                DataType::Utf8
            }

            fn gather<'a>(cells: impl ExactSizeIterator<Item = &'a Self>) -> Gathered {
                Gathered::optional(cells, TextCell::value, <$ty as TextCell>::SHAPE)
            }

            fn get(column: &ArrayRef, row: usize, strings: &mut Interner) -> Option<Self> {
                let column: &StringArray = column.as_string_opt::<i32>()?;
                if column.is_null(row) {
                    return Some(None);
                }
                <$ty as TextCell>::read(column.value(row), strings).map(Some)
            }

            fn renumber(&mut self, new: &mut dyn FnMut(Sym) -> Sym) {
                if let Some(cell) = self {
                    TextCell::renumber(cell, new);
                }
            }
        }
    };
}

impl TextCell for Sym {
    type Value = Self;
    const SHAPE: fn(Vec<Self>) -> Values = Values::Name;

    fn value(&self) -> Self {
        *self
    }

    fn read(text: &str, strings: &mut Interner) -> Option<Self> {
        Some(strings.intern(text))
    }

    fn renumber(&mut self, new: &mut dyn FnMut(Sym) -> Sym) {
        *self = new(*self);
    }
}

impl TextCell for TraceId {
    type Value = Self;
    const SHAPE: fn(Vec<Self>) -> Values = Values::TraceId;

    fn value(&self) -> Self {
        *self
    }

    fn read(text: &str, _: &mut Interner) -> Option<Self> {
        u128::from_str_radix(text, 16).ok().map(TraceId)
    }
}

impl TextCell for SpanId {
    type Value = Self;
    const SHAPE: fn(Vec<Self>) -> Values = Values::SpanId;

    fn value(&self) -> Self {
        *self
    }

    fn read(text: &str, _: &mut Interner) -> Option<Self> {
        u64::from_str_radix(text, 16).ok().map(SpanId)
    }
}

text_cell!(Sym);
text_cell!(TraceId);
text_cell!(SpanId);

/// Cells that are names of a closed set.
macro_rules! name_cell {
    ($($ty:ty),+ $(,)?) => { $(
        impl TextCell for $ty {
            type Value = u32;
            const SHAPE: fn(Vec<u32>) -> Values = |words| {
                let name = |word| <$ty>::ALL.get(word as usize).map_or("", |word| word.name());
                Values::Word(words, name)
            };

            fn value(&self) -> u32 {
                *self as u32
            }

            fn read(text: &str, _: &mut Interner) -> Option<Self> {
                <$ty>::from_name(text)
            }
        }

        text_cell!($ty);
    )+ };
}

name_cell!(
    crate::span::Outcome,
    crate::span::GrantKind,
    crate::span::Kind,
    super::distribution::Scope,
    super::rows::AttemptKind,
    super::rows::Blame,
    super::rows::Category,
    super::rows::Certainty,
    super::rows::DeadlineSource,
    super::rows::Evidence,
    super::rows::FindingCode,
    super::rows::Funding,
    super::rows::Severity,
    super::rows::TerminalOutcome,
    super::rows::Verdict,
    super::schema::BadSide,
);

impl Cell for BlindSpots {
    fn data_type() -> DataType {
        DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true)))
    }

    fn gather<'a>(cells: impl ExactSizeIterator<Item = &'a Self>) -> Gathered {
        Gathered::required(Values::BlindSpots(cells.copied().collect()))
    }

    fn get(column: &ArrayRef, row: usize, _: &mut Interner) -> Option<Self> {
        let lists = column.as_list_opt::<i32>()?;
        let names = lists.is_valid(row).then(|| lists.value(row))?;
        let names: &StringArray = names.as_string_opt::<i32>()?;
        let mut spots = Self::default();
        for name in names {
            spots.insert(BlindSpot::from_name(name?)?);
        }
        Some(spots)
    }
}
