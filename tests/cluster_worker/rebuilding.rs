//! Sorted spans to tables, by tasks of which each has a part, against `analyze` on one machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Int64Array, ListArray, RecordBatch, StringArray, StructArray,
};
use arrow_schema::{DataType, Field, Schema};
use arrow_select::concat::concat_batches;
use arrow_select::filter::filter;
use dwindle::cluster::Surveyed;
use serde_json::json;

use super::reading::table;
use super::{Fleet, step, text, told};
use crate::support::arrow_stream::{in_order, no_rows, read, read_all, texts, written};
use crate::support::command::{run, scratch};

const TABLES: [&str; 8] = [
    "requests",
    "hops",
    "attempts",
    "segments",
    "findings",
    "distributions",
    "problems",
    "exemplars",
];

/// The rows of a column of structs, and beside them those of another column.
fn rows_of(wide: &RecordBatch, name: &str, beside: &[&str]) -> RecordBatch {
    let column = wide.column_by_name(name).unwrap();
    let present: BooleanArray = (0..column.len()).map(|row| Some(column.is_valid(row))).collect();
    let structs = filter(column, &present).unwrap();
    let structs: &StructArray = structs.as_struct();
    let mut fields: Vec<_> = structs.fields().iter().cloned().collect();
    let mut columns = structs.columns().to_vec();
    for name in beside {
        let column = filter(wide.column_by_name(name).unwrap(), &present).unwrap();
        fields.push(Arc::new(Field::new(*name, column.data_type().clone(), true)));
        columns.push(column);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

/// The same rows, sorted as an engine sorts, whose sort is not stable.
fn sorted<K: Ord>(rows: &RecordBatch, key: impl Fn(usize) -> K) -> RecordBatch {
    let mut places: Vec<usize> = (0..rows.num_rows()).rev().collect();
    places.sort_by_key(|&place| key(place));
    in_order(rows, places)
}

fn numbers(rows: &RecordBatch, name: &str) -> Vec<i64> {
    rows.column_by_name(name).unwrap().as_primitive::<Int64Type>().values().to_vec()
}

/// By the right half of the trace's id, then all of it.
fn by_trace(ids: &[String], place: usize) -> (&str, &str) {
    (ids[place].get(16..).unwrap_or_default(), &ids[place])
}

fn one(batches: &[RecordBatch]) -> RecordBatch {
    concat_batches(&batches[0].schema(), batches).unwrap()
}

/// What all tasks together make of a fleet, as the job puts it together.
struct Tables {
    wide: RecordBatch,
    buried: RecordBatch,
    distributions: RecordBatch,
    exemplars: RecordBatch,
    survey: String,
}

impl Tables {
    fn of(fleet: &Fleet, flags: &[&str], sketch: &[&str]) -> Self {
        let wide = read_all(&fleet.each(&[&["reconstruct"], flags, sketch].concat()));
        let buried = Self::buried(&wide, sketch);
        let values = one(&[rows_of(&wide, "values", &[]), rows_of(&buried, "values", &[])]);
        let distributions = Self::distributions(&values, &fleet.survey);
        let exemplars = Self::exemplars(&wide);
        Self { wide, buried, distributions, exemplars, survey: fleet.survey.clone() }
    }

    /// Two tasks, each of whole queues.
    fn buried(wide: &RecordBatch, sketch: &[&str]) -> RecordBatch {
        let stays = rows_of(wide, "stays", &[]);
        let (services, clocks) = (texts(&stays, "service"), texts(&stays, "clock_domain"));
        let stays = sorted(&stays, |place| (&services[place], &clocks[place]));
        let services = texts(&stays, "service");
        let task = |number: usize| {
            let own = (0..services.len()).filter(|&place| services[place].len() % 2 == number);
            told(&[&["graveyard"], sketch].concat(), &written(&in_order(&stays, own), 3))
        };
        one(&[read(&task(0)), read(&task(1))])
    }

    /// Three tasks, each of whole classes, whose rows come in any order.
    fn distributions(values: &RecordBatch, survey: &str) -> RecordBatch {
        let classes = texts(values, "request_class");
        let task = |number: usize| {
            let own = (0..classes.len()).rev().filter(|&place| classes[place].len() % 3 == number);
            read(&told(&["distributions", "--survey", survey], &written(&in_order(values, own), 5)))
        };
        let rows = one(&[task(0), task(1), task(2)]);
        let (classes, at) = (texts(&rows, "request_class"), numbers(&rows, "at"));
        sorted(&rows, |place| (&classes[place], at[place]))
    }

    /// One task, to which rows come by trace, those of one in any order.
    fn exemplars(wide: &RecordBatch) -> RecordBatch {
        let (candidates, exemplars) = (column(wide, "candidates"), column(wide, "exemplars"));
        let ids: Vec<String> = {
            let exemplars = exemplars.as_struct().column_by_name("trace_id").unwrap();
            exemplars
                .as_string::<i32>()
                .iter()
                .map(|id| id.unwrap_or_default().to_owned())
                .collect()
        };
        let rows = RecordBatch::try_from_iter_with_nullable([
            ("candidates", Arc::clone(candidates), true),
            ("exemplars", Arc::clone(exemplars), true),
        ]);
        let present = (0..ids.len()).filter(|&place| exemplars.is_valid(place));
        let rows = in_order(&rows.unwrap(), present.clone());
        let ids: Vec<String> = present.map(|place| ids[place].clone()).collect();
        let rows = sorted(&rows, |place| by_trace(&ids, place));
        let chosen = read(&told(&["exemplars"], &written(&rows, 4)));
        let at = numbers(&chosen, "at");
        sorted(&chosen, |place| at[place])
    }

    fn findings(&self) -> RecordBatch {
        let at_once = rows_of(&self.wide, "findings", &["findings_at"]);
        let late: ArrayRef = Arc::new(StringArray::new_null(at_once.num_rows()));
        let mut fields: Vec<_> = at_once.schema().fields().iter().cloned().collect();
        fields.push(Arc::new(Field::new("late", late.data_type().clone(), true)));
        let columns = at_once.columns().iter().cloned().chain([late]).collect();
        let at_once = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap();
        let rows = one(&[at_once, rows_of(&self.buried, "findings", &["findings_at", "late"])]);
        let (ids, at, late) =
            (texts(&rows, "trace_id"), numbers(&rows, "findings_at"), texts(&rows, "late"));
        sorted(&rows, |place| (by_trace(&ids, place), at[place], &late[place]))
    }

    fn table(&self, name: &str) -> RecordBatch {
        match name {
            "findings" => self.findings(),
            "distributions" => self.distributions.clone(),
            "exemplars" => self.exemplars.clone(),
            "problems" => read(&told(&["problems", "--survey", &self.survey], b"")),
            name => rows_of(&self.wide, name, &[]),
        }
    }

    fn manifest(&self, flags: &[&str], inputs: &[&str]) -> String {
        let mut args = [&["manifest", "--survey", &self.survey], flags].concat();
        args.extend(inputs.iter().flat_map(|input| ["--input", input]));
        let ran = step(&args, &written(&parts(&self.wide), 2));
        assert_eq!(ran.code, 0, "{}", ran.err);
        String::from_utf8(ran.out).unwrap()
    }
}

fn column<'r>(rows: &'r RecordBatch, name: &str) -> &'r ArrayRef {
    rows.column_by_name(name).unwrap()
}

fn parts(wide: &RecordBatch) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable([("part", Arc::clone(column(wide, "part")), true)])
        .unwrap()
}

fn analyzed(name: &str, inputs: &[&str], flags: &[&str]) -> PathBuf {
    let folder = scratch(&format!("rebuilding_analyzed_{name}"));
    let ran = run(&[&["analyze", "--quiet", "--out", &text(&folder)], inputs, flags].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    folder
}

/// A fleet whose flags count when files are read, spans surveyed, and traces rebuilt.
fn fleet(name: &str, inputs: &[&str], flags: Flags<'_>, partitions: usize) -> Fleet {
    let fleet =
        Fleet::read(&format!("rebuilding_{name}_{partitions}"), inputs, flags.ingest, partitions);
    if !flags.survey.is_empty() {
        let args = [&["survey"], flags.survey].concat();
        let surveyed: Vec<Vec<u8>> =
            fleet.partitions.iter().map(|spans| told(&args, spans)).collect();
        let parts = written(&read_all(&surveyed), 1);
        let files = Surveyed::read(Path::new(&fleet.survey)).unwrap().ingested.files.len();
        let settled = told(&["settle", "--files", &files.to_string()], &parts);
        fs::write(&fleet.survey, settled).unwrap();
    }
    fleet
}

#[derive(Clone, Copy, Default)]
struct Flags<'a> {
    ingest: &'a [&'a str],
    survey: &'a [&'a str],
    rebuild: &'a [&'a str],
}

/// What a column holds, whatever the items of its lists are called.
fn cells(column: &ArrayRef) -> ArrayRef {
    let DataType::List(_) = column.data_type() else { return Arc::clone(column) };
    let items = Arc::new(Field::new_list_field(DataType::Utf8, true));
    let lists = column.as_list::<i32>();
    let (offsets, values) = (lists.offsets().clone(), Arc::clone(lists.values()));
    Arc::new(ListArray::new(items, offsets, values, lists.nulls().cloned()))
}

/// That tables and manifest of many tasks are those of one machine.
fn assert_equal(name: &str, inputs: &[&str], flags: Flags<'_>, partitions: &[usize]) -> PathBuf {
    let folder = analyzed(name, inputs, &[flags.rebuild, flags.survey].concat());
    for &partitions in partitions {
        let fleet = fleet(name, inputs, flags, partitions);
        let tables = Tables::of(&fleet, flags.rebuild, &[]);
        for table_name in TABLES {
            let expected = table(&folder, table_name);
            let found = tables.table(table_name);
            assert_eq!(found.num_rows(), expected.num_rows(), "{name} {partitions} {table_name}");
            for (field, expected) in expected.schema().fields().iter().zip(expected.columns()) {
                let told = format!("{name} {partitions} {table_name} {}", field.name());
                let found = cells(column(&found, field.name())).to_data();
                assert!(found == cells(expected).to_data(), "{told}");
            }
        }
        let manifest = fs::read_to_string(folder.join("manifest.json")).unwrap();
        assert_eq!(tables.manifest(flags.rebuild, inputs), manifest, "{name} {partitions}");
    }
    folder
}

#[test]
fn tables_of_many_tasks_are_those_of_one_machine() {
    let contract = ["--contract", "fixtures/shop.contract.toml"];
    let flags = Flags { rebuild: &contract, ..Flags::default() };
    assert_equal("shop", &["fixtures/shop"], flags, &[1, 3, 8]);
}

#[test]
fn cases_and_what_is_odd_are_told_alike() {
    let files = fs::read_dir("fixtures/cases").unwrap().map(|file| text(&file.unwrap().path()));
    let is_case =
        |path: &String| path.strip_suffix(".json").is_some_and(|stem| !stem.ends_with(".expected"));
    let cases: Vec<String> = files.filter(is_case).collect();
    let cases: Vec<&str> = cases.iter().map(String::as_str).collect();
    assert_equal("cases", &cases, Flags::default(), &[1, 7]);
    assert_equal("odd", &["fixtures/quirks", "fixtures/zipkin"], Flags::default(), &[3]);
}

#[test]
fn flags_count_where_they_are_given() {
    let by = ["--by", "service.version"];
    let flags = Flags { ingest: &by, rebuild: &by, ..Flags::default() };
    assert_equal("by", &["fixtures/shop"], flags, &[3]);
    let scope = ["--scope", "service=payments", "--deadline", "1s", "--tolerance", "2ms"];
    let flags = Flags { rebuild: &scope, ..Flags::default() };
    assert_equal("scope", &["fixtures/shop"], flags, &[3]);
    let flags = Flags { survey: &["--clock", "per-trace"], ..Flags::default() };
    assert_equal("clock", &["fixtures/shop"], flags, &[3]);
}

/// Requests of one server, of which some work beyond their deadline while others wait.
fn buried_spans(requests: u64) -> String {
    let start = 1_700_000_000_000_000_000_u64;
    let spans = (0..requests).flat_map(|i| {
        let trace = format!("{:032x}", u128::from(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1));
        let begin = start + i * 10_000_000;
        let server = format!("s{}", i % 3);
        let span = |id: u64, parent: Option<u64>, service: &str, kind: &str, from: u64, to: u64| {
            json!({
                "trace_id": trace, "span_id": format!("{id:016x}"),
                "parent_span_id": parent.map(|id| format!("{id:016x}")),
                "service": service, "name": "work", "kind": kind,
                "start_unix_ns": begin + from, "end_unix_ns": begin + to,
                "attributes": {"deadline.budget_ms": 100},
                "resource": {"host.name": "one"},
            })
            .to_string()
        };
        let queued = 60_000_000 + i % 5 * 20_000_000;
        [
            span(1, None, "front", "server", 0, 400_000_000),
            span(2, Some(1), "front", "client", 1_000_000, 390_000_000),
            span(3, Some(2), &server, "server", 2_000_000, 380_000_000),
            json!({
                "trace_id": trace, "span_id": format!("{:016x}", 4), "parent_span_id": format!("{:016x}", 3),
                "service": server, "name": "queue", "kind": "internal",
                "start_unix_ns": begin + 2_000_000, "end_unix_ns": begin + 2_000_000 + queued,
                "attributes": {"deadline.queue": true},
                "resource": {"host.name": "one"},
            })
            .to_string(),
        ]
    });
    spans.collect::<Vec<_>>().join("\n")
}

#[test]
fn findings_over_several_traces_stand_behind_those_of_their_request() {
    let file = scratch("rebuilding_buried").join("spans.jsonl");
    fs::write(&file, buried_spans(60)).unwrap();
    let flags = Flags { rebuild: &["--deadline", "100ms"], ..Flags::default() };
    let folder = assert_equal("buried", &[&text(&file)], flags, &[1, 5]);
    let codes = texts(&table(&folder, "findings"), "code");
    assert!(codes.iter().filter(|code| *code == "graveyard-first").count() > 10, "{codes:?}");
}

/// Requests of so many classes, each of its own operation.
fn many_classes(classes: u64) -> String {
    let spans = (0..classes * 2).map(|i| {
        let trace = u128::from(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let start = 1_700_000_000_000_000_000_u64 + i;
        json!({
            "trace_id": format!("{trace:032x}"), "span_id": format!("{:016x}", i + 1),
            "service": "shop", "name": format!("GET /{}", i % classes), "kind": "server",
            "start_unix_ns": start, "end_unix_ns": start + 1_000 * (i % 97 + 1),
        })
        .to_string()
    });
    spans.collect::<Vec<_>>().join("\n")
}

#[test]
fn of_many_classes_the_same_are_shown() {
    let file = scratch("rebuilding_classes").join("spans.jsonl");
    fs::write(&file, many_classes(1_500)).unwrap();
    assert_equal("classes", &[&text(&file)], Flags::default(), &[1, 4]);
}

#[test]
fn rounded_values_are_off_by_no_more_than_is_said() {
    let flags = Flags::default();
    let fleet = fleet("sketch", &["fixtures/shop"], flags, 3);
    let [exact, rounded] =
        [&[][..], &["--sketch"]].map(|sketch| Tables::of(&fleet, &[], sketch).distributions);
    assert_eq!(exact.num_rows(), rounded.num_rows());
    let mut worst: i64 = 0;
    for field in exact.schema().fields() {
        let columns = [&exact, &rounded].map(|rows| column(rows, field.name()));
        let is_rounded = field.name().starts_with('p') && field.name().ends_with("_ns");
        if !is_rounded {
            assert_eq!(columns[0].to_data(), columns[1].to_data(), "{}", field.name());
            continue;
        }
        let [exact, rounded] = columns.map(AsArray::as_primitive::<Int64Type>);
        for (exact, rounded) in exact.iter().zip(rounded) {
            assert_eq!(exact.is_some(), rounded.is_some());
            let (exact, rounded) = (exact.unwrap_or(0), rounded.unwrap_or(0));
            let off = (exact - rounded).abs();
            assert!(off * 128 <= exact.abs(), "{}: {exact} told as {rounded}", field.name());
            worst = worst.max(off * 10_000 / exact.abs().max(1));
        }
    }
    // It is rounded at all.
    assert!(worst > 50, "{worst}");
    let [exact, rounded] = [&[][..], &["--sketch"]].map(|sketch| {
        let wide = read_all(&fleet.each(&[&["reconstruct"], sketch].concat()));
        let samples = rows_of(&wide, "values", &[]);
        column(&samples, "samples").as_binary::<i32>().value_data().len()
    });
    assert!(rounded < exact, "{rounded} {exact}");
}

#[test]
fn a_task_without_rows_tells_nothing_and_one_of_other_columns_is_refused() {
    let fleet = fleet("nothing", &["fixtures/shop/money.jsonl.zst"], Flags::default(), 1);
    let survey = ["--survey", &fleet.survey];
    let spans = read(&fleet.partitions[0]);
    let wide = read(&told(&[&["reconstruct"], &survey[..]].concat(), &no_rows(&spans)));
    assert_eq!(wide.num_rows(), 1);
    assert!(column(&wide, "part").is_valid(0));
    let number: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let other = written(&RecordBatch::try_from_iter([("other", number)]).unwrap(), 1);
    for args in [
        &[&["reconstruct"], &survey[..]].concat()[..],
        &["graveyard"],
        &[&["distributions"], &survey[..]].concat(),
        &["exemplars"],
        &[&["manifest"], &survey[..], &["--input", "x"]].concat(),
    ] {
        let refused = step(args, &other);
        assert_eq!(refused.code, 2, "{args:?}");
        assert!(refused.err.starts_with("dwindle: error: what comes in "), "{}", refused.err);
        assert_eq!(refused.err.lines().count(), 1, "{}", refused.err);
    }
    assert!(Path::new(&fleet.survey).exists());
}
