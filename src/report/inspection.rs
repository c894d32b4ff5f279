//! What files hold, for people: the text of `dwindle inspect`.

use super::model::{Block, Cell, Column, Report, Row, Section, Table};
use super::{Problem, problems, text, words};
use crate::ingest::{Compression, FileInspection};

/// A section for all files together, and one for each.
pub fn inspection(files: &[FileInspection], version: &str) -> Report {
    let mut sections = vec![together(files)];
    sections.extend(files.iter().map(of_file));
    Report { version: version.to_owned(), sections }
}

fn together(files: &[FileInspection]) -> Section {
    let sum = |part: fn(&FileInspection) -> u64| files.iter().map(part).sum();
    let note = format!(
        "{}: {}, of which {} admitted and {} rejected.",
        text::counted(files.len() as u64, "file"),
        text::counted(sum(|file| file.facts.spans_read), "span"),
        text::count(sum(|file| file.facts.spans_admitted)),
        text::count(sum(|file| file.facts.spans_rejected)),
    );
    let mut blocks = vec![Block::Note(note)];
    if files.len() > 1 {
        let alone = "Each file is looked at alone: what one lacks another may hold.";
        blocks.push(Block::Note(alone.to_owned()));
    }
    Section { title: "All files".to_owned(), class: None, blocks }
}

fn of_file(file: &FileInspection) -> Section {
    let note = |text: &str| Block::Note(text.to_owned());
    let mut blocks = vec![Block::Table(facts(file))];
    if !file.services.is_empty() {
        blocks.push(Block::Note(format!("services: {}", file.services.join(", "))));
    }
    blocks.extend(keys(file).map(Block::Table));
    let strings = &file.problem_strings;
    let problems: Vec<Problem> =
        file.problems.iter().map(|row| Problem::from_row(row, strings)).collect();
    blocks.extend(problems::blocks(&problems, 1, usize::MAX));
    let missing = missing(file);
    if missing.is_empty() {
        blocks.push(note("Nothing is missing for deadlines to be known."));
    } else {
        blocks.push(note("What is missing for deadlines to be known:"));
        blocks.push(Block::List(missing));
    }
    Section { title: file.facts.path.clone(), class: None, blocks }
}

/// What is missing for the deadlines of a file's requests to be known, in sentences; empty where
/// nothing is.
pub fn missing(file: &FileInspection) -> Vec<String> {
    let evidence = &file.evidence;
    if file.facts.spans_admitted == 0 {
        return vec!["there is no span to say anything".to_owned()];
    }
    let some_of = |count: u64, what: &str| {
        let spans = text::counted(file.facts.spans_admitted, "span");
        format!("{} of {spans} {what}", text::count(count))
    };
    let sentences = [
        (evidence.grants == 0).then(|| format!("{}{}", words::NO_GRANT, words::SET_ONE)),
        (evidence.grants > 0 && evidence.root_grants == 0).then(|| {
            let what = "say how much time was given, but no root span does: ";
            some_of(evidence.grants, what) + words::SET_ONE
        }),
        (file.roots == 0).then(|| words::NO_ROOT.to_owned()),
        (file.orphans > 0).then(|| some_of(file.orphans, words::ORPHANS)),
        (file.no_service > 0).then(|| some_of(file.no_service, words::NO_SERVICE)),
        (evidence.allowances == 0).then(|| words::NO_ALLOWANCE.to_owned()),
        (evidence.ordinals == 0).then(|| words::NO_ORDINAL.to_owned()),
        (evidence.queued == 0).then(|| words::NO_QUEUE.to_owned()),
    ];
    sentences.into_iter().flatten().collect()
}

fn facts(file: &FileInspection) -> Table {
    let facts = &file.facts;
    let compression = match facts.compression {
        Compression::None => String::new(),
        compression => format!(", {}", compression.name()),
    };
    let format = format!("{}{compression}", facts.format.as_deref().unwrap_or("empty"));
    let instant = |time: Option<_>| time.map_or(Cell::Absent, Cell::Instant);
    let rows = [
        ("format", Cell::Text(format)),
        ("bytes, decompressed", Cell::Count(facts.bytes)),
        ("spans", Cell::Count(facts.spans_read)),
        ("spans rejected", Cell::Count(facts.spans_rejected)),
        ("logs and metrics records, skipped", Cell::Count(facts.other_signal_records)),
        ("traces", Cell::Count(file.traces)),
        ("roots", Cell::Count(file.roots)),
        ("orphans", Cell::Count(file.orphans)),
        ("duplicate span ids", Cell::Count(file.duplicate_span_ids)),
        ("services", Cell::Count(file.services.len() as u64)),
        ("spans without a service", Cell::Count(file.no_service)),
        ("spans with status ERROR", Cell::Count(file.error_spans)),
        ("first start", instant(file.min_start)),
        ("last end", instant(file.max_end)),
    ];
    Table {
        id: "file",
        title: "Counts".to_owned(),
        head: "fact",
        columns: vec![Column::new("value", "value", "")],
        rows: rows.into_iter().map(|(name, cell)| Row::new("fact", name, vec![cell])).collect(),
        ..Table::default()
    }
}

fn keys(file: &FileInspection) -> Option<Table> {
    let row = |(key, seen): (&String, &crate::conventions::KeyCount)| {
        let cells = vec![
            Cell::Text(seen.rule.clone()),
            Cell::Count(seen.count),
            Cell::Count(seen.unparsed),
        ];
        Row::new("key", key, cells)
    };
    let table = Table {
        id: "keys",
        title: "Convention keys met".to_owned(),
        head: "key",
        columns: vec![
            Column::name("rule"),
            Column::new("met", "met", ""),
            Column::new("not parsed", "unparsed", ""),
        ],
        ..Table::default()
    };
    table.with_all(file.facts.seen.keys.iter().map(row).collect())
}
