//! A report on a terminal: no line wider than the terminal, no meaning by colour alone.

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, presets};

use super::model::{Block, Cell, Column, Kind, Layout, Report, Row, Section, Shape, Table};
use super::text::{shorten, visible, width, without_commands, wrap};
use super::waterfall::{Line, Tone};

/// Below this nothing is readable any more, and lines may be wider than the terminal.
const LEAST_WIDTH: usize = 40;
/// A name this wide can still be told from others; columns go before it gets narrower.
const READABLE_NAME: usize = 24;
/// How wide a name stays when no more columns can go.
const LEAST_NAME: usize = 8;
/// Between columns.
const GAP: u16 = 2;
/// A picture narrower than this shows nothing.
const LEAST_PICTURE: usize = 8;
/// How far a tree steps in, and how often at most.
const INDENT: (usize, usize) = (2, 8);
/// Before a point of a list.
const POINT: &str = "- ";

const BOLD: &str = "\u{1b}[1m";
const FAINT: &str = "\u{1b}[2m";
const RED: &str = "\u{1b}[31m";
const PLAIN: &str = "\u{1b}[0m";

/// Writes a report.
pub(super) fn render(report: &Report, room: usize, color: bool) -> String {
    let page = Page { room: room.max(LEAST_WIDTH), color };
    let mut out = String::new();
    page.heading(&mut out, &format!("dwindle {}", report.version), '═');
    for (index, section) in report.sections.iter().enumerate() {
        if index > 0 {
            page.heading(&mut out, &section.title, '═');
        }
        page.section(&mut out, section);
    }
    without_commands(&out)
}

struct Page {
    room: usize,
    color: bool,
}

impl Page {
    fn strong(&self, line: &str) -> String {
        if self.color { format!("{BOLD}{line}{PLAIN}") } else { line.to_owned() }
    }

    /// A line with its tones, where there is colour.
    fn toned(&self, line: &Line) -> String {
        let piece = |(tone, text): &(Tone, String)| match tone {
            Tone::Strong if self.color => format!("{BOLD}{text}{PLAIN}"),
            Tone::Faint if self.color => format!("{FAINT}{text}{PLAIN}"),
            Tone::Alarm if self.color => format!("{RED}{text}{PLAIN}"),
            _ => text.clone(),
        };
        line.iter().map(piece).collect()
    }

    fn heading(&self, out: &mut String, title: &str, rule: char) {
        let title = shorten(&visible(title), self.room.saturating_sub(4));
        let line: String = std::iter::repeat_n(rule, self.room - width(&title) - 1).collect();
        push_line(out, &self.strong(&format!("{title} {line}")));
    }

    fn section(&self, out: &mut String, section: &Section) {
        let is_grid = |block: &Block| match block {
            Block::Table(table) => table.layout == Layout::Grid,
            Block::Waterfall(_) => true,
            _ => false,
        };
        let is_told = |block: &&Block| match block {
            Block::Table(table) if table.layout == Layout::Line => table.in_one_line().is_some(),
            Block::Figure(_) => false,
            _ => true,
        };
        let mut wants_air = false;
        for block in section.blocks.iter().filter(is_told) {
            if is_grid(block) || wants_air || matches!(block, Block::Heading(_)) {
                out.push('\n');
            }
            wants_air = is_grid(block) || matches!(block, Block::List(_));
            match block {
                Block::Note(note) => push_wrapped(out, note, self.room),
                Block::Heading(heading) => {
                    push_line(out, &self.strong(&shorten(heading, self.room)));
                }
                Block::List(points) => points.iter().for_each(|point| self.point(out, point)),
                Block::Commands(commands) => {
                    for line in *commands {
                        push_line(out, &shorten(&format!("  {line}"), self.room));
                    }
                }
                Block::Table(table) => match table.layout {
                    Layout::Line => self.line(out, table),
                    Layout::Grid => self.grid(out, table),
                },
                Block::Waterfall(waterfall) => {
                    for line in waterfall.draw(self.room) {
                        push_line(out, self.toned(&line).trim_end());
                    }
                }
                Block::Figure(_) => {}
            }
        }
        out.push('\n');
    }

    fn line(&self, out: &mut String, table: &Table) {
        if let Some(line) = table.in_one_line() {
            push_wrapped(out, &line, self.room);
        }
    }

    fn point(&self, out: &mut String, point: &str) {
        let lines = wrap(&visible(point), self.room - width(POINT));
        for (index, line) in lines.iter().enumerate() {
            let mark = if index == 0 { POINT } else { "" };
            push_line(out, &format!("{mark:indent$}{line}", indent = width(POINT)));
        }
    }

    fn grid(&self, out: &mut String, table: &Table) {
        push_line(out, &self.strong(&shorten(&visible(&table.title), self.room)));
        let grid = Grid::fit(table, self.room);
        for (index, line) in grid.draw().lines().enumerate() {
            let line = line.trim_end();
            push_line(out, &if index == 0 { self.strong(line) } else { line.to_owned() });
        }
        if let Some(rest) = &table.rest {
            push_line(out, &shorten(&visible(rest), self.room));
        }
    }
}

fn push_wrapped(out: &mut String, text: &str, room: usize) {
    for line in wrap(&visible(text), room) {
        push_line(out, &line);
    }
}

fn push_line(out: &mut String, line: &str) {
    out.push_str(line);
    out.push('\n');
}

/// The words of a table that fit: heads, then rows, without the columns that had to go.
struct Grid {
    columns: Vec<Kind>,
    lines: Vec<Vec<String>>,
}

impl Grid {
    /// Narrows the table until it fits: columns go by rank; where even those that should stay are
    /// too many, the intervals that stand elsewhere too go instead; at last names get shorter
    /// than is good, and columns go from the right.
    fn fit(table: &Table, room: usize) -> Self {
        let fitting = |with_intervals| Self::by_rank(table, room, with_intervals);
        fitting(true).or_else(|| fitting(false)).unwrap_or_else(|| {
            let mut kept = columns_up_to(table, 0);
            let narrow = |kept: &[(usize, &Column)]| Self::of(table, kept, false, LEAST_PICTURE);
            while narrow(&kept).least_width(LEAST_NAME) > room && kept.pop().is_some() {}
            narrow(&kept).shortened(room)
        })
    }

    /// With as many columns as fit, if those fit that should stay. A picture that has to go before
    /// a number comes back where that number leaves room enough.
    fn by_rank(table: &Table, room: usize, with_intervals: bool) -> Option<Self> {
        let ranked = (0..Column::MACHINES).rev();
        let mut choices = ranked
            .flat_map(|rank| [columns_and_pictures_up_to(table, rank), columns_up_to(table, rank)]);
        let narrow =
            |kept: &[(usize, &Column)]| Self::of(table, kept, with_intervals, LEAST_PICTURE);
        // A sentence is worth less than a whole name.
        let fits = |kept: &Vec<(usize, &Column)>| {
            let grid = narrow(kept);
            let has_prose = grid.columns.contains(&Kind::Prose);
            grid.least_width(if has_prose { usize::MAX } else { READABLE_NAME }) <= room
        };
        choices.find(fits).map(|kept| {
            let free = room.saturating_sub(narrow(&kept).least_width(usize::MAX));
            Self::of(table, &kept, with_intervals, LEAST_PICTURE + free).shortened(room)
        })
    }

    /// With pictures in so many columns, or as few as they need.
    fn of(table: &Table, kept: &[(usize, &Column)], with_intervals: bool, picture: usize) -> Self {
        let heads = kept.iter().map(|&(index, column)| head(table, index, column, picture));
        let mut lines = vec![std::iter::once(table.head.to_owned()).chain(heads).collect()];
        lines.extend(table.rows.iter().filter(|row| !row.is_quiet).map(|row| {
            let cells = kept.iter().map(|&(index, column)| {
                match row.cells.get(index).unwrap_or(&Cell::Absent) {
                    Cell::Shape(shape) => shape.draw(Shape::least_width(&column.title, picture)),
                    cell => {
                        let with_interval = with_intervals || !column.is_brief;
                        visible(&cell.words(&column.statistic, with_interval))
                    }
                }
            });
            std::iter::once(label(row)).chain(cells).collect()
        }));
        let kinds = kept.iter().map(|(_, column)| column.kind);
        let mut grid = Self { columns: std::iter::once(Kind::Name).chain(kinds).collect(), lines };
        grid.tell_together(table, kept);
        grid
    }

    /// Adds what is in those parts of a whole that were not kept, so that a row still sums up.
    fn tell_together(&mut self, table: &Table, kept: &[(usize, &Column)]) {
        let is_gone = |index: &usize| kept.iter().all(|(kept, _)| kept != index);
        let parts = table.columns.iter().enumerate().filter(|(_, column)| column.is_part);
        let gone: Vec<usize> = parts.map(|(index, _)| index).filter(is_gone).collect();
        if gone.is_empty() {
            return;
        }
        let told = table.rows.iter().filter(|row| !row.is_quiet).map(|row| {
            let counts = gone.iter().map(|&index| match row.cells.get(index) {
                Some(Cell::Count(count)) => *count,
                _ => 0,
            });
            Cell::Count(counts.sum()).words("", false)
        });
        let words = std::iter::once("other".to_owned()).chain(told);
        for (line, words) in self.lines.iter_mut().zip(words) {
            line.push(words);
        }
        self.columns.push(Kind::Number);
    }

    /// The width of each column.
    fn widths(&self) -> Vec<usize> {
        let width_of = |index: usize| {
            let cells = self.lines.iter().filter_map(|line| line.get(index));
            cells.map(|words| width(words)).max().unwrap_or(0)
        };
        (0..self.columns.len()).map(width_of).collect()
    }

    /// The room between columns.
    fn gaps(&self) -> usize {
        usize::from(GAP) * self.columns.len().saturating_sub(1)
    }

    /// How wide it is with no name wider than `name`.
    fn least_width(&self, name: usize) -> usize {
        let least = self.widths().into_iter().zip(&self.columns).map(|(width, kind)| match kind {
            Kind::Name => width.min(name),
            Kind::Number | Kind::Prose | Kind::Picture => width,
        });
        least.sum::<usize>() + self.gaps()
    }

    /// With names in the room that the other columns leave, the widest losing first.
    fn shortened(mut self, room: usize) -> Self {
        let mut widths = self.widths();
        let mut surplus = (widths.iter().sum::<usize>() + self.gaps()).saturating_sub(room);
        while surplus > 0 {
            let names =
                widths.iter_mut().zip(&self.columns).filter(|(_, kind)| **kind == Kind::Name);
            let Some(widest) = names.map(|(width, _)| width).max().filter(|width| **width > 1)
            else {
                break;
            };
            *widest -= 1;
            surplus -= 1;
        }
        for line in &mut self.lines {
            for (words, room) in line.iter_mut().zip(&widths) {
                *words = shorten(words, *room);
            }
        }
        self
    }

    fn draw(&self) -> String {
        let style = presets::NOTHING.header_separator(LineStyle::none().fill('─'));
        let mut drawn = comfy_table::Table::new();
        drawn.load_style(style).set_content_arrangement(ContentArrangement::Disabled);
        let mut lines = self.lines.iter();
        drawn.set_header(lines.next().into_iter().flatten());
        drawn.add_rows(lines);
        let last = self.columns.len().saturating_sub(1);
        for (index, (column, kind)) in drawn.column_iter_mut().zip(&self.columns).enumerate() {
            column.set_padding((0, if index == last { 0 } else { GAP }));
            column.set_cell_alignment(match kind {
                Kind::Number => CellAlignment::Right,
                Kind::Name | Kind::Prose | Kind::Picture => CellAlignment::Left,
            });
        }
        drawn.to_string()
    }
}

fn columns_up_to(table: &Table, rank: u8) -> Vec<(usize, &Column)> {
    table.columns.iter().enumerate().filter(|(_, column)| column.rank <= rank).collect()
}

fn columns_and_pictures_up_to(table: &Table, rank: u8) -> Vec<(usize, &Column)> {
    let is_kept = |column: &Column| column.rank <= rank || column.kind == Kind::Picture;
    table.columns.iter().enumerate().filter(|(_, column)| is_kept(column)).collect()
}

/// What stands above a column; above pictures their scale, as wide as they are.
fn head(table: &Table, index: usize, column: &Column, picture: usize) -> String {
    let mut cells = table.rows.iter().filter_map(|row| row.cells.get(index));
    let shape = cells.find_map(|cell| match cell {
        Cell::Shape(shape) => Some(shape),
        _ => None,
    });
    let drawn =
        |shape: &Shape| shape.head(&column.title, Shape::least_width(&column.title, picture));
    shape.map_or_else(|| column.title.clone(), drawn)
}

fn label(row: &Row) -> String {
    let indent = row.level.min(INDENT.1) * INDENT.0;
    format!("{:indent$}{}", "", visible(&row.label))
}
