//! Requests that were run again, for people and for programs (docs/planning.md tells the fields).

use std::collections::BTreeMap;

use serde::Serialize;

use super::SCHEMA_VERSION;
use crate::plan::replay::{Change, ClassReplay, Range, Reason, Summary};
use crate::report::model::{Block, Cell, Column, Report, Row, Section, Table};
use crate::report::{
    Format, Options, Origin, RunFacts, chosen, html, markdown, overview, terminal, text,
    words as names,
};
use crate::stats::{Proportion, Quantile};
use crate::tables::spreadsheet::harmless;
use crate::units::Nanos;

/// The percentiles that are told.
const QUANTILES: [Quantile; 3] = [Quantile::P50, Quantile::P95, Quantile::P99];

/// What the model leaves out.
const LEFT_OUT: &[&str] = &[
    "Requests do not meet: no queue grows or shrinks with the load, which is told so that people can \
     judge it.",
    "Callers react as measured: where a call ends as it did, what follows takes as long as it did; where \
     it ends otherwise they give up at once or go on as they did, and what nobody saw is open.",
    "Limits that no trace and no policy states are taken into account only where an attempt takes longer \
     than it did.",
    "Calls that were refused before they were sent left no trace: who refused them failed of itself, and \
     does so again.",
    "Clocks are those that were settled on: what their intervals leave open is not in the bounds.",
    "Messages are requests of their own, and are sent as they were.",
];

/// What was run again.
#[derive(Debug)]
pub struct Told<'a> {
    /// What it told.
    pub summary: &'a Summary,
    /// What is known of the input.
    pub facts: &'a RunFacts,
    /// The file of the policy.
    pub policy: &'a str,
    /// How a page is made.
    pub origin: Option<Origin>,
}

/// Writes it down. `width` and `color` are for terminals.
pub fn render(told: &Told<'_>, format: Format, width: usize, color: bool) -> String {
    let report = || report(told, &Options::for_format(format));
    match format {
        Format::Terminal => terminal::render(&report(), width, color),
        Format::Markdown => markdown::render(&report()),
        Format::Html => html::render(&match &told.origin {
            Some(origin) => report().made_by(origin),
            None => report(),
        }),
        Format::Csv => csv(told),
        Format::Json => json(told),
    }
}

fn report(told: &Told<'_>, options: &Options) -> Report {
    let mut classes: Vec<(&String, &ClassReplay)> = told.summary.classes.iter().collect();
    classes.sort_by_key(|(name, class)| (std::cmp::Reverse(class.requests), *name));
    let mut sections = vec![summary(told, &classes, options)];
    let shown = classes.iter().take(options.classes);
    sections.extend(shown.map(|(name, class)| section(name, class, options)));
    Report {
        title: "What another policy would have done",
        version: told.facts.version.clone(),
        sections,
    }
}

fn summary(told: &Told<'_>, classes: &[(&String, &ClassReplay)], options: &Options) -> Section {
    let sum = |of: fn(&ClassReplay) -> u64| classes.iter().map(|(_, class)| of(class)).sum::<u64>();
    let (requests, exact) = (sum(|class| class.requests), sum(|class| class.exact));
    let facts = told.facts;
    let mut blocks = vec![Block::Note(format!(
        "{} · {} · {} · by {}",
        text::counted(requests, "request"),
        text::counted(facts.traces, "trace"),
        overview::listed(facts),
        told.policy,
    ))];
    blocks.extend(overview::losses(facts).map(Block::Note));
    blocks.extend(chosen::notes(facts).map(Block::Note));
    if requests == 0 {
        blocks.push(Block::Note("No request was run again.".to_owned()));
    } else {
        blocks.push(Block::Note(how_exact(classes, requests, exact)));
    }
    let row = |(name, class): &(&String, &ClassReplay)| {
        let cells = vec![
            Cell::Count(class.requests),
            Cell::Share(class.exact, class.requests),
            Cell::Count(class.faster),
            Cell::Count(class.slower),
            Cell::Count(class.same),
            Cell::Count(class.undecided()),
        ];
        Row { label: names::named(Some(name)).to_owned(), cells, ..Row::default() }
    };
    let columns = ["requests", "exact", "faster", "slower", "same", "open"];
    let table = Table {
        id: "replay",
        title: "Latency of each request against itself".to_owned(),
        head: "class",
        columns: columns.into_iter().map(|title| Column::new(title, "", "")).collect(),
        ..Table::default()
    };
    let table = table.limited(classes.iter().map(row), options.classes);
    blocks.extend(table.map(Block::Table));
    blocks.push(Block::Heading("What this leaves out"));
    blocks.push(Block::List(LEFT_OUT.iter().map(|&point| point.to_owned()).collect()));
    blocks.push(Block::Note(
        "Faster and slower tell when requests end, well or not. Times in ms; a–b: from the best that may be to the worst; +: of what was seen, and there may be \
         more that was not; [a, b] is a 95 % interval. Counts are of the requests that were read, \
         unweighted."
            .to_owned(),
    ));
    Section { title: "Summary".to_owned(), class: None, blocks }
}

fn how_exact(classes: &[(&String, &ClassReplay)], requests: u64, exact: u64) -> String {
    let mut reasons: BTreeMap<Reason, u64> = BTreeMap::new();
    for (_, class) in classes {
        for (&reason, &count) in &class.reasons {
            *reasons.entry(reason).or_default() += count;
        }
    }
    let mut reasons: Vec<(Reason, u64)> = reasons.into_iter().collect();
    reasons.sort_by_key(|&(reason, count)| (std::cmp::Reverse(count), reason));
    let told =
        reasons.iter().map(|&(reason, count)| format!("{} in {}", why(reason), text::count(count)));
    let told: Vec<String> = told.collect();
    let share = text::percent(i128::from(exact), i128::from(requests));
    let first = format!("Exact to the nanosecond: {} ({share}).", text::counted(exact, "request"));
    if told.is_empty() {
        return first;
    }
    let open = text::count(requests - exact);
    format!("{first} Within bounds: {open}, since {}.", told.join("; "))
}

/// Why a request is known within bounds only.
const fn why(reason: Reason) -> &'static str {
    match reason {
        Reason::Censored => "something that was cut short goes on, unseen for how long,",
        Reason::UnseenAttempts => "attempts may be made that nobody measured",
        Reason::UnseenReaction => {
            "a call ends otherwise and what its caller would have done is unseen"
        }
        Reason::UnknownLimit => {
            "a limit that no policy states may be met, or met at another instant"
        }
        Reason::Order => "a step may have waited for any of several calls",
        Reason::UnknownStop => "a caller leaves and whether its callee stops is unknown",
        Reason::WayBack => "an answer came too late to be seen arriving",
    }
}

fn section(name: &str, class: &ClassReplay, options: &Options) -> Section {
    let mut blocks = vec![Block::Note(format!(
        "{}, {} exact · {} faster, {} slower, {} the same, {} open",
        text::counted(class.requests, "request"),
        text::percent(i128::from(class.exact), i128::from(class.requests)),
        text::count(class.faster),
        text::count(class.slower),
        text::count(class.same),
        text::count(class.undecided()),
    ))];
    blocks.extend(latency(class).map(Block::Table));
    blocks.push(Block::Note(match class.median_difference() {
        Some((median, interval)) => format!(
            "Median difference of a request from itself: {} [{}].",
            times(median),
            times_apart(interval),
        ),
        None => "Too few requests to tell the median of their differences.".to_owned(),
    }));
    blocks.extend(outcomes(class).map(Block::Table));
    blocks.extend(work(class).map(Block::Table));
    blocks.extend(loads(class, options).map(Block::Table));
    let title = names::named(Some(name)).to_owned();
    Section { title, class: Some(name.to_owned()), blocks }
}

fn latency(class: &ClassReplay) -> Option<Table> {
    let row = |quantile: Quantile| {
        let few = || format!("n<{}", text::count(quantile.least_sample() as u64));
        let (measured, replayed) = match class.latency(quantile) {
            Some(told) => (
                text::millis(i128::from(told.measured.as_nanos())),
                times(Range { lo: told.optimistic, hi: told.pessimistic }),
            ),
            None => (few(), few()),
        };
        let cells = vec![Cell::Text(measured), Cell::Text(replayed)];
        Row { label: quantile.to_string(), cells, ..Row::default() }
    };
    let rows = QUANTILES.into_iter().map(row).collect();
    table("latency", "Latency", "percentile", &["measured", "replayed"], rows)
}

fn outcomes(class: &ClassReplay) -> Option<Table> {
    let row = |label: &str, change: Change, (was, is): (u64, u64)| {
        let cells = vec![
            Cell::Text(share(change.measured, was)),
            Cell::Text(shares(change, is)),
            Cell::Text(interval_words(change, is)),
        ];
        Row { label: label.to_owned(), cells, ..Row::default() }
    };
    let all = (class.requests, class.requests);
    let mut rows = vec![row("completed", class.completed, all)];
    let with = (whole(class.with_deadline.measured), whole(class.with_deadline.lo));
    if with != (0, 0) {
        rows.push(row("completed in time", class.in_time, with));
    }
    table("outcomes", "Requests", "that", &["measured", "replayed", "95 %"], rows)
}

fn work(class: &ClassReplay) -> Option<Table> {
    let counts = Row {
        label: "attempts".to_owned(),
        cells: vec![
            Cell::Text(count_words(class.attempts.measured)),
            Cell::Text(bounds(class.attempts, count_words)),
        ],
        ..Row::default()
    };
    let time = |label: &str, change: Change| Row {
        label: label.to_owned(),
        cells: vec![
            Cell::Text(text::millis(change.measured)),
            Cell::Text(bounds(change, text::millis)),
        ],
        ..Row::default()
    };
    let mut rows = vec![counts];
    if class.with_deadline.lo > 0 {
        rows.push(time("late work", class.late_work_ns));
    }
    rows.push(time("residual work", class.residual_work_ns));
    table("work", "Together", "sum", &["measured", "replayed"], rows)
}

fn loads(class: &ClassReplay, options: &Options) -> Option<Table> {
    let mut loads: Vec<_> = class.loads.iter().collect();
    loads.sort_by_key(|(name, load)| (std::cmp::Reverse(load.busy_ns.measured), *name));
    let row = |(name, load): (&String, &crate::plan::replay::CalleeLoad)| Row {
        label: names::named(Some(name)).to_owned(),
        cells: vec![
            Cell::Text(count_words(load.attempts.measured)),
            Cell::Text(bounds(load.attempts, count_words)),
            Cell::Text(text::millis(load.busy_ns.measured)),
            Cell::Text(bounds(load.busy_ns, text::millis)),
        ],
        ..Row::default()
    };
    let columns = ["attempts", "replayed", "busy", "replayed"];
    let table = Table {
        id: "loads",
        title: "Load of what it calls".to_owned(),
        head: "callee",
        columns: columns.into_iter().map(|title| Column::new(title, "", "")).collect(),
        ..Table::default()
    };
    table.limited(loads.into_iter().map(row), options.rows)
}

fn table(
    id: &'static str,
    title: &str,
    head: &'static str,
    columns: &[&str],
    rows: Vec<Row>,
) -> Option<Table> {
    let columns = columns.iter().map(|title| Column::new(title, "", "")).collect();
    let table = Table { id, title: title.to_owned(), head, columns, ..Table::default() };
    table.with_all(rows)
}

/// A length within its bounds.
fn times(range: Range) -> String {
    ends(whole_of(range.lo), range.hi.map(whole_of), text::millis)
}

/// The same for what may be negative.
fn times_apart(range: Range) -> String {
    let end = range.hi.map_or_else(|| "–".to_owned(), |hi| text::millis(whole_of(hi)));
    format!("{}, {end}", text::millis(whole_of(range.lo)))
}

fn whole_of(length: Nanos) -> i128 {
    i128::from(length.as_nanos())
}

/// A sum within its bounds, with a sign where there may be more that nobody saw.
fn bounds(change: Change, words: fn(i128) -> String) -> String {
    let more = if change.is_open { "+" } else { "" };
    format!("{}{more}", ends(change.lo, Some(change.seen), words))
}

fn ends(lo: i128, hi: Option<i128>, words: fn(i128) -> String) -> String {
    let Some(hi) = hi else { return format!("≥ {}", words(lo)) };
    let (lo, hi) = (words(lo), words(hi));
    // A point as far as the digits tell.
    match lo == hi {
        true => lo,
        false if lo.starts_with('-') || hi.starts_with('-') => format!("{lo} to {hi}"),
        false => format!("{lo}–{hi}"),
    }
}

fn count_words(count: i128) -> String {
    text::count(whole(count))
}

fn whole(count: i128) -> u64 {
    u64::try_from(count).unwrap_or(0)
}

fn share(part: i128, of: u64) -> String {
    text::percent(part, i128::from(of))
}

fn shares(change: Change, of: u64) -> String {
    let (lo, hi) = (share(change.lo, of), share(change.seen, of));
    if lo == hi { lo } else { format!("{lo}–{hi}") }
}

/// Of the part that surely is the lower end, of that which may be the upper.
fn interval(change: Change, of: u64) -> (f64, f64) {
    let ends = |part: i128| Proportion { part: whole(part), whole: of }.interval();
    (ends(change.lo).0, ends(change.seen).1)
}

fn interval_words(change: Change, of: u64) -> String {
    let (lo, hi) = interval(change, of);
    format!("[{:.1} %, {:.1} %]", lo * 100.0, hi * 100.0)
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    version: &'a str,
    inputs: &'a [String],
    policy: &'a str,
    requests: u64,
    exact: u64,
    classes: Vec<ClassRecord<'a>>,
}

#[derive(Serialize)]
struct ClassRecord<'a> {
    class: &'a str,
    requests: u64,
    exact: u64,
    reasons: BTreeMap<&'static str, u64>,
    faster: u64,
    slower: u64,
    same: u64,
    undecided: u64,
    measures: Vec<Record>,
}

/// A number, measured and replayed. What is not known is null, in CSV empty; so is the upper bound of
/// what nothing bounds.
#[derive(Clone, Default, Serialize)]
struct Record {
    measure: &'static str,
    statistic: String,
    callee: Option<String>,
    unit: &'static str,
    n: u64,
    measured: Option<i64>,
    replayed_lo: Option<i64>,
    replayed_hi: Option<i64>,
    replayed_seen: Option<i64>,
    interval_lo: Option<Number>,
    interval_hi: Option<Number>,
}

/// A time, or a part of one.
#[derive(Clone, Copy, Serialize)]
#[serde(untagged)]
enum Number {
    Whole(i64),
    Real(f64),
}

/// A line of CSV.
#[derive(Serialize)]
struct Line<'a> {
    class: &'a str,
    measure: &'a str,
    statistic: &'a str,
    callee: Option<&'a str>,
    unit: &'a str,
    n: u64,
    measured: Option<i64>,
    replayed_lo: Option<i64>,
    replayed_hi: Option<i64>,
    replayed_seen: Option<i64>,
    interval_lo: Option<Number>,
    interval_hi: Option<Number>,
    schema_version: u32,
}

fn json(told: &Told<'_>) -> String {
    let classes = told.summary.classes.iter();
    let classes: Vec<ClassRecord<'_>> = classes.map(|(name, class)| record(name, class)).collect();
    let document = Document {
        schema_version: SCHEMA_VERSION,
        version: &told.facts.version,
        inputs: &told.facts.inputs,
        policy: told.policy,
        requests: classes.iter().map(|class| class.requests).sum(),
        exact: classes.iter().map(|class| class.exact).sum(),
        classes,
    };
    // Writing to memory does not fail.
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

fn csv(told: &Told<'_>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for (name, class) in &told.summary.classes {
        let name = harmless(name);
        for record in [counts(class), measures(class)].concat() {
            let callee = record.callee.as_deref().map(harmless);
            let line = Line {
                class: &name,
                measure: record.measure,
                statistic: &record.statistic,
                callee: callee.as_deref(),
                unit: record.unit,
                n: record.n,
                measured: record.measured,
                replayed_lo: record.replayed_lo,
                replayed_hi: record.replayed_hi,
                replayed_seen: record.replayed_seen,
                interval_lo: record.interval_lo,
                interval_hi: record.interval_hi,
                schema_version: SCHEMA_VERSION,
            };
            // Writing to memory does not fail; if it did the text would end early.
            let _ = writer.serialize(line);
        }
    }
    writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

fn record<'a>(name: &'a str, class: &ClassReplay) -> ClassRecord<'a> {
    ClassRecord {
        class: name,
        requests: class.requests,
        exact: class.exact,
        reasons: class.reasons.iter().map(|(reason, &count)| (reason.name(), count)).collect(),
        faster: class.faster,
        slower: class.slower,
        same: class.same,
        undecided: class.undecided(),
        measures: measures(class),
    }
}

/// How many requests are what, as lines of CSV.
fn counts(class: &ClassReplay) -> Vec<Record> {
    let line = |statistic: &str, count: u64| Record {
        measure: "requests",
        statistic: statistic.to_owned(),
        unit: "count",
        n: class.requests,
        replayed_lo: i64::try_from(count).ok(),
        replayed_hi: i64::try_from(count).ok(),
        ..Record::default()
    };
    let mut lines = vec![
        line("exact", class.exact),
        line("faster", class.faster),
        line("slower", class.slower),
        line("same", class.same),
        line("undecided", class.undecided()),
    ];
    lines.extend(class.reasons.iter().map(|(reason, &count)| line(reason.name(), count)));
    lines
}

fn measures(class: &ClassReplay) -> Vec<Record> {
    let n = class.requests;
    let time = |length: Nanos| Some(length.as_nanos());
    let mut records: Vec<Record> = QUANTILES
        .into_iter()
        .map(|quantile| {
            let told = class.latency(quantile);
            Record {
                measure: "latency_ns",
                statistic: quantile.to_string(),
                unit: "ns",
                n,
                measured: told.and_then(|told| time(told.measured)),
                replayed_lo: told.and_then(|told| time(told.optimistic)),
                replayed_hi: told.and_then(|told| told.pessimistic).and_then(time),
                ..Record::default()
            }
        })
        .collect();
    let difference = class.median_difference();
    records.push(Record {
        measure: "latency_difference_ns",
        statistic: "p50".to_owned(),
        unit: "ns",
        n,
        measured: difference.map(|_| 0),
        replayed_lo: difference.and_then(|(median, _)| time(median.lo)),
        replayed_hi: difference.and_then(|(median, _)| median.hi).and_then(time),
        interval_lo: difference.map(|(_, ends)| Number::Whole(ends.lo.as_nanos())),
        interval_hi: difference
            .and_then(|(_, ends)| ends.hi)
            .map(|hi| Number::Whole(hi.as_nanos())),
        ..Record::default()
    });
    let share = |measure: &'static str, change: Change, of: u64| {
        let (lo, hi) = interval(change, of);
        let ends = [lo, hi].map(|end| (of > 0).then_some(Number::Real(end)));
        let [interval_lo, interval_hi] = ends;
        Record { interval_lo, interval_hi, ..sum(measure, "count", of, change) }
    };
    records.push(share("completed", class.completed, n));
    records.push(share("in_time", class.in_time, whole(class.with_deadline.lo)));
    records.push(sum("attempts", "count", n, class.attempts));
    records.push(sum("late_work_ns", "ns", whole(class.with_deadline.lo), class.late_work_ns));
    records.push(sum("residual_work_ns", "ns", n, class.residual_work_ns));
    for (callee, load) in &class.loads {
        let of = |record: Record| Record { callee: Some(callee.clone()), ..record };
        records.push(of(sum("callee_attempts", "count", n, load.attempts)));
        records.push(of(sum("callee_busy_ns", "ns", n, load.busy_ns)));
    }
    records
}

fn sum(measure: &'static str, unit: &'static str, n: u64, change: Change) -> Record {
    let narrow = |sum: i128| i64::try_from(sum).unwrap_or(i64::MAX);
    Record {
        measure,
        statistic: "sum".to_owned(),
        unit,
        n,
        measured: Some(narrow(change.measured)),
        replayed_lo: Some(narrow(change.lo)),
        replayed_hi: (!change.is_open).then(|| narrow(change.seen)),
        replayed_seen: Some(narrow(change.seen)),
        ..Record::default()
    }
}
