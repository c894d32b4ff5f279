//! README's commands do what README shows.

use std::fs;
use std::path::Path;

use crate::support::command::run;

/// A command of a console block and what stands below it.
struct Example {
    line: usize,
    command: String,
    expected: Vec<String>,
}

fn examples() -> Vec<Example> {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let text = fs::read_to_string(readme).unwrap();
    let mut examples: Vec<Example> = Vec::new();
    let mut in_console = false;
    for (place, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            in_console = line == "```console";
        } else if in_console && let Some(command) = line.strip_prefix("$ ") {
            let (line, command) = (place + 1, command.to_owned());
            examples.push(Example { line, command, expected: Vec::new() });
        } else if in_console {
            examples.last_mut().unwrap().expected.push(line.to_owned());
        }
    }
    examples
}

/// Words of a command line; single quotes keep spaces.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (place, part) in command.split('\'').enumerate() {
        if place % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// The commit is another one for each reader.
fn without_commit(line: &str) -> String {
    match (line.starts_with("dwindle "), line.find('('), line.find(')')) {
        (true, Some(from), Some(to)) => format!("{}(COMMIT{}", &line[..from], &line[to..]),
        _ => line.trim_end().to_owned(),
    }
}

/// Whether `found` is `expected`, where a line `...` stands for any number of lines.
fn shows(found: &[String], expected: &[String]) -> bool {
    match expected {
        [] => found.is_empty(),
        [dots, rest @ ..] if dots == "..." => {
            (0..=found.len()).any(|skipped| shows(&found[skipped..], rest))
        }
        [first, rest @ ..] => found.first() == Some(first) && shows(&found[1..], rest),
    }
}

#[test]
fn every_console_block_of_readme_shows_what_the_command_prints() {
    let examples = examples();
    assert!(examples.len() >= 5, "README has only {} examples", examples.len());
    for example in examples {
        let words = words(&example.command);
        assert_eq!(words[0], "dwindle", "README:{}: {}", example.line, example.command);
        if words[1] == "query" && !cfg!(feature = "query") {
            continue;
        }
        let args: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        let ran = run(&args);
        assert_eq!(ran.code, 0, "README:{}: {}", example.line, ran.err);
        let found: Vec<String> = ran.out.lines().map(without_commit).collect();
        let expected: Vec<String> =
            example.expected.iter().map(|line| without_commit(line)).collect();
        assert!(
            shows(&found, &expected),
            "README:{}: $ {}\nprints\n{}",
            example.line,
            example.command,
            found.join("\n")
        );
    }
}
