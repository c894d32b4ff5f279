//! A report in GitHub-flavoured Markdown, for a review or a ticket: what is about one class is
//! folded, and all of it fits a comment.

use super::model::{Block, Cell, Column, Kind, Layout, Report, Row, Section, Table};
use super::text::{count, counted, shorten, visible, without_commands};

/// GitHub takes comments of 65,536 characters; as many bytes are never more.
const MOST_BYTES: usize = 65_000;
/// What is kept back of them to say what was left out.
const LAST_WORD: usize = 400;
/// How wide a drawing is: reviews show as much without scrolling.
const DRAWING: usize = 100;
/// How wide a picture in a table is.
const PICTURE: usize = 24;
/// How wide a name in a table or a heading may be.
const NAME: usize = 120;
/// How wide a paragraph may be.
const PARAGRAPH: usize = 4_000;

/// Writes a report. What is about all classes comes first where it does not fit, then class by class.
pub(super) fn render(report: &Report) -> String {
    let is_one_of_several = report.sections.iter().filter(|it| it.class.is_some()).nth(1).is_some();
    let sections: Vec<Written> = report
        .sections
        .iter()
        .map(|section| Written::of(section, is_one_of_several && section.class.is_some()))
        .collect();
    let head = format!("# dwindle {}\n", escape(&shorten(&visible(&report.version), NAME)));
    let mut room = MOST_BYTES - LAST_WORD - head.len();
    let mut texts = vec![String::new(); sections.len()];
    let (mut cut, mut left_out) = (0, 0);
    let is_folded = |(_, section): &(usize, &Written)| section.is_folded;
    let (folded, open): (Vec<_>, Vec<_>) = sections.iter().enumerate().partition(is_folded);
    for (index, section) in open.into_iter().chain(folded) {
        // A part of what comes later would look like all that there is.
        let (text, is_whole) = if cut + left_out > 0 && section.is_folded {
            (String::new(), false)
        } else {
            section.within(room)
        };
        room -= text.len();
        cut += u64::from(!is_whole && !text.is_empty());
        left_out += u64::from(text.is_empty());
        if let Some(place) = texts.get_mut(index) {
            *place = text;
        }
    }
    head + &texts.concat() + &last_word(cut, left_out)
}

/// What was left out, and how to see it.
fn last_word(cut: u64, left_out: u64) -> String {
    let what = match (left_out, cut) {
        (0, 0) => return String::new(),
        (0, cut) => format!("the rest of {}", counted(cut, "section")),
        (left_out, 0) => counted(left_out, "section"),
        (left_out, cut) => {
            format!("the rest of {} and {} more", counted(cut, "section"), count(left_out))
        }
    };
    format!(
        "\nLeft out, so that this fits a comment: {what}. The same command with `--format terminal` \
         shows all.\n"
    )
}

/// A section as lines.
struct Written {
    is_folded: bool,
    open: Vec<String>,
    pieces: Vec<Piece>,
    close: Vec<String>,
}

/// Lines that may be cut short, between those that may not.
#[derive(Default)]
struct Piece {
    head: Vec<String>,
    lines: Vec<String>,
    tail: Vec<String>,
}

impl Written {
    fn of(section: &Section, is_folded: bool) -> Self {
        let title = shorten(&visible(&section.title), NAME);
        let mut blocks = section.blocks.as_slice();
        if !is_folded {
            let open = vec![String::new(), format!("## {}", escape(&title))];
            return Self { is_folded, open, pieces: pieces(blocks), close: Vec::new() };
        }
        let mut summary = format!("<b>{}</b>", html(&title));
        if let [Block::Note(note), rest @ ..] = blocks {
            summary = summary + ": " + &html(&shorten(&visible(note), PARAGRAPH));
            blocks = rest;
        }
        let open = ["", "<details>", &format!("<summary>{summary}</summary>")];
        let close = ["", "</details>"];
        Self {
            is_folded,
            open: open.map(str::to_owned).to_vec(),
            pieces: pieces(blocks),
            close: close.map(str::to_owned).to_vec(),
        }
    }

    /// As much of it as fits into so many bytes, and whether that is all.
    fn within(&self, room: usize) -> (String, bool) {
        let mut lines = self.open.clone();
        let Some(mut room) = room.checked_sub(bytes(&self.open) + bytes(&self.close)) else {
            return (String::new(), false);
        };
        let mut is_whole = true;
        for piece in &self.pieces {
            let told = piece.within(room);
            is_whole = told.len() == piece.len();
            room -= bytes(&told);
            lines.extend(told);
            if !is_whole {
                break;
            }
        }
        // A title alone tells nothing.
        if lines.len() == self.open.len() && !self.pieces.is_empty() {
            return (String::new(), false);
        }
        lines.extend_from_slice(&self.close);
        (lines.join("\n") + "\n", is_whole)
    }
}

impl Piece {
    fn len(&self) -> usize {
        self.head.len() + self.lines.len() + self.tail.len()
    }

    fn within(&self, room: usize) -> Vec<String> {
        let Some(mut room) = room.checked_sub(bytes(&self.head) + bytes(&self.tail)) else {
            return Vec::new();
        };
        let fits = |line: &&String| {
            let left = room.checked_sub(line.len() + 1);
            room = left.unwrap_or(0);
            left.is_some()
        };
        let lines: Vec<String> = self.lines.iter().take_while(fits).cloned().collect();
        if lines.is_empty() && !self.lines.is_empty() {
            return Vec::new();
        }
        [self.head.clone(), lines, self.tail.clone()].concat()
    }
}

/// How much lines take, with their ends.
fn bytes(lines: &[String]) -> usize {
    lines.iter().map(|line| line.len() + 1).sum()
}

fn pieces(blocks: &[Block]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = blocks.iter().flat_map(piece).collect();
    for piece in &mut pieces {
        for line in piece.head.iter_mut().chain(&mut piece.lines).chain(&mut piece.tail) {
            *line = without_commands(line);
        }
    }
    pieces
}

fn piece(block: &Block) -> Vec<Piece> {
    let below = |head: &[&str], lines: Vec<String>, tail: &[&str]| {
        let owned = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect();
        vec![Piece { head: owned(head), lines, tail: owned(tail) }]
    };
    match block {
        Block::Note(note) => below(&[""], vec![paragraph(note)], &[]),
        Block::Heading(heading) => below(&[""], vec![format!("### {}", escape(heading))], &[]),
        Block::List(points) => {
            let points = points.iter().map(|point| format!("- {}", paragraph(point)));
            below(&[""], points.collect(), &[])
        }
        Block::Commands(commands) => {
            let commands = commands.iter().map(|&command| command.to_owned());
            below(&["", "```sh"], commands.collect(), &["```"])
        }
        Block::Table(table) if table.layout == Layout::Line => table
            .in_one_line()
            .map_or_else(Vec::new, |line| below(&[""], vec![paragraph(&line)], &[])),
        Block::Table(table) => grid(table),
        Block::Waterfall(waterfall) => {
            let words = |(_, text): &(_, String)| text.clone();
            let drawn = waterfall.draw(DRAWING);
            let drawn = drawn.iter().map(|line| line.iter().map(words).collect::<String>());
            let drawn = drawn.map(|line| line.trim_end().replace("```", "'''"));
            below(&["", "```text"], drawn.collect(), &["```"])
        }
        Block::Figure(_) => Vec::new(),
    }
}

fn grid(table: &Table) -> Vec<Piece> {
    let columns: Vec<(usize, &Column)> =
        table.columns.iter().enumerate().filter(|(_, column)| column.is_for_people()).collect();
    let heads = columns.iter().map(|(_, column)| escape(&column.title));
    let rules = columns.iter().map(|(_, column)| match column.kind {
        Kind::Number => "---:".to_owned(),
        Kind::Name | Kind::Prose | Kind::Picture => "---".to_owned(),
    });
    let head = vec![
        String::new(),
        format!("### {}", escape(&table.title)),
        String::new(),
        line(std::iter::once(escape(table.head)).chain(heads)),
        line(std::iter::once("---".to_owned()).chain(rules)),
    ];
    let row = |row: &Row| {
        let cells = columns
            .iter()
            .map(|&(index, column)| cell(column, row.cells.get(index).unwrap_or(&Cell::Absent)));
        line(std::iter::once(label(row)).chain(cells))
    };
    let lines = table.rows.iter().filter(|row| !row.is_quiet).map(row).collect();
    let rest = table.rest.as_deref().map(|rest| Piece {
        head: vec![String::new()],
        lines: vec![paragraph(rest)],
        ..Piece::default()
    });
    std::iter::once(Piece { head, lines, ..Piece::default() }).chain(rest).collect()
}

fn cell(column: &Column, cell: &Cell) -> String {
    match cell {
        // In a code span, of letters of one width, where no blank is swallowed.
        Cell::Shape(shape) => format!("`{}`", shape.draw(PICTURE).replace(' ', "\u{a0}")),
        Cell::Text(text) => {
            let room = if column.kind == Kind::Name { NAME } else { PARAGRAPH };
            escape(&shorten(&visible(text), room))
        }
        cell => cell.words(&column.statistic, true),
    }
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
}

/// Indented by spaces that Markdown does not swallow.
fn label(row: &Row) -> String {
    let label = escape(&shorten(&visible(&row.label), NAME));
    format!("{}{label}", "&emsp;".repeat(row.level.min(INDENT)))
}

/// How often a tree steps in at most.
const INDENT: usize = 8;

fn paragraph(text: &str) -> String {
    escape(&shorten(&visible(text), PARAGRAPH))
}

/// `text` as nothing but text: what Markdown, its tables or HTML would read is escaped.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let text = unmentioned(&visible(text));
    for (place, c) in text.char_indices() {
        let rest = text.get(place..).unwrap_or_default();
        match c {
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '&' => safe += "&amp;",
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '#' | '~' | '!' | '$' => {
                safe.push('\\');
                safe.push(c);
            }
            // Addresses become links by themselves.
            ':' if rest.starts_with("://") => safe += "\\:",
            '.' if text.get(..place).is_some_and(|before| before.ends_with("www")) => safe += "\\.",
            _ => safe.push(c),
        }
    }
    safe
}

/// `text` as nothing but text within HTML, where Markdown reads nothing.
fn html(text: &str) -> String {
    unmentioned(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// `text` without a mention, which would call somebody who happens to be named so. No escape undoes
/// one.
fn unmentioned(text: &str) -> String {
    text.replace('@', "＠")
}
