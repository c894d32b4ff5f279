//! What an answer looks like, and that it depends on nothing but the rows.

use std::fs;

use dwindle::query::NAMED;
use serde_json::Value;

use super::folders::{analyzed, messy, shop};
use super::{answer, columns};
use crate::support::command::{dwindle, finished, run, scratch};

/// A column of each kind, with nulls.
const KINDS: &str = "SELECT request_class, start_unix_ns, elapsed_ns, late_work_ns, spans, \
    completed_before_deadline, cast(spans AS double) / 7 AS ratio, blind_spots, -spans AS less \
    FROM requests ORDER BY late_work_ns % 7 DESC NULLS FIRST, trace_id ASC NULLS FIRST LIMIT 3";

#[test]
fn an_answer_is_written_in_each_form() {
    for width in ["80", "120"] {
        let ran = run(&["query", shop(), "edges", "--width", width]);
        insta::assert_snapshot!(format!("edges-{width}"), without_commit(&ran.out));
        let ran = run(&["query", shop(), "-e", KINDS, "--width", width]);
        insta::assert_snapshot!(format!("kinds-{width}"), without_commit(&ran.out));
    }
    for format in ["markdown", "csv", "json"] {
        let ran = run(&["query", shop(), "-e", KINDS, "--format", format]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        insta::assert_snapshot!(format!("kinds-{format}"), without_commit(&ran.out));
    }
}

fn without_commit(text: &str) -> String {
    match (text.find('('), text.find(')')) {
        (Some(from), Some(to)) if text.contains("dwindle ") => {
            let rule = text[to..].trim_start_matches([')', ' ', '═']);
            format!("{}(COMMIT)\n{}", &text[..from], rule.trim_start())
        }
        _ => text.to_owned(),
    }
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for query in NAMED {
        for width in [60, 80, 120] {
            let ran = run(&["query", shop(), query.name, "--width", &width.to_string()]);
            let widest = ran.out.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= width, "{} is {widest} wide at {width}", query.name);
        }
    }
}

#[test]
fn the_same_rows_give_the_same_bytes_in_whatever_order_and_format_they_lie() {
    let one = messy("query-one-order", 1, 1);
    let other = messy("query-other-order", 1, 77);
    for query in NAMED {
        let bytes = |folder: &str| run(&["query", folder, query.name, "--format", "csv"]).out;
        assert!(bytes(&one) == bytes(&other), "{}: the order is not total", query.name);
    }
    let input = "fixtures/cases/random-60.json";
    let folders = ["parquet", "ndjson", "csv"];
    let folders = folders.map(|format| analyzed(&format!("query-{format}"), input, format));
    for query in NAMED {
        let of_traces = run(&["query", input, query.name, "--format", "csv", "--quiet"]);
        assert_eq!(of_traces.code, 0, "{}", of_traces.err);
        for folder in &folders {
            let of_folder = run(&["query", folder, query.name, "--format", "csv"]);
            assert!(of_folder.out == of_traces.out, "{} over {folder} differs", query.name);
        }
    }
}

#[test]
fn what_has_no_order_comes_in_the_same_one_each_time() {
    let sql = "SELECT caller_service, operation, count(*) AS n FROM hops GROUP BY 1, 2";
    let first = run(&["query", shop(), "-e", sql, "--format", "csv"]).out;
    assert!(first.lines().count() > 10);
    for _ in 0..3 {
        assert!(run(&["query", shop(), "-e", sql, "--format", "csv"]).out == first);
    }
}

#[test]
fn parquet_holds_what_json_holds() {
    let dir = scratch("query-parquet-out");
    let out = dir.join("requests.parquet");
    let sql = "SELECT * FROM requests ORDER BY trace_id ASC NULLS LAST";
    let args = ["query", shop(), "-e", sql, "--format", "parquet", "--out", out.to_str().unwrap()];
    assert_eq!(run(&args).code, 0);
    let bytes = fs::read(&out).unwrap();
    let file = dwindle::tables::foreign::ParquetFile::open(&bytes).unwrap();
    let batches: Vec<_> = file.batches(|_| true).unwrap().map(Result::unwrap).collect();
    let read: Vec<Value> = batches
        .iter()
        .flat_map(|batch| {
            (0..batch.num_rows()).map(|row| dwindle::tables::format::json_row(batch, row))
        })
        .collect();
    let told = answer(shop(), &["-e", sql]);
    assert_eq!(&read, told["rows"].as_array().unwrap());
    let left: Vec<_> = fs::read_dir(&dir).unwrap().collect();
    assert_eq!(left.len(), 1, "a part of the file is left: {left:?}");
}

#[test]
fn nothing_stays_of_tables_made_for_a_query() {
    let temporary = scratch("query-temporary");
    let mut command = dwindle();
    command.env("TMPDIR", &temporary).args(["query", "fixtures/shop", "coverage", "--quiet"]);
    assert_eq!(finished(&mut command).code, 0);
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
}

#[test]
fn only_what_a_query_names_is_read() {
    let dir = analyzed("query-one-table", "fixtures/cases/random-60.json", "parquet");
    fs::remove_file(format!("{dir}/attempts.parquet")).unwrap();
    fs::write(format!("{dir}/segments.parquet"), "no Parquet").unwrap();
    let count = answer(&dir, &["-e", "SELECT count(*) AS n FROM hops"]);
    assert!(count["rows"][0]["n"].as_i64().unwrap() > 0);
    for table in ["attempts", "segments"] {
        let ran = run(&["query", &dir, "-e", &format!("SELECT count(*) AS n FROM {table}")]);
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains(&format!("{table}.parquet")), "{}", ran.err);
    }
}

/// Chains are put together from the left, and brackets count.
#[test]
fn arithmetic_of_whole_numbers_is_as_ever() {
    let sql = "SELECT n + 2 * n - 1 AS a, (n + 2) * n AS b, 7 / n * n AS c, n - (n - 1) % 3 AS d, \
               -n * 2 AS e, n * cast(1 AS double) / 2 AS f, nullif(n, 5) + 1 AS g, count(*) + n AS h \
               FROM (VALUES (5)) AS t(n) GROUP BY n";
    let row = &answer(shop(), &["-e", sql])["rows"][0];
    assert_eq!(
        row,
        &serde_json::json!({
            "a": 14, "b": 35, "c": 5, "d": 4, "e": -10, "f": 2.5, "g": null, "h": 6,
        })
    );
    assert_eq!(columns(&answer(shop(), &["-e", "SELECT 1 + 2 - 3"])).len(), 1);
}

#[test]
fn what_files_say_of_their_columns_is_what_comes_out() {
    for query in NAMED {
        let documented: Vec<&str> = query
            .text
            .lines()
            .skip_while(|line| *line != "-- columns:")
            .filter_map(|line| line.strip_prefix("--   ")?.split_once(": "))
            .map(|(name, _)| name)
            .filter(|name| !name.starts_with(' '))
            .collect();
        assert_eq!(columns(&answer(shop(), &[query.name])), documented, "{}", query.name);
    }
}
