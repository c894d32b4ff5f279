//! Queries and reports tell the same numbers of the same input.

use std::collections::BTreeMap;

use serde_json::Value;

use super::folders::shop;
use super::rows_of;
use crate::support::command::run;

/// The rows of a table of the report, each with the class of its section.
fn reported(report: &Value, id: &str) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for section in report["sections"].as_array().unwrap() {
        for table in section["tables"].as_array().unwrap().iter().filter(|table| table["id"] == id)
        {
            let class = text(&section["class"]);
            found.extend(
                table["rows"].as_array().unwrap().iter().map(|row| (class.clone(), row.clone())),
            );
        }
    }
    assert!(!found.is_empty(), "the report has no {id}");
    found
}

/// A name; nothing where there is none.
fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.as_i64().map_or_else(String::new, |n| n.to_string()), str::to_owned)
}

fn by_names(rows: Vec<Value>, names: &[&str]) -> BTreeMap<Vec<String>, Value> {
    rows.into_iter().map(|row| (names.iter().map(|name| text(&row[name])).collect(), row)).collect()
}

/// One table of the report, one query, and where each stands in the other.
struct Pair {
    id: &'static str,
    query: &'static str,
    /// What names a row: in the report, and in the answer. The class is `class`.
    names: &'static [(&'static str, &'static str)],
    /// What is measured: in the report (a path), and in the answer.
    numbers: &'static [(&'static str, &'static str)],
    /// Percentiles: what the report calls it, and what its columns in the answer begin with.
    percentiles: &'static [(&'static str, &'static str)],
}

const EXCESS: &[(&str, &str)] = &[("excess_ns_p50", "excess_p50")];

/// Of measures of requests, which have the names of the report.
const OUTER_HIGH: &[(&str, &str)] =
    &[("p50", "p50"), ("p90", "p90"), ("p95", "p95"), ("p99", "p99"), ("p99.9", "p99_9")];
const OUTER_LOW: &[(&str, &str)] =
    &[("p0.1", "p0_1"), ("p1", "p1"), ("p5", "p5"), ("p10", "p10"), ("p50", "p50")];

const CALL: [(&str, &str); 3] =
    [("caller", "caller_service"), ("callee", "callee_service"), ("operation", "operation")];

const PAIRS: &[Pair] = &[
    Pair {
        id: "summary",
        query: "class_summary",
        names: &[("class", "request_class")],
        numbers: &[
            ("/requests/value", "requests"),
            ("/with_deadline/value", "with_deadline"),
            ("/budget_at_origin_ns_range/lo", "least_budget_ns"),
            ("/budget_at_origin_ns_range/hi", "largest_budget_ns"),
            ("/completed_before_deadline/value", "completed_in_time"),
            ("/overgiven/value", "overgiven"),
        ],
        percentiles: &[("elapsed_ns_p50", "elapsed_p50"), ("elapsed_ns_p99", "elapsed_p99")],
    },
    Pair {
        id: "summary_without_deadline",
        query: "class_summary",
        names: &[("class", "request_class")],
        numbers: &[("/completed/value", "completed"), ("/retries/value", "retries")],
        percentiles: &[
            ("elapsed_ns_p50", "elapsed_p50"),
            ("elapsed_ns_p99", "elapsed_p99"),
            ("queue_ns_p99", "queue_p99"),
        ],
    },
    Pair {
        id: "time",
        query: "class_percentiles",
        names: &[("class", "request_class"), ("measure", "measure")],
        numbers: &[("/n/value", "n"), ("/max/value", "max_ns")],
        percentiles: OUTER_HIGH,
    },
    Pair {
        id: "budget",
        query: "class_percentiles",
        names: &[("class", "request_class"), ("measure", "measure")],
        numbers: &[("/n/value", "n"), ("/min/value", "min_ns")],
        percentiles: OUTER_LOW,
    },
    Pair {
        id: "late",
        query: "class_percentiles",
        names: &[("class", "request_class"), ("measure", "measure")],
        numbers: &[
            ("/n/value", "n"),
            ("/nonzero/value", "nonzero"),
            ("/sum/value", "sum_ns"),
            ("/max/value", "max_ns"),
        ],
        percentiles: OUTER_HIGH,
    },
    Pair {
        id: "spent",
        query: "consumption",
        names: &[("class", "request_class"), ("service", "service"), ("category", "category")],
        numbers: &[("/spent_ns_max/value", "max_ns")],
        percentiles: &[("spent_ns_p50", "spent_p50"), ("spent_ns_p99", "spent_p99")],
    },
    Pair {
        id: "remaining",
        query: "budget_by_boundary",
        names: &[("class", "request_class"), CALL[0], CALL[1], CALL[2], ("depth", "depth")],
        numbers: &[
            ("/remaining_at_entry_ns_n/value", "bounded"),
            ("/remaining_at_entry_ns_min/value", "min_remaining_ns"),
        ],
        // Every call of the shop has a client half, so that they are those at sending.
        percentiles: &[
            ("remaining_at_entry_ns_p1", "send_p1"),
            ("remaining_at_entry_ns_p5", "send_p5"),
            ("remaining_at_entry_ns_p50", "send_p50"),
        ],
    },
    Pair {
        id: "queues",
        query: "queue_time",
        names: &[("class", "request_class"), CALL[0], CALL[1], CALL[2], ("depth", "depth")],
        numbers: &[("/queue_ns_n/value", "hops"), ("/queue_ns_max/value", "max_queue_ns")],
        percentiles: &[
            ("queue_ns_p50", "queue_p50"),
            ("queue_ns_p95", "queue_p95"),
            ("queue_ns_p99", "queue_p99"),
        ],
    },
    Pair {
        id: "attempts",
        query: "attempts_by_ordinal",
        names: &[("class", "request_class"), CALL[0], CALL[1], CALL[2], ("ordinal", "ordinal")],
        numbers: &[
            ("/attempts/value", "attempts"),
            ("/failed/value", "failed"),
            ("/remaining_at_start_ns_min/value", "min_remaining_ns"),
            ("/funding_unknown/value", "funding_unknown"),
        ],
        percentiles: &[
            ("remaining_at_start_ns_p1", "remaining_p1"),
            ("remaining_at_start_ns_p50", "remaining_p50"),
            ("backoff_ns_p50", "backoff_p50"),
            ("duration_ns_p50", "duration_p50"),
        ],
    },
    Pair {
        id: "findings",
        query: "findings",
        names: &[
            ("class", "request_class"),
            ("code", "code"),
            CALL[0],
            CALL[1],
            CALL[2],
            ("depth", "depth"),
        ],
        numbers: &[
            ("/findings/value", "findings"),
            ("/excess_ns_max/value", "max_excess_ns"),
            ("/wasted_ns_sum/value", "wasted_ns"),
        ],
        percentiles: EXCESS,
    },
    Pair {
        id: "overgrants",
        query: "findings",
        names: &[
            ("class", "request_class"),
            ("code", "code"),
            CALL[0],
            CALL[1],
            CALL[2],
            ("depth", "depth"),
        ],
        numbers: &[("/findings/value", "findings"), ("/wasted_ns_sum/value", "wasted_ns")],
        percentiles: EXCESS,
    },
    Pair {
        id: "coverage",
        query: "coverage",
        names: &[("evidence", "evidence")],
        numbers: &[("/have/value", "have"), ("/of/value", "whole")],
        percentiles: &[],
    },
    Pair {
        id: "edges",
        query: "edges",
        names: &[("caller", "caller_service"), ("callee", "callee_service")],
        numbers: &[("/calls/value", "calls")],
        percentiles: &[],
    },
];

/// What the tables do not hold, but the manifest does.
const NOT_IN_TABLES: [&str; 1] = ["client_outcomes"];

#[test]
fn queries_tell_what_the_report_tells() {
    let report = run(&["report", shop(), "--declared-only", "--format", "json"]);
    let report: Value = serde_json::from_str(&report.out).unwrap();
    let mut compared = 0;
    for Pair { id, query, names, numbers, percentiles } in PAIRS {
        let answered: Vec<&str> = names.iter().map(|(_, name)| *name).collect();
        let answers = by_names(rows_of(shop(), query), &answered);
        for (class, row) in reported(&report, id) {
            let name_of = |(name, _): &(&str, &str)| match *name {
                "class" if row["class"].is_null() => class.clone(),
                name => text(&row[name]),
            };
            let key: Vec<String> = names.iter().map(name_of).collect();
            if key.iter().any(|name| NOT_IN_TABLES.contains(&name.as_str())) {
                continue;
            }
            let answer = answers.get(&key).unwrap_or_else(|| panic!("{query} has no {key:?}"));
            for (path, column) in *numbers {
                // Some are told only of classes with deadlines.
                let Some(told) = row.pointer(path) else { continue };
                assert_eq!(told, &answer[column], "{id} and {query}, {column} of {key:?}");
            }
            for (name, prefix) in *percentiles {
                compared += hold_percentile(&row[name], answer, prefix);
            }
        }
    }
    assert!(compared > 300, "{compared}");
}

/// Holds a percentile of the report against the columns of an answer that begin with `prefix`; tells
/// how many were compared.
fn hold_percentile(told: &Value, answer: &Value, prefix: &str) -> usize {
    if told.is_null() {
        return 0;
    }
    let n = prefix.rsplit_once("_p").map_or("n".to_owned(), |(what, _)| format!("{what}_n"));
    assert_eq!(told["n"], answer[&n], "{prefix}: {answer}");
    let [value, lo, hi] =
        ["", "_lo", "_hi"].map(|end| &answer[format!("{prefix}{end}_ns").as_str()]);
    // Where the sample does not bound it the report tells none, or one that is less far out.
    if told["value"].is_null() || !told["quantile"].is_null() {
        assert!(value.is_null(), "{prefix}: {told} and {answer}");
        return 0;
    }
    assert_eq!([&told["value"], &told["lo"], &told["hi"]], [value, lo, hi], "{prefix}: {answer}");
    1
}

#[test]
fn late_and_residual_work_by_callee_sum_to_that_of_the_requests() {
    for (query, column) in [("late_work", "late_work_ns"), ("residual_work", "residual_work_ns")] {
        let sum = |rows: Vec<Value>, column: &str| -> i64 {
            rows.iter().filter_map(|row| row[column].as_i64()).sum()
        };
        let by_callee = sum(rows_of(shop(), query), column);
        assert!(by_callee > 0, "{query} tells nothing");
        let of_requests = sum(rows_of(shop(), "class_summary"), &format!("total_{column}"));
        assert_eq!(by_callee, of_requests, "{query}");
    }
}
