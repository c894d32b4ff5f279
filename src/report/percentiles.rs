//! Percentiles towards the side on which a measure hurts (SEMANTICS §12).

use super::model::{Cell, Column, Table as Told};
use super::shape::Scale;
use crate::distributions::{Measure, Sample, Sorted};
use crate::stats::Quantile;
use crate::tables::{BadSide, HopRow, RequestRow, Row as _, Table};

/// Towards the worst, and how early a column goes where it is narrow; [`Column::picture`] stands
/// between the outermost two and the rest.
const HIGH: [(Quantile, u8); 5] = [
    (Quantile::P50, 1),
    (Quantile::P90, 4),
    (Quantile::P95, 3),
    (Quantile::P99, 0),
    (Quantile::P99_9, 5),
];
const LOW: [(Quantile, u8); 5] = [
    (Quantile::P0_1, 5),
    (Quantile::P1, 0),
    (Quantile::P5, 3),
    (Quantile::P10, 4),
    (Quantile::P50, 1),
];

/// The bad side of a column as its table declares it.
fn declared(table: &Table, column: &str) -> BadSide {
    let columns = (table.columns)();
    let found = columns.iter().find(|declared| declared.name == column);
    found.and_then(|column| column.bad_side).unwrap_or(BadSide::High)
}

/// The bad side of a request's measure.
pub(super) fn side_of(measure: Measure) -> BadSide {
    declared(&RequestRow::TABLE, measure.name())
}

/// The bad side of a column of `hops`.
pub(super) fn side_of_hops(column: &str) -> BadSide {
    declared(&HopRow::TABLE, column)
}

/// `n`, the extreme and the percentiles of a measure, as columns. Where even the largest sample
/// tells nothing of a percentile, only machines get it; the customary one stays, to say so.
pub(super) fn columns(side: BadSide, measure: &'static str, largest_n: usize) -> Vec<Column> {
    let percentiles = by_side(side).iter().map(|&(quantile, rank)| {
        let name = quantile.to_string();
        let column = Column::new(&name, measure, &name);
        match rank {
            3.. if largest_n < quantile.least_sample() => column.ranked(Column::MACHINES),
            _ => column.ranked(rank),
        }
    });
    let mut columns: Vec<Column> = percentiles.collect();
    match side {
        BadSide::High => columns.push(Column::new("max", measure, "max")),
        BadSide::Low => columns.insert(0, Column::new("min", measure, "min")),
    }
    columns.insert(0, Column::new("n", measure, "n"));
    columns
}

/// The cells below [`columns`].
pub(super) fn cells(side: BadSide, values: &Sorted) -> Vec<Cell> {
    let mut cells: Vec<Cell> =
        by_side(side).iter().map(|&(quantile, _)| percentile(values, quantile)).collect();
    match side {
        BadSide::High => cells.push(Cell::time(values.max())),
        BadSide::Low => cells.insert(0, Cell::time(values.min())),
    }
    let mass = values.mass();
    let effective = mass.is_weighted().then(|| mass.sample_size());
    cells.insert(0, Cell::Sample { n: mass.n, effective });
    cells
}

/// The same table with the shape of each row's sample at its right.
pub(super) fn with_shapes(table: Told, measure: &'static str, samples: &[Sorted]) -> Told {
    let scale = Scale::of(samples);
    let mut table = table;
    table.columns.push(Column::picture(&scale.title(), measure));
    for (row, values) in table.rows.iter_mut().zip(samples) {
        row.cells.push(Cell::Shape(scale.shape(values)));
    }
    table
}

fn by_side(side: BadSide) -> &'static [(Quantile, u8); 5] {
    match side {
        BadSide::High => &HIGH,
        BadSide::Low => &LOW,
    }
}

/// A percentile, unless the sample is too small to bound it.
pub(super) fn percentile(values: &Sorted, quantile: Quantile) -> Cell {
    let n = values.mass().sample_size();
    let estimate = values.quantile(quantile).filter(|_| n >= quantile.least_sample());
    Cell::Percentile { quantile, estimate, n }
}

/// The outermost of the customary percentiles that the sample bounds.
pub(super) fn outermost(side: BadSide, values: &Sorted) -> Cell {
    percentile(values, outermost_bounded(side, values.mass().sample_size()))
}

/// The outermost of the customary percentiles that `n` values bound; the median of too few.
pub(super) fn outermost_bounded(side: BadSide, n: usize) -> Quantile {
    let customary = match side {
        BadSide::High => [Quantile::P99, Quantile::P95, Quantile::P90],
        BadSide::Low => [Quantile::P1, Quantile::P5, Quantile::P10],
    };
    let bounded = customary.into_iter().find(|quantile| n >= quantile.least_sample());
    bounded.unwrap_or(Quantile::P50)
}

/// The largest sample of several.
pub(super) fn largest<'a>(samples: impl Iterator<Item = &'a Sample>) -> usize {
    samples.map(|sample| sample.mass().sample_size()).max().unwrap_or(0)
}
