//! The shape of a sample in a line of characters, so that two humps are seen where percentiles tell
//! of one.

use super::text;
use crate::distributions::{Histogram, Sorted};
use crate::stats::Quantile;
use crate::units::Nanos;

/// Into about so many bins a scale is cut; a drawing that has less room joins some.
const BINS: usize = 60;
/// What lies outside the middle 98 % of every row may squeeze the rest by so much; beyond, the scale
/// is cut.
const MOST_SQUEEZED: i128 = 4;
/// Bars by height.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Where zero is.
const ZERO: char = '┊';
/// What stands where values lie to the left of the scale.
const BELOW: char = '‹';
/// The same to the right.
const ABOVE: char = '›';

/// How many of a sample lie where, in bins of one width, on a scale that all rows of a table share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Where the first bin begins.
    pub from: Nanos,
    /// How wide each is.
    pub width: Nanos,
    /// How many lie in each, its beginning included.
    pub counts: Vec<u64>,
    /// How many lie below the first; `None` where the scale holds the least value of all rows.
    pub below: Option<u64>,
    /// How many lie above the last; `None` where the scale holds the largest value of all rows.
    pub above: Option<u64>,
}

/// From where to where the rows of a table are drawn. Zero always lies on it.
pub(super) struct Scale {
    from: Nanos,
    to: Nanos,
    is_cut_below: bool,
    is_cut_above: bool,
}

impl Scale {
    /// The scale of several samples. A few values far away from all others do not squeeze these into
    /// a single bar.
    pub(super) fn of(samples: &[Sorted]) -> Self {
        let span = |low: fn(&Sorted) -> Option<Nanos>, high: fn(&Sorted) -> Option<Nanos>| {
            let from = samples.iter().filter_map(low).chain([Nanos::ZERO]).min();
            let to = samples.iter().filter_map(high).chain([Nanos::ZERO]).max();
            (from.unwrap_or_default(), to.unwrap_or_default())
        };
        let (from, to) = span(Sorted::min, Sorted::max);
        let (inner_from, inner_to) = span(
            |values| Some(values.quantile(Quantile::P1)?.value),
            |values| Some(values.quantile(Quantile::P99)?.value),
        );
        let length =
            |from: Nanos, to: Nanos| i128::from(to.as_nanos()) - i128::from(from.as_nanos());
        if length(from, to) <= MOST_SQUEEZED * length(inner_from, inner_to) {
            return Self { from, to, is_cut_below: false, is_cut_above: false };
        }
        Self {
            from: inner_from,
            to: inner_to,
            is_cut_below: from < inner_from,
            is_cut_above: inner_to < to,
        }
    }

    /// Its ends, for people.
    pub(super) fn title(&self) -> String {
        let end = |end: Nanos| text::millis(i128::from(end.as_nanos()));
        let mark = |is_cut: bool, mark: char| if is_cut { mark.to_string() } else { String::new() };
        format!(
            "{}{} … {}{}",
            mark(self.is_cut_below, BELOW),
            end(self.from),
            end(self.to),
            mark(self.is_cut_above, ABOVE),
        )
    }

    /// A sample on it.
    pub(super) fn shape(&self, values: &Sorted) -> Shape {
        let Histogram { from, width, bins: mut counts, atoms } =
            Histogram::new(values, self.from, self.to, BINS);
        for atom in atoms {
            let place = (atom.value - from).as_nanos() / width.as_nanos().max(1);
            let bin = usize::try_from(place).ok().and_then(|place| counts.get_mut(place));
            if let Some(bin) = bin {
                *bin += atom.count;
            }
        }
        let below = values.runs().take_while(|(value, _)| *value < from);
        let below: u64 = below.map(|(_, count)| count as u64).sum();
        let within = below + counts.iter().sum::<u64>();
        let above = (values.len() as u64).saturating_sub(within);
        Shape {
            from,
            width,
            counts,
            below: self.is_cut_below.then_some(below),
            above: self.is_cut_above.then_some(above),
        }
    }
}

impl Shape {
    /// The bars in at most `room` columns, as few as can be where that is less. Heights are square
    /// roots of counts, so that small humps are seen beside large ones.
    pub(super) fn draw(&self, room: usize) -> String {
        let (before, after) = self.parts(room);
        let most = before.iter().chain(&after).copied().max().unwrap_or(0);
        let mark = |outside: Option<u64>, mark: char| {
            outside.map(|count| if count > 0 { mark } else { ' ' })
        };
        let bars = |counts: Vec<u64>| counts.into_iter().map(move |count| bar(count, most));
        let zero = (!before.is_empty()).then_some(ZERO);
        let left = mark(self.below, BELOW).into_iter().chain(bars(before)).chain(zero);
        left.chain(bars(after)).chain(mark(self.above, ABOVE)).collect()
    }

    /// How many columns a drawing below that title takes at least.
    pub(super) fn least_width(title: &str, room: usize) -> usize {
        room.max(text::width(title).saturating_sub(2))
    }

    /// What stands above [`Shape::draw`]: the ends of the scale, and where zero is.
    pub(super) fn head(&self, title: &str, room: usize) -> String {
        let (before, after) = self.parts(room);
        let (from, to) = title.split_once(" … ").unwrap_or((title, ""));
        let ends = usize::from(self.below.is_some()) + usize::from(self.above.is_some());
        let zero = usize::from(self.below.is_some()) + before.len();
        let columns = ends + before.len() + usize::from(!before.is_empty()) + after.len();
        let gap = columns.saturating_sub(text::width(from) + text::width(to)).max(1);
        let middle = (0..gap).map(|column| {
            let is_zero = !before.is_empty() && text::width(from) + column == zero;
            if is_zero { ZERO } else { ' ' }
        });
        format!("{from}{}{to}", middle.collect::<String>())
    }

    /// The counts below zero and those from zero on, with as few bins joined as fit.
    fn parts(&self, room: usize) -> (Vec<u64>, Vec<u64>) {
        let width = self.width.as_nanos().max(1);
        let bins_to_zero = (self.from.as_nanos() / width).min(0).unsigned_abs();
        let below = usize::try_from(bins_to_zero).unwrap_or(usize::MAX);
        let (before, after) = self.counts.split_at(below.min(self.counts.len()));
        let marks = [!before.is_empty(), self.below.is_some(), self.above.is_some()];
        let room = room.saturating_sub(marks.into_iter().map(usize::from).sum());
        let columns = |join: usize| before.len().div_ceil(join) + after.len().div_ceil(join);
        let join = (1..self.counts.len()).find(|&join| columns(join) <= room);
        let join = join.unwrap_or(self.counts.len()).max(1);
        let after = after.chunks(join).map(|bins| bins.iter().sum());
        // Bins are joined from zero on, so that none holds both.
        let before = before.rchunks(join).rev().map(|bins| bins.iter().sum());
        (before.collect(), after.collect())
    }
}

/// The lowest bar whose square is no less than the count's part of the largest.
fn bar(count: u64, most: u64) -> char {
    let most = u128::from(most);
    let levels = BARS.len() as u128;
    let height =
        (1..=levels).find(|height| height * height * most >= levels * levels * u128::from(count));
    let bar = height.and_then(|height| BARS.get(usize::try_from(height).unwrap_or(1) - 1));
    if count == 0 { ' ' } else { bar.copied().unwrap_or('█') }
}
