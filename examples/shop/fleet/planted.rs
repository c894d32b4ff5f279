//! The books: what was planted, counted while it is planted.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

/// Which call a finding stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hop {
    /// Who calls; nobody in this request where it is the root's.
    pub(crate) caller: Option<&'static str>,
    /// Who is called.
    pub(crate) callee: &'static str,
    /// What is called.
    pub(crate) operation: &'static str,
}

/// How many findings of a code stand on a hop.
type Findings = BTreeMap<(&'static str, Hop), u64>;

/// Everything that was planted.
#[derive(Default)]
pub(crate) struct Planted {
    /// Requests by class.
    requests: BTreeMap<String, u64>,
    /// Requests by class and story.
    stories: Vec<(String, &'static str, u64)>,
    /// What is found without a contract.
    findings: Findings,
    /// What `fixtures/shop.contract.toml` adds.
    by_contract: Findings,
}

impl Planted {
    /// Counts a request of `hop`'s class.
    pub(crate) fn request(&mut self, hop: Hop) {
        *self.requests.entry(format!("{} {}", hop.callee, hop.operation)).or_default() += 1;
    }

    /// Counts requests of one story.
    pub(crate) fn story(&mut self, class: &str, story: &'static str, count: u64) {
        self.stories.push((class.to_owned(), story, count));
    }

    /// Counts a finding that needs no contract.
    pub(crate) fn finding(&mut self, code: &'static str, hop: Hop) {
        *self.findings.entry((code, hop)).or_default() += 1;
    }

    /// Counts a finding that only the contract's deadline makes one.
    pub(crate) fn finding_by_contract(&mut self, code: &'static str, hop: Hop) {
        *self.by_contract.entry((code, hop)).or_default() += 1;
    }

    /// What is found with the contract: what is found without, and what it adds.
    fn with_contract(&self) -> Findings {
        let mut all = self.findings.clone();
        for (key, count) in &self.by_contract {
            *all.entry(*key).or_default() += count;
        }
        all
    }

    /// The machine-readable form.
    pub(crate) fn json(&self, seed: u64, spans: usize) -> String {
        let list = |findings: &Findings| -> Vec<Value> {
            let row = |((code, hop), count): (&(&str, Hop), &u64)| {
                json!({
                    "code": code,
                    "caller": hop.caller,
                    "callee": hop.callee,
                    "operation": hop.operation,
                    "count": count,
                })
            };
            findings.iter().map(row).collect()
        };
        let planted = json!({
            "seed": seed,
            "spans": spans,
            "requests": self.requests,
            "findings": list(&self.findings),
            "findings_with_contract": list(&self.with_contract()),
        });
        format!("{planted:#}\n")
    }

    /// The README's tables.
    pub(crate) fn markdown(&self) -> String {
        let mut text = String::from("## Requests\n\n| class | requests |\n|---|---:|\n");
        for (class, count) in &self.requests {
            row(&mut text, &[class, &count.to_string()]);
        }
        text.push_str("\n## Stories\n\n| class | story | requests |\n|---|---|---:|\n");
        for (class, story, count) in &self.stories {
            row(&mut text, &[class, story, &count.to_string()]);
        }
        text.push_str("\n## Planted findings\n\n");
        findings_table(&mut text, &self.findings);
        text.push_str("\n## Findings that the contract adds\n\n");
        findings_table(&mut text, &self.by_contract);
        text
    }
}

/// One line of a table.
fn row(text: &mut String, cells: &[&str]) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "| {} |", cells.join(" | "));
}

/// Findings by code and hop.
fn findings_table(text: &mut String, findings: &Findings) {
    text.push_str("| code | caller → callee | operation | findings |\n|---|---|---|---:|\n");
    for ((code, hop), count) in findings {
        let edge = format!("{} → {}", hop.caller.unwrap_or("(nobody)"), hop.callee);
        row(text, &[&format!("`{code}`"), &edge, hop.operation, &count.to_string()]);
    }
}
