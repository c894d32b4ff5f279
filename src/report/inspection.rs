//! What files hold, for people: the text of `dwindle inspect`.

use super::model::{Block, Cell, Column, Report, Row, Section, Table};
use super::{Problem, problems, text, words};
use crate::ingest::{Compression, Counts, FileInspection, Inspection};

/// A section for all files together, and one for each. What is missing is told of all together: what
/// one file lacks another may hold.
pub fn inspection(inspection: &Inspection, version: &str) -> Report {
    let mut sections = vec![all(inspection)];
    let is_only = inspection.together.is_none();
    sections.extend(inspection.files.iter().map(|file| of_file(file, is_only)));
    Report { version: version.to_owned(), sections, ..Report::default() }
}

fn all(inspection: &Inspection) -> Section {
    let files = &inspection.files;
    let sum = |part: fn(&FileInspection) -> u64| files.iter().map(part).sum();
    let note = format!(
        "{}: {}, of which {} admitted and {} rejected.",
        text::counted(files.len() as u64, "file"),
        text::counted(sum(|file| file.facts.spans_read), "span"),
        text::count(sum(|file| file.facts.spans_admitted)),
        text::count(sum(|file| file.facts.spans_rejected)),
    );
    let mut blocks = vec![Block::Note(note)];
    if let Some(together) = &inspection.together {
        blocks.push(Block::Table(table(counted(together))));
        blocks.extend(services(together));
        blocks.extend(lacks(together));
    }
    Section { title: "All files".to_owned(), class: None, blocks }
}

fn of_file(file: &FileInspection, is_only: bool) -> Section {
    let mut blocks = vec![Block::Table(facts(file))];
    blocks.extend(services(&file.counts));
    blocks.extend(keys(file).map(Block::Table));
    let strings = &file.problem_strings;
    let problems: Vec<Problem> =
        file.problems.iter().map(|row| Problem::from_row(row, strings)).collect();
    blocks.extend(problems::blocks(&problems, 1, usize::MAX));
    if is_only {
        blocks.extend(lacks(&file.counts));
    }
    Section { title: file.facts.path.clone(), class: None, blocks }
}

fn services(counts: &Counts) -> Option<Block> {
    let services: Vec<&str> = counts.services.iter().map(String::as_str).collect();
    (!services.is_empty()).then(|| Block::Note(format!("services: {}", services.join(", "))))
}

fn lacks(counts: &Counts) -> Vec<Block> {
    let missing = missing(counts);
    let note = |text: &str| Block::Note(text.to_owned());
    if missing.is_empty() {
        return vec![note("Nothing is missing for deadlines to be known.")];
    }
    vec![note("What is missing for deadlines to be known:"), Block::List(missing)]
}

/// What is missing for the deadlines of the requests to be known, in sentences; empty where nothing
/// is.
pub fn missing(counts: &Counts) -> Vec<String> {
    let evidence = &counts.evidence;
    if counts.spans == 0 {
        return vec!["there is no span to say anything".to_owned()];
    }
    let some_of = |count: u64, what: &str| {
        let spans = text::counted(counts.spans, "span");
        format!("{} of {spans} {what}", text::count(count))
    };
    let sentences = [
        (evidence.grants == 0).then(|| format!("{}{}", words::NO_GRANT, words::SET_ONE)),
        (evidence.grants > 0 && evidence.root_grants == 0).then(|| {
            let what = "say how much time was given, but no root span does: ";
            some_of(evidence.grants, what) + words::SET_ONE
        }),
        (counts.roots == 0).then(|| words::NO_ROOT.to_owned()),
        (counts.orphans > 0).then(|| some_of(counts.orphans, words::ORPHANS)),
        (counts.no_service > 0).then(|| some_of(counts.no_service, words::NO_SERVICE)),
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
    let mut rows = vec![
        ("format", Cell::Text(format)),
        ("bytes, decompressed", Cell::Count(facts.bytes)),
        ("spans", Cell::Count(facts.spans_read)),
        ("spans rejected", Cell::Count(facts.spans_rejected)),
        ("logs and metrics records, skipped", Cell::Count(facts.other_signal_records)),
    ];
    rows.extend(counted(&file.counts));
    table(rows)
}

/// What was counted, by name.
fn counted(counts: &Counts) -> Vec<(&'static str, Cell)> {
    let instant = |time: Option<_>| time.map_or(Cell::Absent, Cell::Instant);
    vec![
        ("traces", Cell::Count(counts.traces)),
        ("roots", Cell::Count(counts.roots)),
        ("orphans", Cell::Count(counts.orphans)),
        ("duplicate span ids", Cell::Count(counts.duplicate_span_ids)),
        ("services", Cell::Count(counts.services.len() as u64)),
        ("spans without a service", Cell::Count(counts.no_service)),
        ("spans with status ERROR", Cell::Count(counts.error_spans)),
        ("first start", instant(counts.min_start)),
        ("last end", instant(counts.max_end)),
    ]
}

fn table(rows: Vec<(&'static str, Cell)>) -> Table {
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
