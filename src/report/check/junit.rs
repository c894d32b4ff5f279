//! A verdict as a `JUnit` test report: a suite for each request class, a test for each check. What
//! cannot be told is skipped.

use super::super::overview::losses;
use super::super::text::visible;
use super::{Told, words};
use crate::check::{Check, ClassVerdict, Outcome};

/// Writes a verdict.
pub(super) fn render(told: &Told<'_>) -> String {
    let all = Counts::of(told.verdict.checks());
    let mut lines = vec![
        r#"<?xml version="1.0" encoding="UTF-8"?>"#.to_owned(),
        format!(r#"<testsuites name="dwindle check" {}>"#, all.attributes()),
    ];
    for class in &told.verdict.classes {
        push_suite(&mut lines, class);
    }
    if let Some(lost) = losses(told.facts) {
        lines.push(format!("  <!-- {} -->", escape(&lost).replace("--", "- -")));
    }
    lines.push("</testsuites>".to_owned());
    lines.join("\n") + "\n"
}

struct Counts {
    tests: usize,
    failures: usize,
    skipped: usize,
}

impl Counts {
    fn of<'a>(checks: impl Iterator<Item = &'a Check<'a>>) -> Self {
        checks.fold(Self { tests: 0, failures: 0, skipped: 0 }, |counts, check| Self {
            tests: counts.tests + 1,
            failures: counts.failures + usize::from(check.fails),
            skipped: counts.skipped + usize::from(is_skipped(check)),
        })
    }

    fn attributes(&self) -> String {
        let Self { tests, failures, skipped } = self;
        format!(r#"tests="{tests}" failures="{failures}" errors="0" skipped="{skipped}""#)
    }
}

fn is_skipped(check: &Check<'_>) -> bool {
    !check.fails && check.outcome == Outcome::NoEvidence
}

fn push_suite(lines: &mut Vec<String>, class: &ClassVerdict<'_>) {
    let counts = Counts::of(class.checks.iter());
    let name = escape(class.name);
    lines.push(format!(r#"  <testsuite name="{name}" {}>"#, counts.attributes()));
    for check in &class.checks {
        let title = escape(&words::title(&check.kind));
        let head = format!(r#"    <testcase name="{title}" classname="{name}""#);
        let reason = escape(&words::reason(check));
        let sort = words::sort(&check.kind);
        if check.fails {
            lines.push(format!("{head}>"));
            lines.push(format!(r#"      <failure type="{sort}" message="{reason}"/>"#));
        } else if is_skipped(check) {
            lines.push(format!("{head}>"));
            lines.push(format!(r#"      <skipped message="{reason}"/>"#));
        } else {
            lines.push(format!("{head}>"));
            lines.push(format!("      <system-out>{reason}</system-out>"));
        }
        lines.push("    </testcase>".to_owned());
    }
    lines.push("  </testsuite>".to_owned());
}

/// `text` as nothing but text in XML 1.0, which has no way to write some characters at all.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '&' => safe += "&amp;",
            '"' => safe += "&quot;",
            '\'' => safe += "&apos;",
            '\u{fffe}' | '\u{ffff}' => safe.extend(c.escape_unicode()),
            _ => safe.push(c),
        }
    }
    safe
}
