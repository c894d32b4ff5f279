//! `dwindle plan model`, run as people run it.

use std::fs;

use dwindle::plan::model::Scenario;
use serde_json::Value;

use crate::support::command::{Ran, run, scratch};

const NESTED: &str = "fixtures/plan/nested.toml";

fn model(args: &[&str]) -> Ran {
    run(&[&["plan", "model"], args].concat())
}

fn told(args: &[&str]) -> String {
    let ran = model(&[&["--quiet"], args].concat());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args:?}");
    ran.out
}

/// Scenario: 40 requests of two arms of two calls, of which every sixteenth takes a second; or nearly all.
/// Guarantee: what four policies make of them, to the nanosecond.
#[test]
fn the_built_in_scenario_gives_the_known_figures() {
    let told = super::json(&["model"]);
    assert_eq!(told["schema_version"], 1);
    assert_eq!(told["unlimited_retry_per_s"], 5000.04);
    let base = 416.67 * 4.0;
    let expected = [
        ("normal", "no budget", [30, 10, 0], [71, 233], 1.0625),
        ("normal", "propagation", [30, 0, 10], [71, 200], 1.0),
        ("normal", "allocated timeouts", [40, 0, 0], [62, 63], 1.1375),
        ("normal", "retry budget 0.30", [40, 0, 0], [62, 63], 1.1375),
        ("widespread slowdown", "no budget", [0, 0, 40], [626, 626], 2.0),
        ("widespread slowdown", "propagation", [0, 0, 40], [200, 200], 0.66875),
        ("widespread slowdown", "allocated timeouts", [0, 0, 40], [116, 116], 2.0),
        ("widespread slowdown", "retry budget 0.30", [0, 0, 40], [86, 86], 0.96875),
    ];
    let rows = told["rows"].as_array().unwrap();
    assert_eq!(rows.len(), expected.len());
    for (row, (regime, configuration, counts, times, multiplier)) in rows.iter().zip(expected) {
        assert_eq!(
            (row["regime"].as_str(), row["configuration"].as_str()),
            (Some(regime), Some(configuration))
        );
        let found = ["within", "outside", "dropped"].map(|column| row[column].as_i64().unwrap());
        assert_eq!(found, counts, "{regime}: {configuration}");
        let found = ["median_ns", "worst_ns"].map(|column| row[column].as_i64().unwrap());
        assert_eq!(found, times.map(|ms| ms * 1_000_000), "{regime}: {configuration}");
        assert_eq!(row["multiplier"], multiplier, "{regime}: {configuration}");
        let load = row["internal_per_s"].as_f64().unwrap();
        assert!((load - multiplier * base).abs() < 1e-9, "{load}");
    }
}

#[test]
fn the_printed_scenario_gives_the_same_bytes() {
    let path = scratch("model-printed").join("scenario.toml");
    fs::write(&path, told(&["--print-scenario"])).unwrap();
    let path = path.to_str().unwrap();
    for format in ["terminal", "markdown", "csv", "json", "html"] {
        let built_in = told(&["--format", format]);
        assert_eq!(told(&["--format", format, "--scenario", path]), built_in, "{format}");
    }
}

/// Guarantee: a seed draws the same durations whenever it is given, and another one others.
#[test]
fn a_seed_gives_the_same_bytes_and_another_one_others() {
    let of = |seed| told(&["--scenario", NESTED, "--seed", seed, "--format", "json"]);
    assert_eq!(of("7"), of("7"));
    assert_ne!(of("7"), of("8"));
    let page = told(&["--scenario", NESTED, "--seed", "7"]);
    assert!(page.contains(&format!("dwindle plan model --scenario {NESTED} --seed 7")), "{page}");
}

#[test]
fn the_page_says_what_its_figures_are() {
    let page = told(&["--width", "120"]);
    for said in ["(times in ms)", "attempts per call of a run without retries", "5,000.04"] {
        assert!(page.contains(said), "{said} in {page}");
    }
}

#[test]
fn the_page_at_80_and_120_columns() {
    for width in ["80", "120"] {
        let page = told(&["--width", width]);
        assert!(page.lines().all(|line| line.chars().count() <= width.parse().unwrap()));
        insta::assert_snapshot!(format!("model-{width}"), without_version(&page));
    }
    let page = told(&["--scenario", NESTED, "--format", "markdown"]);
    insta::assert_snapshot!("model-nested-markdown", without_version(&page));
    insta::assert_snapshot!("model-csv", told(&["--format", "csv"]));
}

fn without_version(page: &str) -> String {
    let line = |line: &str| match (line.find('('), line.find(')')) {
        (Some(from), Some(to)) if line.starts_with("dwindle ") || line.contains("dwindle 0") => {
            format!("{}(COMMIT{}", &line[..from], &line[to..])
        }
        _ => line.to_owned(),
    };
    page.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// What of the built-in scenario is replaced by what, and the line, key and message that tell it.
const MISTAKES: [(&str, &str, u32, &str, &str); 20] = [
    ("requests = 40", "requests = 0", 6, "requests", "expected 1 or more"),
    ("requests = 40", "requests = 40.5", 6, "requests", "expected a whole number such as 3"),
    ("seed = 0", "seed = -1", 5, "seed", "expected a whole number, not negative"),
    ("threshold = \"200ms\"", "threshold = \"0ms\"", 7, "threshold", "expected more than nothing"),
    ("threshold = \"200ms\"", "treshold = \"200ms\"", 7, "treshold", "unknown field"),
    ("own = \"20ms\"", "own = \"200ms\"", 38, "return_reserve", "expected less than the threshold"),
    ("own = \"20ms\"", "", 10, "own", "expected the own share"),
    ("\"price\"]", "\"prize\"]", 13, "arms", "no [[service]] is called \"prize\""),
    ("name = \"offer\"", "name = \"user\"", 25, "name", "two are called \"user\""),
    ("name = \"offer\"", "name = \"of*er\"", 25, "name", "expected a name"),
    ("name = \"offer\"", "name = \"offer\"\narms = [[\"offer\"]]", 26, "arms", "come to an end"),
    ("\"1000ms\",\n]", "\"0ms\",\n]", 29, "cycle", "expected more than nothing"),
    ("max_attempts = 3", "max_attempts = 0", 41, "max_attempts", "the first try counts"),
    ("arms = [[\"cart\", \"price\"], [\"user\", \"offer\"]]", "", 10, "arms", "expected calls"),
    ("max_attempts = 3", "max_attempts = 4000000000", 41, "max_attempts", "expected fewer"),
    ("timeout = \"200ms\"", "timeout = \"2 days\"", 40, "timeout", "expected a duration"),
    (
        "retry_budget = 0.30",
        "retry_budget = -1",
        60,
        "retry_budget",
        "expected a number such as 0.3",
    ),
    (
        "retry_budget = 0.30",
        "[[configuration.call]]\nmax_attempts = 2\ncallee = \"zz\"",
        62,
        "callee",
        "no call of the scenario has the callee \"zz\"",
    ),
    (
        "retry_budget = 0.30",
        "[[configuration.call]]\ncallee = \"c*\"\n[[configuration.call]]\noperation = \"step 3.1\"",
        63,
        "operation",
        "no call of the scenario has the operation \"step 3.1\"",
    ),
    (
        "retry_budget = 0.30",
        "[[configuration.call]]\ncallee = \"cart\"\noperation = \"step 2.2\"",
        60,
        "call",
        "no call of the scenario is like that",
    ),
];

/// Scenario: what is wrong with a scenario file, in a place of it.
/// Guarantee: file, line, key and what was expected are told, and the command that repeats it.
#[test]
fn a_bad_scenario_names_line_key_and_the_command() {
    let good = told(&["--print-scenario"]);
    let dir = scratch("model-bad");
    for (number, (from, to, line, key, message)) in MISTAKES.into_iter().enumerate() {
        assert!(good.contains(from), "{from}");
        let path = dir.join(format!("{number}.toml"));
        fs::write(&path, good.replacen(from, to, 1)).unwrap();
        let path = path.to_str().unwrap();
        let ran = model(&["--scenario", path, "--seed", "3"]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{to}");
        let at = format!("--scenario {path}:{line}: key `{key}`: ");
        assert!(ran.err.contains(&at), "{to}: {}", ran.err);
        assert!(ran.err.contains(message), "{to}: {}", ran.err);
        let command =
            format!("to repeat this run: dwindle plan model --scenario {path} --seed 3\n");
        assert!(ran.err.ends_with(&command), "{to}: {}", ran.err);
    }
}

/// Scenario: the built-in scenario with a byte changed, left out or written twice.
/// Guarantee: it is read or refused, and what is read can be run.
#[test]
fn any_text_is_read_or_refused() {
    let good = told(&["--print-scenario"]).replace("requests = 40", "requests = 2");
    let (mut read, mut refused) = (0, 0);
    for place in 0..good.len() {
        for other in [&b""[..], b"0", b"9", b"]", b"\"", b"[["] {
            let text = [&good.as_bytes()[..place], other, &good.as_bytes()[place + 1..]].concat();
            let Ok(scenario) = Scenario::parse("scenario.toml", &String::from_utf8(text).unwrap())
            else {
                refused += 1;
                continue;
            };
            read += 1;
            let rows = dwindle::plan::model::run(&scenario).unwrap();
            assert!(rows.iter().all(|row| row.requests() == u64::from(scenario.requests)));
        }
    }
    assert!(read > 1_000 && refused > 1_000, "{read} {refused}");
}

#[test]
fn the_scenario_of_the_documentation_runs() {
    let page = fs::read_to_string("docs/planning.md").unwrap();
    let (_, after) = page.split_once("### A scenario\n\n```toml\n").unwrap();
    let scenario = Scenario::parse("planning.md", after.split("```").next().unwrap()).unwrap();
    let rows = dwindle::plan::model::run(&scenario).unwrap();
    assert_eq!((rows.len(), rows[0].steps, rows[0].requests()), (1, 4, 200));
}

/// Scenario: the folder of an emitted run, read back.
/// Guarantee: `analyze` finds the requests, and an earlier run is replaced but nothing else is.
#[test]
fn an_emitted_run_is_read_back_and_replaces_only_what_is_its_own() {
    let dir = scratch("model-emitted");
    let out = dir.join("run");
    let out = out.to_str().unwrap();
    told(&["--emit", out]);
    let names = |folder: &str| -> Vec<String> {
        let files = fs::read_dir(format!("{out}/{folder}")).unwrap();
        let mut names: Vec<String> =
            files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(names(""), ["contract.toml", "traces", "truth.json"]);
    assert_eq!(names("traces").len(), 8);
    let first = fs::read(format!("{out}/truth.json")).unwrap();
    let truth: Value = serde_json::from_slice(&first).unwrap();
    assert_eq!(truth["requests"].as_array().unwrap().len(), 320);

    let (traces, contract) = (format!("{out}/traces"), format!("{out}/contract.toml"));
    let page = run(&["report", "--quiet", &traces, "--contract", &contract, "--format", "json"]);
    assert_eq!((page.code, page.err.as_str()), (0, ""));
    assert!(page.out.contains("widespread slowdown: retry budget 0.30"), "{}", page.out);

    // The same again gives the same bytes; another scenario leaves nothing of this one.
    told(&["--emit", out]);
    assert_eq!(fs::read(format!("{out}/truth.json")).unwrap(), first);
    fs::write(format!("{out}/traces/mine.txt"), "kept").unwrap();
    told(&["--emit", out, "--scenario", NESTED]);
    assert!(names("traces").iter().all(|name| name == "mine.txt" || !name.contains("slowdown")));
    assert_eq!(fs::read_to_string(format!("{out}/traces/mine.txt")).unwrap(), "kept");

    // What was written is told, with the command that reads it.
    let said = model(&["--emit", out]).err;
    let reads = format!("dwindle report {out}/traces --contract {out}/contract.toml");
    assert!(
        said.contains("traces/, contract.toml and truth.json -> ") && said.contains(&reads),
        "{said}"
    );

    let foreign = dir.join("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("contract.toml"), "# mine\n").unwrap();
    let ran = model(&["--emit", foreign.to_str().unwrap()]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("contract.toml: is there already"), "{}", ran.err);
    let command = format!("to repeat this run: dwindle plan model --emit {}\n", foreign.display());
    assert!(ran.err.ends_with(&command), "{}", ran.err);
    assert_eq!(fs::read_to_string(foreign.join("contract.toml")).unwrap(), "# mine\n");
}

/// Scenario: `traces` is a link to another folder, beside the truth of an earlier run.
/// Guarantee: nothing is written or removed outside of the folder.
#[cfg(unix)]
#[test]
fn an_emitted_run_does_not_leave_its_folder_by_a_link() {
    let dir = scratch("model-linked");
    let (out, elsewhere) = (dir.join("run"), dir.join("elsewhere"));
    let out = out.to_str().unwrap();
    told(&["--emit", out]);
    fs::rename(dir.join("run/traces"), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, dir.join("run/traces")).unwrap();
    let files = || {
        let of = |file: fs::DirEntry| {
            (file.file_name(), fs::metadata(file.path()).unwrap().modified().unwrap())
        };
        let mut files: Vec<_> =
            fs::read_dir(&elsewhere).unwrap().map(|it| of(it.unwrap())).collect();
        files.sort();
        files
    };
    let before = files();
    let ran = model(&["--emit", out]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    assert!(ran.err.contains("traces: is a link"), "{}", ran.err);
    assert_eq!(files(), before);
    assert!(dir.join("run/truth.json").exists());
}
