//! Tables of a page. A cell holds its value in nanoseconds too, for sorting and for programs.

use maud::{Markup, html};

use super::short;
use crate::report::json;
use crate::report::model::{Cell, Column, Kind, Layout, Row, Table};
use crate::report::text::visible;

/// A name as wide as this is cut, and told whole in its tooltip up to [`WHOLE`].
const NAME: usize = 72;
/// Names longer than this are told nowhere.
const WHOLE: usize = 300;

/// Draws a table.
pub(super) fn draw(table: &Table) -> Markup {
    if table.layout == Layout::Line {
        return html! { @if let Some(line) = table.in_one_line() { p.line { (visible(&line)) } } };
    }
    let columns: Vec<(usize, &Column)> =
        table.columns.iter().enumerate().filter(|(_, column)| column.is_for_people()).collect();
    html! {
        div.scroll role="region" tabindex="0" aria-label=(visible(&table.title)) {
            table id=[None::<&str>] data-table=(table.id) {
                caption { (visible(&table.title)) }
                thead { tr {
                    th scope="col" { (visible(table.head)) }
                    @for (_, column) in &columns {
                        th.num[column.kind == Kind::Number] scope="col" title=[explained(column)] {
                            (visible(&column.title))
                        }
                    }
                } }
                tbody {
                    @for row in table.rows.iter().filter(|row| !row.is_quiet) {
                        (self::row(row, &columns))
                    }
                }
            }
            @if let Some(rest) = &table.rest { p.rest { (visible(rest)) } }
        }
    }
}

/// What a column's short heading stands for.
fn explained(column: &Column) -> Option<String> {
    let parts = [column.statistic.as_str(), column.measure];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join(" of "))
}

fn row(row: &Row, columns: &[(usize, &Column)]) -> Markup {
    let level = row.level.min(12);
    html! {
        tr {
            th scope="row" style=[(level > 0).then(|| format!("padding-left:{}em", 0.6 + 1.2 * f64_of(level)))] {
                (name(&row.label))
            }
            @for (index, column) in columns {
                (cell(row.cells.get(*index).unwrap_or(&Cell::Absent), column))
            }
        }
    }
}

fn f64_of(level: usize) -> f64 {
    super::scale::float(level as i128)
}

fn cell(cell: &Cell, column: &Column) -> Markup {
    let value = json::number(cell).and_then(|number| number.value);
    let words = cell.words(&column.statistic, true);
    let (words, interval) = match words.split_once(" [") {
        Some((words, interval)) if value.is_some() => {
            (words.to_owned(), Some(format!("[{interval}")))
        }
        _ => (words, None),
    };
    let is_overspent = value.is_some_and(|value| value < 0);
    html! {
        td.num[column.kind == Kind::Number].bad[is_overspent] data-v=[value] {
            @if column.kind == Kind::Number {
                (visible(&words))
                @if let Some(interval) = interval { " " small { (interval) } }
            } @else {
                (name(&words))
            }
        }
    }
}

/// A name, cut where it is long.
fn name(text: &str) -> Markup {
    let shown = short(text, NAME);
    let is_cut = shown != visible(text);
    html! { span title=[is_cut.then(|| short(text, WHOLE))] { (shown) } }
}
