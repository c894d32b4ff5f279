//! What files hold and what they lack, one section a file.

use super::model::{Block, Cell, Column, Layout, Report, Row, Section, Table};
use super::text;
use crate::ingest::{Compression, FileInspection};

/// A report on files. `version` is that of the program.
pub fn inspection(version: &str, files: &[FileInspection]) -> Report {
    let mut sections = vec![overview(files)];
    sections.extend(files.iter().map(section));
    Report { version: version.to_owned(), sections }
}

fn overview(files: &[FileInspection]) -> Section {
    let sum = |count: fn(&FileInspection) -> u64| files.iter().map(count).sum();
    let note = format!(
        "{} · {} read, {} rejected",
        text::counted(files.len() as u64, "file"),
        text::counted(sum(|file| file.facts.spans_read), "span"),
        text::count(sum(|file| file.facts.spans_rejected)),
    );
    Section { title: "Files".to_owned(), class: None, blocks: vec![Block::Note(note)] }
}

fn section(file: &FileInspection) -> Section {
    let mut blocks = vec![Block::Note(described(file)), Block::Table(counts(file))];
    blocks.extend(window(file).map(Block::Table));
    blocks.extend(services(file).map(Block::Note));
    blocks.push(keys(file).map_or_else(
        || Block::Note("No attribute that a convention names was met.".to_owned()),
        Block::Table,
    ));
    blocks.extend(file.missing().into_iter().map(|what| Block::Note(format!("Missing: {what}."))));
    Section { title: file.facts.path.clone(), class: None, blocks }
}

fn described(file: &FileInspection) -> String {
    let facts = &file.facts;
    let format = facts.format.unwrap_or("an empty file");
    let bytes = text::counted(facts.bytes, "byte");
    let skipped = match facts.other_signal_records {
        0 => String::new(),
        records => format!(" · {} of logs or metrics skipped", text::counted(records, "record")),
    };
    match facts.compression {
        Compression::None => format!("{format} · {bytes}{skipped}"),
        packed => format!("{format} · {bytes} unpacked from {}{skipped}", packed.name()),
    }
}

fn counts(file: &FileInspection) -> Table {
    let facts = &file.facts;
    let row = |name, label, count| Row::new("fact", name, vec![Cell::Count(count)]).labelled(label);
    Table {
        id: "inspection",
        title: "Holds".to_owned(),
        layout: Layout::Line,
        head: "fact",
        columns: vec![Column::new("count", "count", "")],
        rows: vec![
            row("spans", "spans", facts.spans_read),
            row("spans_rejected", "rejected", facts.spans_rejected),
            row("traces", "traces", file.traces),
            row("roots", "roots", file.roots),
            row("orphans", "orphans", file.orphans),
            row("duplicate_span_ids", "ids used twice", file.duplicate_span_ids),
            row("error_spans", "errors", file.error_spans),
            row("no_service", "without a service", file.no_service),
        ],
        ..Table::default()
    }
}

fn window(file: &FileInspection) -> Option<Table> {
    let row =
        |name, label, instant| Row::new("fact", name, vec![Cell::Instant(instant)]).labelled(label);
    let start = file.min_start.map(|start| row("min_start_ns", "first start", start));
    let end = file.max_end.map(|end| row("max_end_ns", "last end", end));
    let rows: Vec<Row> = start.into_iter().chain(end).collect();
    (!rows.is_empty()).then(|| Table {
        id: "inspection_window",
        title: "Window".to_owned(),
        layout: Layout::Line,
        head: "fact",
        columns: vec![Column::new("instant", "instant", "")],
        rows,
        ..Table::default()
    })
}

fn services(file: &FileInspection) -> Option<String> {
    (!file.services.is_empty()).then(|| {
        let count = text::counted(file.services.len() as u64, "service");
        format!("{count}: {}", file.services.join(", "))
    })
}

fn keys(file: &FileInspection) -> Option<Table> {
    let keys = &file.facts.seen.keys;
    let row = |(key, count): (&String, &crate::conventions::KeyCount)| {
        let cells = vec![
            Cell::Text(count.rule.clone()),
            Cell::Count(count.count),
            Cell::Count(count.unparsed),
        ];
        Row::new("key", key, cells)
    };
    (!keys.is_empty()).then(|| Table {
        id: "convention_keys",
        title: "Attributes and events that conventions name".to_owned(),
        head: "key",
        columns: vec![
            Column::name("rules"),
            Column::new("spans", "spans", ""),
            Column::new("not parsed", "unparsed", ""),
        ],
        rows: keys.iter().map(row).collect(),
        ..Table::default()
    })
}
