//! Pieces of tables that several plans share.

use crate::distributions::{Estimate, Name, Ordered};
use crate::plan::measured::{Class, Measured, Portion, Settled, Source};
use crate::report::model::{Cell, Column, Row};
use crate::report::{Options, text};
use crate::stats::Quantile;
use crate::units::Nanos;

/// The percentiles that people read; machines get them all.
const LOW: [Quantile; 4] = [Quantile::P1, Quantile::P5, Quantile::P10, Quantile::P50];
const HIGH: [Quantile; 4] = [Quantile::P50, Quantile::P90, Quantile::P95, Quantile::P99];

/// The classes that are told, busiest first.
pub(super) fn classes<'a>(
    measured: &'a Measured,
    options: &Options,
) -> impl Iterator<Item = (&'a Name, &'a Class)> {
    let mut classes: Vec<_> = measured.classes.iter().collect();
    classes.sort_by_key(|(_, class)| std::cmp::Reverse(class.requests.len()));
    classes.into_iter().take(options.classes)
}

/// The columns of [`distribution`].
pub(super) fn distribution_columns() -> Vec<Column> {
    let percentile = |(quantile, rank): (Quantile, u8)| {
        Column::new(&quantile.to_string(), "", &quantile.to_string()).ranked(rank).brief()
    };
    let ranks = [0, 4, 0, 3];
    let mut columns = vec![Column::new("n", "", "n")];
    columns.extend(HIGH.into_iter().zip(ranks).map(percentile));
    columns.push(Column::new("max", "", "max").ranked(5));
    columns
}

/// How many values, percentiles, and the largest.
pub(super) fn distribution(values: &Ordered) -> Vec<Cell> {
    let mut cells = vec![sample(values)];
    cells.extend(HIGH.map(|quantile| percentile(values, quantile)));
    cells.push(Cell::time(values.max()));
    cells
}

/// The columns of [`low_distribution`].
pub(super) fn low_columns() -> Vec<Column> {
    let percentile = |(quantile, rank): (Quantile, u8)| {
        Column::new(&quantile.to_string(), "", &quantile.to_string()).ranked(rank).brief()
    };
    let mut columns = vec![Column::new("n", "", "n"), Column::new("min", "", "min").ranked(5)];
    columns.extend(LOW.into_iter().zip([3, 0, 4, 0]).map(percentile));
    columns
}

/// How many values, the least, and percentiles, where little is worse than much.
pub(super) fn low_distribution(values: &Ordered) -> Vec<Cell> {
    let mut cells = vec![sample(values), Cell::time(values.min())];
    cells.extend(LOW.map(|quantile| percentile(values, quantile)));
    cells
}

fn sample(values: &Ordered) -> Cell {
    let effective = Some(values.effective()).filter(|&effective| effective < values.len());
    Cell::Sample { n: values.len() as u64, effective }
}

/// A percentile, unless the sample is too small to bound it.
pub(super) fn percentile(values: &Ordered, quantile: Quantile) -> Cell {
    percentile_of(values.quantile(quantile), quantile, values.effective())
}

/// The same, of what is worth so many independent values.
pub(super) fn percentile_of(estimate: Option<Estimate>, quantile: Quantile, n: usize) -> Cell {
    let estimate = estimate.filter(|_| n >= quantile.least_sample());
    Cell::Percentile { quantile, estimate, n }
}

/// The same to its last digit: rounded up it would be more than fits.
pub(super) fn exact_percentile_of(
    estimate: Option<Estimate>,
    quantile: Quantile,
    n: usize,
) -> Cell {
    match estimate.filter(|_| n >= quantile.least_sample()) {
        Some(estimate) => exact(estimate.value),
        None => percentile_of(None, quantile, n),
    }
}

/// A length that people may give to something as it stands.
pub(super) fn exact(length: Nanos) -> Cell {
    Cell::ExactTime(i128::from(length.as_nanos()))
}

/// A share in percent.
pub(super) fn share(portion: &Portion) -> Cell {
    Cell::Share(portion.proportion.part, portion.proportion.whole)
}

/// Its interval, in percent.
pub(super) fn interval(portion: &Portion) -> Cell {
    if portion.proportion.whole == 0 {
        return Cell::Absent;
    }
    let (lo, hi) = portion.interval;
    Cell::Text(format!("[{}, {}]", text::points(lo), text::points(hi)))
}

/// Where a value comes from, or of how many it was measured.
pub(super) fn source<T>(settled: &Settled<T>) -> Cell {
    Cell::Text(match settled.n.filter(|_| settled.source == Source::Measured) {
        Some(n) => format!("of {}", text::count(n as u64)),
        None => settled.source.name().to_owned(),
    })
}

/// Lengths in milliseconds.
pub(super) fn lengths(lengths: &[Nanos]) -> Cell {
    let millis = |length: &Nanos| text::millis(i128::from(length.as_nanos()));
    Cell::Text(match lengths {
        [] => text::ABSENT.to_owned(),
        _ => lengths.iter().map(millis).collect::<Vec<_>>().join(", "),
    })
}

/// Leaves out the name of what the row above is about too.
pub(super) fn name_once(rows: &mut [Row]) {
    let mut last = String::new();
    for row in rows {
        if row.label == last {
            row.label.clear();
        } else {
            last.clone_from(&row.label);
        }
    }
}
