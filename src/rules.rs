//! What each finding means: the sections of `docs/findings.md`, which is part of the program.

use crate::tables::FindingCode;

/// The page.
pub const PAGE: &str = include_str!("../docs/findings.md");

/// What is to be known of a kind of finding. All but `short` is Markdown.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Which.
    pub code: FindingCode,
    /// What it says, in a few words.
    pub short: &'static str,
    /// When exactly it is raised.
    pub when: &'static str,
    /// Why it matters.
    pub why: &'static str,
    /// How to fix it, point by point.
    pub fix: &'static str,
    /// How sure it can be.
    pub certainty: &'static str,
    /// Where a trace lies that raises it.
    pub fixture: &'static str,
    /// The whole section, without its heading.
    pub section: &'static str,
}

/// What is to be known of `code`.
pub fn rule(code: FindingCode) -> Rule {
    let section = between(PAGE, &format!("\n## {}\n", code.name()), "\n## ");
    let part = |name: &str| between(section, &format!("\n### {name}\n"), "\n### ").trim();
    let short = section.trim_start().split("\n\n").next().unwrap_or_default();
    Rule {
        code,
        short: short.trim_matches(['_', '\n']),
        when: part("When"),
        why: part("Why"),
        fix: part("Fix"),
        certainty: part("Certainty"),
        fixture: part("Fixture").trim_matches('`'),
        section: section.trim(),
    }
}

/// All kinds, in the order of the table of SEMANTICS §11.
pub fn rules() -> impl Iterator<Item = Rule> {
    FindingCode::ALL.iter().copied().map(rule)
}

/// What stands from one heading on to the next like it; empty where there is no such heading.
fn between(text: &'static str, heading: &str, next: &str) -> &'static str {
    let found = text.split_once(heading);
    found.map_or("", |(_, rest)| rest.split_once(next).map_or(rest, |(part, _)| part))
}
