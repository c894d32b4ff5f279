//! The course of time: a table in the section of each class.

use super::model::{Block, Cell, Column, Report, Row, Table};
use super::{percentiles, text};
use crate::distributions::Sample;
use crate::stats::Quantile;
use crate::tables::BadSide;
use crate::timeline::{Bucket, Timeline};

/// So many buckets can be read.
const MOST: i64 = 200;

/// Tells each class that is told how it fared from bucket to bucket: all in the same buckets, those
/// without a request too. Where they would be too many it says so instead.
pub fn add_timeline(report: &mut Report, timeline: &Timeline) {
    let Some((first, last)) = timeline.extent() else { return };
    let buckets = last.saturating_sub(first).saturating_add(1);
    if buckets > MOST {
        let note = format!(
            "Not told by time: --bucket would make {} buckets from {} on, and at most {MOST} are \
             told; make them longer, or choose by --since and --until.",
            text::count(buckets.unsigned_abs()),
            text::instant(timeline.start_of(first)),
        );
        if let Some(summary) = report.sections.first_mut() {
            summary.blocks.push(Block::Note(note));
        }
        return;
    }
    for section in &mut report.sections {
        let class = section.class.as_deref().and_then(|class| timeline.classes.get(class));
        let Some(class) = class else { continue };
        let empty = Bucket::default();
        let rows = (first..=last).map(|number| {
            let start = text::instant(timeline.start_of(number));
            Row::new("bucket", &start, cells(class.get(&number).unwrap_or(&empty)))
        });
        let has_deadline = class.values().any(|bucket| bucket.with_deadline > 0);
        let table = Table {
            id: "timeline",
            title: format!(
                "In the course of time, {} ms each: elapsed, the least that each request had left at any \
                 hop, late work/request",
                text::millis(i128::from(timeline.width().as_nanos()))
            ),
            head: "from",
            columns: columns(has_deadline),
            ..Table::default()
        };
        section.blocks.extend(table.with_all(rows.collect()).map(Block::Table));
    }
}

/// What needs a deadline is for machines where there is none.
fn columns(has_deadline: bool) -> Vec<Column> {
    let bounded = |column: Column| {
        if has_deadline { column } else { column.ranked(Column::MACHINES) }
    };
    vec![
        Column::new("n", "requests", ""),
        bounded(Column::new("in time", "completed_before_deadline", "")),
        Column::new("p50", "elapsed_ns", "p50").ranked(2).brief(),
        Column::new("p99", "elapsed_ns", "p99").brief(),
        bounded(Column::new("least of each", "least_left_ns", "p1").brief()),
        bounded(Column::new("late", "late_work_ns", "mean")),
    ]
}

fn cells(bucket: &Bucket) -> Vec<Cell> {
    let (elapsed, left) = (bucket.elapsed.sorted(), bucket.least_left.sorted());
    vec![
        Cell::Count(bucket.requests),
        match bucket.with_deadline {
            0 => Cell::Absent,
            some => Cell::Share(bucket.in_time, some),
        },
        percentiles::percentile(&elapsed, Quantile::P50),
        percentiles::outermost(BadSide::High, &elapsed),
        percentiles::outermost(BadSide::Low, &left),
        mean(&bucket.late_work),
    ]
}

fn mean(sample: &Sample) -> Cell {
    let mean = sample.sum().checked_div(sample.len() as i128);
    mean.map_or(Cell::Absent, Cell::TotalTime)
}
