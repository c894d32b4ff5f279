//! A verdict as a report that people read.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::super::model::{Block, Cell, Column, Report, Row, Section, Table};
use super::super::{chosen, findings, overview, text, words as all_words};
use super::troubles::{excused, of_suppressions};
use super::{Told, words};
use crate::check::{Basis, Check, ClassVerdict, Judged, Kind, Need, Outcome, Standing};
use crate::tables::FindingCode;

/// How many classes in which nothing fails are told one by one.
const CLASSES: usize = 20;

/// Decides what to tell: the verdict, then class by class, those that fail first.
pub(super) fn report(told: &Told<'_>) -> Report {
    let mut classes: Vec<&ClassVerdict<'_>> = told.verdict.classes.iter().collect();
    classes.sort_by_key(|class| (Reverse(class.fails()), Reverse(class.requests)));
    let failing = classes.iter().filter(|class| class.fails()).count();
    let told_of = failing + CLASSES.min(classes.len() - failing);
    let folded = (classes.len() - told_of) as u64;
    let mut sections = vec![verdict(told, folded)];
    sections.extend(classes.into_iter().take(told_of).map(section));
    Report { version: told.facts.version.clone(), sections, ..Report::default() }
}

fn verdict(told: &Told<'_>, folded: u64) -> Section {
    let facts = told.facts;
    let requests = text::counted(told.overview.requests, "request");
    let mut blocks = vec![
        Block::Note(format!("Check: {}", words::conclusion(told))),
        Block::Note(format!(
            "{requests} · {} · {}. Times in ms; [a, b] is a 95 % interval.",
            overview::listed(facts),
            words::judged_by(told)
        )),
    ];
    blocks.extend(overview::losses(facts).map(Block::Note));
    blocks.extend(chosen::notes(facts).map(Block::Note));
    if told.overview.requests == 0 {
        blocks.push(Block::Note(overview::nothing_to_tell(facts).to_owned()));
    }
    blocks.extend(excused(told).map(Block::Note));
    let suppressions = of_suppressions(told);
    if !suppressions.is_empty() {
        blocks.push(Block::List(suppressions));
    }
    if folded > 0 {
        blocks.push(Block::Note(format!(
            "Not told one by one: {} in which nothing fails; --format json tells all.",
            text::counted(folded, "class"),
        )));
    }
    Section { title: "Check".to_owned(), class: None, blocks }
}

fn section(class: &ClassVerdict<'_>) -> Section {
    let mut blocks = vec![Block::Note(headline(class))];
    blocks.extend(judged(class).map(Block::Table));
    blocks.extend(limits(class).map(Block::Table));
    let mut points: Vec<String> =
        class.checks.iter().filter(|check| check.fails).map(|check| point("FAIL", check)).collect();
    let is_excused = |check: &&Check<'_>| check.suppression.is_some();
    points.extend(class.checks.iter().filter(is_excused).map(|check| point("suppressed", check)));
    points.extend(untold(class));
    points.extend(passing(class));
    blocks.push(Block::List(points));
    let name = all_words::named(Some(class.name)).to_owned();
    let title = if class.is_class { name } else { format!("contract {name}") };
    Section { title, class: class.is_class.then(|| class.name.to_owned()), blocks }
}

fn headline(class: &ClassVerdict<'_>) -> String {
    let contracts: Vec<&str> = class.contracts.iter().map(|it| it.name.as_str()).collect();
    let contracts = match contracts.as_slice() {
        [] => "no contract".to_owned(),
        contracts => format!("contract {}", contracts.join(", ")),
    };
    let failing = class.checks.iter().filter(|check| check.fails).count() as u64;
    format!(
        "{} · {contracts} · {} · {} pass, {} cannot be told",
        text::counted(class.requests, "request"),
        match failing {
            0 => "nothing fails".to_owned(),
            some => format!("{} of {} fail", text::count(some), class.checks.len()),
        },
        text::count(class.count(Outcome::Pass)),
        text::count(class.count(Outcome::NoEvidence)),
    )
}

/// What was found; what fails comes first.
fn judged(class: &ClassVerdict<'_>) -> Option<Table> {
    let table = Table {
        id: "judged",
        title: "Findings, those that fail first".to_owned(),
        head: "finding",
        columns: vec![
            Column::name("where"),
            Column::new("n", "findings", ""),
            Column::new("wasted", "wasted_ns", "sum").ranked(1),
            Column::new("standing", "", ""),
            // Never shortened, as names may be.
            Column::new("id", "", ""),
        ],
        ..Table::default()
    };
    let rows = class.findings.iter().map(|finding| {
        let cells = vec![
            Cell::Text(findings::place(finding.subject)),
            Cell::Count(finding.group.findings),
            finding.group.wasted_ns.map_or(Cell::Absent, Cell::TotalTime),
            Cell::Text(finding.standing.name().to_owned()),
            Cell::Text(finding.id.to_string()),
        ];
        Row::new("code", finding.subject.code.name(), cells)
    });
    table.with_all(rows.collect())
}

/// Limits and rules for retries with their values.
fn limits(class: &ClassVerdict<'_>) -> Option<Table> {
    let table = Table {
        id: "limits",
        title: "Limits of the contract".to_owned(),
        head: "limit",
        columns: vec![Column::new("outcome", "", ""), Column::new("measured", "", "")],
        ..Table::default()
    };
    let limits = class.checks.iter().filter(|check| !matches!(check.kind, Kind::Case(_)));
    let rows = limits.map(|check| {
        let cells =
            vec![Cell::Text(check.outcome.name().to_owned()), Cell::Text(words::value(check))];
        Row::new("limit", &words::title(&check.kind), cells)
    });
    table.with_all(rows.collect())
}

fn point(what: &str, check: &Check<'_>) -> String {
    let brief = match &check.basis {
        Basis::Findings { found, .. } if !found.is_empty() => by_code(found),
        _ => words::reason(check),
    };
    format!("{what} {}: {brief}", words::title(&check.kind))
}

/// How often each code was found that fails; where is told in the table above.
fn by_code(found: &[Judged<'_>]) -> String {
    let mut counts: BTreeMap<FindingCode, (u64, u64)> = BTreeMap::new();
    for finding in found.iter().filter(|finding| finding.standing == Standing::Fails) {
        let (places, findings) = counts.entry(finding.subject.code).or_default();
        *places += 1;
        *findings += finding.group.findings;
    }
    let told = counts.iter().map(|(code, (places, findings))| {
        let times = text::counted(*findings, "time");
        format!("{} {times} at {}", code.name(), text::counted(*places, "place"))
    });
    told.collect::<Vec<_>>().join(", ")
}

/// What cannot be told, by what would have to be recorded.
fn untold(class: &ClassVerdict<'_>) -> Vec<String> {
    let untold =
        || class.checks.iter().filter(|check| check.outcome == Outcome::NoEvidence && !check.fails);
    let limits = untold().filter(|check| !matches!(check.kind, Kind::Case(_)));
    let limits = limits.map(|check| point("cannot be told:", check));
    let untold: Vec<(&Check<'_>, &[Need])> = untold()
        .filter_map(|check| match &check.basis {
            Basis::Findings { missing, .. } => Some((check, missing.as_slice())),
            _ => None,
        })
        .collect();
    let lacking = |need: &Need| {
        let cases = untold.iter().filter(|(_, missing)| missing.contains(need));
        let cases: Vec<String> = cases.map(|(check, _)| words::title(&check.kind)).collect();
        let told = format!("cannot be told ({}): {}", cases.join(", "), all_words::need(*need));
        (!cases.is_empty()).then_some(told)
    };
    limits.chain(Need::ALL.iter().filter_map(lacking)).collect()
}

/// Cases in which nothing was found, and those in which what was found does not fail.
fn passing(class: &ClassVerdict<'_>) -> Vec<String> {
    let passing = class.checks.iter().filter(|check| check.outcome == Outcome::Pass);
    let (mut clean, mut lenient) = (Vec::new(), Vec::new());
    for check in passing {
        match &check.basis {
            Basis::Findings { found, .. } if found.is_empty() => {
                clean.push(words::title(&check.kind));
            }
            Basis::Findings { found, .. } => {
                let standings: BTreeSet<&str> =
                    found.iter().map(|finding| finding.standing.name()).collect();
                let standings: Vec<&str> = standings.into_iter().collect();
                lenient.push(format!("{} ({})", words::title(&check.kind), standings.join(", ")));
            }
            _ => {}
        }
    }
    let told = [("pass", clean), ("pass but for findings that do not fail", lenient)];
    let told = told.into_iter().filter(|(_, cases)| !cases.is_empty());
    told.map(|(what, cases)| format!("{what}: {}", cases.join(", "))).collect()
}
