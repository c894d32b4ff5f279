//! One request class in detail: where its budget went, and what is wrong with it.

use super::model::{Block, Cell, Column, Layout, Row, Section, Table};
use super::{Options, attempts, explain, figures, hops, percentiles, sampling, text, words};
use crate::distributions::{ClassSummary, FindingSummary, Measure, Name, Place, Sample, Sorted};
use crate::exemplars::Exemplars;
use crate::stats::Quantile;
use crate::tables::{BadSide, BlindSpot, Category, DeadlineSource, FindingCode, TerminalOutcome};

/// What is left of the budget on the way in.
const BUDGETS: [Measure; 3] =
    [Measure::BudgetAtOrigin, Measure::BudgetAtAdmission, Measure::BudgetAtStart];
/// What time was spent on.
const TIMES: [Measure; 4] =
    [Measure::Elapsed, Measure::Queue, Measure::LocalExecution, Measure::ReturnReserveUsed];
/// What was done for nobody.
const LATE: [Measure; 5] = [
    Measure::LateWork,
    Measure::LateWait,
    Measure::LateWall,
    Measure::ResidualWork,
    Measure::ResidualWait,
];
/// Grants that exceed what was left.
pub(super) const OVERGRANTS: [FindingCode; 2] = [FindingCode::TimeoutReset, FindingCode::Overgrant];

/// The section of a class.
pub(super) fn section(
    name: &str,
    class: &ClassSummary,
    exemplars: &Exemplars,
    options: &Options,
) -> Section {
    let is_overgrant = |code: FindingCode| OVERGRANTS.contains(&code);
    let tables = [
        outcomes(class),
        deadline_sources(class),
        tried_again(class),
        blind_spots(class),
        Some(times(class)),
        spent(class, options),
        budgets(class),
        hops::remaining(class, options),
        hops::entered(class, options),
        hops::queues(class, options),
        attempts::table(class, options),
        late(class),
        hops::grants(class, options),
        findings("overgrants", "Hops given more than was left", class, is_overgrant, options),
        findings("findings", "Other findings", class, |code| !is_overgrant(code), options),
    ];
    let mut blocks = vec![Block::Note(headline(class))];
    blocks.extend(sampling::of_class(class).map(Block::Note));
    let (lines, grids): (Vec<Table>, Vec<Table>) =
        tables.into_iter().flatten().partition(|table| table.layout == Layout::Line);
    blocks.extend(lines.into_iter().map(Block::Table));
    if options.has_pictures {
        blocks.extend(figures::of_class(class));
        blocks.extend(explain::exemplars(name, exemplars));
    }
    blocks.extend(grids.into_iter().map(Block::Table));
    Section { title: words::named(Some(name)).to_owned(), class: Some(name.to_owned()), blocks }
}

/// The least and the largest budget.
pub(super) fn deadline_range(class: &ClassSummary) -> Cell {
    let budgets = class.measure(Measure::BudgetAtOrigin).sorted();
    match (budgets.min(), budgets.max()) {
        (Some(least), Some(largest)) => Cell::TimeRange(least, largest),
        _ => Cell::Absent,
    }
}

fn headline(class: &ClassSummary) -> String {
    let requests = text::counted(class.requests, "request");
    if class.with_deadline() == 0 {
        return format!("{requests} · no deadline");
    }
    let inferred = match class.with_inferred_deadline() {
        0 => String::new(),
        all if all == class.with_deadline() => " (inferred)".to_owned(),
        some => format!(" ({} of them inferred)", text::count(some)),
    };
    let deadline = format!("{} ms{inferred}", deadline_range(class).words("", false));
    let in_time = Cell::Share(class.completed_in_time, class.with_deadline()).words("", false);
    if class.with_deadline() == class.requests {
        return format!("{requests} · deadline {deadline} · {in_time} completed in time");
    }
    let bounded = text::count(class.with_deadline());
    format!(
        "{requests} · {bounded} with a deadline, {deadline} · {in_time} of those completed in time"
    )
}

/// Counts on one line; those that are quiet are for machines.
fn line(
    (id, title): (&'static str, &str),
    column: Column,
    rows: impl Iterator<Item = Row>,
) -> Option<Table> {
    let table = Table {
        id,
        title: title.to_owned(),
        layout: Layout::Line,
        columns: vec![column],
        ..Table::default()
    };
    table.with_all(rows.collect())
}

fn shares<'a, N: Copy + 'a>(
    id: (&'static str, &str),
    key: &'static str,
    class: &ClassSummary,
    counts: impl Iterator<Item = (&'a N, &'a u64)>,
    name: fn(N) -> &'static str,
) -> Option<Table> {
    let row = |(named, &count): (&N, &u64)| {
        Row::new(key, name(*named), vec![Cell::Share(count, class.requests)])
    };
    line(id, Column::new("share", "requests", ""), counts.map(row))
}

fn outcomes(class: &ClassSummary) -> Option<Table> {
    let counts = class.outcomes.iter();
    shares(("outcomes", "Outcomes"), "outcome", class, counts, TerminalOutcome::name)
}

fn deadline_sources(class: &ClassSummary) -> Option<Table> {
    let id = ("deadline_sources", "Deadline from");
    let table = shares(id, "source", class, class.deadline_sources.iter(), DeadlineSource::name);
    table.filter(|_| class.with_deadline() > 0)
}

/// What the traces of the class cannot tell. That there is no deadline is said elsewhere, once.
fn blind_spots(class: &ClassSummary) -> Option<Table> {
    let spots = class.blind_spots.iter().filter(|(spot, _)| **spot != BlindSpot::NoDeadline);
    shares(("blind_spots", "Blind spots"), "blind_spot", class, spots, BlindSpot::name)
}

fn tried_again(class: &ClassSummary) -> Option<Table> {
    let by_measure = class.attempts.values().map(|attempt| attempt.unfundable_by_measure).sum();
    let counts = [
        ("retries", "retries", class.retries),
        ("hedges", "hedges", class.hedges),
        ("unfunded_attempts", "attempts without enough left", class.unfundable),
        ("unfunded_by_measure", "of them by measured needs", by_measure),
        ("layered_requests", "requests retried by two layers", class.layered),
    ];
    let rows = counts.into_iter().map(|(name, label, count)| Row {
        is_quiet: count == 0,
        ..Row::new("kind", name, vec![Cell::Count(count)]).labelled(label)
    });
    line(("tried_again", "Tried again"), Column::new("count", "count", ""), rows)
}

fn measure_table(
    (id, title): (&'static str, &str),
    class: &ClassSummary,
    measures: &[Measure],
    side: BadSide,
) -> Table {
    let known =
        || measures.iter().filter_map(|measure| Some((measure, class.measures.get(measure)?)));
    let row = |(&measure, sample): (&Measure, &Sample)| Row {
        measure: measure.name(),
        ..Row::new("measure", measure.name(), percentiles::cells(side, &sample.sorted()))
            .labelled(words::measure(measure))
    };
    let present = known().filter(|(_, sample)| !sample.is_empty());
    Table {
        id,
        title: title.to_owned(),
        head: "per request",
        columns: percentiles::columns(
            side,
            "",
            percentiles::largest(known().map(|(_, sample)| sample)),
        ),
        rows: present.map(row).collect(),
        ..Table::default()
    }
}

fn budgets(class: &ClassSummary) -> Option<Table> {
    let side = percentiles::side_of(Measure::BudgetAtOrigin);
    let title = words::by_inferred(
        "Budget on the way in",
        (class.with_inferred_deadline(), class.with_deadline()),
    );
    let table = measure_table(("budget", &title), class, &BUDGETS, side);
    let samples = BUDGETS.iter().filter_map(|measure| class.measures.get(measure));
    let samples: Vec<Sorted> =
        samples.filter(|sample| !sample.is_empty()).map(Sample::sorted).collect();
    (!table.rows.is_empty()).then(|| percentiles::with_shapes(table, "", &samples))
}

fn times(class: &ClassSummary) -> Table {
    let side = percentiles::side_of(Measure::Queue);
    measure_table(("time", "Time"), class, &TIMES, side)
}

/// What time on the path is a share of.
struct Basis {
    title: String,
    head: &'static str,
    measure: &'static str,
    whole_ns: i128,
}

impl Basis {
    /// The budgets where every request has one, else what had passed.
    fn of(class: &ClassSummary) -> Self {
        if class.with_deadline() == class.requests {
            Self {
                title: words::by_inferred(
                    "Where the budget went: own time on the consumption path",
                    (class.with_inferred_deadline(), class.with_deadline()),
                ),
                head: "of budget",
                measure: "share_of_budget",
                whole_ns: class.measure(Measure::BudgetAtOrigin).sum(),
            }
        } else {
            Self {
                title: "Where the time went: own time on the consumption path".to_owned(),
                head: "of elapsed",
                measure: "share_of_elapsed",
                whole_ns: class.measure(Measure::Elapsed).sum(),
            }
        }
    }
}

/// Where the time from origin to root end went. A request without a segment spent nothing there.
fn spent(class: &ClassSummary, options: &Options) -> Option<Table> {
    let basis = Basis::of(class);
    // Each request has elapsed.
    let whole = class.measure(Measure::Elapsed).mass();
    let n = whole.sample_size();
    let side = percentiles::side_of(Measure::Elapsed);
    let mut spent: Vec<(i128, &(Name, Category), &Sample)> =
        class.spent.iter().map(|(key, sample)| (sample.sum(), key, sample)).collect();
    spent.sort_by(|(sum, key, _), (other, other_key, _)| {
        other.cmp(sum).then_with(|| key.cmp(other_key))
    });
    let row = |(sum, (service, category), sample): (i128, &(Name, Category), &Sample)| {
        let category = category.name().to_owned();
        let mut cells = vec![Cell::Text(category.clone()), Cell::TimeShare(sum, basis.whole_ns)];
        cells.extend(percentiles::cells(side, &sample.sorted_of(whole)).into_iter().skip(1));
        Row {
            label: words::named(Some(service)).to_owned(),
            keys: vec![("service", Some(service.to_string())), ("category", Some(category))],
            cells,
            ..Row::default()
        }
    };
    let mut columns = vec![Column::name("on"), Column::new(basis.head, basis.measure, "")];
    columns.extend(percentiles::columns(side, "spent_ns", n).into_iter().skip(1));
    let table =
        Table { id: "spent", title: basis.title, head: "service", columns, ..Table::default() };
    table.limited(spent.into_iter().map(row), options.rows)
}

/// Late and residual work: how many requests have any, how much it is.
fn late(class: &ClassSummary) -> Option<Table> {
    let known = || LATE.iter().filter_map(|measure| Some((*measure, class.measures.get(measure)?)));
    if known().all(|(_, sample)| sample.nonzero() == 0) {
        return None;
    }
    let side = percentiles::side_of(Measure::LateWork);
    let mut columns = vec![Column::new("requests", "", "nonzero"), Column::new("total", "", "sum")];
    columns.extend(percentiles::columns(
        side,
        "",
        percentiles::largest(known().map(|(_, sample)| sample)),
    ));
    let row = |(measure, sample): (Measure, &Sample)| {
        let mut cells = vec![
            Cell::Share(sample.nonzero() as u64, sample.len() as u64),
            Cell::TotalTime(sample.sum()),
        ];
        cells.extend(percentiles::cells(side, &sample.sorted()));
        Row {
            measure: measure.name(),
            is_quiet: sample.nonzero() == 0,
            ..Row::new("measure", measure.name(), cells).labelled(words::measure(measure))
        }
    };
    let none: Vec<&str> = known()
        .filter(|(_, sample)| sample.nonzero() == 0)
        .map(|(measure, _)| words::measure(measure))
        .collect();
    Some(Table {
        id: "late",
        title: words::by_inferred(
            "Late and residual work",
            (class.with_inferred_deadline(), class.with_deadline()),
        ),
        head: "per request",
        columns,
        rows: known().filter(|(_, sample)| !sample.is_empty()).map(row).collect(),
        rest: (!none.is_empty()).then(|| format!("none: {}", none.join(", "))),
        ..Table::default()
    })
}

/// Findings of some codes, those that wasted most first.
fn findings(
    id: &'static str,
    title: &str,
    class: &ClassSummary,
    is_told: impl Fn(FindingCode) -> bool,
    options: &Options,
) -> Option<Table> {
    let mut found: Vec<_> = class.findings.iter().filter(|((code, _), _)| is_told(*code)).collect();
    found.sort_by(|(key, finding), (other_key, other)| {
        let rank = |finding: &FindingSummary| (finding.wasted_ns, finding.findings);
        rank(other).cmp(&rank(finding)).then_with(|| key.cmp(other_key))
    });
    let table = Table {
        id,
        title: title.to_owned(),
        head: "finding",
        columns: vec![
            Column::name("where"),
            Column::new("n", "findings", ""),
            Column::name("evidence").ranked(2),
            Column::new("excess p50", "excess_ns", "p50").ranked(3).brief(),
            Column::new("max", "excess_ns", "max"),
            Column::new("wasted", "wasted_ns", "sum"),
            Column::prose("meaning"),
        ],
        ..Table::default()
    };
    let row = |((code, place), finding): (&(FindingCode, Option<Place>), &FindingSummary)| {
        finding_row(*code, place.as_ref(), finding)
    };
    table.limited(found.into_iter().map(row), options.rows)
}

fn finding_row(code: FindingCode, place: Option<&Place>, finding: &FindingSummary) -> Row {
    let excess = finding.excess.sorted();
    let wasted =
        if finding.wasted_known > 0 { Cell::TotalTime(finding.wasted_ns) } else { Cell::Absent };
    let cells = vec![
        Cell::Text(place.map_or_else(|| text::ABSENT.to_owned(), |place| words::call(&place.call))),
        Cell::Count(finding.findings),
        Cell::Text(words::evidence(&finding.evidence)),
        percentiles::percentile(&excess, Quantile::P50),
        Cell::time(excess.max()),
        wasted,
        Cell::Text(words::finding(code).to_owned()),
    ];
    let row = Row::new("code", code.name(), cells);
    let evidence = words::joined(finding.evidence.keys().map(|evidence| evidence.name()));
    let keys = [row.keys, words::place_keys(place), vec![("evidence", evidence)]].concat();
    Row { keys, ..row }
}
