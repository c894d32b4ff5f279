//! After how long calls and requests are cut off, and what decides that.

use std::cmp::Reverse;

use super::{logarithm, of_sample, with_quiet};
use crate::calibrate::{Atom, Calibration, CallLimit, ClassLimit, Limit, Rule, as_set};
use crate::report::model::{Block, Cell, Column, Row, Table};
use crate::report::{Options, text, words};

/// How to read the tables.
const HOW_TO_READ: &str = "After: where the durations of what was cut off pile up, and how many of \
     them; seen: how long those took that are too few for that. Fixed: the same whatever was left; \
     propagated: as long as something was left; min of both: whichever is less. 10^: how many times as \
     likely as the next rule, as a power of ten.";

/// Tables of calls and of classes, or that nothing was cut off.
pub(super) fn blocks(calibration: &Calibration, options: &Options) -> Vec<Block> {
    let is_cut = |limit: &Limit| limit.cut > 0;
    let (mut cut, whole): (Vec<&CallLimit>, Vec<&CallLimit>) =
        calibration.calls.iter().partition(|call| is_cut(&call.limit));
    let (mut given_up, answered): (Vec<&ClassLimit>, Vec<&ClassLimit>) =
        calibration.classes.iter().partition(|class| is_cut(&class.limit));
    // In the order of names where as many were cut off.
    cut.sort_by_key(|call| Reverse(call.limit.cut));
    given_up.sort_by_key(|class| Reverse(class.limit.cut));
    let mut blocks = Vec::new();
    if !(cut.is_empty() && given_up.is_empty()) {
        let limits = cut.iter().map(|call| &call.limit);
        let limits = limits.chain(given_up.iter().map(|class| &class.limit));
        let kept = limits.filter(|limit| limit.kept() < limit.cut).map(Limit::kept).max();
        let mut note = HOW_TO_READ.to_owned();
        note.extend(kept.map(|kept| of_sample("Where more were cut off, after and of them", kept)));
        blocks.push(Block::Note(note));
    }
    blocks.extend(none_seen(&whole, cut.is_empty(), given_up.is_empty()).map(Block::Note));
    let calls = with_quiet(
        calls(),
        cut.iter().flat_map(|call| call_rows(call)).collect(),
        whole.iter().flat_map(|call| call_rows(call)).collect(),
        options.rows,
    );
    let classes = with_quiet(
        classes(),
        given_up.iter().flat_map(|class| class_rows(class)).collect(),
        answered.iter().flat_map(|class| class_rows(class)).collect(),
        options.rows,
    );
    blocks.extend(calls.into_iter().chain(classes).map(Block::Table));
    blocks
}

/// How far nothing was cut off.
fn none_seen(whole: &[&CallLimit], no_call: bool, no_request: bool) -> Option<String> {
    let longest = whole.iter().max_by_key(|call| (call.limit.longest, Reverse(&call.call)));
    let up_to = longest.map_or_else(String::new, |call| {
        let length = text::millis(i128::from(call.limit.longest.as_nanos()));
        format!("; the longest took {length} ms ({})", words::call(&call.call))
    });
    let hops = text::counted(whole.len() as u64, "hop");
    Some(match (no_call, no_request) {
        (true, true) => format!("No timeout shows: no attempt and no request was cut off{up_to}."),
        (true, false) => format!("No attempt was cut off{up_to}."),
        (false, _) if whole.is_empty() => return None,
        (false, _) => format!("Nothing was cut off at {hops}{up_to}."),
    })
}

/// What calls and classes have in common.
fn columns_of_limits() -> [Column; 7] {
    [
        Column::new("cut off", "cut_off", ""),
        Column::new("kept", "kept", "").ranked(Column::MACHINES),
        Column::new("seen", "few_ns", "range").ranked(1),
        Column::new("after", "timeout_ns", "").brief(),
        Column::new("of them", "at_timeout", "").ranked(2),
        Column::new("round", "round_ns", "").ranked(Column::MACHINES),
        Column::new("longest", "longest_ns", "").ranked(Column::MACHINES),
    ]
}

fn calls() -> Table {
    let mut columns = vec![Column::new("attempts", "attempts", "").ranked(4)];
    columns.extend(columns_of_limits());
    columns.extend([
        Column::new("elsewhere", "callers_alike", "").ranked(5),
        Column::name("rule"),
        Column::new("10^", "log10_likelihood_ratio", "").ranked(3),
        Column::new("judged", "judged", "").ranked(6),
        Column::new("constant", "constant_ns", "").ranked(Column::MACHINES),
        Column::new("answered", "answered", "").ranked(Column::MACHINES),
    ]);
    Table {
        id: "timeouts",
        title: "Timeouts that the traces show".to_owned(),
        head: "hop",
        columns,
        ..Table::default()
    }
}

fn classes() -> Table {
    let mut columns = vec![Column::new("requests", "requests", "").ranked(4)];
    columns.extend(columns_of_limits());
    columns.extend([
        Column::new("declare one", "declared", "").ranked(1),
        Column::new("declared", "declared_ns", "range").ranked(3),
    ]);
    Table {
        id: "request_timeouts",
        title: "Requests cut off at their root".to_owned(),
        head: "class",
        columns,
        ..Table::default()
    }
}

/// Each atom, or that there is none, numbered from 1.
fn atoms(limit: &Limit) -> impl Iterator<Item = (usize, Option<&Atom>)> {
    let none = limit.atoms.is_empty().then_some(None);
    (1..).zip(limit.atoms.iter().map(Some).chain(none))
}

/// The cells of [`columns_of_limits`]; what is of all atoms stands beside the first.
fn limit_cells(limit: &Limit, number: usize, atom: Option<&Atom>) -> [Cell; 7] {
    let (cut, kept, longest) = if number == 1 {
        (Cell::Count(limit.cut), Cell::Count(limit.kept()), Cell::Time(limit.longest))
    } else {
        (Cell::Absent, Cell::Absent, Cell::Absent)
    };
    let few = match (limit.few.first(), limit.few.last()) {
        (Some(&least), Some(&most)) => Cell::TimeRange(least, most),
        _ => Cell::Absent,
    };
    let Some(atom) = atom else {
        return [cut, kept, few, Cell::Absent, Cell::Absent, Cell::Absent, longest];
    };
    let count = atom.count as u64;
    let (value, lo, hi) = (as_set(atom), atom.lo, atom.hi);
    let after = Cell::Estimated { value, lo, hi, n: count };
    [cut, kept, Cell::Absent, after, Cell::Count(count), Cell::time(atom.round), longest]
}

fn call_rows(call: &CallLimit) -> Vec<Row> {
    let row = |(number, atom): (usize, Option<&Atom>)| {
        let is_first = number == 1;
        let of_all = |cell: Cell| if is_first { cell } else { Cell::Absent };
        let judged = &call.judged;
        let is_cut = call.limit.cut > 0;
        let rule = if is_first && is_cut { judged.rule.name() } else { text::ABSENT };
        let mut cells = vec![of_all(Cell::Count(call.attempts))];
        cells.extend(limit_cells(&call.limit, number, atom));
        cells.extend([
            atom.map_or(Cell::Absent, |_| of_all(Cell::Count(call.same_elsewhere as u64))),
            Cell::Text(rule.to_owned()),
            of_all(logarithm(judged.log_ratio)),
            of_all(Cell::Count(judged.n as u64)),
            of_all(Cell::time(judged.constant)),
            of_all(Cell::Count(call.answered)),
        ]);
        let own_keys = vec![
            ("atom", atom.map(|_| number.to_string())),
            ("rule", is_cut.then(|| rule_key(judged.rule).to_owned())),
        ];
        Row {
            label: label(words::call(&call.call), is_first),
            level: usize::from(!is_first),
            keys: [words::call_keys(Some(&call.call)), own_keys].concat(),
            cells,
            ..Row::default()
        }
    };
    atoms(&call.limit).map(row).collect()
}

fn class_rows(class: &ClassLimit) -> Vec<Row> {
    let row = |(number, atom): (usize, Option<&Atom>)| {
        let is_first = number == 1;
        let (declaring, range) = &class.declared;
        let of_all = |cell: Cell| if is_first { cell } else { Cell::Absent };
        let mut cells = vec![of_all(Cell::Count(class.requests))];
        cells.extend(limit_cells(&class.limit, number, atom));
        let range = range.map_or(Cell::Absent, |(least, most)| Cell::TimeRange(least, most));
        cells.extend([of_all(Cell::Share(*declaring, class.requests)), of_all(range)]);
        Row {
            label: label(words::named(Some(&class.class)).to_owned(), is_first),
            level: usize::from(!is_first),
            keys: vec![
                ("class", Some(class.class.to_string())),
                ("atom", atom.map(|_| number.to_string())),
            ],
            cells,
            ..Row::default()
        }
    };
    atoms(&class.limit).map(row).collect()
}

/// A further atom stands below what it is of.
fn label(whose: String, is_first: bool) -> String {
    if is_first { whose } else { "and".to_owned() }
}

/// A rule as other names of machines are written.
const fn rule_key(rule: Rule) -> &'static str {
    match rule {
        Rule::Fixed => "fixed",
        Rule::Propagated => "propagated",
        Rule::MinOfBoth => "min_of_both",
        Rule::NotEnoughEvidence => "not_enough_evidence",
    }
}
