//! Folders whose tables a cluster wrote, each a folder of parts, are read as if one machine had.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, RecordBatch, StringArray, new_null_array};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::arrow_writer::ArrowWriterOptions;

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

/// The rows of a file, in batches.
fn batches(path: &Path) -> Vec<RecordBatch> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    builder.with_batch_size(1000).build().unwrap().map(Result::unwrap).collect()
}

/// The same as Spark declares it: each column may be null, and items of lists are called `element`.
fn as_of_spark(batch: &RecordBatch) -> RecordBatch {
    let column = |column: &ArrayRef| -> ArrayRef {
        let Some(list) = column.as_list_opt::<i32>() else { return Arc::clone(column) };
        let (_, ends, items, nulls) = list.clone().into_parts();
        let item = Arc::new(Field::new("element", DataType::Utf8, true));
        Arc::new(ListArray::new(item, ends, items, nulls))
    };
    let columns: Vec<ArrayRef> = batch.columns().iter().map(column).collect();
    let names = batch.schema();
    let fields = names.fields().iter().zip(&columns);
    let fields: Vec<Field> = fields
        .map(|(it, column)| Field::new(it.name(), column.data_type().clone(), true))
        .collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

fn write_part(folder: &Path, number: usize, schema: &RecordBatch, rows: &[RecordBatch]) {
    let name = format!("part-{number:05}-0f-c000.zstd.parquet");
    fs::write(folder.join(format!(".{name}.crc")), "crc").unwrap();
    let file = File::create(folder.join(name)).unwrap();
    let options = ArrowWriterOptions::new().with_skip_arrow_metadata(true);
    let mut writer = ArrowWriter::try_new_with_options(file, schema.schema(), options).unwrap();
    for batch in rows {
        writer.write(batch).unwrap();
    }
    writer.close().unwrap();
}

/// A plain folder, and the same in parts: an empty one, one with a third of the rows, an empty one, and
/// one with the rest; of a table without rows none at all.
fn both(name: &str, input: &str) -> (PathBuf, PathBuf) {
    let (plain, parts) = (scratch(&format!("{name}-plain")), scratch(&format!("{name}-parts")));
    assert_eq!(run(&["analyze", input, "--out", plain.to_str().unwrap()]).code, 0);
    fs::copy(plain.join("manifest.json"), parts.join("manifest.json")).unwrap();
    for table in TABLES {
        let folder = parts.join(format!("{table}.parquet"));
        fs::create_dir(&folder).unwrap();
        for name in ["_SUCCESS", "._SUCCESS.crc"] {
            fs::write(folder.join(name), "").unwrap();
        }
        let batches = batches(&plain.join(format!("{table}.parquet")));
        let rows: Vec<RecordBatch> = batches.iter().map(as_of_spark).collect();
        let Some(schema) = rows.first() else { continue };
        let third = schema.num_rows() / 3;
        let rest: Vec<RecordBatch> = [schema.slice(third, schema.num_rows() - third)]
            .into_iter()
            .chain(rows[1..].iter().cloned())
            .collect();
        for (number, rows) in [&[][..], &[schema.slice(0, third)], &[], &rest].iter().enumerate() {
            write_part(&folder, number, schema, rows);
        }
    }
    (plain, parts)
}

/// What a command prints of a folder.
fn of(folder: &Path, before: &[&str], behind: &[&str]) -> (i32, String) {
    let ran = run(&[before, &[folder.to_str().unwrap()], behind].concat());
    (ran.code, ran.out)
}

#[test]
fn what_is_told_of_parts_is_what_is_told_of_one_file_a_table() {
    let (plain, parts) = both("parts", "fixtures/shop");
    let same = |before: &[&str], behind: &[&str]| {
        let expected = of(&plain, before, behind);
        assert!(expected.0 < 2 && !expected.1.is_empty(), "{before:?}: {}", expected.0);
        assert!(of(&parts, before, behind) == expected, "{before:?} {behind:?} differs");
    };
    for format in ["terminal", "markdown", "json", "csv"] {
        same(&["report"], &["--format", format, "--bucket", "1m"]);
    }
    same(&["check"], &["--as-of", "2026-03-02"]);
    same(&["calibrate"], &[]);
    same(&["findings"], &["--format", "csv"]);
    same(&["diff", plain.to_str().unwrap()], &["--format", "csv"]);
    if cfg!(feature = "query") {
        for table in TABLES {
            same(&["query"], &["-e", &format!("SELECT * FROM {table}"), "--format", "csv"]);
        }
        same(&["query"], &["-e", "SELECT count(*) FROM hops"]);
        same(&["query"], &["coverage"]);
    }
}

/// Puts `column` of the second part's first table to nulls.
fn with_nulls(parts: &Path, table: &str, column: &str) {
    let folder = parts.join(format!("{table}.parquet"));
    let path = folder.join("part-00001-0f-c000.zstd.parquet");
    let rows: Vec<RecordBatch> = batches(&path)
        .iter()
        .map(|batch| {
            let place = batch.schema().index_of(column).unwrap();
            let mut columns = batch.columns().to_vec();
            columns[place] = new_null_array(columns[place].data_type(), batch.num_rows());
            RecordBatch::try_new(batch.schema(), columns).unwrap()
        })
        .collect();
    write_part(&folder, 1, &rows[0].slice(0, 0), &rows);
}

#[test]
fn a_null_where_none_may_be_is_refused_by_its_part_and_column() {
    for (table, column) in [("hops", "operation"), ("requests", "blind_spots")] {
        let (_, parts) = both("parts-null", "fixtures/cases/random-60.json");
        with_nulls(&parts, table, column);
        let parts = parts.to_str().unwrap();
        let query = format!("SELECT {column} FROM {table}");
        let mut runs = vec![run(&["report", parts])];
        runs.extend(cfg!(feature = "query").then(|| run(&["query", parts, "-e", &query])));
        for ran in runs {
            assert_eq!(ran.code, 2, "{}", ran.out);
            assert!(ran.err.contains("part-00001") && ran.err.contains(column), "{}", ran.err);
        }
    }
}

#[test]
fn a_table_of_which_parts_are_missing_is_no_table_without_rows() {
    let (_, parts) = both("parts-missing", "fixtures/cases/random-60.json");
    let folder = parts.join("findings.parquet");
    for entry in fs::read_dir(&folder).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    let ran = run(&["report", parts.to_str().unwrap()]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("findings.parquet") && ran.err.contains("_SUCCESS"), "{}", ran.err);
}

#[test]
fn a_table_given_for_traces_is_told_for_what_it_is_in_parts_too() {
    let (_, parts) = both("parts-input", "fixtures/cases/random-60.json");
    for table in ["hops", "findings", "exemplars"] {
        let ran = run(&["report", parts.join(format!("{table}.parquet")).to_str().unwrap()]);
        assert_eq!(ran.code, 2);
        let told = ran.err.contains("a table that dwindle wrote") && ran.err.contains(table);
        assert!(told, "{}", ran.err);
    }
}

#[test]
fn earlier_parts_are_replaced_but_nothing_that_somebody_else_put_among_them() {
    let (plain, parts) = both("parts-replaced", "fixtures/cases/random-60.json");
    let out = parts.to_str().unwrap();
    let again = || run(&["analyze", "fixtures/cases/random-60.json", "--out", out]);
    let mine = parts.join("hops.parquet/part-notes.txt");
    fs::write(&mine, "mine").unwrap();
    let ran = again();
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("part-notes.txt") && ran.err.contains("another folder"),
        "{}",
        ran.err
    );
    assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
    assert_eq!(run(&["report", out]).code, 0, "nothing was removed");
    fs::remove_file(&mine).unwrap();
    // As tasks leave it that were killed.
    let begun = parts.join("hops.parquet/_temporary/0/task");
    fs::create_dir_all(&begun).unwrap();
    fs::write(begun.join("part-00000.parquet"), "").unwrap();
    let ran = again();
    assert_eq!(ran.code, 0, "{}", ran.err);
    for table in TABLES {
        let file = format!("{table}.parquet");
        assert!(fs::read(parts.join(&file)).unwrap() == fs::read(plain.join(&file)).unwrap());
    }
    fs::remove_file(parts.join("manifest.json")).unwrap();
    fs::remove_file(parts.join("hops.parquet")).unwrap();
    fs::create_dir(parts.join("hops.parquet")).unwrap();
    assert_eq!(again().code, 2, "nothing says that dwindle wrote it");
}

/// Other writers, pyarrow and Polars among them, say what types they had in mind.
#[test]
fn what_types_the_writer_of_a_part_had_in_mind_does_not_matter() {
    let (plain, parts) = both("parts-large", "fixtures/cases/random-60.json");
    let path = parts.join("hops.parquet/part-00003-0f-c000.zstd.parquet");
    let large = |batch: &RecordBatch| {
        let schema = batch.schema();
        let columns = batch.columns().iter().zip(schema.fields());
        let columns =
            columns.map(|(column, field)| match column.as_any().downcast_ref::<StringArray>() {
                Some(texts) => {
                    let large: arrow_array::LargeStringArray = texts.iter().collect();
                    (field.name().clone(), Arc::new(large) as ArrayRef)
                }
                None => (field.name().clone(), Arc::clone(column)),
            });
        RecordBatch::try_from_iter(columns.collect::<Vec<_>>()).unwrap()
    };
    let rows: Vec<RecordBatch> = batches(&path).iter().map(large).collect();
    let file = File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new(file, rows[0].schema(), None).unwrap();
    for batch in rows {
        writer.write(&batch).unwrap();
    }
    writer.close().unwrap();
    assert!(of(&parts, &["report"], &[]) == of(&plain, &["report"], &[]));
    if cfg!(feature = "query") {
        let query = ["-e", "SELECT * FROM hops", "--format", "csv"];
        assert!(of(&parts, &["query"], &query) == of(&plain, &["query"], &query));
    }
}
