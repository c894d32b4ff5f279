//! Trouble in the input: what was met how often, where first, and what to do about it.

use std::collections::BTreeSet;

use super::Problem;
use super::model::{Block, Cell, Column, Row, Table};
use crate::tables::Severity;

/// The problems of so many files as a table, and what to do about them; of both at most so many
/// are told.
pub(super) fn blocks(problems: &[Problem], files: u64, most: usize) -> Vec<Block> {
    let Some(table) = table(problems, files, most) else {
        return vec![Block::Note("No problems in the input.".to_owned())];
    };
    // What holds for several files is said once.
    let advice: BTreeSet<String> = problems
        .iter()
        .map(|problem| format!("{}: {}; {}", problem.code, problem.message, problem.help))
        .collect();
    vec![Block::Table(table), Block::List(advice.into_iter().take(most).collect())]
}

fn table(problems: &[Problem], files: u64, most: usize) -> Option<Table> {
    let mut problems: Vec<&Problem> = problems.iter().collect();
    // What was lost comes first, then what is most frequent.
    problems.sort_by(|one, other| {
        let rank = |problem: &Problem| (problem.severity == Severity::Loss, problem.count);
        rank(other).cmp(&rank(one)).then_with(|| one.cmp(other))
    });
    let table = Table {
        id: "problems",
        title: "Problems in the input, and where the first of each is".to_owned(),
        head: "problem",
        columns: vec![
            Column::name("severity"),
            Column::new("count", "count", ""),
            // Of one file everybody knows which it is.
            Column::name("file").ranked(if files > 1 { 0 } else { Column::MACHINES }),
            Column::new("byte", "byte", "").ranked(1),
            Column::new("line", "line", "").ranked(3),
            Column::new("record", "record", "").ranked(2),
        ],
        ..Table::default()
    };
    table.limited(problems.into_iter().map(row), most)
}

fn row(problem: &Problem) -> Row {
    let place = |place: Option<u64>| place.map_or(Cell::Absent, Cell::Count);
    Row {
        label: problem.code.clone(),
        keys: vec![
            ("code", Some(problem.code.clone())),
            ("severity", Some(problem.severity.name().to_owned())),
            ("file", Some(problem.file.clone())),
            ("message", Some(problem.message.clone())),
            ("help", Some(problem.help.clone())),
        ],
        cells: vec![
            Cell::Text(problem.severity.name().to_owned()),
            Cell::Count(problem.count),
            Cell::Text(problem.file.clone()),
            place(problem.byte),
            place(problem.line),
            place(problem.record),
        ],
        ..Row::default()
    }
}
