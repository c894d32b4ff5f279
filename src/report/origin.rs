//! How a page was made: the command, and digests of what it read.

use super::model::{Block, Cell, Column, Row, Section, Table};
use super::{Origin, OriginFile};

/// So many files are told one by one.
const MOST: usize = 200;

/// The section.
pub(super) fn section(origin: &Origin) -> Section {
    let row = |file: &OriginFile| {
        let (bytes, digest) = match &file.content {
            Some((bytes, digest)) => (Cell::Count(*bytes), Cell::Text(digest.clone())),
            None => (Cell::Absent, Cell::Absent),
        };
        Row::new("file", &file.name, vec![bytes, digest])
    };
    let table = Table {
        id: "origin",
        title: "What was read".to_owned(),
        head: "file",
        columns: vec![Column::new("bytes", "bytes", ""), Column::name("sha256")],
        ..Table::default()
    };
    let mut blocks = vec![Block::Note(format!("Command: {}", origin.command))];
    blocks.extend(table.limited(origin.files.iter().map(row), MOST).map(Block::Table));
    Section { title: "How this was made".to_owned(), class: None, blocks }
}
