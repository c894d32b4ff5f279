//! The one kind of row that a rebuilding task gives: the tables beside one another, each a column of
//! structs, row by row as far as each goes, and beside them what is made of all tasks together. An engine
//! keeps it once and takes each table out of it.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BinaryArray, Int64Array, RecordBatch, StructArray, UInt32Array,
};
use arrow_array::{StringArray, builder::NullBufferBuilder, new_null_array};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use arrow_select::take::take;
use rustc_hash::FxHashMap;

use super::Failure;
use super::part::PART;
use crate::distributions::Parcel;
use crate::span::{Interner, SpanId, TraceId};
use crate::tables::{
    AttemptRow, CandidateRow, ExemplarRow, FindingRow, HopRow, RequestRow, Row, SegmentRow, Stay,
    StayRow, Table, Tables,
};

/// The place of a finding among those of its task.
pub(super) const FINDINGS_AT: &str = "findings_at";

/// What stood in queues.
const STAYS: &str = "stays";

/// In it the hop that it is about, where that began after its deadline.
pub(super) const HOP: &str = "hop";

/// Values of distributions.
pub(super) const VALUES: &str = "values";

/// Requests that may be shown, beside the first rows of their traces.
pub(super) const CANDIDATES: &str = "candidates";

/// Their traces.
pub(super) const EXEMPLARS: &str = "exemplars";

/// The place of a row among those of its task.
pub(super) const AT: &str = "at";

/// So many rows go out at a time at most.
const BATCH_ROWS: usize = 1 << 14;

/// How much text a column of them may hold: less than 2 GiB.
const TEXT_BYTES: usize = 1 << 30;

/// The columns.
pub(super) fn schema() -> SchemaRef {
    let structs = |table: Table| field(table.name, table.struct_type());
    Arc::new(Schema::new(vec![
        structs(RequestRow::TABLE),
        structs(HopRow::TABLE),
        structs(AttemptRow::TABLE),
        structs(SegmentRow::TABLE),
        structs(FindingRow::TABLE),
        field(FINDINGS_AT, DataType::Int64),
        field(STAYS, DataType::Struct(stay_fields())),
        field(VALUES, DataType::Struct(value_fields())),
        field(CANDIDATES, DataType::Struct(with_place(CandidateRow::TABLE))),
        field(EXEMPLARS, DataType::Struct(with_place(ExemplarRow::TABLE))),
        field(PART, DataType::Binary),
    ]))
}

fn field(name: &str, data_type: DataType) -> FieldRef {
    Arc::new(Field::new(name, data_type, true))
}

fn and(table: Table, more: impl IntoIterator<Item = FieldRef>) -> Fields {
    table.arrow_schema().fields().iter().cloned().chain(more).collect()
}

/// The columns of a table, and the place of a row.
pub(super) fn with_place(table: Table) -> Fields {
    and(table, [field(AT, DataType::Int64)])
}

/// Of a stay, the place of the last finding of its request, and its hop.
fn stay_fields() -> Fields {
    let hop = field(HOP, HopRow::TABLE.struct_type());
    and(StayRow::TABLE, [field(FINDINGS_AT, DataType::Int64), hop])
}

/// Whose values, and which.
pub(super) fn value_fields() -> Fields {
    let columns =
        [(CLASS, DataType::Utf8), (SUBJECT, DataType::Binary), (SAMPLES, DataType::Binary)];
    columns.map(|(name, data_type)| field(name, data_type)).into_iter().collect()
}

/// The class that values are of.
pub(super) const CLASS: &str = "request_class";

/// Whose they are.
pub(super) const SUBJECT: &str = "subject";

/// The values.
pub(super) const SAMPLES: &str = "samples";

/// What is told at a time.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Rows of tables, and the strings behind all rows.
    pub(super) tables: Tables,
    /// How many findings were told before.
    pub(super) findings_before: i64,
    /// Values of distributions.
    pub(super) values: Vec<Parcel>,
    /// Traces that may be shown, and beside the first rows of each the requests.
    pub(super) exemplars: Vec<(ExemplarRow, Option<CandidateRow>)>,
    /// How many rows of them were told before.
    pub(super) exemplars_before: i64,
    /// What is told besides rows, at the end.
    pub(super) part: Option<Vec<u8>>,
}

impl Told {
    /// It as rows.
    pub(super) fn for_each_batch(
        &self,
        mut take: impl FnMut(RecordBatch) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let last_findings = self.last_findings();
        let text_rows = TEXT_BYTES / self.tables.strings.longest().max(1);
        let at_a_time = text_rows.clamp(1, BATCH_ROWS);
        for from in (0..self.len()).step_by(at_a_time) {
            let piece = Piece { told: self, from, at_most: at_a_time };
            take(piece.batch(&last_findings)?)?;
        }
        Ok(())
    }

    /// How many rows it takes.
    fn len(&self) -> usize {
        let Tables { requests, hops, attempts, segments, findings, stays, .. } = &self.tables;
        let lens = [
            requests.len(),
            hops.len(),
            attempts.len(),
            segments.len(),
            findings.len(),
            stays.len(),
            self.values.len(),
            self.exemplars.len(),
            usize::from(self.part.is_some()),
        ];
        lens.into_iter().max().unwrap_or(0)
    }

    /// By request the place of its last finding, for those of which others may be found elsewhere.
    fn last_findings(&self) -> FxHashMap<(TraceId, SpanId), i64> {
        if self.tables.stays.iter().all(|stay| stay.expired.is_none()) {
            return FxHashMap::default();
        }
        let places = (self.findings_before..).zip(&self.tables.findings);
        places.map(|(place, row)| ((row.trace_id, row.root_span_id), place)).collect()
    }
}

/// Some neighbouring rows.
struct Piece<'t> {
    told: &'t Told,
    from: usize,
    at_most: usize,
}

impl<'t> Piece<'t> {
    fn of<T>(&self, rows: &'t [T]) -> &'t [T] {
        let rows = rows.get(self.from..).unwrap_or_default();
        rows.get(..self.at_most).unwrap_or(rows)
    }

    fn batch(
        &self,
        last_findings: &FxHashMap<(TraceId, SpanId), i64>,
    ) -> Result<RecordBatch, Failure> {
        let Told { tables, values, exemplars, .. } = self.told;
        let len = self.at_most.min(self.told.len() - self.from);
        let fill = Fill { strings: &tables.strings, len };
        let parts: &[Vec<u8>] = self.told.part.as_slice();
        let columns = vec![
            fill.structs(self.of(&tables.requests))?,
            fill.structs(self.of(&tables.hops))?,
            fill.structs(self.of(&tables.attempts))?,
            fill.structs(self.of(&tables.segments))?,
            fill.structs(self.of(&tables.findings))?,
            fill.places(self.told.findings_before, self.from, self.of(&tables.findings).len()),
            fill.stays(self.of(&tables.stays), &tables.hops, last_findings)?,
            values_of(self.of(values), len)?,
            fill.candidates(self.of(exemplars), self.told.exemplars_before, self.from)?,
            fill.exemplars(self.of(exemplars), self.told.exemplars_before, self.from)?,
            Arc::new(filled::<BinaryArray, _>(self.of(parts).iter().map(Some), len)),
        ];
        Ok(RecordBatch::try_new(schema(), columns)?)
    }
}

/// Fills columns up to one length.
#[derive(Clone, Copy)]
struct Fill<'s> {
    strings: &'s Interner,
    len: usize,
}

impl Fill<'_> {
    fn structs<R: Row>(self, rows: &[R]) -> Result<ArrayRef, ArrowError> {
        let behind = self.len - rows.len();
        Ok(Arc::new(R::TABLE.structs(&R::gather(rows), self.strings, behind)?))
    }

    /// Rows that not every place has one of.
    fn sparse<R: Row>(self, rows: Vec<Option<R>>) -> Result<ArrayRef, ArrowError> {
        let mut numbers = 0_u32..;
        let places = rows.iter().map(|row| row.as_ref().and_then(|_| numbers.next()));
        let places: UInt32Array = filled(places, self.len);
        let rows: Vec<R> = rows.into_iter().flatten().collect();
        if rows.is_empty() {
            return Ok(new_null_array(&R::TABLE.struct_type(), self.len));
        }
        let structs = R::TABLE.structs(&R::gather(&rows), self.strings, 0)?;
        take(&structs, &places, None)
    }

    /// Places of so many rows, of which others came before.
    fn places(self, before: i64, from: usize, rows: usize) -> ArrayRef {
        let first = i64::try_from(from).map_or(i64::MAX, |from| before.saturating_add(from));
        Arc::new(filled::<Int64Array, _>((first..).take(rows).map(Some), self.len))
    }

    fn stays(
        self,
        stays: &[Stay],
        hops: &[HopRow],
        last_findings: &FxHashMap<(TraceId, SpanId), i64>,
    ) -> Result<ArrayRef, ArrowError> {
        let rows: Vec<StayRow> = stays.iter().map(StayRow::from).collect();
        let hop = |stay: &Stay| hops.get(stay.hop).filter(|_| stay.expired.is_some());
        let last = |stay: &Stay| {
            let hop = hop(stay)?;
            last_findings.get(&(hop.trace_id, hop.root_span_id)).copied()
        };
        let places: Int64Array = filled(stays.iter().map(last), self.len);
        let hops = self.sparse(stays.iter().map(|stay| hop(stay).cloned()).collect())?;
        widened(&self.structs(&rows)?, stay_fields(), [Arc::new(places) as ArrayRef, hops])
    }

    fn candidates(
        self,
        rows: &[(ExemplarRow, Option<CandidateRow>)],
        before: i64,
        from: usize,
    ) -> Result<ArrayRef, ArrowError> {
        let structs = self.sparse(rows.iter().map(|(_, row)| row.clone()).collect())?;
        let places = self.places(before, from, rows.len());
        widened(&structs, with_place(CandidateRow::TABLE), [places])
    }

    fn exemplars(
        self,
        rows: &[(ExemplarRow, Option<CandidateRow>)],
        before: i64,
        from: usize,
    ) -> Result<ArrayRef, ArrowError> {
        let places = self.places(before, from, rows.len());
        let rows: Vec<ExemplarRow> = rows.iter().map(|(row, _)| row.clone()).collect();
        widened(&self.structs(&rows)?, with_place(ExemplarRow::TABLE), [places])
    }
}

/// Cells, and nulls behind them up to `len`.
pub(super) fn filled<A, T>(cells: impl Iterator<Item = Option<T>>, len: usize) -> A
where
    A: FromIterator<Option<T>>,
{
    cells.chain(std::iter::repeat_with(|| None)).take(len).collect()
}

/// Structs with further columns.
fn widened(
    structs: &ArrayRef,
    fields: Fields,
    more: impl IntoIterator<Item = ArrayRef>,
) -> Result<ArrayRef, ArrowError> {
    let columns = structs.as_any().downcast_ref::<StructArray>().map(StructArray::columns);
    let columns = columns.unwrap_or_default().iter().cloned().chain(more).collect();
    Ok(Arc::new(StructArray::try_new(fields, columns, structs.nulls().cloned())?))
}

/// Values of distributions, and nulls behind them up to `len`.
pub(super) fn values_of(values: &[Parcel], len: usize) -> Result<ArrayRef, ArrowError> {
    let classes: StringArray = filled(values.iter().map(|parcel| Some(parcel.class())), len);
    let subjects: BinaryArray =
        filled(values.iter().map(|parcel| Some(parcel.subject_bytes())), len);
    let samples: BinaryArray = filled(values.iter().map(|parcel| Some(parcel.sample_bytes())), len);
    let mut present = NullBufferBuilder::new(len);
    present.append_n_non_nulls(values.len());
    present.append_n_nulls(len - values.len());
    let columns: Vec<ArrayRef> = vec![Arc::new(classes), Arc::new(subjects), Arc::new(samples)];
    Ok(Arc::new(StructArray::try_new(value_fields(), columns, present.finish())?))
}
