//! No output tells what an attribute, an event, a message or a header held, but for the few that it
//! is made of (ARCHITECTURE.md).

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use dwindle::conventions::Conventions;
use serde_json::{Map, Value, json};

use crate::support::command::{run, scratch};

/// Planted wherever nothing may be told.
const SECRET: &str = "s3cret";

/// What may be told: names of services, operations, routes and the other end.
const TOLD: [&str; 12] = [
    "service.name",
    "http.route",
    "http.request.method",
    "http.method",
    "peer.service",
    "service.peer.name",
    "server.address",
    "net.peer.name",
    "rpc.service",
    "db.system",
    "db.system.name",
    "messaging.system",
];

/// All keys that the conventions name, as far as they are written out there, and others that
/// exporters write.
fn keys() -> BTreeSet<String> {
    let text = include_str!("../../src/conventions/conventions.toml");
    let quoted = text.split('"').skip(1).step_by(2);
    let is_key = |text: &&str| text.contains(['.', '_', '-']) && !text.contains(['{', ' ', '*']);
    let others = [
        "db.query.text",
        "db.statement",
        "url.full",
        "url.query",
        "http.url",
        "enduser.id",
        "user.email",
        "process.command_line",
        "http.request.header.authorization",
        "http.request.header.cookie",
        "http.request.header.x-api-key",
        "http.response.header.set-cookie",
        "rpc.grpc.request.metadata.authorization",
        "messaging.destination.name",
        "exception.stacktrace",
        "code.filepath",
    ];
    let mut keys: BTreeSet<String> = quoted.filter(is_key).map(str::to_owned).collect();
    keys.extend(others.map(str::to_owned));
    keys.retain(|key| !TOLD.contains(&key.as_str()));
    keys
}

fn attribute(key: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": format!("{SECRET} of {key}") } })
}

/// Adds secrets to a list of attributes, but for keys that it has.
fn plant(list: &mut Value, keys: &BTreeSet<String>) {
    let list = list.as_array_mut().unwrap();
    let has: BTreeSet<String> =
        list.iter().map(|one| one["key"].as_str().unwrap().to_owned()).collect();
    list.extend(keys.iter().filter(|&key| !has.contains(key)).map(|key| attribute(key)));
}

/// The worked case with secrets in every span.
fn planted(dir: &Path) -> String {
    let text = fs::read_to_string("fixtures/cases/retry-two-layers.json").unwrap();
    let keys = keys();
    let lines = text.lines().map(|line| {
        let mut document: Value = serde_json::from_str(line).unwrap();
        for resource in document["resourceSpans"].as_array_mut().unwrap() {
            plant(&mut resource["resource"]["attributes"], &keys);
            resource["schemaUrl"] = json!(SECRET);
            for scope in resource["scopeSpans"].as_array_mut().unwrap() {
                scope["scope"] = json!({ "name": SECRET, "version": SECRET });
                for span in scope["spans"].as_array_mut().unwrap() {
                    plant_span(span.as_object_mut().unwrap(), &keys);
                }
            }
        }
        document.to_string()
    });
    let path = dir.join("planted.jsonl");
    fs::write(&path, lines.collect::<Vec<_>>().join("\n")).unwrap();
    path.to_str().unwrap().to_owned()
}

fn plant_span(span: &mut Map<String, Value>, keys: &BTreeSet<String>) {
    plant(span.entry("attributes").or_insert_with(|| json!([])), keys);
    span.insert("traceState".into(), json!(format!("vendor={SECRET}")));
    let code = span.get("status").map_or(json!(2), |status| status["code"].clone());
    span.insert("status".into(), json!({ "code": code, "message": SECRET }));
    let time = span["startTimeUnixNano"].clone();
    let attributes: Vec<Value> = keys.iter().map(|key| attribute(key)).collect();
    let event =
        |name: &str| json!({ "name": name, "timeUnixNano": time, "attributes": attributes });
    span.insert("events".into(), json!([event("exception"), event(SECRET)]));
    let link = json!({
        "traceId": span["traceId"], "spanId": span["spanId"],
        "attributes": [attribute("link")], "traceState": SECRET,
    });
    span.insert("links".into(), json!([link]));
}

#[test]
fn no_verb_tells_what_is_planted_in_other_attributes_events_messages_and_headers() {
    assert!(Conventions::embedded().is_ok() && keys().len() > 60, "{}", keys().len());
    let dir = scratch("secrets");
    let input = planted(&dir);
    let tables = dir.join("tables");
    let tables = tables.to_str().unwrap();
    let trace = "5acdfceb03695ca62155a1a784eb6032";
    let contract = "fixtures/matrix/06-retry-at-two-adjacent-layers/contract.toml";
    let mut told = Vec::new();
    let mut runs: Vec<Vec<&str>> = vec![
        vec!["inspect", &input],
        vec!["inspect", &input, "--format", "ndjson"],
        vec!["extract", &input, "--trace", trace, "--anonymise"],
        vec!["rules"],
        vec!["schema"],
    ];
    for format in ["terminal", "markdown", "csv", "json"] {
        runs.push(vec!["report", &input, "--deadline", "1s", "--format", format]);
        runs.push(vec!["findings", &input, "--deadline", "1s", "--format", format]);
    }
    for format in ["terminal", "markdown", "json"] {
        runs.push(vec!["explain", &input, "--trace", trace, "--format", format]);
    }
    for format in ["terminal", "markdown", "json", "junit", "sarif", "github"] {
        runs.push(vec!["check", &input, "--contract", contract, "--format", format]);
    }
    for format in ["ndjson", "csv"] {
        runs.push(vec!["analyze", &input, "--heuristics", "--out", tables, "--format", format]);
    }
    for args in runs {
        let ran = run(&args);
        assert!(ran.code <= 1, "{args:?}: {ran:?}");
        told.push((args.join(" "), ran.out + &ran.err));
        if args[0] == "analyze" {
            for entry in fs::read_dir(tables).unwrap() {
                let path = entry.unwrap().path();
                told.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
            }
        }
    }
    for (what, text) in told {
        let place = text.find(SECRET);
        let around = place.and_then(|at| text.get(at.saturating_sub(80)..at + 40));
        assert!(place.is_none(), "{what}: {around:?}");
    }
}
