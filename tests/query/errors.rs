//! What is wrong with a query is told with its place; and queries read the tables, nothing else.

use std::fmt::Write;
use std::fs;

use super::folders::shop;
use crate::support::command::{run, scratch};

const WRONG: &[&str] = &[
    "SELEC 1",
    "SELECT (1",
    "SELECT 'open",
    "",
    "-- nothing",
    "SELECT elapsed FROM requests",
    "SELECT\n  r.elapsed_ns,\n  r.spanz\nFROM requests AS r",
    "SELECT x.depth FROM hops AS h",
    "WITH late AS (SELECT 1 AS n) SELECT n, m FROM late",
    "SELECT 1 AS x FROM request",
    "SELECT 1 AS x FROM zebras",
    "SELECT rownumber() AS n FROM hops",
    "SELECT request_class, count(*) AS n FROM requests",
    "SELECT trace_id + 1 AS x FROM requests",
    "SELECT 1 AS x, 2 AS x",
    "SELECT h.*, r.* FROM hops AS h JOIN requests AS r ON r.trace_id = h.trace_id",
    "SELECT 1 / 0 AS x",
    "SELECT cast(trace_id AS bigint) AS x FROM requests WHERE trace_id LIKE 'ee04a694%'",
    "SELECT sum(x) AS s FROM (VALUES (9223372036854775807), (9223372036854775807)) AS t(x)",
    "SELECT x + 1 AS s FROM (VALUES (9223372036854775807)) AS t(x)",
    "SELECT 1 AS s FROM (VALUES (9223372036854775807)) AS t(x) WHERE -2 - x < 0",
    "SELECT max(x) * 2 AS s FROM (VALUES (9223372036854775807)) AS t(x)",
    "SELECT 9223372036854775807 + 1 AS s",
];

const REFUSED: &[&str] = &[
    "DROP TABLE requests",
    "CREATE TABLE x AS SELECT 1 AS n",
    "CREATE VIEW x AS SELECT 1 AS n",
    "INSERT INTO requests VALUES (1)",
    "UPDATE requests SET spans = 1",
    "DELETE FROM requests",
    "COPY requests TO '/tmp/x'",
    "SET x = 1",
    "EXPLAIN SELECT 1",
    "SELECT 1; DROP TABLE requests",
    "SELECT 1 AS n INTO x",
    "SELECT * FROM 'Cargo.toml'",
    "SELECT * FROM \"Cargo.toml\"",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM read_parquet('x.parquet')",
    "SELECT * FROM information_schema.tables",
];

#[test]
fn what_is_wrong_is_told_with_its_place_and_what_was_meant() {
    let mut told = String::new();
    for sql in WRONG.iter().chain(REFUSED) {
        let ran = run(&["query", shop(), "-e", sql]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{sql}");
        writeln!(told, "{sql}\n    {}", ran.err.trim_end()).unwrap();
    }
    insta::assert_snapshot!("errors", told);
}

#[test]
fn a_file_is_named_by_its_path() {
    let file = scratch("query-file").join("mine.sql");
    fs::write(&file, "SELECT request_class,\n  elapsed\nFROM requests").unwrap();
    let file = file.to_str().unwrap();
    let ran = run(&["query", shop(), "-q", file]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains(&format!("{file}:2:3: no column elapsed")), "{}", ran.err);
}

#[test]
fn a_query_is_looked_at_before_traces_are_read() {
    let ran = run(&["query", "fixtures/no-such-file", "-e", "SELECT elapsed FROM requests"]);
    assert!(ran.err.contains("no column elapsed"), "{}", ran.err);
}

#[test]
fn a_query_that_keeps_too_much_ends_with_one_message() {
    let sql = "SELECT * FROM hops ORDER BY hop_id DESC NULLS LAST";
    let ran = run(&["query", shop(), "-e", sql, "--memory", "1MiB"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    assert!(ran.err.contains("--memory"), "{}", ran.err);
}

#[test]
fn long_chains_and_deep_nesting_end_with_a_message() {
    let chain = |links: usize| format!("SELECT 1{} AS x", " + 1".repeat(links));
    let names = |links: usize| {
        let more = " OR trace_id = 'a'".repeat(links);
        format!("SELECT count(*) AS x FROM hops WHERE trace_id = 'b'{more}")
    };
    let deep = format!("SELECT {}1{} AS x", "(".repeat(5_000), ")".repeat(5_000));
    let tables = format!("SELECT 1 AS x{}", " UNION ALL SELECT 1".repeat(1_000));
    let wrong = [
        (deep, "is nested deeper than"),
        (chain(1_000), "chains more than"),
        (names(1_000), "chains more than"),
        (tables, "chains more than"),
        (chain(10_000), "is longer than"),
    ];
    for (sql, expected) in wrong {
        let ran = run(&["query", shop(), "-e", &sql]);
        assert_eq!(ran.code, 2, "{sql:.80}");
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
        assert!(ran.err.contains(expected), "{}", ran.err);
    }
    for sql in [chain(200), names(200)] {
        let ran = run(&["query", shop(), "-e", &sql]);
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
}

#[test]
fn what_stands_where_is_told() {
    let cases = [
        (vec!["query", "fixtures/shop"], "is not the name of a query"),
        (vec!["query", "class_summary"], "before class_summary stands what to ask"),
        (vec!["query", "fixtures/shop", "class_sumary"], "is not the name of a query"),
        (vec!["query", shop(), "--deadline", "1s", "coverage"], "give it to dwindle analyze"),
        (vec!["query", shop(), "fixtures/shop", "coverage"], "is an analyze folder"),
    ];
    for (args, expected) in cases {
        let ran = run(&args);
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.err.contains(expected), "{args:?}: {}", ran.err);
    }
}
