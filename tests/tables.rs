//! Table files: what is written comes back, and the bytes depend on the rows alone.

use std::fs;
use std::path::{Path, PathBuf};

use dwindle::span::{Interner, Outcome, SpanId, TraceId};
use dwindle::tables::folder::{Folder, FolderWriter};
use dwindle::tables::format::Format;
use dwindle::tables::{AttemptKind, AttemptRow, Funding, Row, SCHEMA_VERSION, Tables};
use dwindle::units::Nanos;
use rayon::ThreadPoolBuilder;
use serde_json::{Value, json};

use crate::support::command::{dwindle, finished, run, scratch};

/// Three row groups, of which the last is short.
const ROWS: u64 = (2 << 17) + 777;

/// Row `number` of the made-up table: its values run, repeat, jump between extremes and are absent.
fn attempt(number: u64, strings: &mut Interner) -> AttemptRow {
    let noise = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (number >> 7);
    let pick = |of: u64| noise.is_multiple_of(of);
    let nanos = |value: u64| Nanos::from_nanos(value.cast_signed());
    let extreme = if number.is_multiple_of(2) { i64::MIN } else { i64::MAX };
    let kinds = AttemptKind::ALL;
    AttemptRow {
        trace_id: TraceId(u128::from(number / 9) << 3),
        request_class: strings.intern(["a", "b", "ü\n\"c\""][(number / 1000 % 3) as usize]),
        root_span_id: SpanId(number / 4),
        call_id: SpanId(noise),
        span_id: SpanId(u64::MAX - number),
        ordinal: if number.is_multiple_of(3) { i32::MIN } else { i32::MAX },
        ordinal_key: None,
        attempts: i32::try_from(number / 50_000).unwrap(),
        kind: kinds[(noise % 4) as usize],
        caller_service: (!pick(3)).then(|| strings.intern(&format!("service {}", noise % 300))),
        callee_service: pick(1 << 14).then(|| strings.intern("seldom")),
        operation: strings.intern(&format!("operation {number}")),
        elapsed_at_start_ns: nanos(noise),
        backoff_ns: (number > ROWS / 2).then(|| nanos(number)),
        remaining_at_start_ns: Some(Nanos::from_nanos(extreme)),
        available_at_start_ns: pick(2).then(|| nanos(number)),
        allowance_ns: None,
        allowance_key: pick(5).then(|| strings.intern("")),
        funding: Funding::Unknown,
        duration_ns: nanos(noise % 1000 * u64::from(pick(7))),
        outcome: if pick(11) { Outcome::Error } else { Outcome::Ok },
        tries_inside: None,
    }
}

/// The table in partitions that end before the given rows, each with strings of its own.
fn partitions(ends: &[u64]) -> Vec<Tables> {
    let starts = [0].into_iter().chain(ends.iter().copied());
    let partition = |(start, &end): (u64, &u64)| {
        let mut tables = Tables::default();
        // Numbers of strings differ from one partition to the next.
        tables.strings.intern(&format!("only from {start} on"));
        let strings = &mut tables.strings;
        tables.attempts = (start..end).map(|number| attempt(number, strings)).collect();
        tables
    };
    starts.zip(ends).map(partition).collect()
}

/// Writes groups of partitions to a folder of its own.
fn written(name: &str, groups: &[&[Tables]], format: Format) -> PathBuf {
    let dir = scratch(name);
    let mut writer = FolderWriter::create(&dir, format).unwrap();
    for group in groups {
        writer.write(group).unwrap();
    }
    writer
        .finish(&json!({ "dwindle_version": "of a test", "schema_version": SCHEMA_VERSION }))
        .unwrap();
    dir
}

fn read_back(dir: &Path) -> Tables {
    let (folder, _): (Folder, Value) = Folder::open(dir).unwrap();
    folder.tables().unwrap()
}

#[test]
fn rows_come_back_from_several_row_groups_as_they_were_written() {
    let whole = partitions(&[ROWS]);
    let dir = written("row-groups", &[&whole], Format::Parquet);
    let back = read_back(&dir);
    let batch = |tables: &Tables| {
        AttemptRow::TABLE.batch(&AttemptRow::gather(&tables.attempts), &tables.strings).unwrap()
    };
    let (before, after) = (batch(&whole[0]), batch(&back));
    assert_eq!(after.num_rows() as u64, ROWS);
    for (field, (before, after)) in
        before.schema_ref().fields().iter().zip(before.columns().iter().zip(after.columns()))
    {
        assert!(before == after, "{} differs", field.name());
    }
}

#[test]
fn neither_partitions_nor_threads_change_a_byte_of_parquet() {
    let bytes = |dir: &Path| fs::read(dir.join("attempts.parquet")).unwrap();
    let whole = partitions(&[ROWS]);
    let expected = bytes(&written("cut-not", &[&whole], Format::Parquet));
    let cut = partitions(&[1, 4096, 5000, 131_071, 131_072, 131_073, 200_000, ROWS]);
    let mut groups: Vec<&[Tables]> = cut.chunks(1).collect();
    for (name, threads) in [("cut-1", 1), ("cut-3", 3)] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| bytes(&written(name, &groups, Format::Parquet)));
        assert!(found == expected, "{name} differs");
        groups = cut.chunks(3).collect();
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_told_by_its_path() {
    let file = scratch("no-folder").join("file");
    fs::write(&file, "mine").unwrap();
    let out = file.join("tables");
    let ran = run(&["analyze", "fixtures/cases/untidy.json", "--out", out.to_str().unwrap()]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains(out.to_str().unwrap()), "{}", ran.err);
    assert_eq!(fs::read_to_string(file).unwrap(), "mine");
}

/// As on a full disk: no file may grow beyond a few kilobytes.
#[test]
fn a_disk_that_is_full_is_told_and_nothing_is_left_on_it() {
    for format in ["parquet", "ndjson", "csv"] {
        let dir = scratch(&format!("full-{format}"));
        let out = dir.to_str().unwrap();
        let limited = "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\"";
        let program = dwindle().get_program().to_owned();
        let ran = finished(
            std::process::Command::new("bash")
                .current_dir(env!("CARGO_MANIFEST_DIR"))
                .args(["-c", limited])
                .arg(program)
                .args(["analyze", "fixtures/shop", "--out", out, "--format", format, "-q"]),
        );
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains(out) && ran.err.contains("too large"), "{}", ran.err);
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 0, "{format} left something");
        assert_eq!(run(&["report", out]).code, 2, "{format} looks whole");
        assert_eq!(run(&["analyze", "fixtures/cases/untidy.json", "--out", out]).code, 0);
    }
}
