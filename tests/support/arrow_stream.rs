//! Arrow streams as an engine hands them to its tasks, and what it does between them.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{RecordBatch, UInt64Array};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;

/// The rows of a stream.
pub fn read(stream: &[u8]) -> RecordBatch {
    let reader = StreamReader::try_new(stream, None).unwrap();
    let schema = reader.schema();
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    concat_batches(&schema, &batches).unwrap()
}

/// The rows of several streams, one after another.
pub fn read_all(streams: &[Vec<u8>]) -> RecordBatch {
    let all: Vec<RecordBatch> = streams.iter().map(|stream| read(stream)).collect();
    concat_batches(&all[0].schema(), &all).unwrap()
}

/// Rows as a stream, so many to a batch.
pub fn written(rows: &RecordBatch, batch_rows: usize) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &rows.schema()).unwrap();
    for from in (0..rows.num_rows()).step_by(batch_rows) {
        writer.write(&rows.slice(from, batch_rows.min(rows.num_rows() - from))).unwrap();
    }
    writer.into_inner().unwrap()
}

/// The texts of a column.
pub fn texts(rows: &RecordBatch, column: &str) -> Vec<String> {
    let texts = rows.column_by_name(column).unwrap().as_string::<i32>();
    texts.iter().map(|text| text.unwrap_or_default().to_owned()).collect()
}

/// Rows in another order.
pub fn in_order(rows: &RecordBatch, order: impl IntoIterator<Item = usize>) -> RecordBatch {
    let order: UInt64Array = order.into_iter().map(|place| place as u64).collect();
    take_record_batch(rows, &order).unwrap()
}

/// Spans as the engine brings them together: so many partitions, which are ranges of the right half of
/// the trace id, each sorted by it and then by the whole id; of one trace in any order.
pub fn by_trace(spans: &RecordBatch, partitions: usize) -> Vec<RecordBatch> {
    let ids = texts(spans, "trace_id");
    let mut of_partition: Vec<Vec<usize>> = vec![Vec::new(); partitions];
    for (place, id) in ids.iter().enumerate() {
        let first_bits = usize::from_str_radix(&id[16..20], 16).unwrap();
        of_partition[(first_bits * partitions) >> 16].push(place);
    }
    let sorted = of_partition.into_iter().map(|mut places| {
        // The engine's sort is not stable.
        places.reverse();
        places.sort_by_key(|&place| (&ids[place][16..], &ids[place]));
        in_order(spans, places)
    });
    sorted.filter(|partition| partition.num_rows() > 0).collect()
}

/// Nothing but an end: a stream of no rows.
pub fn no_rows(like: &RecordBatch) -> Vec<u8> {
    written(&RecordBatch::new_empty(Arc::clone(&like.schema())), 1)
}
