//! A report as programs read it, and sections of it as people do.

use std::fs;

use serde_json::Value;

use crate::support::command::{run, scratch};

/// What `report` tells of some spans.
pub struct Told(Value);

impl Told {
    /// Of span JSON lines.
    pub fn of(name: &str, spans: &str, flags: &[&str]) -> Self {
        let file = scratch(name).join("spans.jsonl");
        fs::write(&file, spans).unwrap();
        let file = file.to_str().unwrap();
        let given = ["report", file, "--declared-only", "--format", "json", "--quiet"];
        let ran = run(&[&given, flags].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        Self(serde_json::from_str(&ran.out).unwrap())
    }

    fn sections(&self) -> &Vec<Value> {
        self.0["sections"].as_array().unwrap()
    }

    /// The rows of a table, which one section holds.
    pub fn rows(&self, table: &str) -> Vec<Value> {
        let tables = self.sections().iter().flat_map(|it| it["tables"].as_array().unwrap());
        let mut found = tables.filter(|it| it["id"] == table);
        found.next().map_or_else(Vec::new, |it| it["rows"].as_array().unwrap().clone())
    }

    /// The only row of a table with these keys.
    pub fn row(&self, table: &str, keys: &[(&str, &str)]) -> Value {
        let rows = self.rows(table);
        let fits = |row: &&Value| keys.iter().all(|(key, value)| row[*key] == **value);
        let fitting: Vec<&Value> = rows.iter().filter(fits).collect();
        assert_eq!(fitting.len(), 1, "{table} {keys:?}: {rows:#?}");
        fitting[0].clone()
    }

    /// What a section says.
    pub fn notes(&self, title: &str) -> String {
        let section = self.sections().iter().find(|it| it["title"] == title);
        let notes = section.map(|it| it["notes"].as_array().unwrap().as_slice());
        let notes = notes.unwrap_or_default().iter().map(|note| note.as_str().unwrap());
        notes.collect::<Vec<_>>().join("\n")
    }
}

/// The value of a number.
pub fn count(row: &Value, name: &str) -> i64 {
    row[name]["value"].as_i64().unwrap_or_else(|| panic!("no {name} in {row:#}"))
}

/// How many of how many.
pub fn of(row: &Value, name: &str) -> (i64, i64) {
    (count(row, name), row[name]["n"].as_i64().unwrap())
}

/// A section of what is told of the shop.
pub fn section(title: &str, width: usize) -> String {
    let width = width.to_string();
    let ran = run(&["report", "fixtures/shop", "--quiet", "--width", &width]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let from = ran.out.find(&format!("\n{title} ═")).unwrap();
    let section = &ran.out[from + 1..];
    let heading_ends = section.find('\n').unwrap();
    let to = section[heading_ends..].find(" ═").unwrap();
    let to = section[..heading_ends + to].rfind('\n').unwrap();
    section[..to].trim_end().to_owned()
}
