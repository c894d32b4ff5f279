//! How a field of a row becomes a column of a table and comes back.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, ListArray, StringArray,
};
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

    /// A column of such cells, as it is read.
    type Column<'c>;

    /// Such a column; `None` where it has another type.
    fn column(column: &ArrayRef) -> Option<Self::Column<'_>>;

    /// The cell of `row`; `None` where the value cannot be.
    fn get(column: &mut Self::Column<'_>, row: usize, strings: &mut Interner) -> Option<Self>;

    /// Gives its string, if it is one, another number.
    fn renumber(&mut self, _new: &mut dyn FnMut(Sym) -> Sym) {}
}

/// Cells that are numbers of Arrow's own types, with or without nulls.
macro_rules! primitive_cell {
    ($ty:ty, $shape:ident, $to:expr, $from:expr, $array:ty) => {
        impl Cell for $ty {
            fn data_type() -> DataType {
                DataType::$shape
            }

            fn gather<'a>(cells: impl ExactSizeIterator<Item = &'a Self>) -> Gathered {
                Gathered::required(Values::$shape(cells.map(|cell| ($to)(*cell)).collect()))
            }

            type Column<'c> = &'c $array;

            fn column(column: &ArrayRef) -> Option<Self::Column<'_>> {
                column.as_any().downcast_ref()
            }

            fn get(column: &mut &$array, row: usize, _: &mut Interner) -> Option<Self> {
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

            type Column<'c> = &'c $array;

            fn column(column: &ArrayRef) -> Option<Self::Column<'_>> {
                column.as_any().downcast_ref()
            }

            fn get(column: &mut &$array, row: usize, _: &mut Interner) -> Option<Self> {
                Some(column.is_valid(row).then(|| ($from)(column.value(row))))
            }
        }
    };
}

primitive_cell!(Nanos, Int64, Nanos::as_nanos, Nanos::from_nanos, Int64Array);
primitive_cell!(UnixNanos, Int64, UnixNanos::as_nanos, UnixNanos::from_nanos, Int64Array);
primitive_cell!(
    Target,
    Int64,
    |target: Target| target.bits().cast_signed(),
    |bits: i64| Target::new(bits.cast_unsigned()),
    Int64Array
);
primitive_cell!(i64, Int64, std::convert::identity, std::convert::identity, Int64Array);
primitive_cell!(i32, Int32, std::convert::identity, std::convert::identity, Int32Array);
primitive_cell!(f64, Float64, std::convert::identity, std::convert::identity, Float64Array);
primitive_cell!(bool, Boolean, std::convert::identity, std::convert::identity, BooleanArray);

/// Cells that are text: in what shape they are gathered, and how to read one.
trait TextCell: Copy {
    type Value;
    const SHAPE: fn(Vec<Self::Value>) -> Values;
    fn value(&self) -> Self::Value;
    fn read(text: &str, strings: &mut Interner) -> Option<Self>;
    fn renumber(&mut self, _new: &mut dyn FnMut(Sym) -> Sym) {}
}

/// A column of texts, and what the last one read as: neighbours are often the same.
#[derive(Debug)]
pub struct Texts<'c, T> {
    column: &'c StringArray,
    last: Option<(&'c str, T)>,
}

impl<'c, T: Copy> Texts<'c, T> {
    fn of(column: &'c ArrayRef) -> Option<Self> {
        Some(Self { column: column.as_string_opt::<i32>()?, last: None })
    }

    /// The cell of a row, or that it has none; `None` where the value cannot be.
    #[expect(clippy::option_option, reason = "no cell and one that cannot be read are two things")]
    fn get(&mut self, row: usize, read: impl FnOnce(&str) -> Option<T>) -> Option<Option<T>> {
        if self.column.is_null(row) {
            return Some(None);
        }
        let text = self.column.value(row);
        match self.last {
            Some((last, cell)) if last == text => Some(Some(cell)),
            _ => {
                let cell = read(text)?;
                self.last = Some((text, cell));
                Some(Some(cell))
            }
        }
    }
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

            type Column<'c> = Texts<'c, Self>;

            fn column(column: &ArrayRef) -> Option<Texts<'_, Self>> {
                Texts::of(column)
            }

            fn get(
                column: &mut Texts<'_, Self>,
                row: usize,
                strings: &mut Interner,
            ) -> Option<Self> {
                column.get(row, |text| <$ty as TextCell>::read(text, strings))?
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

            type Column<'c> = Texts<'c, $ty>;

            fn column(column: &ArrayRef) -> Option<Texts<'_, $ty>> {
                Texts::of(column)
            }

            fn get(
                column: &mut Texts<'_, $ty>,
                row: usize,
                strings: &mut Interner,
            ) -> Option<Self> {
                column.get(row, |text| <$ty as TextCell>::read(text, strings))
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
        Self::from_hex(text)
    }
}

impl TextCell for SpanId {
    type Value = Self;
    const SHAPE: fn(Vec<Self>) -> Values = Values::SpanId;

    fn value(&self) -> Self {
        *self
    }

    fn read(text: &str, _: &mut Interner) -> Option<Self> {
        Self::from_hex(text)
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

    type Column<'c> = &'c ListArray;

    fn column(column: &ArrayRef) -> Option<&ListArray> {
        column.as_list_opt::<i32>()
    }

    fn get(lists: &mut &ListArray, row: usize, _: &mut Interner) -> Option<Self> {
        let names = lists.is_valid(row).then(|| lists.value(row))?;
        let names: &StringArray = names.as_string_opt::<i32>()?;
        let mut spots = Self::default();
        for name in names {
            spots.insert(BlindSpot::from_name(name?)?);
        }
        Some(spots)
    }
}
