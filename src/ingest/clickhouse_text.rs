//! Rows of ClickHouse as comma- or tab-separated text with the names of the columns above. Maps and
//! arrays stand in a cell as ClickHouse's own literals: `{'key':'value'}`, `['a','b']`.

use std::borrow::Cow;

use super::admit::Desk;
use super::cell::Cell;
use super::clickhouse::{self, Column, Row};
use super::json::without_mark;
use super::problems::Code;
use super::refusal::Refusal;
use super::scalar;
use super::stream::Framing;

/// Literals within literals beyond this are no cells of this table.
const MAX_DEPTH: usize = 8;

/// How the types of columns with times begin.
const TIME_TYPE: &str = "DateTime";

/// How cells are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Separated by commas, text in double quotes.
    Csv,
    /// Separated by tabs, text with escapes.
    Tsv,
}

/// Where the columns stand in each row, as the rows at the start of the stream say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// How cells are written.
    pub dialect: Dialect,
    /// How many rows at the start are none: that of the names, and perhaps that of the types.
    header_rows: u8,
    /// How many cells a row has.
    width: usize,
    /// Where each column stands, in the order of [`Column::ALL`].
    places: [Option<u16>; Column::ALL.len()],
}

impl Layout {
    /// The layout of a stream that starts so; `None` where it is no such table.
    pub(crate) fn of(start: &[u8]) -> Option<Result<Self, Refusal>> {
        let mut lines = without_mark(start).split(|&byte| byte == b'\n');
        let names = std::str::from_utf8(lines.next()?).ok()?.trim_end_matches('\r');
        let dialect = if names.contains('\t') { Dialect::Tsv } else { Dialect::Csv };
        if are_unnamed(names) {
            return Some(Err(Refusal::ColumnsUnnamed));
        }
        let names = dialect.cells(names).ok()?;
        let place = |name: &str| names.iter().position(|cell| cell.plain() == name);
        if let Err(refusal) = clickhouse::claims(|name| place(name).is_some())? {
            return Some(Err(refusal));
        }
        let mut places = [None; Column::ALL.len()];
        for (column, slot) in Column::ALL.iter().zip(&mut places) {
            *slot = place(column.name()).and_then(|place| u16::try_from(place).ok());
        }
        let second = String::from_utf8_lossy(lines.next().unwrap_or_default());
        let second = dialect.cells(second.trim_end_matches('\r')).unwrap_or_default();
        let time = place(Column::Timestamp.name()).and_then(|place| second.get(place));
        // A type's name starts with a letter; no time does.
        let has_types =
            time.is_some_and(|cell| cell.plain().starts_with(|first: char| first.is_alphabetic()));
        let header_rows = 1 + u8::from(has_types);
        Some(Ok(Self { dialect, header_rows, width: names.len(), places }))
    }

    /// Whether a row is that of the names or the types again, where files were put together.
    fn is_header(&self, cells: &[Written<'_>]) -> bool {
        let place = self.places.get(Column::Timestamp as usize).copied().flatten();
        place.and_then(|place| cells.get(usize::from(place))).is_some_and(|cell| {
            let text = cell.plain();
            text == Column::Timestamp.name() || text.starts_with(TIME_TYPE)
        })
    }
}

/// Whether a first line is a span's row without the names of its columns above: a date, a trace id
/// and a span id, between tabs, commas or, in JSON, brackets; or if it is names in a JSON array.
fn are_unnamed(line: &str) -> bool {
    let is_frame = |letter: char| "[]\"' ".contains(letter);
    let mut cells = line.split(['\t', ',']).map(|cell| cell.trim_matches(is_frame));
    let is_id = |cell: &str, digits: usize| {
        cell.len() == digits && cell.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    if line.starts_with('[') {
        let mut names = cells.clone();
        if names.any(|cell| cell == Column::TraceId.name()) {
            return true;
        }
    }
    let has_date = |cell: &str| cell.contains([' ', 'T']) && scalar::unix_ns(cell).is_some();
    cells.clone().any(has_date)
        && cells.clone().any(|cell| is_id(cell, 32))
        && cells.any(|cell| is_id(cell, 16))
}

impl Dialect {
    /// The format's name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Csv => "ClickHouse otel_traces CSV",
            Self::Tsv => "ClickHouse otel_traces TSV",
        }
    }

    /// How rows follow one another.
    pub(crate) const fn framing(self) -> Framing {
        match self {
            Self::Csv => Framing::QuotedLines,
            Self::Tsv => Framing::Lines,
        }
    }

    /// The cells of a row.
    fn cells(self, row: &str) -> Result<Vec<Written<'_>>, Code> {
        match self {
            Self::Csv => csv_cells(row),
            Self::Tsv => Ok(row.split('\t').map(Written::Escaped).collect()),
        }
    }
}

/// Reads a row.
pub(crate) fn read(bytes: &[u8], layout: &Layout, desk: &mut Desk<'_>) {
    if desk.record.place.record < Some(layout.header_rows.into()) {
        return;
    }
    let text = String::from_utf8_lossy(bytes);
    let row = text.trim_end_matches(['\r', '\n']);
    if row.is_empty() {
        return;
    }
    let cells = match layout.dialect.cells(row) {
        Ok(cells) if cells.len() < layout.width => return desk.note(Code::RecordCutOff, 0),
        Ok(cells) if cells.len() > layout.width => return desk.note(Code::RecordDamaged, 0),
        Ok(cells) => cells,
        Err(code) => return desk.note(code, 0),
    };
    if layout.is_header(&cells) {
        return;
    }
    desk.note_many(Code::TextNotUtf8, u64::from(matches!(text, Cow::Owned(_))), 0);
    let mut row = Row::new();
    for (&column, place) in Column::ALL.iter().zip(layout.places) {
        let Some(written) = place.and_then(|place| cells.get(usize::from(place))) else { continue };
        let cell = if column.is_nested() { written.literal() } else { Some(written.cell()) };
        match cell {
            Some(cell) => row.set(column, cell, desk, 0),
            None => desk.note(Code::FieldWrongType, 0),
        }
    }
    row.hand_over(desk, 0);
}

/// A cell as written.
#[derive(Debug)]
enum Written<'t> {
    /// As it is.
    Plain(Cow<'t, str>),
    /// With escapes, unless it is a literal, which has its own.
    Escaped(&'t str),
}

impl Written<'_> {
    /// What the cell of a column of text says.
    fn plain(&self) -> Cow<'_, str> {
        match self {
            Self::Plain(text) => Cow::Borrowed(text),
            Self::Escaped(text) => unescape(text),
        }
    }

    /// What the cell of a column of text or numbers says.
    fn cell(&self) -> Cell<'_> {
        if self.is_null() { Cell::Null } else { Cell::Text(self.plain()) }
    }

    /// What the cell of a column of maps or arrays says; `None` where it is no literal.
    fn literal(&self) -> Option<Cell<'_>> {
        let text = match self {
            Self::Plain(text) => text,
            Self::Escaped(text) => *text,
        };
        if self.is_null() || text.is_empty() {
            return Some(Cell::Null);
        }
        let mut literal = Literal { rest: text };
        let cell = literal.value(0)?;
        literal.rest.is_empty().then_some(cell)
    }

    fn is_null(&self) -> bool {
        matches!(self, Self::Plain(Cow::Borrowed(r"\N")) | Self::Escaped(r"\N"))
    }
}

/// The cells of a row in which text stands in double quotes, and a quote within is doubled.
fn csv_cells(row: &str) -> Result<Vec<Written<'_>>, Code> {
    let mut cells = Vec::new();
    let mut rest = row;
    loop {
        let (cell, after) = if let Some(quoted) = rest.strip_prefix('"') {
            let end = closing_quote(quoted).ok_or(Code::RecordCutOff)?;
            let (text, after) = quoted.split_at(end);
            (single_quotes(text), after.strip_prefix('"').unwrap_or(after))
        } else {
            let (text, after) = rest.split_at(rest.find(',').unwrap_or(rest.len()));
            (Cow::Borrowed(text), after)
        };
        cells.push(Written::Plain(cell));
        if after.is_empty() {
            return Ok(cells);
        }
        rest = after.strip_prefix(',').ok_or(Code::RecordDamaged)?;
    }
}

/// `text` with each doubled quote once.
fn single_quotes(text: &str) -> Cow<'_, str> {
    if text.contains('"') { Cow::Owned(text.replace("\"\"", "\"")) } else { Cow::Borrowed(text) }
}

/// Where the first quote is that is not doubled.
fn closing_quote(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        at += bytes.get(at..)?.iter().position(|&byte| byte == b'"')?;
        if bytes.get(at + 1) != Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

/// `text` without ClickHouse's escapes. An escape it does not have stands for itself.
fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            plain.push(letter);
            continue;
        }
        match letters.next() {
            Some('b') => plain.push('\u{8}'),
            Some('f') => plain.push('\u{c}'),
            Some('r') => plain.push('\r'),
            Some('n') => plain.push('\n'),
            Some('t') => plain.push('\t'),
            Some('0') => plain.push('\0'),
            Some(other) => plain.push(other),
            None => plain.push('\\'),
        }
    }
    Cow::Owned(plain)
}

/// What is left to read of a literal.
struct Literal<'t> {
    rest: &'t str,
}

impl<'t> Literal<'t> {
    /// Goes past `sign` and the space behind it, if it comes next.
    fn pass(&mut self, sign: char) -> bool {
        let after = self.rest.strip_prefix(sign);
        self.rest = after.map_or(self.rest, str::trim_start);
        after.is_some()
    }

    /// The value that comes next; `None` where none does.
    fn value(&mut self, depth: usize) -> Option<Cell<'t>> {
        if depth == MAX_DEPTH {
            return None;
        }
        if self.pass('[') {
            let mut elements = Vec::new();
            while !self.pass(']') {
                self.separate(elements.is_empty())?;
                elements.push(self.value(depth + 1)?);
            }
            return Some(Cell::List(elements));
        }
        if self.pass('{') {
            let mut members = Vec::new();
            while !self.pass('}') {
                self.separate(members.is_empty())?;
                let key = self.value(MAX_DEPTH - 1)?.into_text()?;
                self.pass(':').then_some(())?;
                members.push((key, self.value(depth + 1)?));
            }
            return Some(Cell::Map(members));
        }
        self.word()
    }

    /// Goes past the comma before every member but the first.
    fn separate(&mut self, is_first: bool) -> Option<()> {
        (is_first || self.pass(',')).then_some(())
    }

    /// Text in quotes, a number, or a word for nothing, true or false.
    fn word(&mut self) -> Option<Cell<'t>> {
        if let Some(quoted) = self.rest.strip_prefix('\'') {
            let mut is_escaped = false;
            let end = quoted.find(|letter| {
                let ends = letter == '\'' && !is_escaped;
                is_escaped = letter == '\\' && !is_escaped;
                ends
            })?;
            let (text, after) = quoted.split_at(end);
            self.rest = after.get(1..)?.trim_start();
            return Some(Cell::Text(unescape(text)));
        }
        let end = self.rest.find([',', ']', '}', ':']).unwrap_or(self.rest.len());
        let (word, after) = self.rest.split_at(end);
        self.rest = after;
        match word.trim_end() {
            "NULL" => Some(Cell::Null),
            "true" => Some(Cell::Bool(true)),
            "false" => Some(Cell::Bool(false)),
            number if number.parse::<f64>().is_ok() => Some(Cell::Number(Cow::Borrowed(number))),
            _ => None,
        }
    }
}
