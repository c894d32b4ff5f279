//! Wrong flags, files and contracts: exit 2 and one message that names what is wrong.

use std::fs;
use std::io::Read;
use std::process::Stdio;

use crate::support::command::{Ran, dwindle, run, run_with_input, scratch};

const CASE: &str = "fixtures/cases/untidy.json";

fn refused(ran: &Ran, named: &[&str]) {
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.out.is_empty(), "something was printed: {}", ran.out);
    for name in named {
        assert!(ran.err.contains(name), "{name:?} is not named in {:?}", ran.err);
    }
}

#[test]
fn a_missing_file_is_named() {
    refused(&run(&["report", "no/such/file.json"]), &["no/such/file.json", "no such file"]);
    refused(&run(&["analyze", "nothing", "--out", "target/never"]), &["nothing"]);
    refused(&run(&["inspect", "nothing"]), &["nothing"]);
}

#[test]
fn a_file_that_is_no_trace_is_refused_with_the_formats_that_are_read() {
    refused(&run(&["report", "Cargo.toml"]), &["Cargo.toml", "OTLP traces as JSON", "protobuf"]);
    refused(&run(&["report", CASE, "LICENSE"]), &["LICENSE"]);
}

#[test]
fn a_bad_flag_is_named_with_what_was_expected() {
    refused(&run(&["report", CASE, "--deadline", "soon"]), &["--deadline", "800ms"]);
    refused(&run(&["report", CASE, "--deadline", "GET *=1x"]), &["--deadline", "1x"]);
    refused(&run(&["report", CASE, "--deadline", "[=1s"]), &["--deadline", "pattern"]);
    refused(&run(&["report", CASE, "--deadline", "=1s"]), &["--deadline", "name of a root span"]);
    refused(&run(&["report", CASE, "--format", "pdf"]), &["--format", "pdf", "markdown"]);
    refused(&run(&["report", CASE, "--tolerance", "-1ms"]), &["--tolerance"]);
    refused(&run(&["report", CASE, "--threads", "0"]), &["--threads"]);
    refused(&run(&["report", CASE, "--max-record", "0"]), &["--max-record"]);
    refused(&run(&["report", CASE, "--max-expansion", "much"]), &["--max-expansion", "much"]);
    refused(&run(&["report"]), &["INPUT"]);
    refused(&run(&["findings", CASE, "--top", "0"]), &["--top"]);
    refused(&run(&["check", CASE, "--fail-on", "all"]), &["--fail-on", "no-evidence"]);
    refused(&run(&["schema", "nosuch"]), &["nosuch", "requests"]);
    refused(&run(&["extract", CASE, "--trace", "no id"]), &["--trace", "no id", "hexadecimal"]);
    refused(&run(&["extract", CASE, "--trace", "12"]), &["no span of trace", "0012", "trace_id"]);
}

#[test]
fn a_contract_is_refused_with_file_line_and_key() {
    let dir = scratch("bad-contracts");
    let refuse = |text: &str, named: &[&str]| {
        let file = dir.join("contract.toml");
        fs::write(&file, text).unwrap();
        let ran = run(&["report", CASE, "--contract", file.to_str().unwrap()]);
        refused(&ran, named);
        refused(&ran, &["--contract", "contract.toml:"]);
    };
    refuse("[[contract]]\nname = \"a\"\ndeadline = \"soon\"\n", &[":3:", "deadline", "800ms"]);
    refuse("[[contract]]\nname = \"a\"\ndeadlin = \"1s\"\n", &[":3:", "deadlin"]);
    refuse("[[contract]]\ndeadline = \"1s\"\n", &[":1:", "name"]);
    refuse("[[contract]]\nname = \"a\"\n\n[[contract]]\nname = \"a\"\n", &[":5:", "name", "\"a\""]);
    refuse(
        "[[contract]]\nname = \"a\"\nretry = { owner = \"x\", attempt_allowance = \"y\" }\n",
        &[":3:", "attempt_allowance"],
    );
    refuse("not toml", &[":1:"]);
    let ran = run(&["report", CASE, "--contract", "no-contract.toml"]);
    refused(&ran, &["--contract", "no-contract.toml"]);
}

#[test]
fn conventions_are_refused_with_file_line_and_key() {
    let file = scratch("bad-conventions").join("more.toml");
    fs::write(&file, "[[grant]]\nid = \"B0\"\nkeys = [\"x\"]\nunit = \"weeks\"\n").unwrap();
    let ran = run(&["report", CASE, "--conventions", file.to_str().unwrap()]);
    refused(&ran, &["--conventions", "more.toml:4", "unit"]);
}

#[test]
fn lost_input_is_exit_3_where_strictness_is_asked_for_and_told_in_any_case() {
    let lossy = "fixtures/otlp/malformed-lines.jsonl";
    let out = scratch("strict");
    let out = out.to_str().unwrap();
    for verb in [vec!["report"], vec!["inspect"], vec!["analyze", "--out", out]] {
        let with = |more: &[&str]| run(&[verb.as_slice(), more].concat()).code;
        assert_eq!(with(&[lossy]), 0, "{verb:?}");
        assert_eq!(with(&[lossy, "--strict"]), 3, "{verb:?}");
        assert_eq!(with(&[CASE, "--strict"]), 0, "{verb:?}");
    }
    assert_eq!(run(&["analyze", lossy, "--out", out]).code, 0);
    assert_eq!(run(&["report", out, "--strict"]).code, 3);
}

#[test]
fn empty_input_is_refused() {
    refused(&run_with_input(&["report", "-"], b""), &["empty"]);
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let mut child = dwindle()
        .args(["report", "fixtures/cases/random-60.json", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 1];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
}
