//! The finding that needs several traces, queue by queue: any tasks that have whole queues find what one
//! that has all would.

use std::io::{Read, Write};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::filter::filter;
use rustc_hash::FxHashMap;

use super::Failure;
use super::stream::{self, Out};
use super::wide::{FINDINGS_AT, HOP, VALUES, filled, value_fields, values_of};
use crate::distributions::{Held, Measured, Precision};
use crate::graveyard::Graveyard;
use crate::span::{Interner, SpanId, TraceId};
use crate::tables::{FindingRow, HopRow, ReadError, Row, StayRow, Tables};

/// The order of late findings among those of their request.
const LATE: &str = "late";

/// The columns of what comes out: findings, behind which finding of its request each stands, in what
/// order those of one request come, and values of distributions.
pub(super) fn schema() -> SchemaRef {
    let field = |name, data_type| Field::new(name, data_type, true);
    Arc::new(Schema::new(vec![
        field(FindingRow::TABLE.name, FindingRow::TABLE.struct_type()),
        field(FINDINGS_AT, DataType::Int64),
        field(LATE, DataType::Utf8),
        field(VALUES, DataType::Struct(value_fields())),
    ]))
}

/// Finds what stays tell, of which those of a queue come one after another.
///
/// # Errors
/// What comes in is something else.
pub fn find_late(
    input: impl Read,
    output: impl Write,
    precision: Precision,
) -> Result<(), Failure> {
    let mut task = Task {
        out: Out::new(output, &schema())?,
        queue: None,
        graveyard: Graveyard::default(),
        last_findings: FxHashMap::default(),
        values: Held::default(),
    };
    for batch in stream::batches(input)? {
        task.add(&batch?)?;
    }
    task.end_queue()?;
    task.finish(precision)
}

struct Task<W: Write> {
    out: Out<W>,
    /// The service and the clock of what came last.
    queue: Option<(String, String)>,
    /// What stood in that queue.
    graveyard: Graveyard,
    /// By request the place of the last of the findings that are known of it.
    last_findings: FxHashMap<(TraceId, SpanId), i64>,
    values: Held,
}

impl<W: Write> Task<W> {
    fn add(&mut self, batch: &RecordBatch) -> Result<(), Failure> {
        let mut strings = Interner::default();
        let rows = StayRow::from_batch(batch, &mut strings)?;
        let hop_column = column(batch, HOP)?;
        let hops = hops(hop_column, &mut strings)?;
        let places = column(batch, FINDINGS_AT)?.as_primitive_opt::<Int64Type>();
        let places = places.ok_or(missing(FINDINGS_AT))?;
        let mut row = 0;
        let mut hops = hops.into_iter();
        for queue in
            rows.chunk_by(|a, b| (a.service, a.clock_domain) == (b.service, b.clock_domain))
        {
            let Some(first) = queue.first() else { continue };
            let name = |sym| strings.get(sym).to_owned();
            let key = Some((name(first.service), name(first.clock_domain)));
            if self.queue != key {
                self.end_queue()?;
                self.queue = key;
            }
            let mut tables = Tables::default();
            for stay in queue {
                let hop = if hop_column.is_valid(row) { hops.next() } else { None };
                if let (Some(hop), true) = (&hop, places.is_valid(row)) {
                    let request = (hop.trace_id, hop.root_span_id);
                    self.last_findings.insert(request, places.value(row));
                }
                tables.stays.push(stay.stay(tables.hops.len()));
                tables.hops.extend(hop);
                row += 1;
            }
            tables.strings = strings.clone();
            self.graveyard.add(&tables);
        }
        Ok(())
    }

    /// Tells what was found in the queue that came last.
    fn end_queue(&mut self) -> Result<(), Failure> {
        let found = std::mem::take(&mut self.graveyard).findings();
        let last_findings = std::mem::take(&mut self.last_findings);
        self.values.add(&Measured::of_late(&found), &found.strings);
        let late = found.findings.iter().zip(&found.stays);
        // As in one place: one whose request has no finding before it stands nowhere.
        let placed = late.filter_map(|(row, stay)| {
            let place = last_findings.get(&(row.trace_id, row.root_span_id))?;
            let begun = stay.begun.as_nanos().cast_unsigned() ^ 1 << 63;
            Some((row.clone(), *place, format!("{begun:016x}{}", row.span_id)))
        });
        let placed: Vec<_> = placed.collect();
        if placed.is_empty() {
            return Ok(());
        }
        let rows: Vec<FindingRow> = placed.iter().map(|(row, ..)| row.clone()).collect();
        let findings = FindingRow::TABLE.structs(&FindingRow::gather(&rows), &found.strings, 0)?;
        let places: Int64Array = placed.iter().map(|(_, place, _)| Some(*place)).collect();
        let late: StringArray = placed.iter().map(|(.., late)| Some(late)).collect();
        let none = values_of(&[], rows.len())?;
        self.write(vec![Arc::new(findings), Arc::new(places), Arc::new(late), none])
    }

    fn write(&mut self, columns: Vec<ArrayRef>) -> Result<(), Failure> {
        self.out.write(&RecordBatch::try_new(schema(), columns)?)
    }

    fn finish(mut self, precision: Precision) -> Result<(), Failure> {
        let parcels = std::mem::take(&mut self.values).packed(precision);
        if !parcels.is_empty() {
            let len = parcels.len();
            let findings =
                FindingRow::TABLE.structs(&FindingRow::gather(&[]), &Interner::default(), len)?;
            let places: Int64Array = filled(std::iter::empty::<Option<i64>>(), len);
            let late: StringArray = filled(std::iter::empty::<Option<&str>>(), len);
            let values = values_of(&parcels, len)?;
            self.write(vec![Arc::new(findings), Arc::new(places), Arc::new(late), values])?;
        }
        self.out.finish()
    }
}

/// The hops that are there.
fn hops(column: &ArrayRef, strings: &mut Interner) -> Result<Vec<HopRow>, Failure> {
    let present: BooleanArray = (0..column.len()).map(|row| Some(column.is_valid(row))).collect();
    let hops = filter(column, &present)?;
    let hops = hops.as_struct_opt().ok_or(missing(HOP))?;
    let schema = Arc::new(Schema::new(hops.fields().clone()));
    let batch = RecordBatch::try_new(schema, hops.columns().to_vec())?;
    Ok(HopRow::from_batch(&batch, strings)?)
}

fn column<'b>(batch: &'b RecordBatch, name: &'static str) -> Result<&'b ArrayRef, ReadError> {
    batch.column_by_name(name).ok_or(missing(name))
}

const fn missing(column: &'static str) -> ReadError {
    ReadError::NoColumn { table: "stays", column }
}
