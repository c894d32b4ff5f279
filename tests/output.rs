//! docs/output.md is the interface of programs: structs written from it, which refuse what it does not
//! name, take all that dwindle prints.
#![expect(clippy::struct_field_names, reason = "fields are called as the forms call them")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::support::command::{run, scratch};
use crate::support::harmless;

const INPUTS: [&str; 5] = [
    "fixtures/shop",
    "fixtures/hostile/traces.jsonl",
    "fixtures/cases/*[!d].json",
    "fixtures/matrix/*/*/*.jsonl",
    "fixtures/calibrate",
];

fn documented() -> String {
    fs::read_to_string("docs/output.md").unwrap()
}

fn printed(args: &[&str]) -> String {
    let ran = run(&[args, &["--quiet"]].concat());
    assert!([0, 1].contains(&ran.code), "{args:?}: {}", ran.err);
    ran.out
}

fn read<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text:.300}"))
}

/// Declares a struct as docs/output.md tells it.
macro_rules! told {
    ($($name:ident { $($(#[$meta:meta])* $field:ident: $type:ty,)+ })+) => {$(
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct $name { $($(#[$meta])* pub(super) $field: $type,)+ }
    )+};
}

#[expect(dead_code, reason = "that they are there, and of these types, is the test")]
mod told {
    use super::{BTreeMap, Deserialize, Value};

    told! {
        Report { schema_version: u32, version: String, sections: Vec<Section>, }
        Section { title: String, class: Option<String>, notes: Vec<String>, tables: Vec<Table>, }
        Table { id: String, rows: Vec<BTreeMap<String, Value>>, }
        Number {
            value: Option<i64>,
            unit: Unit,
            #[serde(default)] n: Option<i64>,
            #[serde(default)] lo: Option<i64>,
            #[serde(default)] hi: Option<i64>,
            #[serde(default)] quantile: Option<String>,
        }
        Histogram { from_ns: i64, width_ns: i64, counts: Vec<u64>, below: u64, above: u64, }
        Check {
            schema_version: u32,
            version: String,
            contract: String,
            spans_read: u64,
            spans_rejected: u64,
            as_of: String,
            verdict: String,
            fail_on: Vec<String>,
            checks: Vec<OneCheck>,
            findings: Vec<CheckFinding>,
            suppressions: Vec<Suppression>,
        }
        OneCheck {
            id: String,
            class: Option<String>,
            contracts: Vec<String>,
            sort: String,
            number: Option<u32>,
            name: String,
            outcome: String,
            fails: bool,
            reason: String,
            findings: Vec<String>,
            missing: Vec<String>,
            measured: Option<Measured>,
        }
        Measured {
            #[serde(default)] value_ns: Option<i64>,
            #[serde(default)] lo_ns: Option<i64>,
            #[serde(default)] hi_ns: Option<i64>,
            #[serde(default)] n: Option<u64>,
            #[serde(default)] part: Option<u64>,
            #[serde(default)] whole: Option<u64>,
            #[serde(default)] lo: Option<f64>,
            #[serde(default)] hi: Option<f64>,
            #[serde(default)] value: Option<u64>,
        }
        CheckFinding {
            id: String,
            code: String,
            class: String,
            caller: Option<String>,
            callee: Option<String>,
            operation: Option<String>,
            standing: String,
            findings: u64,
            certain: u64,
            requests: u64,
            wasted_ns: Option<i64>,
            traces: Vec<String>,
        }
        Suppression { id: String, reason: String, until: String, state: String, }
        Explanation { schema_version: u32, version: String, trace_id: String, requests: Vec<Request>, }
        Request {
            request: BTreeMap<String, Value>,
            hops: Vec<BTreeMap<String, Value>>,
            attempts: Vec<BTreeMap<String, Value>>,
            segments: Vec<BTreeMap<String, Value>>,
            findings: Vec<BTreeMap<String, Value>>,
            spans: Vec<Span>,
            answers: Vec<Answer>,
            unknown: Vec<String>,
        }
        Span {
            span_id: String,
            parent_span_id: Option<String>,
            attached: bool,
            kind: String,
            service: String,
            operation: String,
            outcome: String,
            start_ns: i64,
            end_ns: i64,
            late_from_ns: Option<i64>,
            residual_from_ns: Option<i64>,
            own: Vec<Own>,
        }
        Own { from_ns: i64, to_ns: i64, category: String, counts: bool, }
        Answer { id: String, question: String, points: Vec<String>, }
        File {
            schema_version: u32,
            path: String,
            format: Option<String>,
            compression: String,
            bytes: u64,
            spans: u64,
            spans_rejected: u64,
            other_signal_records: u64,
            spans_admitted: u64,
            traces: u64,
            roots: u64,
            orphans: u64,
            duplicate_span_ids: u64,
            no_service: u64,
            error_spans: u64,
            services: Vec<String>,
            min_start_ns: Option<i64>,
            max_end_ns: Option<i64>,
            missing: Vec<String>,
            convention_keys: Vec<Key>,
            problems: Vec<Problem>,
        }
        Files {
            schema_version: u32,
            files: u64,
            spans_admitted: u64,
            traces: u64,
            roots: u64,
            orphans: u64,
            duplicate_span_ids: u64,
            no_service: u64,
            error_spans: u64,
            services: Vec<String>,
            min_start_ns: Option<i64>,
            max_end_ns: Option<i64>,
            missing: Vec<String>,
        }
        Key { key: String, rules: String, count: u64, unparsed: u64, }
        Problem {
            code: String,
            severity: String,
            blame: String,
            count: u64,
            byte: Option<u64>,
            line: Option<u64>,
            record: Option<u64>,
            message: String,
            help: String,
        }
        Queried { schema_version: u32, columns: Vec<QueriedColumn>, rows: Vec<BTreeMap<String, Value>>, }
        QueriedColumn { name: String, #[serde(rename = "type")] kind: String, unit: Option<Unit>, }
        Diff {
            schema_version: u32,
            version: String,
            base: Side,
            head: Side,
            judged: u64,
            lines: Vec<DiffLine>,
        }
        Side { inputs: Vec<String>, spans_read: u64, spans_rejected: u64, traces: u64, }
        DiffLine {
            class: String,
            kind: String,
            measure: String,
            statistic: String,
            depth: Option<i32>,
            caller: Option<String>,
            callee: Option<String>,
            operation: Option<String>,
            finding_id: Option<String>,
            presence: String,
            unit: String,
            base: Option<f64>,
            base_lo: Option<f64>,
            base_hi: Option<f64>,
            base_n: Option<u64>,
            base_effective_n: Option<u64>,
            base_wasted_ns: Option<i64>,
            head: Option<f64>,
            head_lo: Option<f64>,
            head_hi: Option<f64>,
            head_n: Option<u64>,
            head_effective_n: Option<u64>,
            head_wasted_ns: Option<i64>,
            shift: Option<f64>,
            shift_lo: Option<f64>,
            shift_hi: Option<f64>,
            p: Option<f64>,
            corrected_p: Option<f64>,
            mark: String,
            needs_requests: Option<u64>,
        }
        Rules { schema_version: u32, rules: Vec<Rule>, }
        Rule {
            code: String,
            short: String,
            when: String,
            why: String,
            fix: String,
            certainty: String,
            fixture: String,
        }
        Schema { schema_version: u32, tables: Vec<SchemaTable>, }
        SchemaTable { name: String, doc: String, columns: Vec<Column>, }
        Column {
            name: String,
            #[serde(rename = "type")] kind: String,
            unit: Option<String>,
            null: Option<String>,
            bad_side: Option<String>,
            doc: String,
        }
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub(super) enum Unit {
        Ns,
        UnixNs,
        Count,
    }
}
use told::{
    Check, Diff, Explanation, File, Files, Histogram, Number, Queried, Report, Rules, Schema, Table,
};

/// What a table's section of the document names, and what it calls each.
fn names_of(document: &str, table: &str) -> BTreeMap<String, String> {
    let head = format!("\n### `{table}`\n");
    let (_, after) = document.split_once(&head).unwrap_or_else(|| panic!("{table} is not told"));
    let section = after.split("\n#").next().unwrap();
    let alike = [("overgrants", "findings"), ("summary_inferred", "summary")];
    if let Some((_, other)) = alike.iter().find(|(one, _)| *one == table) {
        return names_of(document, other);
    }
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    let named = rows.flat_map(|row| {
        let (names, what) = row.split_once(" | ").unwrap();
        let names = names.trim_end_matches('`').split("`, `");
        names.map(|name| (name.to_owned(), what.to_owned())).collect::<Vec<_>>()
    });
    named.collect()
}

/// Holds a row against what the document says of its table.
fn hold_row(document: &str, table: &str, row: &BTreeMap<String, Value>) {
    let told = names_of(document, table);
    for (name, value) in row {
        let what = told.get(name).unwrap_or_else(|| panic!("{table}: `{name}` is not told"));
        match value {
            Value::Object(_) if what.starts_with("histogram") => {
                read::<Histogram>(&value.to_string());
            }
            Value::Object(_) => {
                read::<Number>(&value.to_string());
            }
            Value::String(_) | Value::Null => {}
            other => panic!("{table}: {name} is {other}"),
        }
    }
    // What may be absent says so.
    let lacks = told.keys().filter(|name| !row.contains_key(*name));
    let optional = ["attempts", "grants"].contains(&table);
    let lacking: Vec<&String> =
        lacks.filter(|name| !optional && !told[*name].contains("absent")).collect();
    assert!(lacking.is_empty(), "{table}: {lacking:?} are told and not there");
}

/// Which tables a document holds.
fn hold_report(document: &str, text: &str) -> BTreeSet<String> {
    let report: Report = read(text);
    assert_eq!(report.schema_version, 1);
    let tables: Vec<&Table> = report.sections.iter().flat_map(|it| &it.tables).collect();
    for table in &tables {
        table.rows.iter().for_each(|row| hold_row(document, &table.id, row));
    }
    tables.into_iter().map(|table| table.id.clone()).collect()
}

#[test]
fn report_and_findings_print_what_is_documented_and_all_of_it() {
    let document = documented();
    let mut seen = BTreeSet::new();
    for input in INPUTS {
        for verb in ["report", "findings"] {
            seen.extend(hold_report(&document, &printed(&[verb, input, "--format", "json"])));
        }
    }
    let by_time = ["report", "fixtures/shop", "--bucket", "5m", "--since", "2026-03-02T10:05:00Z"];
    let by_time = printed(&[&by_time[..], &["--format", "json"]].concat());
    seen.extend(hold_report(&document, &by_time));
    let told: BTreeSet<String> = document
        .lines()
        .filter_map(|line| line.strip_prefix("### `")?.strip_suffix('`').map(str::to_owned))
        .collect();
    assert_eq!(seen, told, "tables that are printed, and tables that are told");
}

#[test]
fn no_two_lines_of_csv_are_about_the_same() {
    let document = documented();
    for input in INPUTS {
        for verb in ["report", "findings"] {
            let text = printed(&[verb, input, "--format", "csv"]);
            let mut reader = csv::Reader::from_reader(text.as_bytes());
            let heads = reader.headers().unwrap().clone();
            for head in &heads {
                assert!(document.contains(&format!("`{head}`")), "{head} is not told");
            }
            let mut keys = BTreeSet::new();
            for record in reader.records().map(Result::unwrap) {
                let key: Vec<String> = record.iter().take(5).map(str::to_owned).collect();
                assert!(["ns", "unix_ns", "count", ""].contains(&&record[6]), "{record:?}");
                assert_eq!(&record[11], "1");
                assert!(keys.insert(key), "{verb} {input}: twice: {record:?}");
            }
            assert!(keys.len() > 10);
        }
    }
}

#[test]
fn check_prints_what_is_documented() {
    let document = documented();
    let contract = "fixtures/shop.contract.toml";
    let hostile = "fixtures/hostile/contract.toml";
    for (input, contract) in [(INPUTS[0], contract), (INPUTS[1], hostile), (INPUTS[3], contract)] {
        let text = printed(&["check", input, "--contract", contract, "--format", "json"]);
        let check: Check = read(&text);
        assert_eq!(check.schema_version, 1);
        let words = check.checks.iter().flat_map(|it| [&it.sort, &it.outcome]);
        let missing = check.checks.iter().flat_map(|it| &it.missing);
        let standings = check.findings.iter().map(|it| &it.standing);
        let states = check.suppressions.iter().map(|it| &it.state);
        for word in words.chain(missing).chain(standings).chain(states) {
            assert!(document.contains(&format!("`{word}`")), "{word} is not told");
        }
    }
}

#[test]
fn explain_prints_what_is_documented() {
    let schema: Schema = read(&printed_plain(&["schema", "--format", "json"]));
    let columns = |table: &str| -> BTreeSet<&str> {
        let table = schema.tables.iter().find(|it| it.name == table).unwrap();
        table.columns.iter().map(|column| column.name.as_str()).collect()
    };
    let document = documented();
    let explain = |input: &str, trace: &str| {
        let text = printed(&["explain", input, "--trace", trace, "--format", "json"]);
        let explanation: Explanation = read(&text);
        assert_eq!(explanation.schema_version, 1);
        for request in &explanation.requests {
            let tables = [
                ("requests", std::slice::from_ref(&request.request)),
                ("hops", &request.hops),
                ("attempts", &request.attempts),
                ("segments", &request.segments),
                ("findings", &request.findings),
            ];
            for (table, rows) in tables {
                for row in rows {
                    let names: BTreeSet<&str> = row.keys().map(String::as_str).collect();
                    assert_eq!(names, columns(table), "{table}");
                }
            }
            let spans = request.spans.iter().flat_map(|it| [&it.kind, &it.outcome]);
            let answers = request.answers.iter().map(|it| &it.id);
            let own = request.spans.iter().flat_map(|it| &it.own).map(|it| &it.category);
            for word in spans.chain(answers).chain(own) {
                assert!(document.contains(&format!("`{word}`")), "{word} is not told");
            }
        }
    };
    explain("fixtures/shop", "0286fc26");
    explain("fixtures/hostile/traces.jsonl", &format!("{:032x}", 0x5003));
}

/// Of verbs that read nothing.
fn printed_plain(args: &[&str]) -> String {
    let ran = run(args);
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.out
}

#[test]
fn inspect_and_rules_print_what_is_documented() {
    let args = ["inspect", INPUTS[0], INPUTS[1], "--format", "ndjson"];
    let text = printed(&args);
    let lines: Vec<&str> = text.lines().collect();
    let (last, files) = lines.split_last().unwrap();
    assert_eq!(read::<Files>(last).files, files.len() as u64);
    for line in files {
        assert_eq!(read::<File>(line).schema_version, 1);
    }
    let rules: Rules = read(&printed_plain(&["rules", "--format", "json"]));
    assert_eq!(rules.schema_version, 1);
}

/// What a section of the document names.
fn named_in<'d>(document: &'d str, title: &str) -> BTreeSet<&'d str> {
    let (_, after) = document.split_once(title).unwrap_or_else(|| panic!("no {title}"));
    let section = after.split("\n## ").next().unwrap();
    section.split('`').skip(1).step_by(2).collect()
}

#[test]
fn query_prints_what_is_documented() {
    let document = documented();
    let told = named_in(&document, "## JSON and CSV of `query`");
    for query in dwindle::query::NAMED {
        let text = printed(&["query", INPUTS[1], query.name, "--format", "json"]);
        let answer: Queried = read(&text);
        assert_eq!(answer.schema_version, dwindle::tables::SCHEMA_VERSION);
        let names: Vec<&str> = answer.columns.iter().map(|column| column.name.as_str()).collect();
        for column in &answer.columns {
            assert!(told.contains(column.kind.as_str()), "{} is not told", column.kind);
        }
        for row in &answer.rows {
            let keys: BTreeSet<&str> = row.keys().map(String::as_str).collect();
            assert_eq!(keys, names.iter().copied().collect(), "{}", query.name);
        }
        let text = printed(&["query", INPUTS[1], query.name, "--format", "csv"]);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        assert_eq!(reader.headers().unwrap().iter().collect::<Vec<_>>(), names);
        assert_eq!(reader.records().map(Result::unwrap).count(), answer.rows.len());
    }
    let list = printed_plain(&["query", "--list"]);
    for (line, query) in list.lines().zip(dwindle::query::NAMED) {
        assert_eq!(line.split_once("  ").unwrap().0, query.name);
    }
}

#[test]
fn diff_prints_what_is_documented() {
    let document = documented();
    let told = named_in(&document, "## JSON and CSV of `diff`");
    for (base, head) in [(INPUTS[0], INPUTS[3]), (INPUTS[1], INPUTS[0]), (INPUTS[2], INPUTS[2])] {
        let diff: Diff = read(&printed(&["diff", base, head, "--format", "json"]));
        assert_eq!(diff.schema_version, 1);
        assert!(!diff.lines.is_empty());
        let words = diff.lines.iter().flat_map(|it| [&it.kind, &it.presence, &it.unit, &it.mark]);
        for word in words.filter(|word| !word.is_empty()) {
            assert!(told.contains(word.as_str()), "{word} is not told");
        }
        let text = printed(&["diff", base, head, "--format", "csv"]);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        for head in reader.headers().unwrap() {
            assert!(told.contains(head), "{head} is not told");
        }
        assert_eq!(reader.records().map(Result::unwrap).count(), diff.lines.len());
    }
}

/// Hundreds of classes, hops and findings with long names.
#[test]
fn markdown_fits_a_comment_whatever_the_input() {
    let name = |index: usize| format!("service-{index}-{}", "<&|`long".repeat(40));
    let lines: Vec<String> = (0..400)
        .map(|index| {
            let spans = crate::support::made_spans::granting(
                index as u64 + 1,
                "deadline.remaining_ms",
                1_000,
            );
            let renamed =
                [("gateway", 0), ("payment", 1), ("POST /checkout", 2), ("pay.Charge", 3)];
            renamed.into_iter().fold(spans, |spans, (from, more)| {
                spans.replace(
                    &format!("\"{from}\""),
                    &Value::from(name(4 * index + more)).to_string(),
                )
            })
        })
        .collect();
    let dir = scratch("output-many");
    let file = dir.join("many.jsonl");
    fs::write(&file, lines.concat()).unwrap();
    let file = file.to_str().unwrap();
    let contract = dir.join("contract.toml");
    fs::write(&contract, "[[contract]]\nname = \"all\"\ndeadline = \"1s\"\n").unwrap();
    let contract = contract.to_str().unwrap();
    let left_out = "The same command with `--format terminal` shows all.";
    let report = printed(&["report", file, "--format", "markdown"]);
    harmless::markdown(&report);
    assert!(report.contains("## What this rests on"), "what is about all comes first");
    let findings = printed(&["findings", file, "--format", "markdown", "--top", "1000"]);
    harmless::markdown(&findings);
    let check = printed(&["check", file, "--contract", contract, "--format", "markdown"]);
    harmless::markdown(&check);
    for text in [&report, &findings] {
        assert!(text.len() > 55_000 && text.contains(left_out), "{}", text.len());
    }
}
