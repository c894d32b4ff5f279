//! The commands of docs/getting-traces.md that read traces read them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::support::command::{dwindle, finished, scratch};

/// What the recipes have fetched by the names that they give it, and a fixture that stands for it.
const FETCHED: &[(&str, &str)] = &[
    ("traces/part.jsonl.zst", "shop/money.jsonl.zst"),
    ("tempo/trace.json", "otlp/tempo-api-v2.json"),
    ("jaeger-v3.json", "otlp/jaeger-api-result.json"),
    ("jaeger.json", "jaeger/answer.json"),
    ("zipkin.json", "zipkin/traces.json"),
    ("collector/traces.json", "otlp/mixed-signals.jsonl"),
    ("collector/traces-rotated.json.zst", "shop/money.jsonl.zst"),
    ("clickhouse.jsonl.zst", "clickhouse/rows-new-names.jsonl"),
    ("bucket/traces_1.json", "otlp/ids-upper-case.json"),
];

/// What comes through a pipe.
const PIPED: &str = "shop/money.jsonl.zst";

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

fn document() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/getting-traces.md")
}

/// The commands of the document's shell blocks that run `dwindle`, with their lines.
fn commands(text: &str) -> Vec<(usize, Vec<String>)> {
    let mut commands = Vec::new();
    let mut in_shell = false;
    for (place, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            in_shell = line == "```sh";
            continue;
        }
        let command = line.split(" #").next().unwrap_or_default();
        for part in command.split('|').filter(|_| in_shell) {
            let mut words = part.split_whitespace().map(str::to_owned);
            if words.next().as_deref() == Some("dwindle") {
                commands.push((place + 1, words.collect()));
            }
        }
    }
    commands
}

#[test]
fn every_recipe_reads_what_it_fetched() {
    let folder = scratch("getting-traces");
    for (name, of) in FETCHED {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(fixture(of), path).unwrap();
    }
    let text = fs::read_to_string(document()).unwrap();
    let commands = commands(&text);
    assert!(commands.len() >= 14, "only {} commands", commands.len());
    for (line, args) in &commands {
        let input = fs::File::open(fixture(PIPED)).unwrap();
        let ran = finished(dwindle().current_dir(&folder).args(args).stdin(Stdio::from(input)));
        assert_eq!(ran.code, 0, "line {line}: dwindle {args:?}: {}", ran.err);
        assert!(!ran.out.contains(" 0 spans"), "line {line}: {}", ran.out);
    }
    for (name, _) in FETCHED {
        let input = name.split_inclusive('/').next().unwrap();
        assert!(commands.iter().any(|(_, args)| args.iter().any(|arg| arg == input)), "{input}");
    }
}

/// What a heading is linked by.
fn anchor(heading: &str) -> String {
    let letters = heading.chars().filter(|letter| letter.is_alphanumeric() || *letter == ' ');
    letters.collect::<String>().to_lowercase().replace(' ', "-")
}

#[test]
fn every_link_of_the_recipes_leads_somewhere() {
    let text = fs::read_to_string(document()).unwrap();
    let headings = text.lines().filter_map(|line| line.strip_prefix("## "));
    let anchors: Vec<String> = headings.map(anchor).collect();
    for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        let leads = match link.strip_prefix('#') {
            Some(place) => anchors.iter().any(|anchor| anchor == place),
            None => document().with_file_name(link).exists(),
        };
        assert!(leads, "{link}");
    }
}
