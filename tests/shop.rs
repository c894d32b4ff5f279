//! `fixtures/shop`: what lies there is what its generator writes, and what is found in it is what
//! was planted, no more and no less.

#[path = "../examples/shop/fleet/mod.rs"]
mod fleet;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use dwindle::clocks::Offsets;
use dwindle::contract::Contract;
use dwindle::conventions::Conventions;
use dwindle::ingest::ingest;
use dwindle::reconstruct::{Policy, reconstruct};
use dwindle::tables::Tables;
use serde_json::Value;

/// A code, and the caller, callee and operation of the hop on which it stands.
type Key = (String, Option<String>, Option<String>, String);

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

fn planted() -> Value {
    let text = fs::read_to_string(fixture("shop.planted.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// What was planted, by code and hop.
fn planted_findings(list: &str) -> BTreeMap<Key, u64> {
    let text = |row: &Value, key: &str| row[key].as_str().map(str::to_owned);
    let entry = |row: &Value| {
        let (code, operation) = (text(row, "code"), text(row, "operation"));
        let key = (code.unwrap(), text(row, "caller"), text(row, "callee"), operation.unwrap());
        (key, row["count"].as_u64().unwrap())
    };
    planted()[list].as_array().unwrap().iter().map(entry).collect()
}

/// The tables of the whole folder, by partition.
fn analyse(contracts: Vec<Contract>) -> Vec<Tables> {
    let folder = fixture("shop").to_str().unwrap().to_owned();
    let ingested = ingest(&[folder], &Conventions::embedded().unwrap(), &()).unwrap();
    let lost: Vec<_> = ingested.files.iter().filter(|file| file.spans_rejected > 0).collect();
    assert!(lost.is_empty(), "spans were rejected: {lost:?}");
    let policy = Policy { contracts, ..Policy::default() };
    ingested
        .partitions
        .iter()
        .map(|spans| reconstruct(spans.clone(), &policy, &Offsets::default()))
        .collect()
}

/// All findings of the folder, by code and hop, each with one of its traces.
fn found(all: &[Tables]) -> BTreeMap<Key, (u64, String)> {
    let mut found = BTreeMap::new();
    for tables in all {
        let mut hops = HashMap::new();
        for hop in &tables.hops {
            let halves = [Some(hop.hop_id), hop.client_span_id, hop.server_span_id];
            for span in halves.into_iter().flatten() {
                hops.insert((hop.trace_id, hop.root_span_id, span), hop);
            }
        }
        for finding in &tables.findings {
            let hop = hops[&(finding.trace_id, finding.root_span_id, finding.span_id)];
            let text = |sym| tables.strings.get(sym).to_owned();
            let (caller, callee) = (hop.caller_service.map(text), hop.callee_service.map(text));
            let key = (finding.code.name().to_owned(), caller, callee, text(hop.operation));
            let example = finding.trace_id.to_string();
            found.entry(key).or_insert((0, example)).0 += 1;
        }
    }
    found
}

/// Says every code and hop whose count differs.
fn assert_found(list: &str, contracts: Vec<Contract>) {
    let planted = planted_findings(list);
    let found = found(&analyse(contracts));
    let mut differences = Vec::new();
    for (key, (count, example)) in &found {
        let expected = planted.get(key).copied().unwrap_or(0);
        if *count != expected {
            differences.push(format!("{key:?}: {expected} planted, {count} found ({example})"));
        }
    }
    for (key, expected) in planted.iter().filter(|(key, _)| !found.contains_key(key)) {
        differences.push(format!("{key:?}: {expected} planted, none found"));
    }
    assert!(differences.is_empty(), "{list}:\n{}", differences.join("\n"));
}

/// Somebody edits the generator, or a file that it wrote.
/// What lies in `fixtures` is what `cargo run --example shop` writes.
#[test]
fn the_shop_is_what_its_generator_writes() {
    let shop = fleet::generate(fleet::SEED);
    let mut names: Vec<_> = fs::read_dir(fixture("shop"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let mut written: Vec<_> = shop.traces.iter().map(|&(name, _)| name).collect();
    written.sort_unstable();
    assert_eq!(names, written);
    for (name, lines) in &shop.traces {
        let compressed = fs::read(fixture("shop").join(name)).unwrap();
        let there = zstd::decode_all(compressed.as_slice()).unwrap();
        assert!(there == lines.as_bytes(), "{name} differs: run `cargo run --example shop`");
    }
    for (name, text) in [("shop.planted.json", &shop.planted), ("shop.README.md", &shop.readme)] {
        let there = fs::read_to_string(fixture(name)).unwrap();
        assert!(there == *text, "{name} differs: run `cargo run --example shop`");
    }
}

/// Every fault was written down when it was planted.
/// All findings, by code and hop, are those, and there are no others.
#[test]
fn what_is_found_in_the_shop_is_what_was_planted() {
    assert_found("findings", Vec::new());
}

/// The warehouse's orders get a deadline from the contract alone.
/// Its findings are added, and no other changes.
#[test]
fn the_shop_s_contract_adds_what_was_planted_for_it() {
    let name = "shop.contract.toml";
    let text = fs::read_to_string(fixture(name)).unwrap();
    assert_found("findings_with_contract", Contract::parse_file(name, &text).unwrap());
}

/// One line of each file was sent twice, and the traces lie across files.
/// Requests are counted once, each in its class, and every span is admitted.
#[test]
fn requests_of_the_shop_are_counted_once() {
    let mut requests: BTreeMap<String, u64> = BTreeMap::new();
    let mut spans = 0;
    for tables in analyse(Vec::new()) {
        for request in &tables.requests {
            spans += u64::try_from(request.spans).unwrap();
            *requests.entry(tables.strings.get(request.request_class).to_owned()).or_default() += 1;
        }
    }
    let planted = planted();
    assert_eq!(serde_json::to_value(requests).unwrap(), planted["requests"]);
    assert_eq!(spans, planted["spans"].as_u64().unwrap());
}
