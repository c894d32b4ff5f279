//! What findings mean, for people: the texts of [`crate::rules`].

use super::model::{Block, Cell, Column, Report, Row, Section, Table};
use crate::rules::Rule;

/// All rules in a list.
pub fn rules_list(rules: impl Iterator<Item = Rule>, version: &str) -> Report {
    let row =
        |rule: Rule| Row::new("code", rule.code.name(), vec![Cell::Text(rule.short.to_owned())]);
    let table = Table {
        id: "rules",
        title: "What dwindle calls wrong".to_owned(),
        head: "finding",
        columns: vec![Column::prose("what it says")],
        ..Table::default()
    };
    let mut blocks: Vec<Block> =
        table.with_all(rules.map(row).collect()).map(Block::Table).into_iter().collect();
    blocks.push(Block::Note("dwindle rules CODE tells more of one.".to_owned()));
    report(blocks, version)
}

/// One rule.
pub fn rule_page(rule: &Rule, version: &str) -> Report {
    let mut blocks = vec![Block::Note(format!("{}: {}", rule.code.name(), rule.short))];
    let parts = [
        ("When exactly", rule.when),
        ("Why it matters", rule.why),
        ("How to fix it", rule.fix),
        ("How sure it is", rule.certainty),
    ];
    for (heading, text) in parts {
        blocks.push(Block::Heading(heading));
        blocks.extend(of_markdown(text));
    }
    blocks.push(Block::Heading("A trace that raises it"));
    blocks.push(Block::Note(rule.fixture.to_owned()));
    report(blocks, version)
}

fn report(blocks: Vec<Block>, version: &str) -> Report {
    let section = Section { title: "Rules".to_owned(), class: None, blocks };
    Report { version: version.to_owned(), sections: vec![section], ..Report::default() }
}

/// Paragraphs and lists. Lines that belong together become one, since they are wrapped anew.
fn of_markdown(text: &str) -> Vec<Block> {
    text.split("\n\n")
        .map(|part| match part.strip_prefix("- ") {
            Some(list) => Block::List(list.split("\n- ").map(one_line).collect()),
            None => Block::Note(one_line(part)),
        })
        .collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
