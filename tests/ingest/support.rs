//! Helpers of the tests of reading.

use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use dwindle::clocks::Offsets;
use dwindle::conventions::Conventions;
use dwindle::ingest::{IngestError, Ingested, ingest};
use dwindle::reconstruct::{Policy, reconstruct};

use serde_json::Value;

use crate::support::tables::{Json, json_tables};

use crate::support::invariants::check_counts;

/// The embedded conventions.
pub fn conventions() -> &'static Conventions {
    static EMBEDDED: LazyLock<Conventions> = LazyLock::new(|| Conventions::embedded().unwrap());
    &EMBEDDED
}

/// Reads `inputs` with the embedded conventions.
pub fn try_read(inputs: &[&str]) -> Result<Ingested, IngestError> {
    let inputs: Vec<String> = inputs.iter().map(|&input| input.to_owned()).collect();
    let read = ingest(&inputs, conventions(), &())?;
    check_counts(&read);
    Ok(read)
}

/// Reads what has to be readable.
pub fn read(inputs: &[&str]) -> Ingested {
    try_read(inputs).unwrap()
}

/// Reads `fixtures/otlp/NAME`.
pub fn read_fixture(name: &str) -> Ingested {
    read_fixture_of("otlp", name)
}

/// Reads `fixtures/FORMAT/NAME`.
pub fn read_fixture_of(format: &str, name: &str) -> Ingested {
    read(&[&fixture(&format!("{format}/{name}"))])
}

/// The path of `fixtures/NAME`.
pub fn fixture(name: &str) -> String {
    format!("{}/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The spans, one a line, in the order of trace and span:
/// `trace/span<parent service name kind start+duration`, then what else there is.
pub fn spans(read: &Ingested) -> Vec<String> {
    let mut lines = Vec::new();
    for partition in &read.partitions {
        for span in &partition.rows {
            let text = |sym| partition.strings.get(sym);
            let line = [
                format!("{:x}/{:x}", span.trace_id.0, span.span_id.0),
                span.parent_span_id.map_or_else(String::new, |parent| format!("<{:x}", parent.0)),
                format!(" {} {}", text(span.service), text(span.operation)),
                format!(" {:?} {}", span.kind, span.start.as_nanos()),
                format!("+{}", span.duration().as_nanos()),
                if span.flags.has_error_status { " error".to_owned() } else { String::new() },
                if span.links > 0 { format!(" links={}", span.links) } else { String::new() },
            ]
            .concat();
            lines.push(((span.trace_id.sort_key(), span.span_id, span.start), line));
        }
    }
    lines.sort();
    lines.into_iter().map(|(_, line)| line).collect()
}

/// The problems, one a line: `code count @byte:line:record`.
pub fn problems(read: &Ingested) -> Vec<String> {
    let number = |number: Option<i64>| number.map_or_else(|| "-".to_owned(), |n| n.to_string());
    let row = |row: &dwindle::tables::ProblemRow| {
        format!(
            "{} {} @{}:{}:{}",
            read.problem_strings.get(row.code),
            row.count,
            number(row.byte),
            number(row.line),
            number(row.record)
        )
    };
    read.problems.iter().map(row).collect()
}

/// The tables made of what was read, without a contract.
pub fn tables(read: &Ingested) -> Json {
    let policy = Policy::default();
    json_tables(
        read.partitions
            .iter()
            .map(|spans| reconstruct(spans.clone(), &policy, &Offsets::default())),
    )
}

/// A row of a table in one line: the columns named, ids without their zeros on the left.
pub fn row(row: &Value, columns: &[&str]) -> String {
    let text = |column: &&str| match &row[column] {
        Value::String(text) => text.trim_start_matches('0').to_owned(),
        Value::Null => "-".to_owned(),
        other => other.to_string().replace('"', ""),
    };
    columns.iter().map(text).collect::<Vec<_>>().join(" ")
}

/// The requests and hops, one a line: what and whose they are, and what is blind.
pub fn rows(tables: &Json) -> Vec<String> {
    let of = |table: &str, columns: &[&str]| -> Vec<String> {
        tables[table].iter().map(|one| format!("{table}: {}", row(one, columns))).collect()
    };
    let requests = [
        "root_span_id",
        "root_service",
        "root_operation",
        "duration_ns",
        "terminal_outcome",
        "blind_spots",
    ];
    let hops = ["client_span_id", "server_span_id", "caller_service", "callee_service", "outcome"];
    [of("requests", &requests), of("hops", &hops)].concat()
}

/// A folder that goes when it is dropped.
pub struct Folder(PathBuf);

impl Folder {
    /// A new one.
    pub fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("dwindle-test-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// The path of `name` in it.
    pub fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    /// Writes a file, and says its path.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path.display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

/// Everything that is known of each span, one a line, sorted; independent of interners.
pub fn everything(read: &Ingested) -> Vec<String> {
    let mut lines = Vec::new();
    for partition in &read.partitions {
        for span in &partition.rows {
            let text = |sym| partition.strings.get(sym).to_owned();
            let grant = span.grant.map(|grant| {
                (grant.value, grant.kind, text(grant.key), text(grant.rule), grant.from_start)
            });
            let keys = [span.allowance_key, span.ordinal_key, span.queued_key];
            lines.push(format!(
                "{:?}",
                (
                    (span.trace_id, span.span_id, span.parent_span_id, span.kind),
                    (text(span.service), text(span.clock_domain), text(span.operation)),
                    (span.start, span.end, span.outcome, span.http_status, span.flags),
                    (grant, span.allowance, span.attempt_ordinal, span.links),
                    (span.queued_before, span.waited_inside, span.route_operation.map(text)),
                    (span.target, span.peer_service.map(text)),
                    keys.map(|key| key.map(text)),
                )
            ));
        }
    }
    lines.sort();
    lines
}
