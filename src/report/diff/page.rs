//! A comparison for people: what differs first, then class by class.

use super::{Told, words};
use crate::diff::{About, ClassDiff, Line, Mark, Numbers};
use crate::distributions::{Measure, Name};
use crate::report::model::{Block, Cell, Column, Report, Row, Section, Table};
use crate::report::{Options, RunFacts, overview, text, words as names};

/// The report.
pub(super) fn report(told: &Told<'_>, options: &Options) -> Report {
    let mut classes: Vec<&(Name, ClassDiff)> = told.diff.classes.iter().collect();
    // Those in which something differs come first, then the busiest.
    classes.sort_by_key(|(_, class)| {
        let differs = class.lines.iter().any(Line::is_different);
        std::cmp::Reverse((differs, class.requests.0 + class.requests.1))
    });
    let mut sections = vec![summary(told, options)];
    let told_classes = classes.iter().take(options.classes);
    sections.extend(told_classes.map(|(name, class)| section(name, class, options)));
    if let (Some(first), more @ 1..) =
        (sections.first_mut(), classes.len().saturating_sub(options.classes))
    {
        let more = text::counted(more as u64, "class");
        first.blocks.push(Block::Note(format!(
            "Not told one by one: {more}, where nothing differs \
             or requests are fewer; csv and json tell all."
        )));
    }
    Report { title: "What is different", version: told.head.version.clone(), sections }
}

fn summary(told: &Told<'_>, options: &Options) -> Section {
    let mut blocks = vec![
        Block::Note(side("base", told.base, told, |requests| requests.0)),
        Block::Note(side("head", told.head, told, |requests| requests.1)),
    ];
    for (name, facts) in [("base", told.base), ("head", told.head)] {
        let losses = overview::losses(facts);
        blocks.extend(losses.map(|losses| Block::Note(format!("{name}: {losses}"))));
    }
    blocks.push(Block::Note(verdict(told)));
    blocks.push(Block::Note(
        "Times in ms; shifts are head less base, those of shares in points; [a, b] is a 95 % interval; \
         p is corrected for all lines; ~ is no evidence of a difference; few: no difference could be \
         told; needs: about how many more requests a side would tell it. Of what was kept, unweighted."
            .to_owned(),
    ));
    blocks.extend(what_differs(told, options).map(Block::Table));
    blocks.extend(one_sided(told, options).map(Block::Table));
    Section { title: "Summary".to_owned(), class: None, blocks }
}

fn side(name: &str, facts: &RunFacts, told: &Told<'_>, of_class: fn((u64, u64)) -> u64) -> String {
    let alone = if name == "base" { &told.diff.gone } else { &told.diff.new };
    let shared = told.diff.classes.iter().map(|(_, class)| of_class(class.requests));
    let requests = shared.chain(alone.iter().map(|(_, requests)| *requests)).sum();
    let mut parts = vec![
        text::counted(requests, "request"),
        text::counted(facts.traces, "trace"),
        overview::listed(facts),
    ];
    parts.extend(facts.window.map(|(first, last)| {
        let length = text::millis(i128::from((last - first).as_nanos()));
        format!("{length} ms from {}", text::instant(first))
    }));
    format!("{name}: {}", parts.join(" · "))
}

fn verdict(told: &Told<'_>) -> String {
    let diff = told.diff;
    if diff.classes.is_empty() {
        return "No request class is in both, so nothing can be compared.".to_owned();
    }
    let count = |mark: Mark| diff.lines().filter(|(_, line)| line.mark == mark).count() as u64;
    let judged = text::counted(diff.judged as u64, "line");
    match (count(Mark::Worse), count(Mark::Better)) {
        (0, 0) if diff.judged == 0 => {
            "No line has requests enough to tell any difference.".to_owned()
        }
        (0, 0) => format!("Nothing differs, of {judged} that could tell."),
        (worse, better) => format!(
            "Of {judged} that could tell {} differ: {} worse, {} better.",
            text::count(worse + better),
            text::count(worse),
            text::count(better)
        ),
    }
}

/// All that differs, of all classes, what is worse first.
fn what_differs(told: &Told<'_>, options: &Options) -> Option<Table> {
    let mut lines: Vec<(&Name, &Line, (u64, u64))> = told
        .diff
        .classes
        .iter()
        .flat_map(|(name, class)| class.lines.iter().map(move |line| (name, line, class.requests)))
        .filter(|(_, line, _)| line.is_different())
        .collect();
    lines.sort_by_key(|(_, line, _)| line.mark);
    let first = lines.first()?.0;
    let is_one = lines.iter().all(|(name, ..)| *name == first);
    // Of one class the title says which.
    let title = if is_one {
        format!("What differs in {}", names::named(Some(first)))
    } else {
        "What differs".to_owned()
    };
    let rank = if is_one { Column::MACHINES } else { 0 };
    let mut columns = vec![Column::name("class").ranked(rank)];
    columns.extend(numbers_columns().into_iter().filter(|column| column.title != "needs"));
    let row = |(name, line, requests): (&Name, &Line, (u64, u64))| {
        let mut cells = vec![Cell::Text(names::named(Some(name)).to_owned())];
        cells.extend(numbers_cells(line, requests).into_iter().take(columns.len() - 1));
        Row { label: words::about(&line.about), cells, ..Row::default() }
    };
    let rows: Vec<Row> = lines.into_iter().map(row).collect();
    let table =
        Table { id: "differs", title, head: "line", columns: columns.clone(), ..Table::default() };
    table.limited(rows.into_iter(), 2 * options.rows)
}

fn one_sided(told: &Told<'_>, options: &Options) -> Option<Table> {
    let row = |side: &str, name: &Name, requests: u64| {
        let cells = vec![Cell::Text(side.to_owned()), Cell::Count(requests)];
        Row { label: names::named(Some(name)).to_owned(), cells, ..Row::default() }
    };
    let new = told.diff.new.iter().map(|(name, requests)| row("new", name, *requests));
    let gone = told.diff.gone.iter().map(|(name, requests)| row("gone", name, *requests));
    let rows: Vec<Row> = new.chain(gone).collect();
    let table = Table {
        id: "one_sided",
        title: "Classes that one side alone has".to_owned(),
        head: "class",
        columns: vec![Column::name("head has"), Column::new("requests", "", "")],
        ..Table::default()
    };
    table.limited(rows.into_iter(), options.rows)
}

fn section(name: &Name, class: &ClassDiff, options: &Options) -> Section {
    let (base, head) = class.requests;
    let headline =
        format!("{} in base, {} in head", text::counted(base, "request"), text::count(head));
    let is_share = |about: &About| matches!(about, About::Rate(_));
    let is_measure = |about: &About| matches!(about, About::Measure(..));
    let is_left = |about: &About| matches!(about, About::Remaining(..));
    let is_passed = |about: &About| matches!(about, About::Elapsed(..));
    let tables = [
        table(("rates", "Requests", "of requests"), class, is_share, options),
        table(("measures", "Time, budget and work", "per request"), class, is_measure, options),
        table(("hops", "Left at each hop", "hop"), class, is_left, options),
        table(("hops", "Elapsed at each hop", "hop"), class, is_passed, options),
        findings(name, class, options),
    ];
    let mut blocks = vec![Block::Note(headline)];
    let is_deadline = |line: &Line| {
        matches!(line.about, About::Measure(Measure::BudgetAtOrigin, _)) && line.is_different()
    };
    if class.lines.iter().any(is_deadline) {
        blocks.push(Block::Note(
            "Deadlines differ between the sides: what is left, late, or in time differs with them, \
             whatever the requests did."
                .to_owned(),
        ));
    }
    let tables: Vec<Block> = tables.into_iter().flatten().map(Block::Table).collect();
    if tables.is_empty() {
        blocks.push(Block::Note("Both sides say the same of everything.".to_owned()));
    }
    blocks.extend(tables);
    for (side, hops) in [("head", &class.new_hops), ("base", &class.gone_hops)] {
        let calls = hops.iter().take(options.rows).map(|place| names::call(&place.call));
        let mut calls: Vec<String> = calls.collect();
        let more = hops.len().saturating_sub(options.rows) as u64;
        calls.extend((more > 0).then(|| format!("and {} more", text::count(more))));
        if !calls.is_empty() {
            blocks.push(Block::Note(format!("Hops in {side} alone: {}", calls.join("; "))));
        }
    }
    let title = names::named(Some(name)).to_owned();
    Section { title, class: Some(name.to_string()), blocks }
}

/// Lines of one kind: those that differ, and of the others so many.
fn table(
    (id, title, head): (&'static str, &str, &'static str),
    class: &ClassDiff,
    is_told: fn(&About) -> bool,
    options: &Options,
) -> Option<Table> {
    let lines: Vec<&Line> = class.lines.iter().filter(|line| is_told(&line.about)).collect();
    let has_shares = lines.iter().any(|line| matches!(line.numbers, Numbers::Shares { .. }));
    let mut columns = numbers_columns();
    if has_shares {
        let between =
            [Column::new("95 %", "", "").ranked(5), Column::new("95 %", "", "").ranked(5)];
        let [of_base, of_head] = between;
        columns.insert(2, of_head);
        columns.insert(1, of_base);
        columns.retain(|column| column.title != "change");
    } else {
        columns.insert(0, Column::new("", "", ""));
    }
    let row = |line: &&Line| {
        let mut cells = numbers_cells(line, class.requests);
        if has_shares {
            let [of_base, of_head] = words::sides_intervals(&line.numbers);
            cells.insert(2, Cell::Text(of_head));
            cells.insert(1, Cell::Text(of_base));
            cells.remove(CHANGE + 2);
        } else {
            cells.insert(0, Cell::Text(words::at(&line.about)));
        }
        Row { label: words::subject(&line.about), cells, ..Row::default() }
    };
    let table = Table { id, title: title.to_owned(), head, columns, ..Table::default() };
    let mut table = limited(table, &lines, row, options)?;
    name_once(&mut table.rows);
    Some(table)
}

/// Findings: new, gone and changed.
fn findings(name: &Name, class: &ClassDiff, options: &Options) -> Option<Table> {
    let is_told = |line: &&Line| matches!(line.about, About::Finding(_));
    let lines: Vec<&Line> = class.lines.iter().filter(is_told).collect();
    let mut columns = vec![Column::name("where"), Column::name("is")];
    columns.extend(numbers_columns().into_iter().filter(|column| column.title != "change"));
    columns.extend([
        Column::new("wasted", "", "").ranked(6),
        Column::new("in head", "", "").ranked(6),
        Column::new("id", "", "").ranked(7),
    ]);
    let row = |line: &&Line| {
        let mut cells = numbers_cells(line, class.requests);
        cells.remove(CHANGE);
        let Numbers::Shares { base, head, .. } = &line.numbers else { return Row::default() };
        let is = match (base.proportion.part, head.proportion.part) {
            (0, _) => "new",
            (_, 0) => "gone",
            _ => "",
        };
        let mut all = vec![Cell::Text(words::at(&line.about)), Cell::Text(is.to_owned())];
        all.extend(cells);
        let id = words::finding_id(name, &line.about);
        all.extend([words::wasted(base), words::wasted(head), id].map(Cell::Text));
        Row { label: words::subject(&line.about), cells: all, ..Row::default() }
    };
    let title = "Findings: requests that have one, and what it wastes per request".to_owned();
    let table = Table { id: "findings", title, head: "finding", columns, ..Table::default() };
    limited(table, &lines, row, options)
}

fn limited(
    table: Table,
    lines: &[&Line],
    row: impl Fn(&&Line) -> Row,
    options: &Options,
) -> Option<Table> {
    let worth: Vec<&&Line> = lines.iter().filter(|line| line.is_worth_reading()).collect();
    let mut left =
        (2 * options.rows).saturating_sub(worth.iter().filter(|line| line.is_different()).count());
    let mut is_kept = |line: &&&Line| {
        let is_kept = line.is_different() || left > 0;
        left -= usize::from(is_kept && !line.is_different());
        is_kept
    };
    let told: Vec<Row> = worth.iter().copied().filter(|line| is_kept(line)).map(row).collect();
    let all = worth.len();
    let more = all - told.len();
    let table = table.with_some_of(all, told)?;
    let rest = (more > 0)
        .then(|| format!("and {}, none of which differs", text::counted(more as u64, "more line")));
    Some(Table { rest, ..table })
}

/// Leaves out the name of what the row above is about too.
fn name_once(rows: &mut [Row]) {
    let mut last = String::new();
    for row in rows {
        if row.label == last {
            row.label.clear();
        } else {
            last.clone_from(&row.label);
        }
    }
}

/// Which of [`numbers_columns`] tells the change in percent.
const CHANGE: usize = 4;

fn numbers_columns() -> Vec<Column> {
    vec![
        Column::new("base", "", ""),
        Column::new("head", "", ""),
        Column::new("shift", "", ""),
        Column::new("95 %", "", "").ranked(1),
        Column::new("change", "", "").ranked(4),
        Column::new("p", "", "").ranked(2),
        Column::name(""),
        Column::new("needs", "", "").ranked(3),
    ]
}

fn numbers_cells(line: &Line, requests: (u64, u64)) -> Vec<Cell> {
    let [base, head] = words::sides(&line.numbers);
    let cells = [
        base,
        head,
        words::shift(&line.numbers),
        words::shift_interval(&line.numbers),
        words::change(&line.numbers),
        words::p(line),
        words::mark(line.mark).to_owned(),
        words::needs(line, requests),
    ];
    cells.into_iter().map(Cell::Text).collect()
}
