//! What a report says, before anybody decides how it looks. Renderers add nothing to it.

use crate::distributions::Estimate;
use crate::stats::Quantile;
use crate::units::{Nanos, UnixNanos};

pub use super::figures::{
    Drawing, Edge, Fact, Figure, Graph, Node, Part, Ridge, Ridges, Stack, Stage, Work,
};
pub use super::shape::Shape;
use super::text;
pub use super::waterfall::{Bar, Mark, Stroke, Waterfall};

/// A report: sections in reading order.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What a page of it is called.
    pub title: &'static str,
    /// The version of the program that made it.
    pub version: String,
    /// The sections.
    pub sections: Vec<Section>,
}

/// A part of a report.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// Its heading.
    pub title: String,
    /// The request class that it is about, if it is about one.
    pub class: Option<String>,
    /// What it says.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Clone, Debug)]
pub enum Block {
    /// Prose.
    Note(String),
    /// What the blocks that follow are about.
    Heading(&'static str),
    /// Prose, point by point.
    List(Vec<String>),
    /// What to type or write into a file.
    Commands(&'static [&'static str]),
    /// Numbers.
    Table(Table),
    /// A call tree over time.
    Waterfall(Waterfall),
    /// A picture, where pictures can be drawn; it tells nothing that tables do not.
    Figure(Figure),
}

/// How a table looks to people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// Rows and columns.
    #[default]
    Grid,
    /// All rows on one line, each its label and cells.
    Line,
}

/// Rows of numbers.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Its name for machines; stable.
    pub id: &'static str,
    /// Its heading.
    pub title: String,
    /// How it looks.
    pub layout: Layout,
    /// The heading over the rows' labels.
    pub head: &'static str,
    /// The columns right of the labels.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Row>,
    /// Rows that were left out, told in one line.
    pub rest: Option<String>,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Numbers, set right.
    Number,
    /// Names, which may be shortened.
    Name,
    /// Sentences, which are told whole or not at all.
    Prose,
    /// Drawings, which take the room that is left.
    Picture,
}

/// A column of a table.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its heading.
    pub title: String,
    /// What is measured; empty where the rows say so.
    pub measure: &'static str,
    /// Which statistic of it.
    pub statistic: String,
    /// Where it is narrow the columns with the largest number go first; 0 stays.
    pub rank: u8,
    /// What it holds.
    pub kind: Kind,
    /// The intervals stand elsewhere too, and may be left out where it is narrow.
    pub is_brief: bool,
    /// Its counts are parts of a whole: where such columns go they are told together.
    pub is_part: bool,
}

/// The name of a key, and its value.
pub type Key = (&'static str, Option<String>);

/// A row of a table.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// What people read at its left.
    pub label: String,
    /// Nothing worth reading: for machines only.
    pub is_quiet: bool,
    /// How deep it stands in a tree.
    pub level: usize,
    /// What tells it from other rows, for machines: stable names, raw values; `None` where there is
    /// none.
    pub keys: Vec<Key>,
    /// What is measured, where the columns do not say so.
    pub measure: &'static str,
    /// One for each column.
    pub cells: Vec<Cell>,
}

/// A value in a table.
#[derive(Clone, Debug)]
pub enum Cell {
    /// Words for people; machines find them among the row's keys.
    Text(String),
    /// Nothing is known.
    Absent,
    /// How many.
    Count(u64),
    /// How many values of a sample.
    Sample {
        /// How many.
        n: u64,
        /// How many of equal weight would tell as much, where they are weighted.
        effective: Option<usize>,
    },
    /// How many of how many; people read a percentage.
    Share(u64, u64),
    /// A length of time over another; people read a percentage.
    TimeShare(i128, i128),
    /// A count per other count.
    Ratio(u64, u64),
    /// A length of time.
    Time(Nanos),
    /// A sum of lengths, which may be longer than a length can be.
    TotalTime(i128),
    /// A length of time that a person gave or that follows from it, told to its last digit.
    ExactTime(i128),
    /// A length of time over another; people read how many times as long it is.
    Multiple(i128, i128),
    /// A length of time with its 95 % interval, which no percentile is.
    Estimated {
        /// What it is taken for.
        value: Nanos,
        /// It is no shorter.
        lo: Nanos,
        /// It is no longer.
        hi: Nanos,
        /// How many show it.
        n: u64,
    },
    /// Several lengths of time: the least and the largest.
    TimeRange(Nanos, Nanos),
    /// An instant.
    Instant(UnixNanos),
    /// How many lie where.
    Shape(Shape),
    /// A percentile of `n` values; `None` where they are too few to tell.
    Percentile {
        /// Which one.
        quantile: Quantile,
        /// What it is.
        estimate: Option<Estimate>,
        /// Of how many values.
        n: usize,
    },
}

impl Table {
    /// The same with the first rows, at most so many, and how many more there are; `None` without
    /// any.
    pub fn limited(self, rows: impl ExactSizeIterator<Item = Row>, most: usize) -> Option<Self> {
        let all = rows.len();
        self.with_some_of(all, rows.take(most).collect())
    }

    /// The same with `rows`; `None` without any.
    pub fn with_all(self, rows: Vec<Row>) -> Option<Self> {
        self.with_some_of(rows.len(), rows)
    }

    /// The same with `rows`, which were chosen of so many; `None` without any.
    pub fn with_some_of(self, all: usize, rows: Vec<Row>) -> Option<Self> {
        let left_out = all.saturating_sub(rows.len()) as u64;
        let rest = (left_out > 0).then(|| format!("and {} more", text::count(left_out)));
        (!rows.is_empty()).then_some(Self { rows, rest, ..self })
    }

    /// All rows on one line, after the title: labels and cells. `None` if nobody would read it.
    pub fn in_one_line(&self) -> Option<String> {
        let words = |row: &Row| {
            let cells = row.cells.iter().map(|cell| cell.words("", false));
            std::iter::once(row.label.clone()).chain(cells).collect::<Vec<_>>().join(" ")
        };
        let rows: Vec<String> = self.rows.iter().filter(|row| !row.is_quiet).map(words).collect();
        (!rows.is_empty()).then(|| format!("{}: {}", self.title, rows.join(" · ")))
    }
}

impl Column {
    /// From this rank on a column is for machines only.
    pub const MACHINES: u8 = 10;

    /// A column of numbers that always stays.
    pub fn new(title: &str, measure: &'static str, statistic: &str) -> Self {
        Self {
            title: title.to_owned(),
            measure,
            statistic: statistic.to_owned(),
            rank: 0,
            kind: Kind::Number,
            is_brief: false,
            is_part: false,
        }
    }

    /// A column of names.
    pub fn name(title: &str) -> Self {
        Self { kind: Kind::Name, ..Self::new(title, "", "") }
    }

    /// A column of sentences, which goes first of all where it is narrow.
    pub fn prose(title: &str) -> Self {
        Self { kind: Kind::Prose, rank: Self::MACHINES - 1, ..Self::new(title, "", "") }
    }

    /// A column of drawings of a measure, whose scale `title` tells.
    pub fn picture(title: &str, measure: &'static str) -> Self {
        Self { kind: Kind::Picture, rank: 2, ..Self::new(title, measure, "histogram") }
    }

    /// The same, and goes where it is narrow.
    #[must_use]
    pub fn ranked(self, rank: u8) -> Self {
        Self { rank, ..self }
    }

    /// The same, and may go without intervals.
    #[must_use]
    pub fn brief(self) -> Self {
        Self { is_brief: true, ..self }
    }

    /// The same, as a part of a whole.
    #[must_use]
    pub fn part(self) -> Self {
        Self { is_part: true, ..self }
    }

    /// Whether people see it.
    pub fn is_for_people(&self) -> bool {
        self.rank < Self::MACHINES
    }
}

impl Row {
    /// A row that one key tells from the others.
    pub fn new(key: &'static str, value: &str, cells: Vec<Cell>) -> Self {
        let keys = vec![(key, Some(value.to_owned()))];
        Self { label: value.to_owned(), keys, cells, ..Self::default() }
    }

    /// The same under another name for people.
    #[must_use]
    pub fn labelled(self, label: &str) -> Self {
        Self { label: label.to_owned(), ..self }
    }
}

impl Cell {
    /// A length that may be unknown.
    pub fn time(length: Option<Nanos>) -> Self {
        length.map_or(Self::Absent, Self::Time)
    }

    /// What people read, with or without the interval.
    pub fn words(&self, statistic: &str, with_interval: bool) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Absent | Self::Percentile { n: 0, .. } => text::ABSENT.to_owned(),
            Self::Count(count) => text::count(*count),
            Self::Sample { n, effective } => match effective {
                None => text::count(*n),
                Some(effective) => {
                    format!("{} (≈{})", text::count(*n), text::count(*effective as u64))
                }
            },
            Self::Share(part, whole) => text::percent(i128::from(*part), i128::from(*whole)),
            Self::TimeShare(part, whole) => text::percent(*part, *whole),
            Self::Ratio(part, whole) => text::ratio(*part, *whole),
            Self::Time(length) => text::millis(i128::from(length.as_nanos())),
            Self::TotalTime(sum) => text::millis(*sum),
            Self::ExactTime(length) => text::exact_millis(*length),
            Self::Multiple(part, whole) => text::multiple(*part, *whole),
            Self::TimeRange(least, largest) => {
                let millis = |length: &Nanos| text::millis(i128::from(length.as_nanos()));
                let (least, largest) = (millis(least), millis(largest));
                // A point as far as the digits tell.
                if least == largest { least } else { format!("{least}–{largest}") }
            }
            Self::Instant(instant) => text::instant(*instant),
            Self::Shape(shape) => shape.draw(usize::MAX),
            Self::Estimated { value, lo, hi, .. } => {
                let millis = |length: &Nanos, digits| {
                    text::finer_millis(i128::from(length.as_nanos()), digits)
                };
                let (lo, hi) = (millis(lo, 4), millis(hi, 4));
                let is_a_point = lo == hi && lo == millis(value, 4);
                let value = millis(value, 5);
                if with_interval && !is_a_point { format!("{value} [{lo}, {hi}]") } else { value }
            }
            Self::Percentile { quantile, estimate: None, .. } => {
                format!("n<{}", text::count(quantile.least_sample() as u64))
            }
            Self::Percentile { quantile, estimate: Some(estimate), .. } => {
                let name = quantile.to_string();
                let prefix = if name == statistic { String::new() } else { format!("{name} ") };
                format!("{prefix}{}", estimate_words(estimate, with_interval))
            }
        }
    }
}

fn estimate_words(estimate: &Estimate, with_interval: bool) -> String {
    let millis = |length: Nanos| text::millis(i128::from(length.as_nanos()));
    let end = |length: Option<Nanos>| length.map_or_else(|| text::ABSENT.to_owned(), millis);
    let (value, lo, hi) = (millis(estimate.value), end(estimate.lo), end(estimate.hi));
    // A point as far as the digits tell.
    let is_a_point = lo == value && hi == value;
    let sign = if estimate.is_approximate { "≈" } else { "" };
    if with_interval && !is_a_point { format!("{value} {sign}[{lo}, {hi}]") } else { value }
}
