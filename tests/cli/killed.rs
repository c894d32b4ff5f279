//! An analysis that is killed leaves no folder that a report would take for a whole one.

#![expect(clippy::disallowed_methods, reason = "instants of time are what is tried here")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Instant;

use crate::support::command::{Ran, dwindle, finished, run, scratch};

const MANY: &str = "fixtures/cases/random-60.json";

/// How often it is killed.
const KILLS: u32 = 50;

fn analyze(out: &Path) -> Command {
    let mut command = dwindle();
    command.args(["analyze", MANY, "-q", "--out", out.to_str().unwrap()]);
    command
}

fn report(of: &Path) -> Ran {
    run(&["report", of.to_str().unwrap(), "--width", "100"])
}

#[test]
fn at_no_instant_does_a_kill_leave_tables_that_look_whole() {
    let out = scratch("killed");
    let begun = Instant::now();
    assert_eq!(finished(&mut analyze(&out)).code, 0);
    let length = begun.elapsed();
    let whole = report(&out).out;

    let mut random = 7_u32;
    let mut left_whole = 0;
    for kill in 0..KILLS {
        // Every other time there are whole tables of before.
        if kill % 2 == 0 {
            scratch("killed");
        }
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let mut child = analyze(&out).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        sleep(length / 1_000 * (random % 1_100));
        child.kill().unwrap();
        child.wait().unwrap();
        let ran = report(&out);
        if out.join("manifest.json").exists() {
            left_whole += 1;
            assert_eq!((ran.code, &ran.out), (0, &whole), "kill {kill}: {}", ran.err);
        } else {
            assert_eq!(ran.code, 2, "kill {kill}: {}", ran.out);
        }
    }
    assert!(left_whole < KILLS, "all were over before they were killed");
}
