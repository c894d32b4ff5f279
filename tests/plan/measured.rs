//! `dwindle plan retries|chain|model --from`, run as people run it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::command::{Ran, run, scratch};

pub(super) const SHOP: &str = "fixtures/shop";
const THIRD: &str = "fixtures/cases/retry-third-unfundable";

/// The command without progress.
pub(super) fn plan(args: &[&str]) -> Ran {
    run(&[&["plan"], args, &["--quiet"]].concat())
}

pub(super) fn lines(args: &[&str]) -> Vec<Value> {
    let ran = plan(&[args, &["--format", "json"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let document: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(document["schema_version"], 1);
    document["lines"].as_array().unwrap().clone()
}

/// The worked case of a third attempt that could not be funded, with more flags.
fn third(what: &str, flags: &[&str]) -> Vec<Value> {
    let (traces, contract) = (format!("{THIRD}.json"), format!("{THIRD}.toml"));
    lines(&[&[what, "--from", &traces, "--contract", &contract], flags].concat())
}

/// What is told of a measure: the values by statistic and attempts.
pub(super) fn told<'v>(lines: &'v [Value], kind: &str, measure: &str) -> Vec<&'v Value> {
    let is_it = |line: &&Value| line["kind"] == kind && line["measure"] == measure;
    lines.iter().filter(is_it).collect()
}

pub(super) fn only<'v>(
    lines: &'v [Value],
    kind: &str,
    measure: &str,
    statistic: &str,
) -> &'v Value {
    let all = told(lines, kind, measure);
    let mut found = all.into_iter().filter(|line| line["statistic"] == statistic);
    let one = found.next().unwrap_or_else(|| panic!("no {kind} {measure} {statistic}"));
    assert!(found.next().is_none(), "several {kind} {measure} {statistic}");
    one
}

/// The shares of requests for which one, two, ... attempts fit.
fn fitting(lines: &[Value]) -> Vec<f64> {
    let shares = told(lines, "share", "requests_that_fit");
    shares.iter().map(|line| line["value"].as_f64().unwrap()).collect()
}

const MS: i64 = 1_000_000;

/// Scenario: a budget of 1,000 ms, 230 ms passed, a reserve of 80 ms by contract; three attempts of
/// 150 ms failed, 100 and 200 ms apart.
/// Guarantee: what was measured is told, and by it two attempts fit: the third would need 750 ms of 690.
#[test]
fn the_worked_case_is_told_to_the_nanosecond() {
    let told_of = third("retries", &[]);
    let value = |kind, measure, statistic| &only(&told_of, kind, measure, statistic)["value"];
    for (measure, expected) in [
        ("elapsed_at_first_ns", 230 * MS),
        ("remaining_at_first_ns", 770 * MS),
        ("available_at_first_ns", 690 * MS),
        ("failed_duration_ns", 150 * MS),
        ("budget_at_origin_ns", 1_000 * MS),
        ("return_reserve_used_ns", 20 * MS),
    ] {
        assert_eq!(value("distribution", measure, "p50"), expected, "{measure}");
    }
    assert_eq!(value("distribution", "backoff_ns", "min"), 100 * MS);
    assert_eq!(value("distribution", "backoff_ns", "max"), 200 * MS);
    assert_eq!(*value("distribution", "succeeded_duration_ns", "p50"), Value::Null);
    let policy = |measure, place| {
        let line = only(&told_of, "policy", measure, place);
        (line["value"].as_i64().unwrap(), line["source"].as_str().unwrap(), line["n"].as_u64())
    };
    assert_eq!(policy("attempt_ns", "1"), (150 * MS, "default", None));
    assert_eq!(policy("backoff_ns", "1"), (100 * MS, "measured", Some(2)));
    assert_eq!(policy("backoff_ns", "2"), (200 * MS, "measured", Some(2)));
    assert_eq!(policy("reserve_ns", "1"), (80 * MS, "contract", Some(1)));
    assert_eq!(policy("max_attempts", "1"), (3, "default", None));
    assert_eq!(fitting(&told_of), [1.0, 1.0, 0.0]);
    let largest = told(&told_of, "distribution", "allowance_that_fits_ns");
    let largest: Vec<_> = largest.iter().map(|line| line["value"].as_i64().unwrap()).collect();
    // 690, (690 - 100) / 2, (690 - 300) / 3.
    assert_eq!(largest, [690 * MS, 295 * MS, 130 * MS]);
    let share = |measure| {
        let line = only(&told_of, "share", measure, "");
        (line["value"].as_f64().unwrap(), line["n"].as_u64().unwrap())
    };
    assert_eq!(share("calls_retried"), (1.0, 1));
    assert_eq!(share("attempts_unfunded"), (1.0 / 3.0, 3));
    // One of one: the exact interval begins at 0.025.
    let fit = told(&told_of, "share", "requests_that_fit")[0];
    assert!((fit["lo"].as_f64().unwrap() - 0.025).abs() < 1e-12);
    assert_eq!(fit["hi"], 1.0);
}

/// Guarantee: a flag goes before what was measured, and is told as given; a deadline takes the place of
/// the requests' own, to the nanosecond.
#[test]
fn flags_go_before_what_was_measured() {
    assert_eq!(fitting(&third("retries", &["--attempt", "130ms"])), [1.0, 1.0, 1.0]);
    assert_eq!(fitting(&third("retries", &["--attempt", "130.000001ms"])), [1.0, 1.0, 0.0]);
    // 150 + 100 + 150 + 100 + 150 of 690.
    assert_eq!(fitting(&third("retries", &["--backoff", "100ms"])), [1.0, 1.0, 1.0]);
    assert_eq!(fitting(&third("retries", &["--reserve", "20ms"])), [1.0, 1.0, 1.0]);
    assert_eq!(fitting(&third("retries", &["--reserve", "20.000001ms"])), [1.0, 1.0, 0.0]);
    // 1,060 - 230 - 80 = 750.
    let replaced = third("retries", &["--deadline", "1060ms"]);
    assert_eq!(fitting(&replaced), [1.0, 1.0, 1.0]);
    assert_eq!(fitting(&third("retries", &["--deadline", "1059.999999ms"])), [1.0, 1.0, 0.0]);
    let given = third("retries", &["--reserve", "10ms", "--attempt", "1ms", "--backoff", "2ms"]);
    for measure in ["reserve_ns", "attempt_ns", "backoff_ns"] {
        assert_eq!(only(&given, "policy", measure, "1")["source"], "given", "{measure}");
    }
    let five = third("retries", &["--max-attempts", "5"]);
    assert_eq!(fitting(&five), [1.0, 1.0, 0.0, 0.0, 0.0]);
}

/// Scenario: the same case, whose calls are one deep, each tried up to three times; nothing succeeded.
/// Guarantee: the rows of `plan chain` for what was measured: 1,000 ms with 250 ms of its own.
#[test]
fn the_budget_of_the_worked_case_splits() {
    let missing = third("chain", &[]);
    assert_eq!(told(&missing, "missing", "duration").len(), 1);
    let told_of = third("chain", &["--median", "150ms"]);
    let row = |measure, tries: i64| {
        let all = told(&told_of, "row", measure);
        all.into_iter().find(|line| line["attempts"] == tries).unwrap()["value"].clone()
    };
    assert_eq!(row("no_budget_worst_ns", 1), 1_250 * MS);
    assert_eq!(row("no_budget_worst_ns", 3), 3_250 * MS);
    assert_eq!(row("allocated_timeout_ns", 1), 750 * MS);
    assert_eq!(row("allocated_timeout_ns", 3), 250 * MS);
    assert_eq!(row("budget_ratio", 3), 3.25);
    assert_eq!(row("ratio_to_median", 1), 5.0);
    // 750 / (150 * 3).
    assert_eq!(only(&told_of, "row", "max_depth", "")["value"], 1);
    let left = told(&told_of, "share", "requests_left_leaf_median");
    assert!(left.iter().all(|line| line["value"] == 1.0 && line["n"] == 1));
    let tight = third("chain", &["--median", "251ms"]);
    let left = told(&tight, "share", "requests_left_leaf_median");
    let left: Vec<_> = left.iter().map(|line| line["value"].as_f64().unwrap()).collect();
    assert_eq!(left, [1.0, 0.0]);
}

type Key = (String, [Option<String>; 3]);

fn key(line: &Value) -> Key {
    let name = |field: &str| line[field].as_str().map(str::to_owned);
    (name("class").unwrap(), ["caller", "callee", "operation"].map(name))
}

/// Rows of a table that `dwindle analyze` wrote.
fn rows(dir: &Path, table: &str) -> Vec<Value> {
    let text = fs::read_to_string(dir.join(format!("{table}.ndjson"))).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn analyzed(name: &str) -> PathBuf {
    let dir = scratch(name);
    let out = dir.to_str().unwrap();
    let ran = run(&["analyze", SHOP, "--out", out, "--format", "ndjson", "--quiet"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    dir
}

/// The value at the nearest rank.
fn rank(mut values: Vec<i64>, hundredths: usize) -> Option<i64> {
    values.sort_unstable();
    let rank = (values.len() * hundredths).div_ceil(100);
    values.get(rank.checked_sub(1)?).copied()
}

/// The calls of a line, counted as simply as can be.
#[derive(Default)]
struct Counted {
    calls: u64,
    retried: BTreeSet<String>,
    elapsed: Vec<i64>,
    succeeded: Vec<i64>,
    failed: Vec<i64>,
    waits: BTreeMap<i64, Vec<i64>>,
    /// By request the least that was left.
    left: BTreeMap<String, Option<i64>>,
}

fn counted(attempts: &[Value]) -> BTreeMap<Key, Counted> {
    let mut lines: BTreeMap<Key, Counted> = BTreeMap::new();
    for row in attempts {
        let name = |field: &str| row[field].as_str().map(str::to_owned);
        let names = ["caller_service", "callee_service", "operation"].map(name);
        let line = lines.entry((name("request_class").unwrap(), names)).or_default();
        let duration = row["duration_ns"].as_i64().unwrap();
        let durations = if row["outcome"] == "ok" { &mut line.succeeded } else { &mut line.failed };
        durations.push(duration);
        if row["kind"] == "retry" {
            line.retried.insert(format!("{} {}", row["trace_id"], row["call_id"]));
            let waited = row["backoff_ns"].as_i64().unwrap();
            line.waits.entry(row["ordinal"].as_i64().unwrap()).or_default().push(waited);
        }
        if row["span_id"] == row["call_id"] {
            line.calls += 1;
            line.elapsed.push(row["elapsed_at_start_ns"].as_i64().unwrap());
            let request = format!("{} {}", row["trace_id"], row["root_span_id"]);
            let left = row["remaining_at_start_ns"].as_i64();
            let least = line.left.entry(request).or_insert(left);
            *least = (*least).min(left);
        }
    }
    lines
}

/// Guarantee: for every call of the shop, all that is told of retries is what simple code counts in the
/// tables that `dwindle analyze` wrote.
#[test]
fn all_of_the_shop_is_as_simple_code_counts_it() {
    let dir = analyzed("plan-measured-shop");
    let requests = rows(&dir, "requests");
    let expected = counted(&rows(&dir, "attempts"));
    let mut by_key: BTreeMap<Key, Vec<Value>> = BTreeMap::new();
    for line in lines(&["retries", "--from", SHOP]) {
        by_key.entry(key(&line)).or_default().push(line);
    }
    let told_keys: BTreeSet<&Key> = by_key.keys().filter(|(_, call)| call[2].is_some()).collect();
    assert!(told_keys.iter().copied().eq(expected.keys()));
    let mut some_fit = 0;
    for (key, counted) in &expected {
        let told_of = &by_key[key];
        let value = |kind: &str, measure: &str, statistic: &str| {
            only(told_of, kind, measure, statistic)["value"].clone()
        };
        let attempt = if counted.succeeded.len() < 20 {
            150 * MS
        } else {
            rank(counted.succeeded.clone(), 95).unwrap()
        };
        let waits = (2..).map_while(|ordinal| rank(counted.waits.get(&ordinal)?.clone(), 50));
        let mut waits: Vec<i64> = waits.collect();
        if waits.is_empty() {
            waits = vec![100 * MS, 200 * MS];
        }
        let used = requests.iter().filter(|row| row["request_class"] == key.0.as_str());
        let used: Vec<i64> =
            used.filter_map(|row| row["return_reserve_used_ns"].as_i64()).collect();
        let reserve = rank(used, 95).unwrap();
        assert_eq!(value("policy", "attempt_ns", "1"), attempt, "{key:?}");
        assert_eq!(value("policy", "reserve_ns", "1"), reserve, "{key:?}");
        for (place, wait) in (1..).zip(&waits) {
            assert_eq!(value("policy", "backoff_ns", &place.to_string()), *wait, "{key:?}");
        }
        assert_eq!(value("count", "calls", ""), counted.calls, "{key:?}");
        for (measure, values) in [
            ("elapsed_at_first_ns", &counted.elapsed),
            ("succeeded_duration_ns", &counted.succeeded),
            ("failed_duration_ns", &counted.failed),
        ] {
            for hundredths in [5, 50, 95, 99] {
                let value = value("distribution", measure, &format!("p{hundredths}"));
                assert_eq!(value.as_i64(), rank(values.clone(), hundredths), "{key:?} {measure}");
            }
        }
        let left: Vec<i64> = counted.left.values().copied().flatten().collect();
        assert_eq!(
            value("count", "requests_without_deadline", ""),
            counted.left.len() - left.len(),
            "{key:?}"
        );
        let fits = |left: i64, attempts: usize| {
            let waited: i64 = (0..attempts - 1).map(|it| waits[it.min(waits.len() - 1)]).sum();
            waited + i64::try_from(attempts).unwrap() * attempt <= (left - reserve).max(0)
        };
        let shares = told(told_of, "share", "requests_that_fit");
        assert_eq!(shares.len(), 3);
        for (attempts, share) in (1..).zip(shares) {
            let fitting = left.iter().filter(|left| fits(**left, attempts)).count();
            some_fit += usize::from(0 < fitting && fitting < left.len());
            assert_eq!(share["n"], left.len(), "{key:?}");
            assert_eq!(share["part"], fitting, "{key:?} {attempts}");
            assert_eq!(share["value"].is_null(), left.is_empty(), "{key:?} {attempts}");
        }
        let retried = only(told_of, "share", "calls_retried", "");
        assert_eq!(retried["part"], counted.retried.len(), "{key:?}");
        assert_eq!(retried["n"], counted.calls, "{key:?}");
    }
    // The fixture tells something.
    assert!(some_fit > 5, "{some_fit}");
}

/// The most calls below a hop that follow one another, of those that begin at `since` or later.
fn follow(hops: &[&Value], call_of: &BTreeMap<String, String>, caller: &Value, since: i64) -> i64 {
    let call = |hop: &Value| {
        let own = hop["client_span_id"].as_str().or(hop["hop_id"].as_str()).unwrap().to_owned();
        call_of.get(&format!("{} {own}", hop["trace_id"])).cloned().unwrap_or(own)
    };
    let start = |hop: &Value| {
        hop["elapsed_at_send_ns"].as_i64().or(hop["elapsed_at_receive_ns"].as_i64()).unwrap()
    };
    let mut calls: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for hop in hops.iter().filter(|hop| hop["caller_hop_id"] == *caller) {
        calls.entry(call(hop)).or_default().push(hop);
    }
    let each = calls.values().filter_map(|tries| {
        let begin = tries.iter().map(|hop| start(hop)).min()?;
        let end =
            tries.iter().map(|hop| start(hop) + hop["duration_ns"].as_i64().unwrap()).max()?;
        let inner =
            tries.iter().map(|hop| follow(hops, call_of, &hop["hop_id"], i64::MIN)).max()?;
        // What takes no time would follow itself.
        assert!(begin < end);
        (begin >= since).then(|| 1 + inner + follow(hops, call_of, caller, end))
    });
    each.max().unwrap_or(0)
}

/// Guarantee: shares of requests by the depth of their own calls, as simple code counts them.
#[test]
fn the_chains_of_the_shop_are_as_simple_code_counts_them() {
    let dir = analyzed("plan-measured-chains");
    let (requests, hops, attempts) =
        (rows(&dir, "requests"), rows(&dir, "hops"), rows(&dir, "attempts"));
    let id = |row: &Value, field: &str| format!("{} {}", row["trace_id"], row[field]);
    let call_of: BTreeMap<String, String> = attempts
        .iter()
        .map(|row| {
            let key = format!("{} {}", row["trace_id"], row["span_id"].as_str().unwrap());
            (key, row["call_id"].as_str().unwrap().to_owned())
        })
        .collect();
    let mut by_request: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for hop in &hops {
        by_request.entry(id(hop, "root_span_id")).or_default().push(hop);
    }
    let depths: BTreeMap<String, i64> = requests
        .iter()
        .map(|row| {
            let hops = &by_request[&id(row, "root_span_id")];
            let top = hops.iter().find(|hop| hop["depth"] == 0).unwrap();
            (id(row, "root_span_id"), follow(hops, &call_of, &top["hop_id"], i64::MIN))
        })
        .collect();
    let inner: BTreeSet<String> = hops.iter().map(|hop| id(hop, "caller_hop_id")).collect();
    let clients = hops.iter().filter(|hop| inner.contains(&id(hop, "hop_id")));
    let clients: BTreeSet<String> = clients.map(|hop| id(hop, "client_span_id")).collect();
    let told_of = lines(&["chain", "--from", SHOP]);
    let mut classes = 0;
    for class in
        requests.iter().filter_map(|row| row["request_class"].as_str()).collect::<BTreeSet<_>>()
    {
        let of_class: Vec<Value> =
            told_of.iter().filter(|line| line["class"] == class).cloned().collect();
        let is_of = |row: &&Value| row["request_class"] == class;
        if !told(&of_class, "missing", "deadline").is_empty() {
            assert!(requests.iter().filter(is_of).all(|row| row["budget_at_origin_ns"].is_null()));
            continue;
        }
        classes += 1;
        let leaves = attempts.iter().filter(is_of).filter(|row| row["outcome"] == "ok");
        let leaves = leaves.filter(|row| !clients.contains(&id(row, "span_id")));
        let leaves: Vec<i64> = leaves.map(|row| row["duration_ns"].as_i64().unwrap()).collect();
        let policy = |measure| only(&of_class, "policy", measure, "1")["value"].as_i64();
        assert_eq!(policy("leaf_median_ns"), rank(leaves.clone(), 50));
        assert_eq!(policy("leaf_p95_ns"), rank(leaves.clone(), 95));
        let tries = told(&of_class, "policy", "tries");
        for tries in tries.iter().map(|line| line["value"].as_i64().unwrap()) {
            for (measure, needed) in [("median", 50), ("p95", 95)] {
                let needed = rank(leaves.clone(), needed).unwrap();
                let (mut leaving, mut all) = (0_u64, 0_u64);
                for row in requests.iter().filter(is_of) {
                    let depth = depths[&id(row, "root_span_id")];
                    let Some(budget) = row["budget_at_origin_ns"].as_i64() else { continue };
                    if depth > 0 {
                        let own = row["local_execution_ns"].as_i64().unwrap();
                        all += 1;
                        leaving += u64::from((budget - own).max(0) / (depth * tries) >= needed);
                    }
                }
                let shares = told(&of_class, "share", &format!("requests_left_leaf_{measure}"));
                let share = shares.iter().find(|line| line["attempts"] == tries).unwrap();
                assert_eq!(
                    (&share["part"], &share["n"]),
                    (&leaving.into(), &all.into()),
                    "{class}"
                );
            }
        }
    }
    assert_eq!(classes, 4);
}

/// Guarantee: values of one trace are not taken for independent ones.
#[test]
fn a_trace_counts_as_one_witness() {
    let told_of = lines(&["retries", "--from", SHOP, "--class", "storefront GET /items*"]);
    let of_stock = told_of
        .iter()
        .filter(|line| line["caller"] == "pricing" && line["measure"] == "elapsed_at_first_ns");
    let of_share = told_of
        .iter()
        .filter(|line| line["caller"] == "pricing" && line["measure"] == "calls_retried");
    let of_stock: Vec<&Value> = of_stock.chain(of_share).collect();
    assert!(!of_stock.is_empty());
    // 1,148 traces call it once and 36 three times: 1,256² / (1,148 + 36 · 9), rounded down.
    for line in of_stock {
        assert_eq!((line["n"].as_u64(), line["effective_n"].as_u64()), (Some(1_256), Some(1_071)));
    }
}

/// Guarantee: requests without a deadline are counted and left out, and told how to get one.
#[test]
fn requests_without_a_deadline_are_left_out_and_told() {
    let orders = ["retries", "--from", SHOP, "--class", "fulfilment*"];
    let told_of = lines(&orders);
    for line in told(&told_of, "count", "requests_without_deadline") {
        assert_eq!(line["value"], 389);
    }
    let shares = told(&told_of, "share", "requests_that_fit");
    assert!(shares.iter().all(|line| line["n"] == 0 && line["value"].is_null()));
    let page = plan(&orders).out;
    assert!(page.contains("389 requests, none with a deadline: give one by --deadline"), "{page}");
    let given = lines(&[orders.as_slice(), &["--deadline", "5s"]].concat());
    let shares = told(&given, "share", "requests_that_fit");
    assert!(shares.iter().all(|line| line["n"] == 389));
}

/// Guarantee: the order of files, the number of threads, and whether traces were analyzed before change
/// nothing.
#[test]
fn order_threads_and_folders_change_nothing() {
    let mut files: Vec<String> = fs::read_dir(SHOP)
        .unwrap()
        .map(|entry| entry.unwrap().path().to_str().unwrap().to_owned())
        .collect();
    files.sort();
    let dir = analyzed("plan-measured-folder");
    for what in ["retries", "chain"] {
        let of = |inputs: &[String], threads: &str| {
            let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
            lines(&[&[what, "--threads", threads, "--from"], inputs.as_slice()].concat())
        };
        let expected = of(&files, "1");
        let reversed: Vec<String> = files.iter().rev().cloned().collect();
        assert_eq!(of(&reversed, "2"), expected, "{what}");
        assert_eq!(lines(&[what, "--from", dir.to_str().unwrap()]), expected, "{what}");
    }
}

/// Guarantee: a scenario of what was measured is a file that people can correct: what is printed, run by
/// itself, tells the same as running it at once.
#[test]
fn a_measured_scenario_can_be_printed_and_run() {
    let cart = ["model", "--from", SHOP, "--class", "storefront POST /cart"];
    let printed = plan(&[cart.as_slice(), &["--print-scenario"]].concat());
    assert_eq!(printed.code, 0, "{}", printed.err);
    let scenario: toml::Value = toml::from_str(&printed.out).unwrap();
    // The medians and counts are those of the shop's tables.
    assert_eq!(scenario["name"].as_str(), Some("storefront POST /cart"));
    assert_eq!(scenario["requests"].as_integer(), Some(390));
    assert_eq!(scenario["threshold"].as_str(), Some("600ms"));
    let picks = scenario["regime"][0]["pick"].as_array().unwrap();
    let weights: i64 = picks.iter().map(|pick| pick["weight"].as_integer().unwrap()).sum();
    // 356 that succeeded and 14 whose time was up; 20 were cut, and 26 failed otherwise.
    assert_eq!(weights, 370);
    let last = picks.last().unwrap();
    assert_eq!(
        (last["duration"].as_str(), last["weight"].as_integer()),
        (Some("1200ms"), Some(14))
    );
    let file = scratch("plan-measured-scenario").join("scenario.toml");
    fs::write(&file, &printed.out).unwrap();
    let rows = |args: &[&str]| {
        let ran = run(&[&["plan", "model", "--format", "json"], args].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        serde_json::from_str::<Value>(&ran.out).unwrap()["rows"].clone()
    };
    let written = rows(&["--scenario", file.to_str().unwrap()]);
    let direct = rows(&["--quiet", "--from", SHOP, "--class", "storefront POST /cart"]);
    assert_eq!(written.as_array().unwrap().len(), 4);
    assert_eq!(written, direct);
}

#[test]
fn one_class_makes_a_scenario() {
    let ran = plan(&["model", "--from", SHOP]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("choose it by --class, of\n  storefront GET /items/{id}"),
        "{}",
        ran.err
    );
    let ran = plan(&["model", "--from", SHOP, "--class", "fulfilment*"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("none of its requests has a deadline"), "{}", ran.err);
}

/// Guarantee: flags that say nothing without an input, or against one, are refused.
#[test]
fn flags_that_would_say_nothing_are_refused() {
    for flags in [
        ["retries", "--contract", "fixtures/shop.contract.toml"],
        ["retries", "--class", "*"],
        ["chain", "--clock", "pooled"],
        ["model", "--since", "2026-03-02"],
    ] {
        let ran = run(&[&["plan"], flags.as_slice()].concat());
        assert_eq!(ran.code, 2, "{flags:?}");
        assert!(ran.err.contains("--from <INPUT>..."), "{}", ran.err);
    }
    for flags in
        [["--elapsed", "1ms"], ["--elapsed-sweep", "0ms..1s/10ms"], ["--amplification", "3,3"]]
    {
        let ran = plan(&[&["retries", "--from", SHOP], flags.as_slice()].concat());
        assert_eq!(ran.code, 2, "{flags:?}");
        assert!(ran.err.contains("--from"), "{}", ran.err);
    }
    let dir = analyzed("plan-measured-late");
    let dir = dir.to_str().unwrap();
    let ran = plan(&["chain", "--from", dir, "--contract", "fixtures/shop.contract.toml"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--contract counts when traces are analyzed"), "{}", ran.err);
}

#[test]
fn what_people_read() {
    for what in ["retries", "chain"] {
        for width in ["80", "120"] {
            let page = plan(&[what, "--from", SHOP, "--class", "* POST /c*", "--width", width]).out;
            let longest = page.lines().map(|line| line.chars().count()).max();
            assert!(longest <= Some(width.parse().unwrap()), "{page}");
            let page = page.lines().skip(1).collect::<Vec<_>>().join("\n");
            insta::assert_snapshot!(format!("measured-{what}-{width}"), page);
        }
    }
}

/// Guarantee: docs/planning.md tells every field, and JSON and CSV have the same.
#[test]
fn every_field_is_documented() {
    let page = fs::read_to_string("docs/planning.md").unwrap();
    for what in ["retries", "chain"] {
        let csv = plan(&[what, "--from", SHOP, "--format", "csv"]).out;
        let fields: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
        let told_of = lines(&[what, "--from", SHOP]);
        assert_eq!(csv.lines().count(), told_of.len() + 1);
        for line in &told_of {
            assert!(line.as_object().unwrap().keys().eq(&fields));
            let measure = line["measure"].as_str().unwrap();
            assert!(page.contains(&format!("`{measure}`")), "{measure} is not told");
        }
        let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| ")).collect();
        for field in fields {
            let is_told = |row: &&str| {
                let names = row.split('|').nth(1).unwrap_or_default();
                names.split(',').any(|name| name.trim() == field)
            };
            assert!(rows.iter().any(is_told), "{field} is not told");
        }
    }
}
