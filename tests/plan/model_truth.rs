//! The model's own accounting equals what is rebuilt from the traces that it emits.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use dwindle::clocks::Offsets;
use dwindle::contract::Contract;
use dwindle::conventions::Conventions;
use dwindle::ingest::ingest_stream;
use dwindle::plan::model::{Model, Run, Scenario};
use dwindle::reconstruct::{Policy, reconstruct};
use serde_json::Value;

use super::chance::Chance;
use crate::support::command::{run, scratch};
use crate::support::tables::{Json, differences, json_tables};

/// A scenario as people write it: flat and nested topologies, policies of every kind.
fn scenario(seed: u64) -> String {
    let mut chance = Chance::of(seed);
    let threshold = chance.between(40, 400);
    let mut text = format!(
        "name = \"random {seed}\"\nseed = {seed}\nrequests = {}\nthreshold = \"{threshold}ms\"\n",
        chance.between(1, 4)
    );
    if chance.one_in(2) {
        text += "base_per_s = 416.67\n";
    }
    let services = chance.between(2, 5);
    for service in 0..services {
        let _ = write!(text, "\n[[service]]\nname = \"s{service}\"\n");
        let nested = service + 1 < services && (service == 0 || chance.one_in(2));
        if service == 0 || (nested && chance.one_in(2)) {
            let _ = writeln!(text, "own = {}", chance.length(0, threshold / 8));
        }
        if chance.one_in(3) {
            let most = if chance.one_in(4) { threshold } else { 9 };
            let _ = writeln!(text, "transit = {}", chance.length(0, most));
        }
        if nested {
            let arms = (0..chance.between(1, if service == 0 { 3 } else { 2 })).map(|_| {
                let steps = (0..chance.between(1, 2))
                    .map(|_| format!("\"s{}\"", chance.between(service + 1, services - 1)));
                format!("[{}]", steps.collect::<Vec<_>>().join(", "))
            });
            let _ = writeln!(text, "arms = [{}]", arms.collect::<Vec<_>>().join(", "));
        }
    }
    text += "\n[[regime]]\nname = \"any\"\n";
    durations(&mut text, &mut chance, threshold);
    if chance.one_in(3) {
        let _ =
            write!(text, "\n[[regime.service]]\nname = \"s{}\"\n", chance.between(1, services - 1));
        durations(&mut text, &mut chance, threshold);
    }
    for number in 0..chance.between(1, 2) {
        configuration(&mut text, &mut chance, number, threshold);
        if chance.one_in(3) {
            call(&mut text, &mut chance, services, threshold);
        }
    }
    text
}

fn durations(text: &mut String, chance: &mut Chance, threshold: u64) {
    let _ = match chance.between(0, 2) {
        0 => {
            let count = chance.between(1, 9);
            writeln!(text, "cycle = {}", chance.lengths(count, 1, threshold))
        }
        1 => writeln!(text, "between = [\"1ms\", {}]", chance.length(2, threshold)),
        _ => writeln!(
            text,
            "pick = [{{ duration = {}, weight = 3 }}, {{ duration = {}, weight = 1 }}]",
            chance.length(1, 20),
            chance.length(20, 2 * threshold)
        ),
    };
}

fn configuration(text: &mut String, chance: &mut Chance, number: u64, threshold: u64) {
    // Timeouts within the tolerance of verdicts are rare in life.
    let is_short = chance.one_in(6);
    let _ = write!(
        text,
        "\n[[configuration]]\nname = \"c{number}\"\ntimeout = {}\nmax_attempts = {}\n",
        if is_short { chance.length(1, 4) } else { chance.length(5, threshold + 50) },
        chance.between(1, 3)
    );
    let mut is_set = |key: &str| {
        if chance.one_in(2) {
            let _ = writeln!(text, "{key} = true");
        }
    };
    is_set("propagate");
    is_set("stop_on_cancel");
    if chance.one_in(6) {
        text.push_str("reject_unfundable = true\n");
    }
    if chance.one_in(2) {
        let count = chance.between(1, 2);
        let _ = writeln!(
            text,
            "backoff = {}",
            chance.lengths(count, 0, if is_short { threshold } else { 30 })
        );
    }
    if chance.one_in(3) {
        let _ = writeln!(text, "retry_budget = 0.{}", chance.between(0, 9));
    }
    if chance.one_in(2) {
        let _ = writeln!(text, "return_reserve = {}", chance.length(0, threshold / 3));
    }
    if chance.one_in(2) {
        let _ = writeln!(text, "hedge_after = {}", chance.length(1, threshold / 2));
    }
}

/// Calls of one service made otherwise.
fn call(text: &mut String, chance: &mut Chance, services: u64, threshold: u64) {
    let callee = format!("\"s{}\"", chance.between(1, services - 1));
    let mut arms = text.lines().filter(|line| line.starts_with("arms"));
    // A service that nobody calls is refused.
    let callee = if arms.any(|line| line.contains(&callee)) { &callee } else { "\"s*\"" };
    let length = chance.length(5, threshold);
    let _ = write!(text, "\n[[configuration.call]]\ncallee = {callee}\ntimeout = {length}\n");
    if chance.one_in(2) {
        let _ = writeln!(text, "max_attempts = {}", chance.between(1, 3));
    }
    if chance.one_in(2) {
        let _ = writeln!(text, "backoff = {}", chance.lengths(1, 0, 20));
    }
    if chance.one_in(3) {
        let _ = writeln!(text, "retry_budget = 0.{}", chance.between(1, 9));
    }
}

/// What is rebuilt from the traces of all runs.
fn rebuilt(runs: &[Run<'_>], conventions: &Conventions) -> Json {
    let contracts: Vec<String> = runs.iter().map(Run::contract).collect();
    let contracts = Contract::parse_file("contract.toml", &contracts.join("\n")).unwrap();
    let policy = Policy { contracts, ..Policy::default() };
    let requests = runs.iter().flat_map(Run::requests);
    let documents: Vec<String> =
        requests.map(|request| request.document().unwrap().to_string()).collect();
    let text = documents.join("\n");
    let ingested = ingest_stream("traces", text.as_bytes(), conventions, &()).unwrap();
    assert!(ingested.problems.is_empty(), "{} problems", ingested.problems.len());
    let spans = ingested.partitions.into_iter();
    json_tables(spans.map(|spans| reconstruct(spans, &policy, &Offsets::default())))
}

/// What the model tells, by table.
fn truth(runs: &[Run<'_>]) -> BTreeMap<&'static str, Vec<Value>> {
    let mut told: BTreeMap<&'static str, Vec<Value>> = BTreeMap::new();
    for request in runs.iter().flat_map(Run::requests) {
        let truth = request.truth();
        let row = |row| serde_json::to_value(row).unwrap();
        told.entry("requests").or_default().push(row(&truth.request));
        let hops = truth.hops.iter().map(|hop| serde_json::to_value(hop).unwrap());
        told.entry("hops").or_default().extend(hops);
        let attempts = truth.attempts.iter().map(|it| serde_json::to_value(it).unwrap());
        told.entry("attempts").or_default().extend(attempts);
    }
    told
}

/// How often each value of a column was told, so that the scenarios are known to reach them all.
#[derive(Default)]
struct Reached(BTreeMap<String, u64>);

impl Reached {
    fn note(&mut self, told: &BTreeMap<&'static str, Vec<Value>>) {
        for (table, column) in [("hops", "verdict"), ("attempts", "kind"), ("attempts", "funding")]
        {
            for row in told.get(table).into_iter().flatten() {
                let name = format!("{column} {}", row[column].as_str().unwrap());
                *self.0.entry(name).or_default() += 1;
            }
        }
        for column in ["late_work_ns", "residual_work_ns", "late_wait_ns"] {
            let hops = told["hops"].iter().filter(|row| row[column].as_i64() > Some(0));
            *self.0.entry(format!("{column} > 0")).or_default() += hops.count() as u64;
        }
    }
}

/// Scenario: 1,000 random topologies and policies, each run on the logical clock.
/// Guarantee: remaining time, late and residual work, attempts and verdicts that are rebuilt from the
/// traces are those that the model accounted, to the nanosecond.
#[test]
fn what_is_rebuilt_from_traces_of_the_model_is_what_it_accounted() {
    let conventions = Conventions::embedded().unwrap();
    let mut reached = Reached::default();
    for seed in 0..1_000 {
        let text = scenario(seed);
        let scenario = Scenario::parse("scenario.toml", &text)
            .unwrap_or_else(|error| panic!("scenario {seed}: {error}\n{text}"));
        let model = Model::of(&scenario).unwrap();
        let runs = model.runs();
        let (told, found) = (truth(&runs), rebuilt(&runs, &conventions));
        let mut wrong = Vec::new();
        for (table, rows) in &told {
            assert_eq!(rows.len(), found[table].len(), "{table}");
            wrong.extend(differences(table, rows, &found[table]));
        }
        if !wrong.is_empty() {
            let path = scratch("model-truth").join("scenario.toml");
            std::fs::write(&path, &text).unwrap();
            wrong.truncate(20);
            panic!(
                "scenario {seed}:\n{}\n\n{text}\nto repeat: dwindle plan model --scenario {path} \
                 --emit run && dwindle report run/traces --contract run/contract.toml",
                wrong.join("\n"),
                path = path.display()
            );
        }
        reached.note(&told);
    }
    for name in [
        "verdict reset",
        "verdict overgrant",
        "verdict stretched",
        "verdict inherited",
        "verdict expired",
        "verdict reserve_invading",
        "verdict propagated",
        "verdict tightened",
        "kind retry",
        "kind hedge",
        "funding funded",
        "funding unfundable",
        "funding expired",
        "late_work_ns > 0",
        "residual_work_ns > 0",
        "late_wait_ns > 0",
    ] {
        let times = reached.0.get(name).copied().unwrap_or(0);
        assert!(times >= 20, "{name}: only {times} times in {:?}", reached.0);
    }
}

/// Scenario: the nested fixture, written by the command and analyzed by the command.
/// Guarantee: `analyze` tells what truth.json tells.
#[test]
fn analyze_finds_the_truth_that_emit_wrote() {
    let dir = scratch("model-analyzed");
    let (run_dir, tables) = (dir.join("run"), dir.join("tables"));
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let [run_dir, tables] = [path(&run_dir), path(&tables)];
    let nested = std::fs::read_to_string("fixtures/plan/nested.toml").unwrap();
    let scenario = path(&dir.join("scenario.toml"));
    std::fs::write(&scenario, nested.replace("requests = 200", "requests = 25")).unwrap();
    let ran = run(&["plan", "model", "--quiet", "--scenario", &scenario, "--emit", &run_dir]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let (traces, contract) = (format!("{run_dir}/traces"), format!("{run_dir}/contract.toml"));
    let analyze = ["analyze", &traces, "--contract", &contract, "--out", &tables, "--quiet"];
    let ran = run(&[&analyze[..], &["--format", "ndjson"]].concat());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));

    let text = std::fs::read_to_string(format!("{run_dir}/truth.json")).unwrap();
    let truth: Value = serde_json::from_str(&text).unwrap();
    let requests = truth["requests"].as_array().unwrap();
    assert_eq!(requests.len(), 25 * 8);
    for (table, key) in [("requests", "request"), ("hops", "hops"), ("attempts", "attempts")] {
        let of_request = |request: &Value| match &request[key] {
            Value::Array(rows) => rows.clone(),
            row => vec![row.clone()],
        };
        let told: Vec<Value> = requests.iter().flat_map(of_request).collect();
        let found = std::fs::read_to_string(format!("{tables}/{table}.ndjson")).unwrap();
        let found: Vec<Value> =
            found.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let wrong = differences(table, &told, &found);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
