//! For which share of requests so many attempts would have fitted.

use std::cmp::Reverse;

use super::records::{Record, whole};
use super::{Told, words};
use crate::distributions::{Call, Name, Ordered};
use crate::plan::measured::{Calls, Class, Fit, LinePlan, Source, TOLD, Wanted};
use crate::report::model::{Block, Cell, Column, Report, Row, Section, Table};
use crate::report::{Options, text, words as names};
use crate::stats::{Proportion, Quantile};

const LEGEND: &str = "Times in ms; [a, b] is a 95 % interval, for which a trace counts as one witness. A \
     request counts for so many attempts where they fit for each of its calls of the line as these began: \
     used + waits + the whole allowance within what its caller had left, less the reserve.";

/// Calls that are told, one class after another.
struct Line<'a> {
    call: &'a Call,
    calls: &'a Calls,
    plan: LinePlan,
}

/// The report.
pub(super) fn report(told: &Told<'_>, wanted: &Wanted, options: &Options) -> Report {
    let section = |(name, class)| section(name, class, wanted, options);
    let sections = words::classes(told.measured, options).map(section).collect();
    told.report("What would have fitted", LEGEND, sections)
}

fn lines<'a>(class: &'a Class, wanted: &Wanted) -> Vec<Line<'a>> {
    let line = |(call, calls): (&'a Call, &'a Calls)| Line {
        call,
        calls,
        plan: wanted.line(class, calls),
    };
    class.calls.iter().map(line).collect()
}

fn section(name: &Name, class: &Class, wanted: &Wanted, options: &Options) -> Section {
    let mut lines = lines(class, wanted);
    // Those for which the least fits come first, of equals the busiest; those without any deadline last.
    let fitting = |line: &Line<'_>| {
        let last = line.plan.fits.last().map(|fit| fit.share.proportion);
        last.filter(|share| share.whole > 0).map_or(f64::INFINITY, Proportion::ratio)
    };
    let requests = |line: &Line<'_>| Reverse(line.calls.requests.len());
    lines.sort_by(|one, other| {
        let by_fit = fitting(one).total_cmp(&fitting(other));
        by_fit.then_with(|| requests(one).cmp(&requests(other)))
    });
    let all = lines.len();
    lines.truncate((options.rows / 3).max(1));
    let mut blocks = vec![Block::Note(headline(class, wanted))];
    blocks.extend(wanted.max_attempts.filter(|&most| most > TOLD).map(|most| {
        let most = text::count(most.into());
        Block::Note(format!("Of {most} attempts at most, {TOLD} are told."))
    }));
    blocks.extend(defaults(&lines).map(Block::Note));
    if lines.is_empty() {
        blocks.push(Block::Note("No call of it has a span of its caller.".to_owned()));
    }
    let more = all - lines.len();
    let tables = [
        fits(&lines, more),
        policies(&lines, more),
        sweeps(&lines, options, more),
        done(&lines, more),
        left(&lines, more),
        took(class, &lines, more),
    ];
    blocks.extend(tables.into_iter().flatten().map(Block::Table));
    Section { title: names::named(Some(name)).to_owned(), class: Some(name.to_string()), blocks }
}

fn headline(class: &Class, wanted: &Wanted) -> String {
    let all = class.requests.len();
    let requests = text::counted(all as u64, "request");
    if let Some(deadline) = wanted.deadline {
        let millis = text::millis(i128::from(deadline.as_nanos()));
        return format!("{requests}, each with a deadline of {millis} ms in place of its own");
    }
    let without = class.requests.iter().filter(|request| request.deadline.is_none()).count();
    match without {
        0 => format!("{requests}, each with a deadline"),
        _ if without == all => format!("{requests}, none with a deadline: give one by --deadline"),
        _ => {
            let without = text::count(without as u64);
            format!("{requests}, {without} without a deadline and left out")
        }
    }
}

/// What nobody measured or gave, and of which lines.
fn defaults(lines: &[Line<'_>]) -> Option<String> {
    let of = |what: &str, is_default: fn(&LinePlan) -> bool| {
        let calls = lines.iter().filter(|line| is_default(&line.plan));
        let calls: Vec<String> = calls.map(|line| names::call(line.call)).collect();
        let is_all = calls.len() == lines.len();
        let named = if is_all { "all calls".to_owned() } else { calls.join(", ") };
        (!calls.is_empty()).then(|| format!("{what} of {named}"))
    };
    let parts: Vec<String> = [
        of("the allowance", |plan| plan.attempt.source == Source::Default),
        of("the waits", |plan| plan.backoff.source == Source::Default),
        of("the reserve", |plan| plan.reserve.source == Source::Default),
    ]
    .into_iter()
    .flatten()
    .collect();
    let parts = parts.join("; ");
    (!parts.is_empty()).then(|| format!("Not measured, but the default of a flag: {parts}."))
}

fn table(
    (id, title): (&'static str, &str),
    columns: Vec<Column>,
    mut rows: Vec<Row>,
    more: usize,
) -> Option<Table> {
    words::name_once(&mut rows);
    let table = Table { id, title: title.to_owned(), head: "call", columns, ..Table::default() };
    let rest = (more > 0).then(|| format!("and {}", text::counted(more as u64, "more call")));
    Some(Table { rest, ..table.with_all(rows)? })
}

fn row(line: &Line<'_>, cells: Vec<Cell>) -> Row {
    Row { label: names::call(line.call), cells, ..Row::default() }
}

fn fits(lines: &[Line<'_>], more: usize) -> Option<Table> {
    let columns = vec![
        Column::new("attempts", "", ""),
        Column::new("fit for", "", ""),
        Column::new("95 %", "", "").ranked(3),
        Column::new("of requests", "", "").ranked(4),
        Column::new("allowance for 95 %", "", "p5").ranked(2).brief(),
    ];
    let rows = lines.iter().flat_map(|line| {
        let plan = &line.plan;
        let cells = |fit: &Fit| {
            let n = usize::try_from(fit.share.effective).unwrap_or(usize::MAX);
            vec![
                Cell::Count(fit.attempts.into()),
                words::share(&fit.share),
                words::interval(&fit.share),
                Cell::Count(fit.share.proportion.whole),
                words::exact_percentile_of(fit.allowance, Quantile::P5, n),
            ]
        };
        let is_known = plan.fits.iter().any(|fit| fit.share.proportion.whole > 0);
        plan.fits.iter().filter(move |_| is_known).map(move |fit| row(line, cells(fit)))
    });
    table(("fits", "For which share of requests attempts fit"), columns, rows.collect(), more)
}

fn policies(lines: &[Line<'_>], more: usize) -> Option<Table> {
    let columns = vec![
        Column::new("allowance", "", ""),
        Column::new("from", "", "").ranked(1),
        Column::new("waits", "", ""),
        Column::new("from", "", "").ranked(2),
        Column::new("reserve", "", ""),
        Column::new("from", "", "").ranked(3),
    ];
    let cells = |plan: &LinePlan| {
        vec![
            words::exact(plan.attempt.value),
            words::source(&plan.attempt),
            words::lengths(&plan.backoff.value),
            words::source(&plan.backoff),
            Cell::Time(plan.reserve.value),
            words::source(&plan.reserve),
        ]
    };
    let rows = lines.iter().map(|line| row(line, cells(&line.plan))).collect();
    let title = "By which policy: p95 of allowance and reserve, medians of waits";
    table(("policies", title), columns, rows, more)
}

fn sweeps(lines: &[Line<'_>], options: &Options, more: usize) -> Option<Table> {
    let lines = || lines.iter().filter(|line| line.calls.requests.len() > line.plan.unbounded);
    let most = lines().map(|line| line.plan.fits.len()).max().unwrap_or(0);
    let mut columns = vec![Column::new("allowance", "", "")];
    columns.extend((1..=most).map(|attempts| {
        let title = if attempts == 1 { "1 fits".to_owned() } else { format!("{attempts} fit") };
        Column::new(&title, "", "")
    }));
    let rows = lines().flat_map(|line| {
        let runs = line.plan.sweep.chunk_by(|one, other| one.shares == other.shares);
        runs.take(options.rows).filter_map(|run| run.last()).map(move |swept| {
            let mut cells = vec![words::exact(swept.attempt)];
            cells.extend(swept.shares.iter().map(words::share));
            row(line, cells)
        })
    });
    let title = "With other allowances; where nothing changes the largest";
    table(("allowances", title), columns, rows.collect(), more)
}

fn done(lines: &[Line<'_>], more: usize) -> Option<Table> {
    let columns = vec![
        Column::new("calls", "", ""),
        Column::new("retried", "", ""),
        Column::new("95 %", "", "").ranked(3),
        Column::new("attempts", "", "").ranked(2),
        Column::new("unfunded", "", ""),
        Column::new("95 %", "", "").ranked(3),
    ];
    let cells = |calls: &Calls| {
        let (retried, unfunded) = (calls.retried(), calls.unfunded());
        vec![
            Cell::Count(calls.len() as u64),
            words::share(&retried),
            words::interval(&retried),
            Cell::Count(unfunded.proportion.whole),
            words::share(&unfunded),
            words::interval(&unfunded),
        ]
    };
    let rows = lines.iter().map(|line| row(line, cells(line.calls))).collect();
    let title = "What was really done: calls retried, attempts known to be unfunded";
    table(("done", title), columns, rows, more)
}

fn left(lines: &[Line<'_>], more: usize) -> Option<Table> {
    let rows = lines.iter().flat_map(|line| {
        let [_, left, available, ..] = of_calls(line.calls);
        // Without a reserve they are the same.
        let is_same = left.2 == available.2;
        let measures = [Some(left), Some(available).filter(|_| !is_same)].into_iter().flatten();
        measures
            .filter(is_measured)
            .map(move |measure| row(line, measured(measure, words::low_distribution)))
    });
    let mut columns = vec![Column::name("is")];
    columns.extend(words::low_columns());
    let title = "What callers had left when the calls began";
    table(("left", title), columns, rows.collect(), more)
}

fn took(class: &Class, lines: &[Line<'_>], more: usize) -> Option<Table> {
    let of_class = of_class(class).into_iter().filter(is_measured).map(|measure| Row {
        label: "(the request)".to_owned(),
        cells: measured(measure, words::distribution),
        ..Row::default()
    });
    let of_calls = lines.iter().flat_map(|line| {
        let [elapsed, _, _, succeeded, failed, waited] = of_calls(line.calls);
        let measures = [elapsed, succeeded, failed, waited].into_iter().filter(is_measured);
        measures.map(move |measure| row(line, measured(measure, words::distribution)))
    });
    let mut columns = vec![Column::name("is")];
    columns.extend(words::distribution_columns());
    let rows = of_class.chain(of_calls).collect();
    table(("took", "What passed before, and what attempts and waits took"), columns, rows, more)
}

/// What is measured: for people, for machines, and its values.
type Measured = (&'static str, &'static str, Ordered);

fn is_measured((_, _, values): &Measured) -> bool {
    !values.is_empty()
}

fn measured((name, _, values): Measured, cells: fn(&Ordered) -> Vec<Cell>) -> Vec<Cell> {
    std::iter::once(Cell::Text(name.to_owned())).chain(cells(&values)).collect()
}

/// Measures of requests.
fn of_class(class: &Class) -> [Measured; 2] {
    [
        ("deadline", "budget_at_origin_ns", class.deadline.ordered()),
        ("return reserve used", "return_reserve_used_ns", class.reserve_used.ordered()),
    ]
}

/// Measures of calls and their attempts.
fn of_calls(calls: &Calls) -> [Measured; 6] {
    [
        ("elapsed before", "elapsed_at_first_ns", calls.elapsed.ordered()),
        ("left", "remaining_at_first_ns", calls.remaining.ordered()),
        ("available", "available_at_first_ns", calls.available.ordered()),
        ("succeeded in", "succeeded_duration_ns", calls.succeeded.ordered()),
        ("failed in", "failed_duration_ns", calls.failed.ordered()),
        ("waited", "backoff_ns", calls.backoff.ordered()),
    ]
}

/// The same for machines.
pub(super) fn records(told: &Told<'_>, wanted: &Wanted) -> Vec<Record> {
    let mut records = Vec::new();
    for (name, class) in &told.measured.classes {
        let about = Record::of_class(name);
        records.push(about.count("requests", class.requests.len()));
        for (_, measure, values) in of_class(class) {
            records.extend(about.distribution(measure, &values));
        }
        for line in lines(class, wanted) {
            records.extend(line_records(&Record::of_call(name, line.call), &line));
        }
    }
    records
}

fn line_records(about: &Record, line: &Line<'_>) -> Vec<Record> {
    let (calls, plan) = (line.calls, &line.plan);
    let mut records = vec![
        about.count("requests", calls.requests.len()),
        about.count("requests_without_deadline", plan.unbounded),
        about.count("calls", calls.len()),
        about.share("calls_retried", &calls.retried()),
        about.share("attempts_unfunded", &calls.unfunded()),
    ];
    records.extend(about.policy("attempt_ns", "ns", &plan.attempt, |it| vec![whole(*it)]));
    let waits = |waits: &Vec<_>| waits.iter().copied().map(whole).collect();
    records.extend(about.policy("backoff_ns", "ns", &plan.backoff, waits));
    records.extend(about.policy("reserve_ns", "ns", &plan.reserve, |it| vec![whole(*it)]));
    let most = &plan.max_attempts;
    records.extend(about.policy("max_attempts", "count", most, |it| vec![(*it).into()]));
    for fit in &plan.fits {
        let about = about.attempts(fit.attempts);
        records.push(about.allowance(plan.attempt.value).share("requests_that_fit", &fit.share));
        records.push(about.estimate(
            "allowance_that_fits_ns",
            Quantile::P5,
            fit.allowance,
            &fit.share,
        ));
    }
    for swept in &plan.sweep {
        for (attempts, share) in (1..).zip(&swept.shares) {
            let about = about.attempts(attempts).allowance(swept.attempt);
            records.push(about.share("requests_that_fit", share).of_kind("sweep"));
        }
    }
    for (_, measure, values) in of_calls(calls) {
        records.extend(about.distribution(measure, &values));
    }
    records
}
