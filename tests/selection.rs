//! Of when and of which classes: `--class`, `--since`, `--until`, `--bucket`, and several folders.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::support::command::{run, scratch};

const SHOP: &str = "fixtures/shop";

fn report(args: &[&str]) -> Value {
    let ran = run(&[&["report", "--format", "json"], args].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

/// The rows of a table, by the class of its section.
fn rows<'j>(report: &'j Value, table: &str) -> BTreeMap<Option<&'j str>, Vec<&'j Value>> {
    let mut rows: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for section in report["sections"].as_array().unwrap() {
        for of_section in section["tables"].as_array().unwrap() {
            if of_section["id"] == table {
                let class = section["class"].as_str();
                rows.entry(class).or_default().extend(of_section["rows"].as_array().unwrap());
            }
        }
    }
    rows
}

/// How many requests each class has.
fn counts(report: &Value) -> BTreeMap<String, i64> {
    let tables = ["summary", "summary_without_deadline"];
    let rows = tables.iter().flat_map(|table| rows(report, table).into_values().flatten());
    rows.map(|row| {
        (row["class"].as_str().unwrap().to_owned(), row["requests"]["value"].as_i64().unwrap())
    })
    .collect()
}

#[test]
fn a_request_counts_by_its_start_and_windows_beside_each_other_tell_each_once() {
    const CUT: &str = "2026-03-02T10:07:00Z";
    let whole = counts(&report(&[SHOP]));
    let mut sum: BTreeMap<String, i64> = BTreeMap::new();
    for window in [["--until", CUT], ["--since", CUT]] {
        for (class, n) in counts(&report(&[&[SHOP][..], &window].concat())) {
            *sum.entry(class).or_default() += n;
        }
    }
    assert_eq!(sum, whole);
    // A day is not in what is before it.
    assert_eq!(counts(&report(&[SHOP, "--until", "2026-03-02"])), BTreeMap::new());
    assert_eq!(counts(&report(&[SHOP, "--since", "2026-03-02"])), whole);
}

#[test]
fn what_begins_at_the_instant_of_since_is_told_and_at_that_of_until_is_not() {
    const TRACE: &str = "fixtures/cases/every-hop-resets.json";
    const BEGINS: &str = "2026-09-05T09:20:00Z";
    let told = |args: &[&str]| counts(&report(&[&[TRACE][..], args].concat())).len();
    assert_eq!(told(&["--since", BEGINS]), 1);
    assert_eq!(told(&["--until", BEGINS]), 0);
    assert_eq!(told(&["--since", "2026-09-05T09:20:00.000000001Z"]), 0);
    assert_eq!(told(&["--until", "2026-09-05T09:20:00.000000001Z"]), 1);
}

#[test]
fn what_was_chosen_and_how_much_was_left_out_is_told() {
    let args = ["--class", "storefront POST *", "--since", "2026-03-02T10:05:00Z"];
    let ran = run(&[&["report", SHOP, "--width", "100"][..], &args].concat());
    let first_screen: Vec<&str> = ran.out.lines().skip(1).take(10).collect();
    insta::assert_snapshot!(first_screen.join("\n"));
    let found = run(&[&["findings", SHOP, "--width", "100"][..], &args].concat());
    assert!(found.out.contains("Chosen: "), "{}", found.out);
    assert!(found.out.contains("class storefront POST /checkout"), "{}", found.out);
    assert!(!found.out.contains("class storefront GET"), "{}", found.out);
}

#[test]
fn a_folder_is_chosen_from_as_its_traces_are() {
    let dir = scratch("chosen-folder");
    let out = dir.to_str().unwrap();
    assert_eq!(run(&["analyze", SHOP, "--quiet", "--out", out]).code, 0);
    // The second choice holds findings that rest on several traces, the third leaves them out.
    for args in [
        ["--class", "*checkout", "--until", "2026-03-02T10:09:00Z"],
        ["--class", "*/items/{id}", "--since", "2026-03-02T10:01:00Z"],
        ["--class", "*/items/{id}", "--until", "2026-03-02T10:01:00Z"],
    ] {
        for verb in ["report", "findings"] {
            let of_folder = run(&[&[verb, out][..], &args].concat());
            let of_traces = run(&[&[verb, SHOP, "--declared-only"][..], &args].concat());
            assert_eq!((of_folder.code, of_traces.code), (0, 0));
            assert!(of_folder.out == of_traces.out, "{verb} {args:?}: {}", of_folder.out);
        }
    }
}

#[test]
fn what_cannot_be_chosen_by_is_refused() {
    for (args, word) in [
        (["--since", "yesterday"], "2026-03-02T10:00:00Z"),
        (["--until", "10:00"], "2026-03-02T10:00:00Z"),
        (["--since", "2026-02-30"], "2026-03-02T10:00:00Z"),
        (["--class", "[a"], "pattern"),
        (["--bucket", "10ms"], "a second at least"),
    ] {
        let ran = run(&[&["report", SHOP][..], &args].concat());
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.err.contains(word), "{}", ran.err);
    }
    let ran = run(&["report", SHOP, "--since", "2026-03-03", "--until", "2026-03-02"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--until is not after --since"), "{}", ran.err);
}

#[test]
fn buckets_begin_at_round_instants_and_sum_to_the_class() {
    let json = report(&[SHOP, "--bucket", "4m"]);
    let counts = counts(&json);
    let timelines = rows(&json, "timeline");
    assert_eq!(timelines.len(), counts.len());
    for (class, buckets) in timelines {
        let starts: Vec<&str> = buckets.iter().map(|row| row["bucket"].as_str().unwrap()).collect();
        let round =
            ["10:00", "10:04", "10:08", "10:12"].map(|it| format!("2026-03-02 {it}:00 UTC"));
        assert_eq!(starts, round);
        let n: i64 = buckets.iter().map(|row| row["requests"]["value"].as_i64().unwrap()).sum();
        assert_eq!(n, counts[class.unwrap()], "{class:?}");
    }
}

#[test]
fn buckets_without_a_request_are_there_and_too_many_are_not_told() {
    let args = ["--class", "fulfilment *", "--bucket", "10s"];
    let json = report(&[&[SHOP][..], &args].concat());
    let buckets = &rows(&json, "timeline")[&Some("fulfilment orders process")];
    let empty: Vec<_> = buckets.iter().filter(|row| row["requests"]["value"] == 0).collect();
    assert!(!empty.is_empty(), "the fixture leaves some empty");
    assert!(empty.iter().all(|row| row["elapsed_ns_p50"]["value"].is_null()), "{empty:?}");
    let ran = run(&["report", SHOP, "--bucket", "1s", "--width", "100"]);
    assert_eq!(ran.code, 0);
    assert!(ran.out.contains("Not told by time: --bucket"), "{}", ran.out);
    assert!(!ran.out.contains("In the course of time"));
}

/// Worked traces, each in a file of its own.
const HALVES: [[&str; 2]; 2] = [
    ["fixtures/cases/every-hop-resets.json", "fixtures/cases/untidy.json"],
    ["fixtures/cases/random-60.json", "fixtures/shop"],
];

#[test]
fn folders_of_parts_of_the_input_report_as_the_folder_of_all() {
    let analyze = |name: &str, inputs: &[&str]| {
        let out = scratch(name).to_str().unwrap().to_owned();
        let args = [&["analyze", "--quiet", "--clock", "per-trace", "--out", &out], inputs];
        let ran = run(&args.concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        out
    };
    let one = analyze("joined-all", &HALVES.concat());
    let parts = [analyze("joined-1", &HALVES[0]), analyze("joined-2", &HALVES[1])];
    for verb in [&["report", "--format", "json"][..], &["report"], &["findings"]] {
        let expected = run(&[verb, &[&one]].concat());
        for parts in [[&parts[0], &parts[1]], [&parts[1], &parts[0]]] {
            let joined = run(&[verb, &[parts[0], parts[1]]].concat());
            assert_eq!((joined.code, expected.code), (0, 0), "{}{}", joined.err, expected.err);
            assert!(joined.out == expected.out, "{verb:?}: {}", joined.out);
        }
    }
}

#[test]
fn a_request_in_two_folders_counts_once_and_that_of_more_spans_stays() {
    let dir = scratch("overlap");
    let whole = fs::read_to_string("fixtures/cases/every-hop-resets.json").unwrap();
    let mut part: Value = serde_json::from_str(&whole).unwrap();
    let of_resources = part["resourceSpans"].as_array_mut().unwrap();
    let kept = of_resources.len() - 1;
    of_resources.truncate(kept);
    let analyze = |name: &str, text: &str| {
        let traces = dir.join(format!("{name}.json"));
        fs::write(&traces, text).unwrap();
        let out = dir.join(name).to_str().unwrap().to_owned();
        let ran = run(&["analyze", traces.to_str().unwrap(), "--quiet", "--out", &out]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        out
    };
    let (whole, part) = (analyze("whole", &whole), analyze("part", &part.to_string()));
    let alone = report(&[&whole]);
    let joined = report(&[&part, &whole]);
    assert_eq!(counts(&joined), counts(&alone));
    let hops = |report: &Value| format!("{:?}", rows(report, "remaining"));
    assert_eq!(hops(&joined), hops(&alone), "the better half is told");
    let problems = format!("{:?}", rows(&joined, "problems"));
    assert!(problems.contains("request_in_several_folders"), "{problems}");
}

#[test]
fn folders_that_do_not_go_together_are_refused() {
    let trace = "fixtures/cases/every-hop-resets.json";
    let dir = scratch("unlike");
    let analyze = |name: &str, args: &[&str]| {
        let out = dir.join(name).to_str().unwrap().to_owned();
        let ran = run(&[&["analyze", trace, "--quiet", "--out", &out], args].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        out
    };
    let plain = analyze("plain", &[]);
    for (name, args, word) in [
        ("deadline", ["--deadline", "1s"], "deadlines"),
        ("scope", ["--scope", "service=a"], "--scope"),
        ("by", ["--by", "service.version"], "--by"),
    ] {
        let ran = run(&["report", &plain, &analyze(name, &args)]);
        assert_eq!(ran.code, 2, "{name}");
        assert!(ran.err.contains(word), "{}", ran.err);
    }
    let ran = run(&["report", &plain, trace]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("is an analyze folder"), "{}", ran.err);
}
