//! What is wrong where, those that waste most first: the text of `dwindle findings`.

use super::model::{Block, Cell, Column, Report, Row, Section, Table};
use super::{RunFacts, calibration, chosen, input, overview, text, words};
use crate::check::Need;
use crate::distributions::{Merge, Overview};
use crate::ranking::{Group, Range, Ranking, Seen, Subject};
use crate::tables::Evidence;
use crate::units::Nanos;

/// All findings in one table, then at most `details` of them one by one; of the table's rows at most
/// `rows` are told.
pub fn findings(
    ranking: &Ranking,
    overview: &Overview,
    facts: &RunFacts,
    (rows, details): (usize, usize),
) -> Report {
    let ranked = ranking.ranked();
    let seen = all_seen(ranking);
    let mut blocks = vec![Block::Note(headline(&ranked, overview, facts))];
    blocks.extend(overview::losses(facts).map(Block::Note));
    blocks.extend(chosen::notes(facts).map(Block::Note));
    blocks.extend(calibration::judged_by(facts, Some(overview)).map(Block::Note));
    if ranked.is_empty() {
        blocks.push(Block::Note(none_found(overview, facts)));
    }
    let table = table(&ranked)
        .limited(ranked.iter().map(|(subject, group)| row(ranking, subject, group)), rows);
    blocks.extend(table.map(|table| {
        let all = ranked.len();
        let rest = table.rest.map(|rest| format!("{rest}: --top {all} tells all"));
        Block::Table(Table { rest, ..table })
    }));
    let mut sections = vec![Section { title: "Findings".to_owned(), class: None, blocks }];
    let told = ranked.iter().take(rows.min(details));
    sections.extend(told.map(|(subject, group)| detail(ranking, subject, group)));
    sections.push(could_not_tell(&seen, overview, facts));
    Report { title: "What is wrong where", version: facts.version.clone(), sections }
}

fn all_seen(ranking: &Ranking) -> Seen {
    ranking.classes.values().fold(Seen::default(), |mut all, seen| {
        all.merge_from(seen.clone());
        all
    })
}

fn headline(ranked: &[(&Subject, &Group)], overview: &Overview, facts: &RunFacts) -> String {
    let findings = ranked.iter().map(|(_, group)| group.findings).sum();
    let at = match ranked.len() {
        0 => String::new(),
        places => format!(" at {}", text::counted(places as u64, "place")),
    };
    format!(
        "{}{at} · {} · {}. Times in ms; wasted is late and residual work that a finding explains.",
        text::counted(findings, "finding"),
        text::counted(overview.requests, "request"),
        overview::listed(facts),
    )
}

fn none_found(overview: &Overview, facts: &RunFacts) -> String {
    match overview.requests {
        0 => overview::nothing_to_tell(facts).to_owned(),
        _ => "Nothing wrong was found. That is as good as what the traces could tell, which is \
              below."
            .to_owned(),
    }
}

fn table(ranked: &[(&Subject, &Group)]) -> Table {
    let has_possible = ranked.iter().any(|(_, group)| group.possible > 0);
    Table {
        id: "ranking",
        title: "What is wrong where, those that waste most first".to_owned(),
        head: "finding",
        columns: vec![
            Column::name("where"),
            Column::new("n", "findings", ""),
            Column::new("possible", "possible", "").ranked(if has_possible {
                2
            } else {
                Column::MACHINES
            }),
            Column::new("of requests", "requests", "").ranked(1),
            Column::new("wasted", "wasted_ns", "sum"),
            Column::new("excess", "excess_ns", "range").ranked(3),
            Column::new("granted", "granted_ns", "range").ranked(4),
            Column::new("reached", "services_reached", "").ranked(Column::MACHINES),
            // Never shortened, as names may be.
            Column::new("id", "", ""),
            Column::name("evidence").ranked(4),
            Column::name("class").ranked(5),
        ],
        ..Table::default()
    }
}

fn row(ranking: &Ranking, subject: &Subject, group: &Group) -> Row {
    let id = subject.id().to_string();
    let cells = vec![
        Cell::Text(place(subject)),
        Cell::Count(group.findings),
        Cell::Count(group.possible),
        Cell::Share(group.requests, requests(ranking, subject)),
        group.wasted_ns.map_or(Cell::Absent, Cell::TotalTime),
        range(group.excess),
        range(group.granted),
        Cell::Count(group.reached.names.len() as u64),
        Cell::Text(id.clone()),
        Cell::Text(words::evidence(&group.evidence)),
        Cell::Text(words::named(Some(&subject.class)).to_owned()),
    ];
    let mut keys = vec![
        ("id", Some(id)),
        ("class", Some(subject.class.to_string())),
        ("code", Some(subject.code.name().to_owned())),
    ];
    keys.extend(words::call_keys(subject.call.as_ref()));
    let joined = |names: Vec<&str>| Some(names.join(" "));
    let last_seen = group.deadline_last_seen_at().map(words::call);
    let names = group.reached.names.iter().map(|name| &**name);
    let reached = names.chain(group.reached.has_more.then_some("…"));
    keys.extend([
        ("evidence", words::joined(group.evidence.keys().map(|evidence| evidence.name()))),
        ("grant_keys", joined(group.grant_keys.iter().map(|key| &**key).collect())),
        ("defaults_of", Some(defaults(group).join("; "))),
        ("deadline_last_seen_at", last_seen),
        ("reached", joined(reached.collect())),
        ("traces", Some(traces(group))),
    ]);
    Row { label: subject.code.name().to_owned(), keys, cells, ..Row::default() }
}

/// Where something is wrong.
pub(super) fn place(subject: &Subject) -> String {
    subject.call.as_ref().map_or_else(|| text::ABSENT.to_owned(), words::call)
}

fn requests(ranking: &Ranking, subject: &Subject) -> u64 {
    ranking.classes.get(&subject.class).map_or(0, |seen| seen.requests)
}

fn range(range: Option<Range>) -> Cell {
    range.map_or(Cell::Absent, |Range { least, largest }| Cell::TimeRange(least, largest))
}

/// The ids of traces that show it.
pub(super) fn traces(group: &Group) -> String {
    let ids = group.exemplars.iter().map(|exemplar| exemplar.trace_id.to_string());
    ids.collect::<Vec<_>>().join(" ")
}

/// Whose defaults are among what was granted.
fn defaults(group: &Group) -> Vec<&'static str> {
    group.defaults.keys().map(|(_, whose)| *whose).collect()
}

fn detail(ranking: &Ranking, subject: &Subject, group: &Group) -> Section {
    let points = [
        Some(format!("{} ({})", words::finding(subject.code), subject.code.name())),
        Some(format!("id {} · class {}", subject.id(), words::named(Some(&subject.class)))),
        Some(how_many(ranking, subject, group)),
        Some(cost(group)),
        granted(group),
        last_seen(group),
        reached(group),
        Some(format!("traces: {}", traces(group))),
    ];
    Section {
        title: format!("{} · {}", subject.code.name(), place(subject)),
        class: Some(subject.class.to_string()),
        blocks: vec![Block::List(points.into_iter().flatten().collect())],
    }
}

fn how_many(ranking: &Ranking, subject: &Subject, group: &Group) -> String {
    let all = requests(ranking, subject);
    let mut parts = vec![format!(
        "{} in {} of {} ({})",
        text::counted(group.findings, "finding"),
        text::count(group.requests),
        text::counted(all, "request"),
        Cell::Share(group.requests, all).words("", false),
    )];
    if group.possible > 0 {
        parts.push(format!(
            "{} certain, {} only for some clock offsets",
            text::count(group.certain()),
            text::count(group.possible)
        ));
    }
    let evidence = |(evidence, count): (&Evidence, &u64)| {
        format!("{} {}", evidence.name(), text::count(*count))
    };
    let evidence: Vec<String> = group.evidence.iter().map(evidence).collect();
    if !evidence.is_empty() {
        parts.push(format!("evidence: {}", evidence.join(", ")));
    }
    parts.join(" · ")
}

fn cost(group: &Group) -> String {
    let wasted = match group.wasted_ns {
        Some(wasted) => format!("wasted {} ms", text::millis(wasted)),
        None => "not about a hop, so nothing is counted as wasted".to_owned(),
    };
    format!("{wasted} · excess {} ms", range(group.excess).words("", false))
}

/// What was granted, by what, and whether anybody chose it.
fn granted(group: &Group) -> Option<String> {
    let granted = range(Some(group.granted?)).words("", false);
    let keys: Vec<&str> = group.grant_keys.iter().map(|key| words::grant_key(key)).collect();
    let default = |((timeout, whose), &count): (&(Nanos, &str), &u64)| {
        let length = text::millis(i128::from(timeout.as_nanos()));
        let times = match count {
            all if all == group.findings => String::new(),
            some => format!(" ({} of {})", text::count(some), text::count(group.findings)),
        };
        format!("; {length} ms{times} is the default of {whose}: chosen by nobody")
    };
    let defaults: String = group.defaults.iter().map(default).collect();
    Some(format!("granted {granted} ms by {}{defaults}", keys.join(", ")))
}

fn last_seen(group: &Group) -> Option<String> {
    match (group.deadline_last_seen_at(), group.deadline_seen_at.is_empty()) {
        (Some(call), _) => Some(format!("deadline last seen at {}", words::call(call))),
        (None, false) => Some("no hop above saw a deadline".to_owned()),
        (None, true) => None,
    }
}

fn reached(group: &Group) -> Option<String> {
    let names = group.reached.names.iter().map(|name| words::named(Some(name)));
    let names: Vec<&str> = names.chain(group.reached.has_more.then_some("and more")).collect();
    (!names.is_empty()).then(|| format!("services called downstream: {}", names.join(", ")))
}

/// What silence is worth.
fn could_not_tell(seen: &Seen, overview: &Overview, facts: &RunFacts) -> Section {
    let missing = Need::ALL.iter().filter(|need| !need.is_met(seen));
    let missing: Vec<String> = missing.map(|&need| words::need(need)).collect();
    let mut blocks = vec![Block::Table(input::coverage(overview, facts))];
    if !missing.is_empty() && overview.requests > 0 {
        blocks.push(Block::Note("What could not be found, whatever is wrong:".to_owned()));
        blocks.push(Block::List(missing));
    }
    Section { title: "What the traces could not tell".to_owned(), class: None, blocks }
}
