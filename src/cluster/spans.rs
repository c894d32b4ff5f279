//! Sorted spans as an engine hands them over: batches, of which each may begin and end within a trace,
//! to groups of whole traces.

use std::io::Read;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;

use super::{Failure, part, stream};
use crate::ingest::whole_traces;
use crate::span::{Spans, TraceId};
use crate::tables::ReadError;
use crate::tables::spans::{TRACE_ID, spans_of};

/// So many spans are worked on at a time, and more only where a trace has more.
const GROUP_SPANS: usize = 1 << 14;

/// What comes in one after another.
#[derive(Debug)]
pub(super) enum Come {
    /// Whole traces, sorted, as `reconstruct` takes them.
    Traces(Spans),
    /// What was told of a file besides its spans.
    File(Vec<u8>),
}

/// Hands over what comes in, in the order of the traces.
pub(super) fn for_each(
    input: impl Read,
    mut take: impl FnMut(Come) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut group = Group::default();
    for batch in stream::batches(input)? {
        let batch = batch?;
        for file in part::all(&batch)? {
            take(Come::File(file.to_vec()))?;
        }
        let mut begin = 0;
        for end in group.cuts(&batch)? {
            if GROUP_SPANS <= group.spans.rows.len() + (end - begin) {
                group.add(&batch, begin, end)?;
                begin = end;
                take(Come::Traces(group.whole()))?;
            }
        }
        group.add(&batch, begin, batch.num_rows())?;
    }
    take(Come::Traces(group.whole()))
}

/// Spans of traces that may not be whole yet.
#[derive(Default)]
struct Group {
    spans: Spans,
    last: Option<TraceId>,
}

impl Group {
    /// Where in a batch a trace ends. Those whose ids share their right half end together, since they
    /// may be one that lost the left half on its way.
    fn cuts(&mut self, batch: &RecordBatch) -> Result<Vec<usize>, Failure> {
        let missing = ReadError::NoColumn { table: "spans", column: TRACE_ID };
        let column =
            batch.column_by_name(TRACE_ID).and_then(|column| column.as_string_opt::<i32>());
        let column = column.ok_or(missing)?;
        let mut cuts = Vec::new();
        let mut before = None;
        for (row, text) in column.iter().enumerate() {
            if row > 0 && text == before {
                continue;
            }
            before = text;
            let wrong = ReadError::BadValue { table: "spans", column: TRACE_ID, row };
            let later = text.and_then(TraceId::from_hex).ok_or(wrong)?;
            match self.last {
                Some(earlier) if later == earlier => {}
                Some(earlier) if later < earlier => {
                    return Err(Failure::Unsorted { earlier, later });
                }
                Some(earlier) if later.right_half() == earlier.right_half() => {}
                _ => cuts.push(row),
            }
            self.last = Some(later);
        }
        Ok(cuts)
    }

    fn add(&mut self, batch: &RecordBatch, begin: usize, end: usize) -> Result<(), Failure> {
        let Spans { strings, rows } = &mut self.spans;
        spans_of(&batch.slice(begin, end - begin), strings, |span| rows.push(span))?;
        Ok(())
    }

    /// Its traces, now that all of them is there.
    fn whole(&mut self) -> Spans {
        let mut spans = std::mem::take(&mut self.spans);
        whole_traces(&mut spans);
        spans
    }
}
