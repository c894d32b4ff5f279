//! How a field of a row becomes an Arrow column and comes back.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, StringArray,
};
use arrow_schema::{DataType, Field};

use super::rows::{BlindSpot, BlindSpots};
use crate::span::{Interner, SpanId, Sym, TraceId};
use crate::units::{Nanos, UnixNanos};

/// A type that a column may have. Only types that Spark, `DuckDB` and `ClickHouse` all read.
pub trait Cell: Sized {
    /// The type on disk.
    fn data_type() -> DataType;

    /// A column of such cells.
    fn array<'a>(cells: impl Iterator<Item = &'a Self>, strings: &Interner) -> ArrayRef
    where
        Self: 'a;

    /// The cell of `row`; `None` where the column has another type or the value cannot be.
    fn get(column: &ArrayRef, row: usize, strings: &mut Interner) -> Option<Self>;
}

/// Cells that are numbers of Arrow's own types, with or without nulls.
macro_rules! primitive_cell {
    ($ty:ty, $data_type:expr, $array:ty, $to:expr, $from:expr, $as:ident $(::<$arrow:ty>)?) => {
        impl Cell for $ty {
            fn data_type() -> DataType {
                $data_type
            }

            fn array<'a>(cells: impl Iterator<Item = &'a Self>, _: &Interner) -> ArrayRef {
                Arc::new(cells.map(|cell| Some(($to)(*cell))).collect::<$array>())
            }

            fn get(column: &ArrayRef, row: usize, _: &mut Interner) -> Option<Self> {
                let column = column.$as$(::<$arrow>)?()?;
                column.is_valid(row).then(|| ($from)(column.value(row)))
            }
        }

        impl Cell for Option<$ty> {
            fn data_type() -> DataType {
                $data_type
            }

            fn array<'a>(cells: impl Iterator<Item = &'a Self>, _: &Interner) -> ArrayRef {
                Arc::new(cells.map(|cell| cell.map($to)).collect::<$array>())
            }

            fn get(column: &ArrayRef, row: usize, _: &mut Interner) -> Option<Self> {
                let column = column.$as$(::<$arrow>)?()?;
                Some(column.is_valid(row).then(|| ($from)(column.value(row))))
            }
        }
    };
}

primitive_cell!(
    Nanos,
    DataType::Int64,
    Int64Array,
    Nanos::as_nanos,
    Nanos::from_nanos,
    as_primitive_opt::<Int64Type>
);
primitive_cell!(
    UnixNanos,
    DataType::Int64,
    Int64Array,
    UnixNanos::as_nanos,
    UnixNanos::from_nanos,
    as_primitive_opt::<Int64Type>
);
primitive_cell!(
    i64,
    DataType::Int64,
    Int64Array,
    std::convert::identity,
    std::convert::identity,
    as_primitive_opt::<Int64Type>
);
primitive_cell!(
    i32,
    DataType::Int32,
    Int32Array,
    std::convert::identity,
    std::convert::identity,
    as_primitive_opt::<Int32Type>
);
primitive_cell!(
    f64,
    DataType::Float64,
    Float64Array,
    std::convert::identity,
    std::convert::identity,
    as_primitive_opt::<Float64Type>
);
primitive_cell!(
    bool,
    DataType::Boolean,
    BooleanArray,
    std::convert::identity,
    std::convert::identity,
    as_boolean_opt
);

/// Cells that are text: how to write one into a builder, and how to read it.
trait TextCell: Sized {
    fn write(&self, builder: &mut StringBuilder, strings: &Interner);
    fn read(text: &str, strings: &mut Interner) -> Option<Self>;
}

macro_rules! text_cell {
    ($ty:ty) => {
        impl Cell for $ty {
            fn data_type() -> DataType {
                DataType::Utf8
            }

            fn array<'a>(cells: impl Iterator<Item = &'a Self>, strings: &Interner) -> ArrayRef {
                let mut builder = StringBuilder::new();
                cells.for_each(|cell| cell.write(&mut builder, strings));
                Arc::new(builder.finish())
            }

            fn get(column: &ArrayRef, row: usize, strings: &mut Interner) -> Option<Self> {
                let column: &StringArray = column.as_string_opt::<i32>()?;
                let text = column.is_valid(row).then(|| column.value(row))?;
                <$ty as TextCell>::read(text, strings)
            }
        }

        impl Cell for Option<$ty> {
            fn data_type() -> DataType {
                DataType::Utf8
            }

            fn array<'a>(cells: impl Iterator<Item = &'a Self>, strings: &Interner) -> ArrayRef {
                let mut builder = StringBuilder::new();
                for cell in cells {
                    match cell {
                        Some(cell) => cell.write(&mut builder, strings),
                        None => builder.append_null(),
                    }
                }
                Arc::new(builder.finish())
            }

            fn get(column: &ArrayRef, row: usize, strings: &mut Interner) -> Option<Self> {
                let column: &StringArray = column.as_string_opt::<i32>()?;
                if column.is_null(row) {
                    return Some(None);
                }
                <$ty as TextCell>::read(column.value(row), strings).map(Some)
            }
        }
    };
}

impl TextCell for Sym {
    fn write(&self, builder: &mut StringBuilder, strings: &Interner) {
        builder.append_value(strings.get(*self));
    }

    fn read(text: &str, strings: &mut Interner) -> Option<Self> {
        Some(strings.intern(text))
    }
}

impl TextCell for TraceId {
    fn write(&self, builder: &mut StringBuilder, _: &Interner) {
        builder.append_value(self.to_string());
    }

    fn read(text: &str, _: &mut Interner) -> Option<Self> {
        u128::from_str_radix(text, 16).ok().map(TraceId)
    }
}

impl TextCell for SpanId {
    fn write(&self, builder: &mut StringBuilder, _: &Interner) {
        builder.append_value(self.to_string());
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
            fn write(&self, builder: &mut StringBuilder, _: &Interner) {
                builder.append_value(self.name());
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
);

impl Cell for BlindSpots {
    fn data_type() -> DataType {
        DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true)))
    }

    fn array<'a>(cells: impl Iterator<Item = &'a Self>, _: &Interner) -> ArrayRef {
        let mut builder = ListBuilder::new(StringBuilder::new());
        for cell in cells {
            cell.iter().for_each(|spot| builder.values().append_value(spot.name()));
            builder.append(true);
        }
        Arc::new(builder.finish())
    }

    fn get(column: &ArrayRef, row: usize, _: &mut Interner) -> Option<Self> {
        let names = column.as_list_opt::<i32>()?.value(row);
        let names: &StringArray = names.as_string_opt::<i32>()?;
        let mut spots = Self::default();
        for name in names {
            spots.insert(BlindSpot::from_name(name?)?);
        }
        Some(spots)
    }
}
