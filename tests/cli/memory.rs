//! `--memory`: spans beyond it lie on disk for a while, and nobody can tell from the results.

use std::fs;
use std::process::Command;

use super::determinism::tables;
use crate::support::command::{dwindle, finished, scratch};

/// So little that nearly all spans of the fleet go to disk, and partitions come back in parts.
const LITTLE: &str = "1MiB";

#[test]
fn what_memory_does_not_hold_changes_no_byte() {
    let inputs = ["shop", "cases/random-60.json", "quirks", "evidence", "zipkin", "jaeger"];
    for input in inputs {
        let path = format!("fixtures/{input}");
        let name = input.replace('/', "-");
        let of = |memory: &str| {
            let flags = ["--memory", memory, "--threads", "3"];
            tables(&format!("memory-{memory}-{name}"), &[&path], &flags, "parquet")
        };
        let all = of("1GiB");
        assert_eq!(all.len(), 9);
        let little = if input == "shop" { LITTLE } else { "32KiB" };
        assert!(all == of(little), "{input} differs");
    }
}

#[test]
fn a_report_needs_no_more_memory() {
    let report = |flags: &[&str]| {
        let ran =
            finished(dwindle().args(["report", "fixtures/shop", "--width", "100"]).args(flags));
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.out
    };
    assert!(report(&[]) == report(&["--memory", LITTLE]));
}

#[test]
fn nothing_is_left_in_the_temporary_folder() {
    let temporary = scratch("memory-temporary");
    let out = scratch("memory-temporary-out");
    let ran = finished(dwindle().env("TMPDIR", &temporary).args([
        "analyze",
        "fixtures/shop",
        "--memory",
        LITTLE,
        "--out",
        out.to_str().unwrap(),
    ]));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
}

#[test]
fn a_temporary_folder_that_is_not_there_is_named_and_nothing_is_written() {
    let out = scratch("memory-no-folder").join("tables");
    let analyze = |memory: &str| {
        finished(
            dwindle()
                .env("TMPDIR", "/nowhere/at/all")
                .args(["analyze", "fixtures/shop", "--memory", memory])
                .args(["--out", out.to_str().unwrap()]),
        )
    };
    let ran = analyze(LITTLE);
    assert_eq!(ran.code, 2);
    for part in ["/nowhere/at/all", "--memory", "TMPDIR"] {
        assert!(ran.err.contains(part), "{part} is not told: {}", ran.err);
    }
    assert!(!out.exists());
    // Where memory holds all, it is not asked for.
    assert_eq!(analyze("1GiB").code, 0);
}

#[test]
fn a_full_temporary_folder_is_told_and_nothing_is_written() {
    let out = scratch("memory-full").join("tables");
    // No file may grow beyond a kilobyte, which is what a full disk looks like from inside.
    let script = r#"trap '' XFSZ; ulimit -f 1; exec "$0" "$@""#;
    let ran = finished(
        Command::new("bash")
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(["-c", script, env!("CARGO_BIN_EXE_dwindle")])
            .args(["analyze", "fixtures/shop", "--memory", LITTLE, "--out", out.to_str().unwrap()]),
    );
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("cannot hold what is beyond --memory"), "{}", ran.err);
    assert!(!out.exists());
}

#[test]
fn a_size_without_a_unit_is_refused() {
    let ran = finished(dwindle().args(["report", "fixtures/shop", "--memory", "4"]));
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("a size has a unit"), "{}", ran.err);
}
