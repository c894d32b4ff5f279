//! How the time of a chain splits.

use serde_json::{Value, json};

use super::SCHEMA_VERSION;
use crate::plan::chain::{Chain, ChainPlan, ChainRow, Sensitivity};
use crate::report::json::exact;
use crate::report::model::{Block, Cell, Column, Report, Row, Section, Table};
use crate::report::text;
use crate::units::Nanos;

/// The report.
pub fn report(chain: &Chain, version: &str) -> Report {
    let plan = chain.plan();
    let mut blocks = vec![Block::Note(headline(chain))];
    blocks.extend(table(chain, &plan).map(Block::Table));
    blocks.push(Block::Note(depth(chain, &plan)));
    blocks.push(Block::Note(sensitivity(chain, &plan.twice_own)));
    let section = Section { title: "Chain".to_owned(), class: None, blocks };
    let title = "How the budget of a chain splits";
    Report { title, version: version.to_owned(), sections: vec![section] }
}

/// The same for programs.
pub fn json(chain: &Chain, version: &str) -> Value {
    let plan = chain.plan();
    let row = |row: &ChainRow| {
        json!({
            "depth": row.depth,
            "tries": row.tries,
            "no_budget_worst_ns": exact(Some(row.no_budget_worst_ns)),
            "budget_ratio": ratio(row.no_budget_worst_ns, chain.end_to_end),
            "allocated_timeout_ns": row.allocated_timeout.as_nanos(),
            "ratio_to_median": ratio(wide(row.allocated_timeout), chain.median),
        })
    };
    json!({
        "schema_version": SCHEMA_VERSION,
        "version": version,
        "question": {
            "end_to_end_ns": chain.end_to_end.as_nanos(),
            "own_ns": chain.own.as_nanos(),
            "median_ns": chain.median.as_nanos(),
            "depths": chain.depths,
            "tries": chain.tries,
        },
        "rows": plan.rows.iter().map(row).collect::<Vec<_>>(),
        "max_depth": plan.max_depth,
        "twice_own": {
            "own_ns": plan.twice_own.own.as_nanos(),
            "depth": chain.deepest(),
            "tries": chain.most_tries(),
            "allocated_timeout_ns": plan.twice_own.allocated_timeout.as_nanos(),
            "max_depth": plan.twice_own.max_depth,
        },
    })
}

fn wide(length: Nanos) -> i128 {
    i128::from(length.as_nanos())
}

fn ms(length: Nanos) -> String {
    text::exact_millis(wide(length))
}

/// How many times as long one length is as another.
#[expect(clippy::cast_precision_loss, reason = "a ratio is a real number")]
pub(super) fn ratio(part: i128, whole: Nanos) -> f64 {
    part as f64 / wide(whole) as f64
}

fn headline(chain: &Chain) -> String {
    format!(
        "A chain has {} ms, of which the first service needs {} for itself. Without a budget every \
         try has the whole time as its timeout; allocated, all tries of all steps fit into the {} \
         that are left. Times in ms.",
        ms(chain.end_to_end),
        ms(chain.own),
        ms(chain.end_to_end - chain.own)
    )
}

/// What each depth and number of tries costs and leaves.
pub(super) fn table(chain: &Chain, plan: &ChainPlan) -> Option<Table> {
    let row = |row: &ChainRow| {
        let (depth, tries) = (row.depth.to_string(), row.tries.to_string());
        let timeout = wide(row.allocated_timeout);
        let cells = vec![
            Cell::Text(text::count(row.tries.into())),
            Cell::ExactTime(row.no_budget_worst_ns),
            Cell::Multiple(row.no_budget_worst_ns, wide(chain.end_to_end)),
            Cell::ExactTime(timeout),
            Cell::Multiple(timeout, wide(chain.median)),
        ];
        let keys = vec![("depth", Some(depth.clone())), ("tries", Some(tries))];
        Row { label: depth, keys, cells, ..Row::default() }
    };
    let columns = vec![
        Column::new("tries", "", ""),
        Column::new("no budget, worst", "no_budget_worst_ns", "").ranked(1),
        Column::new("of the whole", "budget_ratio", "").ranked(2),
        Column::new("allocated timeout", "allocated_timeout_ns", ""),
        Column::new("of the median", "ratio_to_median", "").ranked(2),
    ];
    let title = "What a depth and a number of tries cost and leave".to_owned();
    Table { id: "chain", title, head: "depth", columns, ..Table::default() }
        .with_all(plan.rows.iter().map(row).collect())
}

fn tries(chain: &Chain) -> String {
    match chain.most_tries() {
        1 => "1 try".to_owned(),
        tries => format!("{} tries", text::count(tries.into())),
    }
}

/// Down to which depth each try is left the median.
pub(super) fn depth(chain: &Chain, plan: &ChainPlan) -> String {
    if chain.median == Nanos::ZERO {
        return "A median of nothing is left each try of any number of steps.".to_owned();
    }
    let median = ms(chain.median);
    let with = format!("With {} a step", tries(chain));
    match plan.max_depth {
        0 => format!("{with}, not even 1 step leaves each try the median of {median} ms."),
        1 => format!("{with}, 1 step leaves each try at least the median of {median} ms."),
        steps => {
            let steps = text::count(steps);
            format!("{with}, {steps} steps leave each try at least the median of {median} ms.")
        }
    }
}

/// The same with twice the own share.
pub(super) fn sensitivity(chain: &Chain, twice: &Sensitivity) -> String {
    let own = ms(twice.own);
    if twice.own >= chain.end_to_end {
        return format!("Twice the own share ({own} ms) leaves nothing to split.");
    }
    let steps = match twice.max_depth {
        _ if chain.median == Nanos::ZERO => String::new(),
        0 => "not even 1 step does, and ".to_owned(),
        1 => "1 step does, and ".to_owned(),
        steps => format!("{} steps do, and ", text::count(steps)),
    };
    format!(
        "With twice the own share ({own} ms) {steps}depth {} with {} gets {} ms a try.",
        text::count(chain.deepest().into()),
        tries(chain),
        ms(twice.allocated_timeout)
    )
}
