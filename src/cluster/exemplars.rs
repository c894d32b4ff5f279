//! The table `exemplars`: which of the traces that tasks propose are shown.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, BooleanArray, Int64Array, RecordBatch};
use arrow_schema::{Schema, SchemaRef};
use arrow_select::filter::filter;

use super::Failure;
use super::stream::{self, Out};
use super::wide::{AT, CANDIDATES, EXEMPLARS, with_place};
use crate::exemplars::Choice;
use crate::span::{Interner, TraceId};
use crate::tables::{CandidateRow, ExemplarRow, Kept, ReadError, Row};

/// How many traces that are shown no more may be held.
const MOST_UNWANTED: usize = 1_000;

/// The columns: those of the table, and the place of a row among all.
pub(super) fn schema() -> SchemaRef {
    Arc::new(Schema::new(with_place(ExemplarRow::TABLE)))
}

/// Chooses among traces that come in their order, each with the requests that it may be shown for. Rows
/// of one trace may come in any order.
///
/// # Errors
/// What comes in is something else, or in another order.
pub fn choose(input: impl Read, output: impl Write) -> Result<(), Failure> {
    let mut chosen = Chosen::default();
    for batch in stream::batches(input)? {
        let batch = batch?;
        let mut strings = Interner::default();
        let mut come: BTreeMap<TraceId, Come> = BTreeMap::new();
        for (place, row) in rows_of::<CandidateRow>(&batch, CANDIDATES, &mut strings)? {
            come.entry(row.trace_id).or_default().requests.push((place, row));
        }
        for (place, row) in rows_of::<ExemplarRow>(&batch, EXEMPLARS, &mut strings)? {
            come.entry(row.trace_id).or_default().spans.push((place, row));
        }
        for (trace, come) in come {
            chosen.add(trace, come, &strings)?;
        }
    }
    chosen.end_trace();
    chosen.write(output)
}

/// What comes of one trace, each row with its place.
#[derive(Default)]
struct Come {
    requests: Vec<(i64, CandidateRow)>,
    spans: Vec<(i64, ExemplarRow)>,
}

#[derive(Default)]
struct Chosen {
    choice: Choice,
    /// The trace that comes in.
    last: Option<TraceId>,
    requests: Vec<(i64, String, CandidateRow)>,
    places: Vec<i64>,
    spans: Kept<ExemplarRow>,
    /// Those that were the best of something when they came.
    traces: BTreeMap<TraceId, Kept<ExemplarRow>>,
    /// How many of them were wanted when that was looked at last.
    wanted: usize,
}

impl Chosen {
    fn add(&mut self, trace: TraceId, come: Come, strings: &Interner) -> Result<(), Failure> {
        match self.last {
            Some(earlier) if trace < earlier => {
                return Err(Failure::Unsorted { earlier, later: trace });
            }
            Some(earlier) if trace == earlier => {}
            _ => self.end_trace(),
        }
        self.last = Some(trace);
        let named = |(place, row): (i64, CandidateRow)| {
            (place, strings.get(row.request_class).to_owned(), row)
        };
        self.requests.extend(come.requests.into_iter().map(named));
        let (places, rows): (Vec<i64>, Vec<ExemplarRow>) = come.spans.into_iter().unzip();
        self.places.extend(places);
        self.spans.extend(rows, strings);
        Ok(())
    }

    /// Keeps the trace that came, if it is the best of something.
    fn end_trace(&mut self) {
        let mut requests = std::mem::take(&mut self.requests);
        let places = std::mem::take(&mut self.places);
        let Kept { strings, rows } = std::mem::take(&mut self.spans);
        let Some(trace) = self.last else { return };
        requests.sort_by_key(|(place, ..)| *place);
        let mut is_better = false;
        for (_, class, request) in &requests {
            is_better |= self.choice.take(class, request);
        }
        if !is_better {
            return;
        }
        let mut placed: Vec<_> = places.into_iter().zip(rows).collect();
        placed.sort_by_key(|(place, _)| *place);
        let rows = placed.into_iter().map(|(_, row)| row).collect();
        self.traces.insert(trace, Kept { strings, rows });
        if self.traces.len() > self.wanted + MOST_UNWANTED {
            let wanted = self.choice.traces();
            self.traces.retain(|trace, _| wanted.contains(trace));
            self.wanted = self.traces.len();
        }
    }

    fn write(self, output: impl Write) -> Result<(), Failure> {
        let wanted = self.choice.traces();
        let mut out = Out::new(output, &schema())?;
        let mut place = 0..;
        for (_, kept) in self.traces.iter().filter(|(trace, _)| wanted.contains(trace)) {
            let batch =
                ExemplarRow::TABLE.batch(&ExemplarRow::gather(&kept.rows), &kept.strings)?;
            let places: Int64Array = place.by_ref().take(kept.rows.len()).map(Some).collect();
            let columns = batch.columns().iter().cloned().chain([Arc::new(places) as _]).collect();
            out.write(&RecordBatch::try_new(schema(), columns)?)?;
        }
        out.finish()
    }
}

/// The rows of a column of structs, as far as there are any, each with its place.
fn rows_of<R: Row>(
    batch: &RecordBatch,
    name: &'static str,
    strings: &mut Interner,
) -> Result<Vec<(i64, R)>, Failure> {
    let missing = |column| ReadError::NoColumn { table: R::TABLE.name, column };
    let column = batch.column_by_name(name).ok_or(missing(name))?;
    let present: BooleanArray = (0..column.len()).map(|row| Some(column.is_valid(row))).collect();
    let structs = filter(column, &present)?;
    let structs = structs.as_struct_opt().ok_or(missing(name))?;
    let places = structs.column_by_name(AT).and_then(|at| at.as_primitive_opt::<Int64Type>());
    let places = places.ok_or(missing(AT))?.values().to_vec();
    let schema = Arc::new(Schema::new(structs.fields().clone()));
    let batch = RecordBatch::try_new(schema, structs.columns().to_vec())?;
    Ok(places.into_iter().zip(R::from_batch(&batch, strings)?).collect())
}
