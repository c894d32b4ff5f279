//! Files to spans, and spans to what all of them know together.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use arrow_array::builder::{Int64Builder, ListBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Int64Type, TimestampNanosecondType, UInt64Type};
use arrow_array::{Array, ArrayRef, BinaryArray, RecordBatch};
use arrow_schema::DataType;
use dwindle::cluster::Surveyed;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

use super::{Fleet, step, text, told};
use crate::ingest::parquet::write_json_rows;
use crate::support::arrow_stream::{self, in_order, no_rows, texts, written};
use crate::support::command::{dwindle, finished, run, scratch};

const SHOP: &str = "fixtures/shop";
const DECLARES_NOTHING: &str = "fixtures/calibrate";

/// The spans of one file.
fn ingested(path: &str) -> RecordBatch {
    arrow_stream::read(&told(&["ingest", "--name", path, path], b""))
}

/// Rows without what a file told besides.
fn spans_of(rows: &RecordBatch) -> RecordBatch {
    let spans: Vec<usize> = (0..rows.num_columns() - 1).collect();
    let is_span = |id: &String| id.chars().any(|digit| digit != '0');
    let places = texts(rows, "trace_id");
    let places = places.iter().enumerate().filter(|(_, id)| is_span(id)).map(|(place, _)| place);
    in_order(&rows.project(&spans).unwrap(), places)
}

/// The only file of an analyze folder that holds a table.
pub fn table(folder: &Path, name: &str) -> RecordBatch {
    let file = File::open(folder.join(format!("{name}.parquet"))).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let schema = Arc::clone(reader.schema());
    let batches: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
    arrow_select::concat::concat_batches(&schema, &batches).unwrap()
}

fn analyzed(name: &str, inputs: &[&str]) -> std::path::PathBuf {
    let folder = scratch(&format!("cluster_worker_analyzed_{name}"));
    let ran = run(&[&["analyze", "--quiet", "--out", &text(&folder)], inputs].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    folder
}

#[test]
fn files_are_listed_by_the_names_that_analyze_gives_them() {
    let listed = String::from_utf8(told(&["list", SHOP, "fixtures/otlp/*.jsonl"], b"")).unwrap();
    let files: Vec<Value> =
        listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = files.iter().map(|file| file["name"].as_str().unwrap()).collect();
    assert!(names.is_sorted(), "{names:?}");
    assert!(names.contains(&"fixtures/shop/core.jsonl.zst"), "{names:?}");
    for file in &files {
        let path = Path::new(file["path"].as_str().unwrap());
        assert!(path.is_absolute());
        assert_eq!(file["bytes"], path.metadata().unwrap().len());
    }
    let refused = step(&["list", SHOP, "-"], b"");
    assert_eq!(refused.code, 2);
    assert!(refused.err.starts_with("dwindle: error: -: standard input is here alone"));
}

#[test]
fn what_steps_give_is_told_in_the_words_of_spark() {
    let schema: Value = serde_json::from_slice(&told(&["schema"], b"")).unwrap();
    let spans = ingested("fixtures/shop/money.jsonl.zst");
    let ddl = schema["steps"]["ingest"].as_str().unwrap();
    let names: Vec<&str> =
        ddl.split(", ").map(|column| column.split_once(' ').unwrap().0).collect();
    let given = spans.schema();
    assert_eq!(names, given.fields().iter().map(|field| field.name()).collect::<Vec<_>>());
    assert!(ddl.starts_with("trace_id string, ") && ddl.ends_with(", part binary"), "{ddl}");
    let columns = schema["tables"]["hops"].as_array().unwrap();
    assert_eq!(columns[0], serde_json::json!(["trace_id", "string", false]));
    let all: Value = serde_json::from_str(&run(&["schema", "--format", "json"]).out).unwrap();
    for table in all["tables"].as_array().unwrap() {
        let told = schema["tables"][table["name"].as_str().unwrap()].as_array().unwrap();
        assert_eq!(told.len(), table["columns"].as_array().unwrap().len(), "{}", table["name"]);
    }
}

#[test]
fn a_file_is_read_alike_from_its_path_and_from_a_stream() {
    let path = "fixtures/shop/core.jsonl.zst";
    let streamed = told(&["ingest", "--name", path], &fs::read(path).unwrap());
    assert_eq!(arrow_stream::read(&streamed), ingested(path));
}

#[test]
fn a_contract_is_calibrated_as_on_one_machine() {
    for (name, inputs, partitions) in [
        ("shop", &[SHOP][..], 5),
        ("nothing", &[DECLARES_NOTHING], 64),
        ("one", &[DECLARES_NOTHING], 1),
    ] {
        let fleet = Fleet::read(&format!("calibrate_{name}"), inputs, &[], partitions);
        let mut parts = fleet.each(&["observe"]);
        parts.reverse();
        let parts = written(&arrow_stream::read_all(&parts), 2);
        for flags in [&[][..], &["--quantile", "p99", "--reserve-quantile", "p50"]] {
            let ran = step(&[&["calibrate", "--survey", &fleet.survey], flags].concat(), &parts);
            let alone = run(&[&["calibrate"], inputs, flags].concat());
            let contract = String::from_utf8(ran.out).unwrap();
            assert_eq!(
                (ran.code, contract, ran.err),
                (0, alone.out, alone.err),
                "{name} {flags:?}"
            );
        }
    }
}

#[test]
fn files_and_what_is_wrong_with_them_are_told_as_on_one_machine() {
    for (name, input) in [("shop", SHOP), ("quirks", "fixtures/quirks"), ("otlp", "fixtures/otlp")]
    {
        let fleet = Fleet::read(&format!("told_{name}"), &[input], &[], 3);
        let folder = analyzed(name, &[input]);
        let problems = arrow_stream::read(&told(&["problems", "--survey", &fleet.survey], b""));
        let expected = table(&folder, "problems");
        assert_eq!(problems.columns(), expected.columns(), "{name}");

        let manifest: Value =
            serde_json::from_slice(&fs::read(folder.join("manifest.json")).unwrap()).unwrap();
        let Surveyed { facts, ingested, .. } = Surveyed::read(Path::new(&fleet.survey)).unwrap();
        let of_file = |file: &dwindle::ingest::FileFacts| {
            serde_json::json!({
                "path": file.path,
                "format": file.format,
                "bytes": file.bytes,
                "spans_read": file.spans_read,
                "spans_admitted": file.spans_admitted,
                "spans_rejected": file.spans_rejected,
            })
        };
        let files: Vec<Value> = ingested.files.iter().map(of_file).collect();
        assert_eq!(Value::from(files), manifest["files"], "{name}");
        assert_eq!(facts.traces, manifest["traces"].as_u64().unwrap(), "{name}");
        let (start, end) = facts.window.unwrap();
        assert_eq!(
            serde_json::json!({"start_unix_ns": start.as_nanos(), "end_unix_ns": end.as_nanos()}),
            manifest["observation_window"]
        );
        let coverage = &manifest["coverage"];
        let counts = [facts.clients, facts.wordless_clients, facts.span_links];
        let expected = ["clients", "wordless_clients", "span_links"];
        assert_eq!(counts, expected.map(|count| coverage[count].as_u64().unwrap()), "{name}");
    }
}

#[test]
fn who_chose_traces_is_told_by_files() {
    let file = scratch("cluster_worker_chosen").join("spans.jsonl");
    let span = |id: u32, key: &str| {
        serde_json::json!({
            "trace_id": format!("{id:032x}"), "span_id": format!("{id:016x}"),
            "name": "GET /", "service": "shop", "kind": "server",
            "start_unix_ns": 1_700_000_000_000_000_000_u64 + u64::from(id),
            "end_unix_ns": 1_700_000_000_100_000_000_u64,
            "attributes": {key: "x"},
        })
        .to_string()
    };
    let key = "tailsampling.policy";
    let lines: Vec<String> =
        (1..=40).map(|id| span(id, if id % 4 == 0 { key } else { "a" })).collect();
    fs::write(&file, lines.join("\n")).unwrap();
    let fleet = Fleet::read("chosen", &[&text(&file)], &[], 4);
    let folder = analyzed("chosen", &[&text(&file)]);
    let manifest: Value =
        serde_json::from_slice(&fs::read(folder.join("manifest.json")).unwrap()).unwrap();
    let chosen: BTreeMap<String, u64> =
        serde_json::from_value(manifest["sampling"]["chosen_by"].clone()).unwrap();
    assert!(!chosen.is_empty(), "{manifest}");
    assert_eq!(Surveyed::read(Path::new(&fleet.survey)).unwrap().facts.chosen_by, chosen);
}

/// Rows of ClickHouse as Spark hands them over: it knows no unsigned numbers, no nanoseconds but as
/// numbers, and text that is not declared as such is bytes.
fn as_spark_has(rows: &RecordBatch) -> RecordBatch {
    let changed = |name: &str, column: &ArrayRef| -> ArrayRef {
        match column.data_type() {
            DataType::Timestamp(..) => {
                let times = column.as_primitive::<TimestampNanosecondType>();
                Arc::new(times.reinterpret_cast::<Int64Type>())
            }
            DataType::UInt64 => {
                let numbers = column.as_primitive::<UInt64Type>();
                let numbers = numbers.unary::<_, Decimal128Type>(i128::from);
                Arc::new(numbers.with_precision_and_scale(20, 0).unwrap())
            }
            DataType::List(element) if matches!(element.data_type(), DataType::Timestamp(..)) => {
                let mut lists = ListBuilder::new(Int64Builder::new());
                for list in column.as_list::<i32>().iter() {
                    let list = list.unwrap();
                    let times = list.as_primitive::<TimestampNanosecondType>();
                    lists.values().append_slice(times.values());
                    lists.append(true);
                }
                Arc::new(lists.finish())
            }
            DataType::Utf8 if name == "TraceId" => {
                let texts = column.as_string::<i32>().iter();
                Arc::new(texts.map(|text| text.map(str::as_bytes)).collect::<BinaryArray>())
            }
            _ => Arc::clone(column),
        }
    };
    let schema = rows.schema();
    let columns = schema.fields().iter().zip(rows.columns());
    let columns = columns.map(|(field, column)| (field.name(), changed(field.name(), column)));
    RecordBatch::try_from_iter(columns).unwrap()
}

#[test]
fn rows_of_clickhouse_are_read_as_an_engine_has_them() {
    let folder = scratch("cluster_worker_rows");
    let path = text(&folder.join("rich.parquet"));
    let lines = fs::read_to_string("fixtures/rich/clickhouse.jsonl").unwrap();
    let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    write_json_rows(&path, &rows);
    let rows = as_spark_has(&table(&folder, "rich"));
    let ingest =
        |rows: &RecordBatch| told(&["ingest", "--name", "lake", "--rows"], &written(rows, 2));
    let spans = ingested(&path);
    assert_eq!(spans_of(&arrow_stream::read(&ingest(&rows))), spans_of(&spans));

    // Each task has some of the rows, and all tell of one data set.
    let half = rows.num_rows() / 2;
    let parts = [rows.slice(0, half), rows.slice(half, rows.num_rows() - half)];
    let fleet = Fleet::of_spans("rows", &parts.map(|part| ingest(&part)), 1, 2);
    let surveyed = Surveyed::read(Path::new(&fleet.survey)).unwrap();
    let [file] = surveyed.ingested.files.as_slice() else { panic!("{:?}", surveyed.ingested) };
    let read = (file.path.as_str(), file.format.as_deref(), file.spans_read, file.spans_admitted);
    let count = rows.num_rows() as u64;
    assert_eq!(read, ("lake", Some("ClickHouse otel_traces Parquet"), count, count));

    let other = RecordBatch::try_from_iter([("Timestamp", Arc::clone(rows.column(0)))]).unwrap();
    let refused = step(&["ingest", "--name", "lake", "--rows"], &written(&other, 5));
    assert_eq!(refused.code, 2);
    assert!(refused.err.starts_with("dwindle: error: lake: not a format"), "{}", refused.err);
}

#[test]
fn spans_that_are_not_sorted_are_refused_by_the_two_traces() {
    let spans = spans_of(&ingested("fixtures/shop/money.jsonl.zst"));
    let sorted = &arrow_stream::by_trace(&with_part(&spans), 1)[0];
    let count = sorted.num_rows();
    let swapped = in_order(sorted, (count / 2..count).chain(0..count / 2));
    let ids = texts(sorted, "trace_id");
    for step_name in ["survey", "observe"] {
        let fleet = Fleet::read("unsorted", &["fixtures/shop/money.jsonl.zst"], &[], 1);
        let args = match step_name {
            "observe" => vec!["observe", "--survey", &fleet.survey],
            _ => vec!["survey"],
        };
        let refused = step(&args, &written(&swapped, 7));
        assert_eq!(refused.code, 2);
        let message = format!(
            "dwindle: error: what comes in is not sorted: trace {} comes after {}; sort by the right \
             half of the trace id, then by the id\n",
            ids[0],
            ids[count - 1]
        );
        assert_eq!(refused.err, message);
    }
}

/// Spans with a column for what files tell, of which they tell nothing.
fn with_part(spans: &RecordBatch) -> RecordBatch {
    let parts: ArrayRef = Arc::new(BinaryArray::new_null(spans.num_rows()));
    let schema = spans.schema();
    let names = schema.fields().iter().map(|field| field.name().as_str()).chain(["part"]);
    RecordBatch::try_from_iter(names.zip(spans.columns().iter().cloned().chain([parts]))).unwrap()
}

#[test]
fn a_stream_that_is_cut_off_anywhere_is_refused() {
    let path = "fixtures/shop/money.jsonl.zst";
    let sorted = &arrow_stream::by_trace(&ingested(path), 1)[0];
    let whole = written(&sorted.slice(0, 40), 7);
    let few = written(&sorted.slice(0, 35), 7);
    // A stream of fewer batches ends where the next begins, but for the mark of its end.
    let between = few.len() - 8;
    assert_eq!(whole[..between], few[..between]);
    for len in [between, between + 3, between + 200, whole.len() - 8, whole.len() - 4, 100] {
        let refused = step(&["survey"], &whole[..len]);
        assert_eq!(refused.code, 2, "{len}");
        assert!(
            refused.err.starts_with("dwindle: error: what comes in is cut off"),
            "{}",
            refused.err
        );
        assert_eq!(refused.err.lines().count(), 1);
    }
    let refused = step(&["survey"], b"");
    assert_eq!(refused.code, 2);
    assert_eq!(
        refused.err,
        "dwindle: error: nothing comes in, not even the beginning of an Arrow stream\n"
    );
    assert_eq!(step(&["survey"], &no_rows(sorted)).code, 0);
}

#[test]
fn a_file_that_cannot_be_read_is_told_by_its_name() {
    let readme = step(&["ingest", "--name", "traces/what", "README.md"], b"");
    assert_eq!(readme.code, 2);
    assert!(readme.err.starts_with("dwindle: error: traces/what: not a format"), "{}", readme.err);
    let absent = step(&["ingest", "--name", "traces/absent", "no/such/file"], b"");
    assert_eq!(absent.code, 2);
    assert!(absent.err.starts_with("dwindle: error: traces/absent: cannot be read"));
}

#[test]
fn a_file_that_was_told_by_nobody_or_twice_is_missed() {
    let path = "fixtures/shop/money.jsonl.zst";
    let stream = told(&["ingest", "--name", path, path], b"");
    let survey = |streams: &[Vec<u8>]| {
        let spans = &arrow_stream::by_trace(&arrow_stream::read_all(streams), 1)[0];
        told(&["survey"], &written(spans, 1000))
    };
    let missing = step(&["settle", "--files", "2"], &survey(std::slice::from_ref(&stream)));
    assert_eq!(missing.code, 2);
    assert!(missing.err.contains("1 of 2 files told what they hold"), "{}", missing.err);
    let twice = step(&["settle", "--files", "1"], &survey(&[stream.clone(), stream]));
    assert_eq!(twice.code, 2);
    assert!(
        twice.err.starts_with(&format!("dwindle: error: {path}: read by two tasks")),
        "{}",
        twice.err
    );
}

#[test]
fn empty_files_are_told_and_only_where_all_are_empty_refused() {
    let folder = scratch("cluster_worker_empty");
    fs::write(folder.join("empty"), "").unwrap();
    let empty = text(&folder.join("empty"));
    let fleet = Fleet::read("empty", &[&empty, "fixtures/shop/money.jsonl.zst"], &[], 2);
    let surveyed = Surveyed::read(Path::new(&fleet.survey)).unwrap();
    assert_eq!(surveyed.ingested.files.len(), 2);
    let spans = arrow_stream::by_trace(&ingested(&empty), 1);
    let parts = told(&["survey"], &written(&spans[0], 7));
    let refused = step(&["settle", "--files", "1"], &parts);
    assert_eq!(refused.code, 2);
    assert_eq!(refused.err, format!("dwindle: error: {empty}: the file is empty\n"));
}

#[test]
fn an_answer_that_nobody_takes_is_no_success() {
    let closed = |args: &[&str], input: Stdio| {
        // The reading end of the pipe goes at once.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        finished(dwindle().arg("cluster-worker").args(args).stdin(input).stdout(writer))
    };
    let path = "fixtures/shop/core.jsonl.zst";
    for args in [&["ingest", "--name", path, path][..], &["list", SHOP], &["schema"]] {
        let ran = closed(args, Stdio::null());
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(
            ran.err.starts_with("dwindle: error: ") && ran.err.contains("Broken pipe"),
            "{}",
            ran.err
        );
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    }
}

#[test]
fn nobody_is_shown_the_verb() {
    for args in [&["--help"][..], &["man"], &["completions", "bash"], &["completions", "zsh"]] {
        let ran = run(args);
        assert_eq!(ran.code, 0);
        assert!(!ran.out.contains("cluster-worker"), "{args:?}");
    }
}
