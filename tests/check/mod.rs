//! `dwindle check`: what fails, what passes, what cannot be told, and how that is written.

mod forms;
mod gates;
mod limits;
mod matrix;

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::support::command::{Ran, run_with_input, scratch};
use crate::support::made_spans::granting;

/// A contract that says nothing but a deadline, which the traces declare too.
const CONTRACT: &str = "\
[[contract]]
name = \"checkout\"
match = { service = \"gateway\" }
deadline = \"1s\"
";

/// A file of that text, another one each time: tests run side by side.
fn file(name: &str, text: &str) -> PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = scratch(&format!("check-{name}-{number}")).join("file.toml");
    fs::write(&path, text).unwrap();
    path
}

/// Checks `spans` by a contract.
fn check(name: &str, contract: &str, spans: &str, more: &[&str]) -> Ran {
    let contract = file(name, contract);
    let args = ["check", "-", "--quiet", "--contract", contract.to_str().unwrap()];
    run_with_input(&[&args, more].concat(), spans.as_bytes())
}

/// The same as JSON.
fn checked(name: &str, contract: &str, spans: &str, more: &[&str]) -> (i32, Value) {
    let ran = check(name, contract, spans, &[&["--format", "json"], more].concat());
    assert!(ran.code < 2, "{}", ran.err);
    (ran.code, serde_json::from_str(&ran.out).unwrap())
}

/// The check of that name.
fn named<'j>(document: &'j Value, name: &str) -> &'j Value {
    let checks = document["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("no {name}"))
}

/// A gateway that grants all of its 1,000 ms again at 400.
fn resetting() -> String {
    granting(1, "deadline.remaining_ms", 1_000)
}

/// The same done right.
fn passing_on() -> String {
    granting(1, "deadline.remaining_ms", 600)
}
