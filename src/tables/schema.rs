//! What a table is: a name, a doc and columns; and the macro that declares one with its row.

use std::sync::Arc;

use arrow_array::builder::NullBufferBuilder;
use arrow_array::{RecordBatch, StructArray};
use arrow_schema::{ArrowError, DataType, Field, Schema};

use super::gathered::Gathered;
use super::{distribution, outline, rows};
use crate::names::names;
use crate::span::{Interner, Sym};
use crate::units::Nanos;

/// Version of all tables together. A folder of a newer one is refused.
pub const SCHEMA_VERSION: u32 = 3;

names! {
    /// The side on which a measure hurts: percentiles are told towards it (SEMANTICS §12).
    pub enum BadSide {
        /// Much is bad: elapsed, queue, late and residual time.
        High = "high",
        /// Little is bad: what was left.
        Low = "low",
    }
}

/// One column.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name, the unit last.
    pub name: &'static str,
    /// Its type on disk.
    pub data_type: DataType,
    /// What a null means; `None` where there is none.
    pub null: Option<&'static str>,
    /// The bad side of a measure.
    pub bad_side: Option<BadSide>,
    /// What it says.
    pub doc: &'static str,
}

impl Column {
    /// Its unit.
    pub fn unit(&self) -> Option<&'static str> {
        unit(self.name)
    }
}

/// The unit that the name of a column ends in: `ns`, `unix_ns` (since the epoch), or none.
pub fn unit(name: &str) -> Option<&'static str> {
    if name.ends_with("_unix_ns") {
        Some("unix_ns")
    } else if name.ends_with("_ns") {
        Some("ns")
    } else {
        None
    }
}

/// One table.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Its name, which is also its file's.
    pub name: &'static str,
    /// What a row is.
    pub doc: &'static str,
    /// Its columns in order.
    pub columns: fn() -> Vec<Column>,
}

impl Table {
    /// The Arrow schema.
    pub fn arrow_schema(&self) -> Arc<Schema> {
        let field = |column: &Column| {
            Field::new(column.name, column.data_type.clone(), column.null.is_some())
        };
        Arc::new(Schema::new((self.columns)().iter().map(field).collect::<Vec<_>>()))
    }

    /// Gathered columns as an Arrow batch.
    ///
    /// # Errors
    /// They are not those of the table.
    pub fn batch(
        &self,
        columns: &[Gathered],
        strings: &Interner,
    ) -> Result<RecordBatch, ArrowError> {
        let columns = columns.iter().map(|column| column.to_arrow(strings, column.len())).collect();
        RecordBatch::try_new(self.arrow_schema(), columns)
    }

    /// Its rows as one column of structs.
    pub fn struct_type(&self) -> DataType {
        DataType::Struct(self.arrow_schema().fields().clone())
    }

    /// Gathered columns as structs, of which so many are behind the last row, and null.
    ///
    /// # Errors
    /// They are not those of the table.
    pub fn structs(
        &self,
        columns: &[Gathered],
        strings: &Interner,
        behind: usize,
    ) -> Result<StructArray, ArrowError> {
        let rows = columns.first().map_or(0, Gathered::len);
        let mut present = NullBufferBuilder::new(rows + behind);
        present.append_n_non_nulls(rows);
        present.append_n_nulls(behind);
        let columns = columns.iter().map(|column| column.to_arrow(strings, rows + behind));
        let fields = self.arrow_schema().fields().clone();
        StructArray::try_new(fields, columns.collect(), present.finish())
    }
}

/// A measure of a row: a length of time that has a side on which it hurts.
#[derive(Debug)]
pub struct Measure<R> {
    /// Its column.
    pub column: &'static str,
    /// The side.
    pub bad_side: BadSide,
    /// The value in a row.
    pub value: fn(&R) -> Option<Nanos>,
}

/// A row type of a table.
pub trait Row: Sized + 'static {
    /// The table.
    const TABLE: Table;

    /// Its measures, in the order of their columns.
    const MEASURES: &'static [Measure<Self>];

    /// The columns of some rows, in the order in which they are declared.
    fn gather(rows: &[Self]) -> Vec<Gathered>;

    /// Gives all its strings other numbers.
    fn renumber(&mut self, new: &mut dyn FnMut(Sym) -> Sym);

    /// The rows of a batch; columns are found by name.
    fn from_batch(batch: &RecordBatch, strings: &mut Interner) -> Result<Vec<Self>, ReadError>;
}

/// A table that was written by something else, or by another version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// A column is missing.
    #[error("table {table} has no column {column}")]
    NoColumn {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
    },
    /// A value cannot be.
    #[error("table {table}, column {column}, row {row}: a value that cannot be")]
    BadValue {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
        /// The row, from 0.
        row: usize,
    },
}

/// Declares a table and its row type.
macro_rules! table {
    (
        $(#[doc = $table_doc:literal])*
        $table:literal => $row:ident {
            $(
                $(#[doc = $doc:literal])*
                $name:ident: $ty:ty $(, bad = $bad:ident)? $(, null = $null:literal)?;
            )+
        }
    ) => {
        $(#[doc = $table_doc])*
        #[derive(Clone, Debug)]
        pub struct $row {
            $($(#[doc = $doc])* pub $name: $ty,)+
        }

        impl $crate::tables::Row for $row {
            const TABLE: $crate::tables::Table = $crate::tables::Table {
                name: $table,
                doc: concat!($($table_doc),*),
                columns: || vec![$($crate::tables::Column {
                    name: stringify!($name),
                    data_type: <$ty as $crate::tables::Cell>::data_type(),
                    null: table!(@null $($null)?),
                    bad_side: table!(@bad $($bad)?),
                    doc: concat!($($doc),*),
                },)+],
            };

            const MEASURES: &'static [$crate::tables::Measure<Self>] = &[$($(
                $crate::tables::Measure {
                    column: stringify!($name),
                    bad_side: table!(@side $bad),
                    value: |row| row.$name.into(),
                },
            )?)+];

            fn gather(rows: &[Self]) -> Vec<$crate::tables::Gathered> {
                vec![$(<$ty as $crate::tables::Cell>::gather(rows.iter().map(|row| &row.$name)),)+]
            }

            fn renumber(&mut self, new: &mut dyn FnMut($crate::span::Sym) -> $crate::span::Sym) {
                $($crate::tables::Cell::renumber(&mut self.$name, new);)+
            }

            fn from_batch(
                batch: &arrow_array::RecordBatch,
                strings: &mut $crate::span::Interner,
            ) -> Result<Vec<Self>, $crate::tables::ReadError> {
                use $crate::tables::ReadError;
                $(
                    let missing =
                        ReadError::NoColumn { table: $table, column: stringify!($name) };
                    let $name = batch.column_by_name(stringify!($name)).ok_or(missing)?;
                    let wrong =
                        ReadError::BadValue { table: $table, column: stringify!($name), row: 0 };
                    let mut $name = <$ty as $crate::tables::Cell>::column($name).ok_or(wrong)?;
                )+
                let mut rows = Vec::with_capacity(batch.num_rows());
                for row in 0..batch.num_rows() {
                    rows.push(Self { $(
                        $name: <$ty as $crate::tables::Cell>::get(&mut $name, row, strings).ok_or(
                            ReadError::BadValue { table: $table, column: stringify!($name), row },
                        )?,
                    )+ });
                }
                Ok(rows)
            }
        }
    };
    (@null $null:literal) => { Some($null) };
    (@null) => { None };
    (@bad $bad:ident) => { Some(table!(@side $bad)) };
    (@bad) => { None };
    (@side high) => { $crate::tables::BadSide::High };
    (@side low) => { $crate::tables::BadSide::Low };
}

pub(super) use table;

/// All tables, in the order in which they are written.
pub const TABLES: &[Table] = &[
    rows::RequestRow::TABLE,
    rows::HopRow::TABLE,
    rows::AttemptRow::TABLE,
    rows::SegmentRow::TABLE,
    rows::FindingRow::TABLE,
    distribution::DistributionRow::TABLE,
    rows::ProblemRow::TABLE,
    outline::ExemplarRow::TABLE,
];
