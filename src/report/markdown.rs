//! A report in GitHub-flavoured Markdown, for a review or a ticket.

use super::model::{Block, Cell, Column, Kind, Layout, Report, Row, Table};
use super::text::{visible, without_commands};

/// How wide a drawing is: reviews show as much without scrolling.
const DRAWING: usize = 100;

/// Writes a report.
pub(super) fn render(report: &Report) -> String {
    let mut lines = vec![format!("# dwindle {}", escape(&report.version))];
    for section in &report.sections {
        lines.extend([String::new(), format!("## {}", escape(&section.title))]);
        for block in &section.blocks {
            lines.push(String::new());
            match block {
                Block::Note(note) => lines.push(escape(note)),
                Block::Heading(heading) => lines.push(format!("### {}", escape(heading))),
                Block::List(points) => {
                    lines.extend(points.iter().map(|point| format!("- {}", escape(point))));
                }
                Block::Commands(commands) => {
                    let commands = commands.iter().map(|&command| command.to_owned());
                    let fence = |mark: &str| std::iter::once(mark.to_owned());
                    lines.extend(fence("```sh").chain(commands).chain(fence("```")));
                }
                Block::Table(table) => push_table(&mut lines, table),
                Block::Waterfall(waterfall) => {
                    let words = |(_, text): &(_, String)| text.clone();
                    let drawn = waterfall.draw(DRAWING);
                    let drawn = drawn.iter().map(|line| line.iter().map(words).collect::<String>());
                    lines.push("```text".to_owned());
                    lines.extend(drawn.map(|line| line.trim_end().replace("```", "'''")));
                    lines.push("```".to_owned());
                }
                Block::Figure(_) => {}
            }
        }
    }
    without_commands(&lines.join("\n")) + "\n"
}

fn push_table(lines: &mut Vec<String>, table: &Table) {
    if table.layout == Layout::Line {
        lines.extend(table.in_one_line().map(|line| escape(&line)));
        return;
    }
    let columns: Vec<(usize, &Column)> =
        table.columns.iter().enumerate().filter(|(_, column)| column.is_for_people()).collect();
    let heads = columns.iter().map(|(_, column)| escape(&column.title));
    let rules = columns.iter().map(|(_, column)| match column.kind {
        Kind::Number => "---:".to_owned(),
        Kind::Name | Kind::Prose => "---".to_owned(),
    });
    lines.extend([format!("### {}", escape(&table.title)), String::new()]);
    lines.push(line(std::iter::once(escape(table.head)).chain(heads)));
    lines.push(line(std::iter::once("---".to_owned()).chain(rules)));
    for row in table.rows.iter().filter(|row| !row.is_quiet) {
        let cells = columns.iter().map(|&(index, column)| {
            let words =
                row.cells.get(index).unwrap_or(&Cell::Absent).words(&column.statistic, true);
            if column.kind == Kind::Number { words } else { escape(&words) }
        });
        lines.push(line(std::iter::once(label(row)).chain(cells)));
    }
    if let Some(rest) = &table.rest {
        lines.extend([String::new(), escape(rest)]);
    }
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
}

/// Indented by spaces that Markdown does not swallow.
fn label(row: &Row) -> String {
    format!("{}{}", "&emsp;".repeat(row.level), escape(&row.label))
}

/// `text` as nothing but text: what Markdown, its tables or HTML would read is escaped.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '&' => safe += "&amp;",
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '#' | '~' | '!' => {
                safe.push('\\');
                safe.push(c);
            }
            _ => safe.push(c),
        }
    }
    safe
}
