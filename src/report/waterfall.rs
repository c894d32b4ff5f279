//! A call tree over time, drawn with characters: a line for each span with a bar of what it did
//! when, and below it what is to be said of it. Every cell tells by its character what it is.

use super::text::{millis, shorten, visible, width, wrap};
use crate::units::Nanos;

/// What is drawn.
#[derive(Clone, Debug, Default)]
pub struct Waterfall {
    /// Its rows, callers above callees.
    pub rows: Vec<Bar>,
    /// The deadline, if one is known.
    pub deadline: Option<Nanos>,
    /// Durations alone tell it.
    pub is_deadline_inferred: bool,
}

/// A row.
#[derive(Clone, Debug, Default)]
pub struct Bar {
    /// When it was entered.
    pub at: Option<Nanos>,
    /// What was left then.
    pub left: Option<Nanos>,
    /// What it was given.
    pub given: Option<Nanos>,
    /// How deep it stands.
    pub level: usize,
    /// What it is.
    pub label: String,
    /// What it did when.
    pub strokes: Vec<Stroke>,
    /// What else is to be said.
    pub details: Vec<String>,
    /// What is wrong with it.
    pub findings: Vec<String>,
}

/// A stretch of a bar.
#[derive(Clone, Copy, Debug)]
pub struct Stroke {
    /// When it begins.
    pub from: Nanos,
    /// When it ends.
    pub to: Nanos,
    /// What it shows.
    pub mark: Mark,
}

/// What a stretch shows. Of two in one cell the longer is drawn; but work that nobody wanted is
/// never hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// Others work for it, or the answer is on its way.
    Waiting,
    /// Between an attempt and its retry.
    Backoff,
    /// In a queue.
    Queue,
    /// A call whose other end was not traced.
    OpenCall,
    /// It works.
    Work,
    /// Work or an open call after the deadline.
    Late,
    /// The same after a caller had left.
    Residual,
}

impl Mark {
    pub(super) const ALL: [Self; 7] = [
        Self::Work,
        Self::OpenCall,
        Self::Waiting,
        Self::Queue,
        Self::Backoff,
        Self::Late,
        Self::Residual,
    ];

    const fn sign(self) -> char {
        match self {
            Self::Waiting => '─',
            Self::Backoff => '~',
            Self::Queue => '░',
            Self::OpenCall => '═',
            Self::Work => '█',
            Self::Late => '▒',
            Self::Residual => '╳',
        }
    }

    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Waiting => "waits for callees",
            Self::Backoff => "backs off",
            Self::Queue => "in a queue",
            Self::OpenCall => "calls what was not traced",
            Self::Work => "works",
            Self::Late => "works or calls after the deadline",
            Self::Residual => "works or calls after its caller had left",
        }
    }
}

/// How something looks where there is colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Strong,
    Faint,
    Alarm,
}

/// Pieces of a line, left to right.
pub(super) type Line = Vec<(Tone, String)>;

/// Where a deadline is drawn.
const DEADLINE: char = '┊';
/// How far the tree steps in.
const STEP: usize = 2;
/// Between columns.
const GAP: usize = 2;
/// A name narrower than this tells nothing.
const LEAST_NAME: usize = 8;
/// A bar narrower than this shows nothing.
const LEAST_BAR: usize = 10;
/// Before what is wrong.
const ALARM: &str = "! ";

impl Waterfall {
    /// The lines of the drawing, at most `room` wide.
    pub(super) fn draw(&self, room: usize) -> Vec<Line> {
        let frame = Frame::fit(self, room);
        let mut lines = vec![frame.head()];
        lines.push(vec![(Tone::Plain, "─".repeat(room))]);
        for row in &self.rows {
            frame.row(row, &mut lines);
        }
        lines.push(Vec::new());
        for legend in [self.legend().join(", "), HEADS.to_owned()] {
            lines.extend(wrap(&legend, room).into_iter().map(|line| vec![(Tone::Faint, line)]));
        }
        lines
    }

    /// What the signs that occur mean.
    fn legend(&self) -> Vec<String> {
        let strokes = || self.rows.iter().flat_map(|row| &row.strokes);
        let occurs = |mark: &Mark| strokes().any(|stroke| stroke.mark == *mark);
        let marks = Mark::ALL.into_iter().filter(occurs);
        let mut legend: Vec<String> =
            marks.map(|mark| format!("{} {}", mark.sign(), mark.words())).collect();
        if self.deadline.is_some() {
            legend.push(format!("{DEADLINE} {}", self.deadline_words()));
        }
        legend
    }

    /// What the mark of the deadline means.
    pub(super) const fn deadline_words(&self) -> &'static str {
        if self.is_deadline_inferred { "the deadline (inferred)" } else { "the deadline" }
    }
}

/// What the numbers mean.
const HEADS: &str = "at: since the origin, when it was sent (else received, begun); left: what \
     its caller had left then; given: what it was told it has (empty: undeclared, no grant seen)";

/// A column of numbers: its heading, and what of a row it tells.
type Number = (&'static str, fn(&Bar) -> Option<Nanos>);

const NUMBERS: [Number; 3] =
    [("at", |row| row.at), ("left", |row| row.left), ("given", |row| row.given)];

/// The columns of a drawing.
struct Frame {
    axis: Axis,
    /// The numbers that stand before names: those that any row has.
    numbers: Vec<Number>,
    /// How wide each is.
    digits: usize,
    /// How wide names are, with their indent.
    names: usize,
    room: usize,
}

impl Frame {
    fn fit(of: &Waterfall, room: usize) -> Self {
        let is_told = |(_, number): &Number| of.rows.iter().any(|row| number(row).is_some());
        let mut numbers: Vec<Number> = NUMBERS.into_iter().filter(is_told).collect();
        let all = of.rows.iter().flat_map(|row| numbers.iter().map(|(_, number)| number(row)));
        let digits = all.map(|number| width(&number_words(number))).max().unwrap_or(0).max(5);
        let before = |numbers: &[Number]| numbers.len() * (digits + GAP);
        // Where it is very narrow names and bars come first.
        let least = LEAST_NAME + GAP + LEAST_BAR;
        while before(&numbers) + least > room && numbers.pop().is_some() {}
        let before = before(&numbers);
        let longest = |row: &Bar| STEP * row.level + width(&visible(&row.label));
        let wanted = of.rows.iter().map(longest).max().unwrap_or(0);
        let rest = room.saturating_sub(before + GAP);
        // Names get what they need, but not more than their share, and bars what is left.
        let names = wanted.min((rest / 2).max(rest.saturating_sub(60)));
        let names = names.min(rest.saturating_sub(LEAST_BAR)).max(1);
        let cells = rest.saturating_sub(names).max(1);
        Self { axis: Axis::of(of, cells), numbers, digits, names, room }
    }

    /// Where names begin.
    fn name_column(&self) -> usize {
        self.numbers.len() * (self.digits + GAP)
    }

    fn head(&self) -> Line {
        let n = self.digits;
        let heads: Vec<String> =
            self.numbers.iter().map(|(head, _)| format!("{head:>n$}  ")).collect();
        let name = format!("{:<names$}  ", shorten("span", self.names), names = self.names);
        vec![(Tone::Strong, heads.concat() + &name + &self.axis.head())]
    }

    fn row(&self, row: &Bar, lines: &mut Vec<Line>) {
        let n = self.digits;
        let (indent, deep) = self.indent(row.level);
        let name = shorten(&(deep + &visible(&row.label)), self.names - indent);
        let pad = self.names - indent - width(&name);
        let name_tone = if row.findings.is_empty() { Tone::Plain } else { Tone::Strong };
        let numbers = self.numbers.iter().map(|(_, number)| {
            let number = number(row);
            let is_overspent = number.is_some_and(|number| number < Nanos::ZERO);
            let tone = if is_overspent { Tone::Alarm } else { Tone::Plain };
            (tone, format!("{:>n$}  ", number_words(number)))
        });
        let mut line: Line = numbers.collect();
        line.extend([
            (Tone::Plain, " ".repeat(indent)),
            (name_tone, name),
            (Tone::Plain, format!("{:pad$}  ", "")),
        ]);
        line.extend(self.axis.bar(&row.strokes));
        lines.push(line);
        let begin = (self.name_column() + indent + STEP).min(self.room / 2);
        let mut tell = |text: &str, lead: &str, tone: Tone| {
            let mut lead = format!("{:begin$}{lead}", "");
            let room = self.room.saturating_sub(width(&lead)).max(1);
            for words in wrap(&visible(text), room) {
                let next = " ".repeat(width(&lead));
                lines.push(vec![(tone, std::mem::replace(&mut lead, next) + &words)]);
            }
        };
        if !row.details.is_empty() {
            tell(&row.details.join(" · "), "", Tone::Faint);
        }
        row.findings.iter().for_each(|finding| tell(finding, ALARM, Tone::Alarm));
    }

    /// How far a row of that level steps in, and what stands for the steps that have no room.
    fn indent(&self, level: usize) -> (usize, String) {
        let most = self.names / (3 * STEP);
        let deep = if level > most { format!("{level}: ") } else { String::new() };
        (level.min(most) * STEP, deep)
    }
}

fn number_words(number: Option<Nanos>) -> String {
    number.map_or_else(String::new, |number| millis(i128::from(number.as_nanos())))
}

/// Time from left to right, cut in cells. The deadline has one of its own, so that what lies
/// after it is seen to.
struct Axis {
    /// What lies before the deadline, if it is drawn, and what lies after.
    parts: Vec<Part>,
    deadline: Option<Nanos>,
    /// The deadline lies further right than is drawn.
    is_far: bool,
}

struct Part {
    from: Nanos,
    to: Nanos,
    cells: usize,
}

impl Axis {
    fn of(waterfall: &Waterfall, cells: usize) -> Self {
        let strokes = || waterfall.rows.iter().flat_map(|row| &row.strokes);
        let from = strokes().map(|stroke| stroke.from).min().unwrap_or_default().min(Nanos::ZERO);
        let to = strokes().map(|stroke| stroke.to).max().unwrap_or_default();
        let to = to.max(from + Nanos::from_nanos(1));
        let Some(deadline) = waterfall.deadline else {
            return Self { parts: vec![Part { from, to, cells }], deadline: None, is_far: false };
        };
        // One that had passed before anything began.
        let from = from.min(deadline);
        // What was not spent is worth seeing too, but not more than what was.
        if (deadline - to).as_nanos() / 2 > (to - from).as_nanos() {
            let parts = vec![Part { from, to, cells }];
            return Self { parts, deadline: Some(deadline), is_far: true };
        }
        let (before, after) = (deadline - from, to.max(deadline) - deadline);
        let room = cells.saturating_sub(1);
        let share = i128::from(before.as_nanos()) * room as i128
            / i128::from((before + after).as_nanos()).max(1);
        let most = if after > Nanos::ZERO { room.saturating_sub(1) } else { room };
        let least = usize::from(before > Nanos::ZERO);
        let left = usize::try_from(share).unwrap_or(0).clamp(least.min(most), most);
        let parts = vec![
            Part { from, to: deadline, cells: left },
            Part { from: deadline, to: to.max(deadline), cells: room - left },
        ];
        Self { parts, deadline: Some(deadline), is_far: false }
    }

    fn cells(&self) -> usize {
        self.parts.iter().map(|part| part.cells).sum::<usize>() + self.parts.len() - 1
    }

    /// When it begins, where the deadline is, when it ends.
    fn head(&self) -> String {
        let words = |instant: Nanos| number_words(Some(instant));
        let mut head = String::new();
        let mut place = |text: &str, end: usize| {
            let begin = end.saturating_sub(width(text));
            if begin >= width(&head) + usize::from(!head.is_empty()) {
                head += &" ".repeat(begin - width(&head));
                head += text;
            }
        };
        let (first, last) = (self.parts.first(), self.parts.last());
        let (Some(first), Some(last)) = (first, last) else { return head };
        let begin = words(first.from);
        place(&begin, width(&begin));
        let end = words(last.to);
        match self.deadline {
            Some(deadline) if self.is_far => {
                let far = format!("{end} (deadline {})", words(deadline));
                place(&far, self.cells());
            }
            Some(deadline) => {
                place(&format!("{}{DEADLINE}", words(deadline)), first.cells + 1);
                if last.to > deadline {
                    place(&end, self.cells());
                }
            }
            None => place(&end, self.cells()),
        }
        shorten(&head, self.cells())
    }

    /// The cells of a bar.
    fn bar(&self, strokes: &[Stroke]) -> Line {
        let mut pieces: Line = Vec::new();
        let mut push = |tone: Tone, sign: char| match pieces.last_mut() {
            Some((last, text)) if *last == tone => text.push(sign),
            _ => pieces.push((tone, sign.to_string())),
        };
        for (index, part) in self.parts.iter().enumerate() {
            if index > 0 {
                push(Tone::Faint, DEADLINE);
            }
            for mark in part.marks(strokes) {
                let sign = mark.map_or(' ', Mark::sign);
                let is_wasted = matches!(mark, Some(Mark::Late | Mark::Residual));
                push(if is_wasted { Tone::Alarm } else { Tone::Plain }, sign);
            }
        }
        pieces
    }
}

impl Part {
    /// What each cell shows.
    fn marks(&self, strokes: &[Stroke]) -> Vec<Option<Mark>> {
        let mut lengths = vec![[0_i128; Mark::ALL.len()]; self.cells];
        for stroke in strokes {
            self.spread(stroke, &mut lengths);
        }
        let shown = |lengths: &[i128; Mark::ALL.len()]| {
            let key = |mark: Mark| {
                let length = lengths.get(mark as usize).copied().unwrap_or(0);
                let always = matches!(mark, Mark::Late | Mark::Residual).then_some(mark);
                (length > 0).then_some((always, length, mark))
            };
            Mark::ALL.into_iter().filter_map(key).max().map(|(.., mark)| mark)
        };
        lengths.iter().map(shown).collect()
    }

    /// Adds the part of a stroke that lies in each cell, counted in lengths of cells.
    fn spread(&self, stroke: &Stroke, lengths: &mut [[i128; Mark::ALL.len()]]) {
        let cell = i128::from((self.to - self.from).as_nanos());
        let place = |instant: Nanos| {
            let since = i128::from((instant - self.from).as_nanos());
            since.clamp(0, cell) * self.cells as i128
        };
        // What took no time at all is seen where it was; an instant that two parts share is drawn
        // in the first.
        let (from, to) = (place(stroke.from), place(stroke.to));
        let is_instant =
            stroke.from == stroke.to && self.from <= stroke.from && stroke.to <= self.to;
        if cell == 0 || (from == to && !is_instant) {
            return;
        }
        let last = usize::try_from(from / cell).unwrap_or(0).min(self.cells.saturating_sub(1));
        for (index, lengths) in lengths.iter_mut().enumerate().skip(last) {
            let begin = index as i128 * cell;
            if begin >= to && index > last {
                break;
            }
            let length = to.min(begin + cell) - from.max(begin);
            if let Some(sum) = lengths.get_mut(stroke.mark as usize) {
                *sum += length.max(i128::from(is_instant));
            }
        }
    }
}
