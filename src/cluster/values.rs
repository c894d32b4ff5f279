//! The table `distributions`: values that tasks gathered, class by class.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{BinaryArray, Int64Array, RecordBatch};
use arrow_schema::{Schema, SchemaRef};

use super::Failure;
use super::stream::{self, Out};
use super::wide::{SAMPLES, SUBJECT, with_place};
use crate::distributions::{Collection, Parcel};
use crate::tables::{DistributionRow, ReadError, Row};

/// How much memory values may take; beyond it they wait on disk.
const VALUES_BYTES: u64 = 1 << 28;

/// The columns: those of the table, and the place of a row among those of its class.
pub(super) fn schema() -> SchemaRef {
    Arc::new(Schema::new(with_place(DistributionRow::TABLE)))
}

/// Tells of values what the table tells; those of a class are all there. `are_chosen` where somebody
/// chose traces by how they ended. What memory does not hold waits in `folder`.
///
/// # Errors
/// What comes in is something else, or the folder does not take what memory does not hold.
pub fn distribute(
    input: impl Read,
    output: impl Write,
    are_chosen: bool,
    folder: PathBuf,
) -> Result<(), Failure> {
    let mut collection = Collection::new(VALUES_BYTES, folder);
    for batch in stream::batches(input)? {
        let batch = batch?;
        for (subject, samples) in bytes(&batch, SUBJECT)?.iter().zip(bytes(&batch, SAMPLES)?) {
            if let Some((subject, samples)) = subject.zip(samples) {
                let parcel = Parcel::read(subject, samples).map_err(|_| Failure::Values)?;
                collection.add_parcel(parcel)?;
            }
        }
    }
    let mut distributions = collection.finish(are_chosen)?;
    let mut out = Out::new(output, &schema())?;
    let mut places = Places::default();
    loop {
        let kept = distributions.next_rows()?;
        if kept.rows.is_empty() {
            return out.finish();
        }
        let classes = kept.rows.iter().map(|row| kept.strings.get(row.request_class));
        let places: Int64Array = classes.map(|class| Some(places.next(class))).collect();
        let rows =
            DistributionRow::TABLE.batch(&DistributionRow::gather(&kept.rows), &kept.strings)?;
        let columns = rows.columns().iter().cloned().chain([Arc::new(places) as _]).collect();
        out.write(&RecordBatch::try_new(schema(), columns)?)?;
    }
}

fn bytes<'b>(batch: &'b RecordBatch, name: &'static str) -> Result<&'b BinaryArray, ReadError> {
    let column = batch.column_by_name(name).and_then(|column| column.as_binary_opt::<i32>());
    column.ok_or(ReadError::NoColumn { table: "values", column: name })
}

/// Numbers rows class by class.
#[derive(Default)]
struct Places {
    class: String,
    next: i64,
}

impl Places {
    fn next(&mut self, class: &str) -> i64 {
        if self.class != class {
            class.clone_into(&mut self.class);
            self.next = 0;
        }
        let place = self.next;
        self.next += 1;
        place
    }
}
