//! A report in GitHub-flavoured Markdown, for a review or a ticket.

use super::model::{Block, Cell, Column, Kind, Layout, Report, Row, Table};
use super::text::visible;

/// Writes a report.
pub(super) fn render(report: &Report) -> String {
    let mut out = format!("# dwindle {}\n", escape(&report.version));
    for section in &report.sections {
        out += &format!("\n## {}\n", escape(&section.title));
        for block in &section.blocks {
            out.push('\n');
            match block {
                Block::Note(note) => out += &format!("{}\n", escape(note)),
                Block::Commands(commands) => {
                    out += &format!("```sh\n{}\n```\n", commands.join("\n"))
                }
                Block::Table(table) => write_table(&mut out, table),
            }
        }
    }
    out
}

fn write_table(out: &mut String, table: &Table) {
    if table.layout == Layout::Line {
        *out += &format!("{}: {}\n", escape(&table.title), escape(&table.rows_in_words()));
        return;
    }
    *out += &format!("### {}\n\n", escape(&table.title));
    let columns: Vec<(usize, &Column)> =
        table.columns.iter().enumerate().filter(|(_, column)| column.is_for_people()).collect();
    let heads = columns.iter().map(|(_, column)| escape(&column.title));
    write_row(out, std::iter::once(escape(table.head)).chain(heads));
    let rules =
        columns.iter().map(|(_, column)| if column.kind == Kind::Number { "---:" } else { "---" });
    write_row(out, std::iter::once("---").chain(rules).map(str::to_owned));
    for row in table.rows.iter().filter(|row| !row.is_quiet) {
        let cells = columns.iter().map(|&(index, column)| {
            let cell = row.cells.get(index).unwrap_or(&Cell::Absent);
            escape(&cell.words(&column.statistic, true))
        });
        write_row(out, std::iter::once(label(row)).chain(cells));
    }
    if let Some(rest) = &table.rest {
        *out += &format!("\n{}\n", escape(rest));
    }
}

fn write_row(out: &mut String, cells: impl Iterator<Item = String>) {
    *out += &format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
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
