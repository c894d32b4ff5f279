//! One trace by itself gives the tables that it gives among others.

use std::collections::{BTreeMap, BTreeSet};

use dwindle::extract::{anonymised, written};
use dwindle::ingest::excerpt;
use dwindle::span::TraceId;
use serde_json::Value;

use crate::ingest::corpus;
use crate::ingest::support::{Folder, conventions, fixture, read, tables};
use crate::support::tables::Json;

/// Columns that hold names, and what they are names of.
const NAMES: &[(&str, &str)] = &[
    ("request_class", "class"),
    ("root_service", "service"),
    ("root_operation", "operation"),
    ("caller_service", "service"),
    ("callee_service", "service"),
    ("service", "service"),
    ("operation", "operation"),
];

/// The rows of one trace.
fn of_trace(tables: &Json, trace: TraceId) -> Json {
    let is_of_trace = |row: &&Value| row["trace_id"] == trace.to_string();
    let rows = |rows: &Vec<Value>| rows.iter().filter(is_of_trace).cloned().collect();
    tables.iter().map(|(table, all)| (*table, rows(all))).collect()
}

/// Takes the names out of rows, column by column.
fn take_names(rows: &mut [Value]) -> Vec<(&'static str, Value)> {
    let mut names = Vec::new();
    for row in rows {
        let row = row.as_object_mut().unwrap();
        for (column, sort) in NAMES {
            names.extend(row.remove(*column).map(|name| (*sort, name)));
        }
    }
    names
}

/// The segments of each service and operation, without these, in an order that no name changes.
fn segments_by_place(tables: &mut Json) -> Vec<Vec<String>> {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for mut row in tables.remove("segments").unwrap() {
        let place = format!("{} {}", row["service"], row["operation"]);
        take_names(std::slice::from_mut(&mut row));
        places.entry(place).or_default().push(row.to_string());
    }
    let mut places: Vec<Vec<String>> = places.into_values().collect();
    for rows in &mut places {
        rows.sort();
    }
    places.sort();
    places
}

/// Asserts that two traces give the same rows but for names, and that those differ alike.
fn equal_but_for_names(mut original: Json, mut renamed: Json, of: &str) {
    let mut new_by_old = BTreeMap::new();
    let mut pairs = BTreeSet::new();
    let [one, other] = [&mut original, &mut renamed].map(segments_by_place);
    assert_eq!(one, other, "{of}: segments");
    for (table, rows) in &mut original {
        let others = renamed.get_mut(table).unwrap();
        let names = take_names(rows).into_iter().zip(take_names(others));
        assert_eq!(rows, others, "{of}: {table}");
        for ((sort, old), (_, new)) in names {
            let (old, new) = (old.to_string(), new.to_string());
            assert_eq!(old == "null", new == "null", "{of}: {old} {new}");
            let known = new_by_old.entry((sort, old.clone())).or_insert(new.clone());
            assert_eq!(*known, new, "{of}: {old} has two names");
            pairs.insert((sort, old, new));
        }
    }
    let new: BTreeSet<_> = pairs.iter().map(|(sort, _, new)| (sort, new)).collect();
    assert_eq!(new.len(), pairs.len(), "{of}: two names became one: {pairs:?}");
}

/// Extracts traces of a file, at most `limit`, and compares all rows.
fn extracts_equal(input: &str, limit: usize) {
    let ingested = read(&[input]);
    let all = tables(&ingested);
    let spans = ingested.partitions.iter().flat_map(|partition| &partition.rows);
    let traces: BTreeSet<TraceId> = spans.map(|span| span.trace_id).collect();
    let folder = Folder::new();
    for trace in traces.into_iter().take(limit) {
        let excerpt = excerpt(&[input.to_owned()], conventions(), trace, &()).unwrap();
        let Ok(document) = written(&excerpt) else {
            // Nothing that starts at zero can be told in OTLP.
            assert!(excerpt.spans.rows.iter().any(|span| span.start.as_nanos() == 0));
            continue;
        };
        let expected = of_trace(&all, trace);
        let of = format!("{input} {trace}");
        let as_written = folder.write("written.json", document.to_string());
        assert_eq!(tables(&read(&[&as_written])), expected, "{of}");
        let neutral = anonymised(&excerpt, conventions()).unwrap();
        let neutral = folder.write("neutral.json", neutral.to_string());
        equal_but_for_names(expected, tables(&read(&[&neutral])), &of);
    }
}

#[test]
fn extracts_of_the_worked_cases_give_their_tables() {
    for entry in std::fs::read_dir(fixture("cases")).unwrap() {
        let path = entry.unwrap().path().display().to_string();
        let name = path.strip_suffix(".json").filter(|name| !name.ends_with(".expected"));
        if name.is_some() {
            extracts_equal(&path, 9);
        }
    }
}

#[test]
fn extracts_of_the_shop_give_its_tables() {
    for entry in std::fs::read_dir(fixture("shop")).unwrap() {
        extracts_equal(&entry.unwrap().path().display().to_string(), 4);
    }
}

#[test]
fn extracts_of_every_format_give_the_tables_of_the_trace() {
    let formats = ["otlp", "jaeger", "zipkin", "clickhouse", "span-json"];
    let traces = ["quirks", "evidence", "rich", "tempo"];
    for format in formats.into_iter().chain(traces) {
        for entry in std::fs::read_dir(fixture(format)).unwrap() {
            let path = entry.unwrap().path().display().to_string();
            if crate::ingest::support::try_read(&[&path]).is_ok() {
                extracts_equal(&path, 9);
            }
        }
    }
}

#[test]
fn extracts_of_published_files_give_the_tables_of_the_trace() {
    for format in ["otlp-json/", "otlp-jsonl/", "jaeger/", "zipkin/", "clickhouse/"] {
        for file in corpus::files(format) {
            extracts_equal(&file, 3);
        }
    }
}

#[test]
fn a_trace_that_lost_half_of_its_id_on_the_way_is_extracted_whole_by_either_id() {
    let input = fixture("zipkin/ids-of-both-lengths.json");
    extracts_equal(&input, 9);
    let whole = 0x463a_c35c_9f64_13ad_4848_5a39_53bb_6124_u128;
    for id in [whole, whole & u128::from(u64::MAX)] {
        let excerpt =
            excerpt(std::slice::from_ref(&input), conventions(), TraceId(id), &()).unwrap();
        assert_eq!(excerpt.written.len(), 4, "{id:x}");
        assert!(excerpt.spans.rows.iter().all(|span| span.trace_id.0 == whole));
    }
    let other = TraceId(0x3333_3333_3333_3333_0000_0000_0000_cccc);
    let none = excerpt(std::slice::from_ref(&input), conventions(), other, &()).unwrap();
    assert!(none.written.is_empty(), "the half of an id is not the id");
}
