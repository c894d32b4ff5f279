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
}

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
    },
    Pair {
        id: "summary_without_deadline",
        query: "class_summary",
        names: &[("class", "request_class")],
        numbers: &[("/completed/value", "completed"), ("/retries/value", "retries")],
    },
    Pair {
        id: "spent",
        query: "consumption",
        names: &[("class", "request_class"), ("service", "service"), ("category", "category")],
        numbers: &[("/spent_ns_max/value", "max_ns")],
    },
    Pair {
        id: "remaining",
        query: "budget_by_boundary",
        names: &[("class", "request_class"), CALL[0], CALL[1], CALL[2], ("depth", "depth")],
        numbers: &[
            ("/remaining_at_entry_ns_n/value", "bounded"),
            ("/remaining_at_entry_ns_min/value", "min_remaining_ns"),
            ("/remaining_at_entry_ns_p50/value", "median_remaining_ns"),
        ],
    },
    Pair {
        id: "queues",
        query: "queue_time",
        names: &[("class", "request_class"), CALL[0], CALL[1], CALL[2], ("depth", "depth")],
        numbers: &[("/queue_ns_n/value", "hops"), ("/queue_ns_max/value", "max_queue_ns")],
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
    },
    Pair {
        id: "coverage",
        query: "coverage",
        names: &[("evidence", "evidence")],
        numbers: &[("/have/value", "have"), ("/of/value", "whole")],
    },
    Pair {
        id: "edges",
        query: "edges",
        names: &[("caller", "caller_service"), ("callee", "callee_service")],
        numbers: &[("/calls/value", "calls")],
    },
];

/// What the tables do not hold, but the manifest does.
const NOT_IN_TABLES: [&str; 1] = ["client_outcomes"];

#[test]
fn queries_tell_what_the_report_tells() {
    let report = run(&["report", shop(), "--format", "json"]);
    let report: Value = serde_json::from_str(&report.out).unwrap();
    for Pair { id, query, names, numbers } in PAIRS {
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
                // Some are told only of classes with deadlines, medians only of samples that bound them.
                let Some(told) = row.pointer(path) else { continue };
                if told.is_null() && path.contains("_p50/") {
                    continue;
                }
                assert_eq!(told, &answer[column], "{id} and {query}, {column} of {key:?}");
            }
        }
    }
}

#[test]
fn late_and_residual_work_by_callee_sum_to_that_of_the_requests() {
    for (query, column) in [("late_work", "late_work_ns"), ("residual_work", "residual_work_ns")] {
        let sum =
            |rows: Vec<Value>| -> i64 { rows.iter().filter_map(|row| row[column].as_i64()).sum() };
        let by_callee = sum(rows_of(shop(), query));
        assert!(by_callee > 0, "{query} tells nothing");
        assert_eq!(by_callee, sum(rows_of(shop(), "class_summary")), "{query}");
    }
}
