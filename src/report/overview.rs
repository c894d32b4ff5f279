//! The first screen: what was read, how each request class fares, what wastes most.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::class::{OVERGRANTS, deadline_range};
use super::model::{Block, Cell, Column, Row, Section, Table};
use super::{
    Options, RunFacts, calibration, chosen, figures, hops, percentiles, sampling, text, words,
};
use crate::distributions::{Call, ClassSummary, Measure, Merge, Name, Place, Sample, Summary};
use crate::stats::Quantile;
use crate::tables::{BadSide, Evidence, FindingCode, Severity, TerminalOutcome};

/// How many inputs are named.
const INPUTS: usize = 3;
/// How many rows the table of what wastes most has.
const WORST_ROWS: usize = 6;

/// The classes that are told one by one, busiest first, and the rest together.
pub(super) struct Classes<'a> {
    /// One by one.
    pub(super) told: Vec<(&'a Name, &'a ClassSummary)>,
    /// How many the rest are, and what they are together: with a deadline, with none but inferred ones,
    /// and without.
    rest: [(u64, ClassSummary); 3],
    requests: u64,
    with_deadline: u64,
    with_inferred_deadline: u64,
}

/// What is known of the deadlines of a class.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Deadlines {
    /// Some are declared, or in a contract.
    Known,
    /// Durations alone tell those that there are.
    Inferred,
    /// There is none.
    None,
}

impl Deadlines {
    fn of(class: &ClassSummary) -> Self {
        match (class.with_deadline(), class.with_inferred_deadline()) {
            (0, _) => Self::None,
            (all, inferred) if inferred == all => Self::Inferred,
            _ => Self::Known,
        }
    }
}

impl<'a> Classes<'a> {
    pub(super) fn choose(summary: &'a Summary, options: &Options) -> Self {
        let mut told: Vec<_> = summary.classes.iter().collect();
        told.sort_by(|(name, class), (other_name, other)| {
            other.requests.cmp(&class.requests).then_with(|| name.cmp(other_name))
        });
        let requests = told.iter().map(|(_, class)| class.requests).sum();
        let with_deadline = told.iter().map(|(_, class)| class.with_deadline()).sum();
        let with_inferred_deadline =
            told.iter().map(|(_, class)| class.with_inferred_deadline()).sum();
        let folded = told.split_off(options.classes.min(told.len()));
        let mut rest = <[(u64, ClassSummary); 3]>::default();
        for (_, class) in folded {
            let [with, inferred, without] = &mut rest;
            let rest = match Deadlines::of(class) {
                Deadlines::Known => with,
                Deadlines::Inferred => inferred,
                Deadlines::None => without,
            };
            rest.0 += 1;
            rest.1.merge_from(class.clone());
        }
        Self { told, rest, requests, with_deadline, with_inferred_deadline }
    }
}

/// The section.
pub(super) fn section(
    summary: &Summary,
    classes: &Classes<'_>,
    facts: &RunFacts,
    options: &Options,
) -> Section {
    let mut blocks = vec![Block::Note(what_was_read(classes, facts))];
    if options.has_pictures && classes.requests > 0 {
        blocks.push(figures::of_all(summary));
    }
    blocks.extend(losses(facts).map(Block::Note));
    blocks.extend(sampling::notes(summary, facts).into_iter().map(Block::Note));
    blocks.extend(chosen::notes(facts).map(Block::Note));
    blocks.extend(calibration::judged_by(facts, Some(&summary.overview)).map(Block::Note));
    if classes.requests == 0 {
        blocks.push(Block::Note(nothing_to_tell(facts).to_owned()));
        return Section { title: "Summary".to_owned(), class: None, blocks };
    }
    let [with, with_inferred, without] = &classes.rest;
    let having = |deadlines: Deadlines| -> Vec<(&Name, &ClassSummary)> {
        let told = classes.told.iter().copied();
        told.filter(|(_, class)| Deadlines::of(class) == deadlines).collect()
    };
    let (bounded, inferred) = (having(Deadlines::Known), having(Deadlines::Inferred));
    let unbounded = having(Deadlines::None);
    if classes.with_deadline == 0 {
        blocks.push(Block::Note(
            "No request declares a deadline, so this tells what needs none. To see where a \
             deadline would go, set one:"
                .to_owned(),
        ));
        blocks.push(Block::Commands(words::SET_A_DEADLINE));
    }
    blocks.extend(blocks_with_deadline(
        ("summary", "With a deadline: elapsed, least left (p1), late work/request, hops overgiven"),
        &bounded,
        with,
    ));
    blocks.extend(blocks_with_deadline(
        (
            "summary_inferred",
            "By an inferred deadline: elapsed, least left (p1), late work/request, overgiven",
        ),
        &inferred,
        with_inferred,
    ));
    if !unbounded.is_empty() || without.0 > 0 {
        blocks.push(Block::Table(table_without_deadline(&unbounded, without)));
    }
    let folded = with.0 + with_inferred.0 + without.0;
    if folded > 0 {
        blocks.push(Block::Note(format!(
            "Told together: {} of fewer requests. If ids or paths stand in span names, join them by \
             globs in a contract: match = {{ operation = \"GET /items/*\" }}.",
            text::counted(folded, "more class"),
        )));
    }
    blocks.extend(worst(summary).map(Block::Table));
    Section { title: "Summary".to_owned(), class: None, blocks }
}

fn what_was_read(classes: &Classes<'_>, facts: &RunFacts) -> String {
    let mut parts = vec![
        text::counted(classes.requests, "request"),
        text::counted(facts.traces, "trace"),
        text::counted(facts.spans_admitted, "span"),
        listed(facts),
    ];
    if let Some((first, last)) = facts.window {
        let length = text::millis(i128::from((last - first).as_nanos()));
        parts.push(format!("{length} ms from {}", text::instant(first)));
    }
    let deadlines = match classes.with_deadline {
        0 => String::new(),
        some => {
            let share = |part| text::percent(i128::from(part), i128::from(classes.requests));
            let inferred = match classes.with_inferred_deadline {
                0 => String::new(),
                all if all == some => " All of these deadlines are inferred.".to_owned(),
                part => format!(" The deadlines of {} are inferred.", share(part)),
            };
            format!(" {} of requests have a deadline.{inferred}", share(some))
        }
    };
    format!(
        "{}. Times in ms; [a, b] is a 95 % interval, left out where it is a point; bars tell how many \
         lie where, by square roots, and ┊ is zero.{deadlines}",
        parts.join(" · ")
    )
}

/// Why there is no request.
pub(super) fn nothing_to_tell(facts: &RunFacts) -> &'static str {
    if facts.spans_admitted == 0 {
        "No request to tell of: no span was admitted."
    } else {
        "No request to tell of: nothing is left of what was chosen."
    }
}

/// How many files, and the first few of what was named.
pub(super) fn listed(facts: &RunFacts) -> String {
    let mut parts: Vec<String> = facts.inputs.iter().take(INPUTS).cloned().collect();
    let more = facts.inputs.len().saturating_sub(INPUTS) as u64;
    parts.extend((more > 0).then(|| format!("{} more", text::count(more))));
    let files = text::counted(facts.files, "file");
    if parts.is_empty() { files } else { format!("{files}: {}", parts.join(", ")) }
}

/// That spans were lost, where they were.
pub fn losses(facts: &RunFacts) -> Option<String> {
    let lossy = facts.problems.iter().filter(|problem| problem.severity == Severity::Loss);
    // Counts of a folder that somebody else wrote may be anything.
    let count = lossy.fold(0, |sum: u64, problem| sum.saturating_add(problem.count));
    (count > 0 || facts.spans_rejected > 0).then(|| {
        format!(
            "Input was lost: {} of {} rejected, {} with loss; dwindle inspect tells where.",
            text::counted(facts.spans_rejected, "span"),
            text::count(facts.spans_read),
            text::counted(count, "problem"),
        )
    })
}

fn class_rows<F>(
    classes: &[(&Name, &ClassSummary)],
    rest: &(u64, ClassSummary),
    cells: F,
) -> Vec<Row>
where
    F: Fn(&ClassSummary) -> Vec<Cell>,
{
    let row = |(name, class): &(&Name, &ClassSummary)| {
        Row::new("class", name, cells(class)).labelled(words::named(Some(name)))
    };
    let mut rows: Vec<Row> = classes.iter().map(row).collect();
    if rest.0 > 0 {
        let label = format!("({} more)", text::count(rest.0));
        rows.push(Row::new("class", "", cells(&rest.1)).labelled(&label));
    }
    rows
}

/// A table of classes with deadlines, and that not all of their requests have one.
fn blocks_with_deadline(
    name: (&'static str, &str),
    classes: &[(&Name, &ClassSummary)],
    rest: &(u64, ClassSummary),
) -> Vec<Block> {
    if classes.is_empty() && rest.0 == 0 {
        return Vec::new();
    }
    let mut all = classes.iter().map(|(_, class)| *class).chain([&rest.1]);
    let is_partial = all.any(|class| class.with_deadline() < class.requests);
    let mut blocks = vec![Block::Table(table_with_deadline(name, classes, rest, is_partial))];
    if is_partial {
        blocks.push(Block::Note(
            "Not every request of these classes has a deadline: in time, left and late are of \
             those that have one (bounded), elapsed of all."
                .to_owned(),
        ));
    }
    blocks
}

fn table_with_deadline(
    (id, title): (&'static str, &str),
    classes: &[(&Name, &ClassSummary)],
    rest: &(u64, ClassSummary),
    is_partial: bool,
) -> Table {
    // Where some are inferred, but not all.
    let mut all = classes.iter().map(|(_, class)| *class).chain([&rest.1]);
    let is_mixed = |class: &ClassSummary| {
        let inferred = class.with_inferred_deadline();
        0 < inferred && inferred < class.with_deadline()
    };
    let is_inferred = all.any(is_mixed);
    // Where it is all of them, or none, people need not be told.
    let rank = |is_told: bool| if is_told { 0 } else { Column::MACHINES };
    let columns = vec![
        Column::new("n", "requests", ""),
        Column::new("bounded", "with_deadline", "").ranked(rank(is_partial)),
        Column::new("deadline", "budget_at_origin_ns", "range"),
        Column::new("inferred", "inferred_deadline", "").ranked(rank(is_inferred)),
        Column::new("in time", "completed_before_deadline", ""),
        Column::new("p50", "elapsed_ns", "p50").ranked(5).brief(),
        Column::new("p99", "elapsed_ns", "p99").brief(),
        Column::new("left", "remaining_at_worst_hop_ns", "p1").brief(),
        Column::name("at hop").ranked(6),
        Column::new("late", "late_work_ns", "mean"),
        Column::new("overgiven", "overgiven", ""),
    ];
    let cells = |class: &ClassSummary| {
        let elapsed = class.measure(Measure::Elapsed).sorted();
        let (place, left) = tightest_hop(class).map_or_else(
            || (text::ABSENT.to_owned(), Cell::Absent),
            |(place, left)| match left {
                Cell::Percentile { estimate: None, .. } => (text::ABSENT.to_owned(), left),
                _ => (words::callee(&place.call), left),
            },
        );
        vec![
            Cell::Count(class.requests),
            Cell::Share(class.with_deadline(), class.requests),
            deadline_range(class),
            Cell::Share(class.with_inferred_deadline(), class.with_deadline()),
            Cell::Share(class.completed_in_time, class.with_deadline()),
            percentiles::percentile(&elapsed, Quantile::P50),
            percentiles::outermost(BadSide::High, &elapsed),
            left,
            Cell::Text(place),
            mean(class, Measure::LateWork),
            Cell::Count(overgiven(class)),
        ]
    };
    Table {
        id,
        title: title.to_owned(),
        head: "class",
        columns,
        rows: class_rows(classes, rest, cells),
        ..Table::default()
    }
}

fn table_without_deadline(classes: &[(&Name, &ClassSummary)], rest: &(u64, ClassSummary)) -> Table {
    let columns = vec![
        Column::new("n", "requests", ""),
        Column::new("completed", "completed", ""),
        Column::new("p50", "elapsed_ns", "p50").ranked(5).brief(),
        Column::new("p99", "elapsed_ns", "p99").brief(),
        Column::new("queue p99", "queue_ns", "p99").brief(),
        Column::new("retries", "retries", ""),
        Column::new("residual", "residual_work_after_cancel_ns", "mean"),
    ];
    let cells = |class: &ClassSummary| {
        let completed = class.outcomes.get(&TerminalOutcome::Completed).copied().unwrap_or(0);
        let elapsed = class.measure(Measure::Elapsed).sorted();
        let queue = class.measure(Measure::Queue).sorted();
        vec![
            Cell::Count(class.requests),
            Cell::Share(completed, class.requests),
            percentiles::percentile(&elapsed, Quantile::P50),
            percentiles::outermost(BadSide::High, &elapsed),
            percentiles::outermost(BadSide::High, &queue),
            Cell::Ratio(class.retries, class.requests),
            mean(class, Measure::ResidualWork),
        ]
    };
    Table {
        id: "summary_without_deadline",
        title: "Without a deadline: elapsed, queue, retries and residual work per request"
            .to_owned(),
        head: "class",
        columns,
        rows: class_rows(classes, rest, cells),
        ..Table::default()
    }
}

/// The mean of a measure over the requests for which it is known.
pub(super) fn mean(class: &ClassSummary, measure: Measure) -> Cell {
    let values = class.measure(measure);
    let mean = values.sum().checked_div(values.len() as i128);
    mean.map_or(Cell::Absent, Cell::TotalTime)
}

/// Hops that were given more than was left: the full timeout again, or otherwise.
fn overgiven(class: &ClassSummary) -> u64 {
    let found = class.findings.iter().filter(|((code, _), _)| OVERGRANTS.contains(code));
    found.map(|(_, finding)| finding.findings).sum()
}

/// The hop, below the origin, whose callers had least left in their worst percent, and how much.
/// Only hops whose samples bound that percentile compete; where there is none, the busiest do, by
/// the outermost percentile that they bound.
fn tightest_hop(class: &ClassSummary) -> Option<(&Place, Cell)> {
    let below: Vec<(&Place, &Sample)> = class
        .hops
        .iter()
        .filter(|(place, hop)| hops::is_called(place, hop))
        .map(|(place, hop)| (place, &hop.remaining_at_entry))
        .collect();
    let busiest = percentiles::largest(below.iter().map(|(_, left)| *left));
    let enough = busiest.min(Quantile::P1.least_sample());
    let quantile = percentiles::outermost_bounded(BadSide::Low, enough);
    let competing = below.into_iter().filter(|(_, left)| left.mass().sample_size() >= enough);
    let told = competing.filter_map(|(place, left)| {
        let left = left.sorted();
        let least = left.quantile(quantile)?.value;
        Some((least, place, percentiles::percentile(&left, quantile)))
    });
    told.min_by_key(|(least, ..)| *least).map(|(_, place, left)| (place, left))
}

/// Findings of one code at one call, whatever the class.
#[derive(Default)]
struct Waste<'a> {
    findings: u64,
    evidence: BTreeMap<Evidence, u64>,
    /// A class may have the call at several depths.
    classes: BTreeSet<&'a str>,
    wasted_ns: i128,
    wasted_known: u64,
}

/// What wastes most, over all classes.
fn worst(summary: &Summary) -> Option<Table> {
    let mut wastes: BTreeMap<(FindingCode, Option<&Call>), Waste<'_>> = BTreeMap::new();
    for (name, class) in &summary.classes {
        for ((code, place), finding) in &class.findings {
            let call = place.as_ref().map(|place| &place.call);
            let waste = wastes.entry((*code, call)).or_default();
            waste.findings += finding.findings;
            for (evidence, count) in &finding.evidence {
                *waste.evidence.entry(*evidence).or_default() += count;
            }
            waste.classes.insert(name);
            waste.wasted_ns += finding.wasted_ns;
            waste.wasted_known += finding.wasted_known;
        }
    }
    let mut ranked: Vec<_> = wastes.into_iter().collect();
    ranked.sort_by_key(|(_, waste)| Reverse((waste.wasted_ns, waste.findings)));
    let table = Table {
        id: "worst",
        title: "What wastes most, by late and residual work that it explains".to_owned(),
        head: "finding",
        columns: vec![
            Column::name("where"),
            Column::new("n", "findings", ""),
            Column::new("classes", "classes", "").ranked(2),
            Column::name("evidence").ranked(1),
            Column::new("wasted", "wasted_ns", "sum"),
            Column::prose("meaning"),
        ],
        ..Table::default()
    };
    let rows = ranked.iter().map(|((code, call), waste)| waste_row(*code, *call, waste));
    let table = table.limited(rows, WORST_ROWS)?;
    let rest = table.rest.map(|rest| format!("{rest} below, by class"));
    Some(Table { rest, ..table })
}

fn waste_row(code: FindingCode, call: Option<&Call>, waste: &Waste<'_>) -> Row {
    let place = call.map_or_else(|| text::ABSENT.to_owned(), words::call);
    let wasted =
        if waste.wasted_known > 0 { Cell::TotalTime(waste.wasted_ns) } else { Cell::Absent };
    let cells = vec![
        Cell::Text(place),
        Cell::Count(waste.findings),
        Cell::Count(waste.classes.len() as u64),
        Cell::Text(words::evidence(&waste.evidence)),
        wasted,
        Cell::Text(words::finding(code).to_owned()),
    ];
    let row = Row::new("code", code.name(), cells);
    let evidence = words::joined(waste.evidence.keys().map(|evidence| evidence.name()));
    Row { keys: [row.keys, words::call_keys(call), vec![("evidence", evidence)]].concat(), ..row }
}
