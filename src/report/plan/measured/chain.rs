//! How the budgets of requests split over the calls that they made.

use serde_json::Number;

use super::super::chain as arithmetic;
use super::records::{Record, whole};
use super::{Told, words};
use crate::distributions::{Name, Ordered};
use crate::plan::measured::{Allocated, Asked, Class, ClassChain, Missing};
use crate::report::model::{Block, Cell, Column, Report, Row, Section, Table};
use crate::report::{Options, text, words as names};
use crate::stats::Quantile;

const LEGEND: &str = "Times in ms; [a, b] is a 95 % interval, for which a trace counts as one witness. \
     Depth is the largest number of calls of a request that follow one another: one lies below the other, \
     or begins when the other has ended; tries of a call are one call, and a hedge is no try. A leaf is an \
     attempt that called nothing further; the timeout of a try is (deadline − own) / (depth · tries), for \
     each request by its own deadline, own time and depth.";

/// The report.
pub(super) fn report(told: &Told<'_>, asked: &Asked, options: &Options) -> Report {
    let section = |(name, class)| section(name, class, asked);
    let sections = words::classes(told.measured, options).map(section).collect();
    told.report("How budgets split", LEGEND, sections)
}

fn section(name: &Name, class: &Class, asked: &Asked) -> Section {
    let requests = text::counted(class.requests.len() as u64, "request");
    let blocks = match asked.class(class) {
        Err(missing) => vec![Block::Note(format!("{requests}: {}", words_of(missing)))],
        Ok(chain) => {
            let plan = chain.chain.plan();
            let mut blocks = vec![Block::Note(headline(&requests, &chain))];
            blocks.extend(
                [budget(&chain), arithmetic::table(&chain.chain, &plan)]
                    .into_iter()
                    .flatten()
                    .map(Block::Table),
            );
            blocks.push(Block::Note(arithmetic::depth(&chain.chain, &plan)));
            blocks.push(Block::Note(arithmetic::sensitivity(&chain.chain, &plan.twice_own)));
            blocks.extend(
                [leaves(&chain), distributions(class)].into_iter().flatten().map(Block::Table),
            );
            blocks
        }
    };
    let title = names::named(Some(name)).to_owned();
    Section { title, class: Some(name.to_string()), blocks }
}

const fn words_of(missing: Missing) -> &'static str {
    match missing {
        Missing::Deadline => "none has a deadline, so there is nothing to split: give --end-to-end",
        Missing::Calls => "none calls anybody",
        Missing::Duration => "no attempt at the end of a chain succeeded: give --median",
    }
}

fn headline(requests: &str, chain: &ClassChain) -> String {
    let mut parts = vec![requests.to_owned()];
    for (left_out, why) in
        [(chain.unbounded, "without a deadline"), (chain.alone, "without a call")]
    {
        if left_out > 0 {
            parts.push(format!("{} {why} left out of shares", text::count(left_out as u64)));
        }
    }
    parts.join(", ")
}

/// By what the budget was split.
fn budget(chain: &ClassChain) -> Option<Table> {
    let row = |label: &str, value: Cell, from: Cell| Row {
        label: label.to_owned(),
        cells: vec![value, from],
        ..Row::default()
    };
    let counts = |counts: &[u32]| {
        Cell::Text(counts.iter().map(u32::to_string).collect::<Vec<_>>().join(", "))
    };
    let mut rows = vec![
        row("end to end", Cell::Time(chain.end_to_end.value), words::source(&chain.end_to_end)),
        row("own", Cell::Time(chain.own.value), words::source(&chain.own)),
        row("leaf, median", Cell::Time(chain.median.value), words::source(&chain.median)),
    ];
    rows.extend(
        chain.p95.as_ref().map(|it| row("leaf, p95", Cell::Time(it.value), words::source(it))),
    );
    rows.push(row("depth", counts(&chain.depths.value), words::source(&chain.depths)));
    rows.push(row("tries", counts(&chain.tries.value), words::source(&chain.tries)));
    let columns = vec![Column::new("is", "", ""), Column::new("from", "", "")];
    let title = "What is split, and what it is split by".to_owned();
    Table { id: "budget", title, head: "", columns, ..Table::default() }.with_all(rows)
}

/// For which share of requests a try has as long as a leaf takes.
fn leaves(chain: &ClassChain) -> Option<Table> {
    let columns = vec![
        Column::new("requests", "", ""),
        Column::new("timeout p5", "", "p5").brief(),
        Column::new("p50", "", "p50").brief(),
        Column::new("median left", "", ""),
        Column::new("95 %", "", "").ranked(3),
        Column::new("p95 left", "", ""),
        Column::new("95 %", "", "").ranked(3),
    ];
    let cells = |allocated: &Allocated| {
        let of_p95 =
            |cell: fn(&_) -> Cell| allocated.leaves_p95.as_ref().map_or(Cell::Absent, cell);
        vec![
            Cell::Count(allocated.timeout.len() as u64),
            timeout(allocated, Quantile::P5),
            timeout(allocated, Quantile::P50),
            words::share(&allocated.leaves_median),
            words::interval(&allocated.leaves_median),
            of_p95(words::share),
            of_p95(words::interval),
        ]
    };
    let row = |allocated: &Allocated| Row {
        label: allocated.tries.to_string(),
        cells: cells(allocated),
        ..Row::default()
    };
    let rows = chain.allocated.iter().filter(|it| !it.timeout.is_empty()).map(row).collect();
    let title =
        "Requests whose timeout of a try, at their own depth, leaves a leaf its time".to_owned();
    Table { id: "leaves", title, head: "tries", columns, ..Table::default() }.with_all(rows)
}

fn timeout(allocated: &Allocated, quantile: Quantile) -> Cell {
    let timeout = &allocated.timeout;
    words::exact_percentile_of(timeout.quantile(quantile), quantile, timeout.effective())
}

fn distributions(class: &Class) -> Option<Table> {
    let row = |(name, _, values): (&'static str, &'static str, Ordered)| Row {
        label: name.to_owned(),
        cells: words::distribution(&values),
        ..Row::default()
    };
    let measures = measures(class).into_iter().filter(|(_, _, values)| !values.is_empty());
    let title = "What was measured".to_owned();
    let columns = words::distribution_columns();
    let table = Table { id: "measured", title, head: "measure", columns, ..Table::default() };
    table.with_all(measures.map(row).collect())
}

/// Measures: for people, for machines, and their values.
fn measures(class: &Class) -> [(&'static str, &'static str, Ordered); 4] {
    [
        ("deadline", "budget_at_origin_ns", class.deadline.ordered()),
        ("own time", "local_execution_ns", class.own.ordered()),
        ("leaves that succeeded", "leaf_succeeded_duration_ns", class.leaves.ordered()),
        ("leaves that failed", "leaf_failed_duration_ns", class.failed_leaves.ordered()),
    ]
}

/// The same for machines.
pub(super) fn records(told: &Told<'_>, asked: &Asked) -> Vec<Record> {
    let mut records = Vec::new();
    for (name, class) in &told.measured.classes {
        let about = Record::of_class(name);
        records.push(about.count("requests", class.requests.len()));
        for (_, measure, values) in measures(class) {
            records.extend(about.distribution(measure, &values));
        }
        for (depth, requests) in class.depths() {
            records.push(about.depth(depth).count("requests_of_depth", requests));
        }
        match asked.class(class) {
            Ok(chain) => records.extend(chain_records(&about, &chain)),
            Err(missing) => records.push(about.missing(missing.name())),
        }
    }
    records
}

fn chain_records(about: &Record, chain: &ClassChain) -> Vec<Record> {
    let mut records = vec![
        about.count("requests_without_deadline", chain.unbounded),
        about.count("requests_without_call", chain.alone),
    ];
    let p95 = chain.p95.iter().map(|it| ("leaf_p95_ns", it));
    let times = [
        ("end_to_end_ns", &chain.end_to_end),
        ("own_ns", &chain.own),
        ("leaf_median_ns", &chain.median),
    ];
    for (measure, settled) in times.into_iter().chain(p95) {
        records.extend(about.policy(measure, "ns", settled, |it| vec![whole(*it)]));
    }
    let counts = |counts: &Vec<u32>| counts.iter().map(|&count| count.into()).collect();
    records.extend(about.policy("depth", "count", &chain.depths, counts));
    records.extend(about.policy("tries", "count", &chain.tries, counts));
    let (end_to_end, median) = (chain.end_to_end.value, chain.median.value);
    let plan = chain.chain.plan();
    for row in &plan.rows {
        let about = about.depth(row.depth).attempts(row.tries);
        let worst = i64::try_from(row.no_budget_worst_ns).unwrap_or(i64::MAX);
        let timeout = row.allocated_timeout;
        records.push(about.row("no_budget_worst_ns", "ns", Some(worst.into())));
        let ratio = |part, whole| Number::from_f64(arithmetic::ratio(part, whole));
        let budget_ratio = ratio(row.no_budget_worst_ns, end_to_end);
        records.push(about.row("budget_ratio", "ratio", budget_ratio));
        records.push(about.row("allocated_timeout_ns", "ns", Some(whole(timeout))));
        let ratio_to_median = ratio(i128::from(timeout.as_nanos()), median);
        records.push(about.row("ratio_to_median", "ratio", ratio_to_median));
    }
    records.push(about.row("max_depth", "count", Some(plan.max_depth.into())));
    let twice = &plan.twice_own;
    records.push(about.row("twice_own_max_depth", "count", Some(twice.max_depth.into())));
    records.push(about.row("twice_own_timeout_ns", "ns", Some(whole(twice.allocated_timeout))));
    for allocated in &chain.allocated {
        let about = about.attempts(allocated.tries);
        records.extend(about.distribution("allocated_timeout_ns", &allocated.timeout));
        records.push(about.share("requests_left_leaf_median", &allocated.leaves_median));
        let p95 = allocated.leaves_p95.as_ref();
        records.extend(p95.map(|p95| about.share("requests_left_leaf_p95", p95)));
    }
    records
}
