//! Folders of parts of the input answer as the folder of all of it.

use dwindle::query::NAMED;

use crate::support::command::{run, scratch};

/// Parts of one input, as days would be.
const PARTS: [[&str; 2]; 2] = [
    ["fixtures/cases/every-hop-resets.json", "fixtures/cases/untidy.json"],
    ["fixtures/cases/random-60.json", "fixtures/shop"],
];

fn analyzed(name: &str, inputs: &[&str]) -> String {
    let out = scratch(name).to_str().unwrap().to_owned();
    let args = [&["analyze", "--quiet", "--clock", "per-trace", "--out", &out], inputs].concat();
    let ran = run(&args);
    assert_eq!(ran.code, 0, "{}", ran.err);
    out
}

/// What a query gives of some folders, line by line.
fn asked(folders: &[&str], query: &[&str]) -> String {
    let ran = run(&[&["query"], folders, query, &["--format", "csv"]].concat());
    assert_eq!(ran.code, 0, "{query:?}: {}", ran.err);
    ran.out
}

#[test]
fn folders_of_parts_of_the_input_answer_as_the_folder_of_all() {
    let all = analyzed("query-all", &PARTS.concat());
    let parts = [analyzed("query-part-1", &PARTS[0]), analyzed("query-part-2", &PARTS[1])];
    for query in NAMED {
        let expected = asked(&[&all], &[query.name]);
        for parts in [[&parts[0], &parts[1]], [&parts[1], &parts[0]]] {
            let joined = asked(&[parts[0], parts[1]], &[query.name]);
            assert!(joined == expected, "{}:\n{joined}", query.name);
        }
    }
    // What is made of all rows together is made anew; rows have no order of their own.
    for table in ["distributions", "exemplars", "findings"] {
        let sorted = |folders: &[&str]| {
            let text = asked(folders, &["-e", &format!("SELECT * FROM {table}")]);
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        let (joined, expected) = (sorted(&[&parts[0], &parts[1]]), sorted(&[&all]));
        assert!(expected.len() > 10 && joined == expected, "{table} differs");
    }
}

#[test]
fn a_request_in_two_folders_is_one_row_and_told() {
    let part = analyzed("query-overlap-1", &PARTS[0]);
    let all = analyzed("query-overlap-2", &PARTS.concat());
    let count = "SELECT count(*) AS n, count(DISTINCT trace_id) AS traces FROM requests";
    let counted = |folders: &[&str]| asked(folders, &["-e", count]);
    assert_eq!(counted(&[&part, &all]), counted(&[&all]));
    let problems = asked(&[&part, &all], &["problems"]);
    assert!(problems.contains("request_in_several_folders"), "{problems}");
}

#[test]
fn folders_that_do_not_go_together_are_refused() {
    let part = analyzed("query-refused-1", &PARTS[0]);
    let other = scratch("query-refused-2").to_str().unwrap().to_owned();
    let args = ["analyze", "fixtures/shop", "--quiet", "--deadline", "1s", "--out", &other];
    assert_eq!(run(&args).code, 0);
    for (args, expected) in [
        ([part.as_str(), &other, "coverage"], "by different contracts or deadlines"),
        ([&part, "fixtures/shop", "coverage"], "give it with other such folders"),
    ] {
        let ran = run(&[&["query"], &args[..]].concat());
        assert_eq!((ran.code, ran.out.as_str()), (2, ""));
        assert!(ran.err.contains(expected), "{}", ran.err);
    }
}
