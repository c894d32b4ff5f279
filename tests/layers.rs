//! Who may import whom (ARCHITECTURE.md), and where outside crates may be used.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Modules by level; a module may use those of lower levels only, and itself.
const LEVELS: &[&[&str]] = &[
    &[
        "budget",
        "config_error",
        "config_text",
        "config_values",
        "counts",
        "date",
        "finding_id",
        "names",
        "stats",
        "units",
        "visible",
    ],
    &["span"],
    &["clocks", "contract", "conventions", "forest", "otlp", "tables"],
    &[
        "distributions",
        "exemplars",
        "graveyard",
        "ingest",
        "instrumentation",
        "ranking",
        "reconstruct",
        "retrying",
        "rules",
        "selection",
        "survey",
        "timeline",
    ],
    &["calibrate", "check", "cluster", "diff", "extract", "plan", "query", "report"],
    &["cli"],
];

/// Within a level, who may use whom.
const BESIDE: &[(&str, &str)] = &[
    ("budget", "units"),
    ("cluster", "calibrate"),
    ("config_text", "units"),
    ("config_text", "visible"),
    ("config_values", "units"),
    ("contract", "tables"),
    ("date", "units"),
    ("instrumentation", "distributions"),
    ("ranking", "distributions"),
    ("reconstruct", "exemplars"),
    ("plan", "extract"),
    ("retrying", "distributions"),
    ("report", "calibrate"),
    ("report", "check"),
    ("timeline", "distributions"),
    ("report", "diff"),
    ("report", "plan"),
];

/// Crates that one place alone may use.
const FENCED: &[(&str, &str)] = &[
    ("clap", "cli"),
    ("datafusion", "query"),
    ("console", "cli"),
    ("indicatif", "cli"),
    ("flate2", "ingest"),
    ("parquet", "tables"),
    ("tokio", "query"),
];

fn level(module: &str) -> usize {
    LEVELS
        .iter()
        .position(|modules| modules.contains(&module))
        .unwrap_or_else(|| panic!("module {module} has no level: add it to the table"))
}

fn rust_files(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The sources with the module that each belongs to.
fn sources() -> Vec<(PathBuf, String, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    rust_files(&src)
        .into_iter()
        .map(|path| {
            let first = path.strip_prefix(&src).unwrap().iter().next().unwrap().to_str().unwrap();
            let module = first.trim_end_matches(".rs").to_owned();
            let text = fs::read_to_string(&path).unwrap();
            (path, module, text)
        })
        .filter(|(_, module, _)| module != "lib" && module != "main")
        .collect()
}

/// The first parts of all `crate::` paths.
fn imports(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for part in text.split("crate::").skip(1) {
        if let Some(group) = part.strip_prefix('{') {
            let group = group.split('}').next().unwrap();
            let names = group.split(',').map(|name| name.trim().split("::").next().unwrap());
            found.extend(names.filter(|name| !name.is_empty()).map(str::to_owned));
        } else {
            let name: String =
                part.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            found.insert(name);
        }
    }
    found
}

#[test]
fn modules_import_only_from_lower_levels() {
    let mut wrong = Vec::new();
    for (path, module, text) in sources() {
        for used in imports(&text) {
            let beside = BESIDE.contains(&(module.as_str(), used.as_str()));
            if used != module && !beside && level(&used) >= level(&module) {
                wrong.push(format!("{}: {module} uses {used}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn outside_crates_stay_behind_their_fence() {
    let mut wrong = Vec::new();
    for (path, module, text) in sources() {
        for (name, place) in FENCED {
            let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            let within = format!("{name}::");
            let mut paths = text.match_indices(&within);
            let names_it = paths.any(|(at, _)| !text[..at].ends_with(is_name));
            if module != *place && names_it {
                wrong.push(format!("{}: only {place} may use {name}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_stay_below_six_hundred_lines() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let long: Vec<String> = [root.join("src"), root.join("tests")]
        .iter()
        .flat_map(|dir| rust_files(dir))
        .map(|path| (fs::read_to_string(&path).unwrap().lines().count(), path))
        .filter(|(lines, _)| *lines > 600)
        .map(|(lines, path)| format!("{}: {lines} lines", path.display()))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}
