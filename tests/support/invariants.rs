//! What holds for whatever was read. Shared by the tests and the fuzz targets.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use dwindle::clocks::Offsets;
use dwindle::ingest::Ingested;
use dwindle::reconstruct::{Policy, reconstruct};
use dwindle::tables::folder::{Folder, FolderError, MANIFEST};
use dwindle::tables::format::Format;
use dwindle::tables::{RequestRow, Row, SCHEMA_VERSION, Tables};
use dwindle::units::Nanos;

/// Checks that no record vanished: read = admitted + rejected, and what was admitted is kept.
pub fn check_counts(read: &Ingested) {
    for file in &read.files {
        assert_eq!(
            file.spans_read,
            file.spans_admitted + file.spans_rejected,
            "{}: read = admitted + rejected",
            file.path
        );
    }
    let admitted: u64 = read.files.iter().map(|file| file.spans_admitted).sum();
    let kept: usize = read.partitions.iter().map(|partition| partition.rows.len()).sum();
    // A record of Zipkin's first version may hold both halves of a call, which are two spans.
    let is_v1 = |format: &str| format.starts_with("Zipkin v1");
    let may_part = read.files.iter().any(|file| file.format.as_deref().is_some_and(is_v1));
    assert!(
        admitted == kept as u64 || (may_part && admitted < kept as u64),
        "every admitted span is in a partition: {admitted} admitted, {kept} kept"
    );
}

/// Reconstructs what was read, and checks that the segments of each request sum to its elapsed
/// time.
pub fn check_requests(read: &Ingested, policy: &Policy) {
    for partition in &read.partitions {
        let tables = reconstruct(partition.clone(), policy, &Offsets::default());
        let mut sums: BTreeMap<_, i128> = BTreeMap::new();
        for row in &tables.segments {
            *sums.entry((row.trace_id, row.root_span_id)).or_default() +=
                i128::from(row.duration_ns.as_nanos());
        }
        for row in &tables.requests {
            // A longer time cannot be told, and its segments cannot be counted.
            if row.elapsed_ns < Nanos::MAX {
                let sum = sums.get(&(row.trace_id, row.root_span_id)).copied().unwrap_or(0);
                assert_eq!(sum, i128::from(row.elapsed_ns.as_nanos()), "segments of a request");
            }
        }
    }
}

/// Reads a table of requests as `dwindle report` does, by way of the folder `dir`. Parquet tells
/// itself, and so does JSON.
pub fn read_requests(dir: &Path, bytes: &[u8]) -> Result<Tables, FolderError> {
    let format = match bytes {
        [b'P', ..] => Format::Parquet,
        [b'{', ..] => Format::Ndjson,
        _ => Format::Csv,
    };
    let written = |path: &Path, bytes: &[u8]| {
        fs::write(path, bytes).map_err(|error| FolderError::Io { path: path.to_owned(), error })
    };
    let manifest = format!("{{\"schema_version\": {SCHEMA_VERSION}}}");
    written(&dir.join(MANIFEST), manifest.as_bytes())?;
    let path = dir.join(format!("{}.{}", RequestRow::TABLE.name, format.name()));
    written(&path, bytes)?;
    let (folder, _) = Folder::open::<serde_json::Value>(dir)?;
    let mut tables = Tables::default();
    let read = folder.read_all(&mut tables.requests, &mut tables.strings);
    // The next table may be of another format, and there must be one alone.
    fs::remove_file(&path).map_err(|error| FolderError::Io { path, error })?;
    read.map(|()| tables)
}
