//! What the targets share: bytes in; rows or a clean error out, and what must hold of the rows.

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use dwindle::contract::Contract;
use dwindle::conventions::Conventions;
use dwindle::distributions::Summary;
use dwindle::ingest::{Compression, Ingested, ingest_stream};
use dwindle::reconstruct::Policy;
use invariants::{check_counts, check_requests, read_requests};
use libfuzzer_sys::Corpus;

#[path = "../../tests/support/invariants.rs"]
mod invariants;

/// A trace that has a deadline, retries and queues: what contracts and conventions speak of.
const TRACE: &[u8] = include_bytes!("../../fixtures/cases/retry-two-layers.json");

/// The embedded conventions, in a process that was made ready.
static CONVENTIONS: LazyLock<Conventions> = LazyLock::new(|| {
    // All on one thread, so that a run can be repeated.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    pool.build_global().expect("no other pool was made");
    mute_caught_panics();
    Conventions::embedded().expect("the embedded conventions are tested")
});

/// The library that reads Parquet panics on some damaged files, and dwindle catches that. The
/// fuzzer's hook would end the run before; a panic that nobody catches ends it all the same.
fn mute_caught_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let file = panic.location().map_or("", |location| location.file());
        if !["/parquet-", "/arrow-"].iter().any(|library| file.contains(library)) {
            eprintln!("{panic}");
        }
    }));
}

/// Reads bytes of one format; bytes of others are not kept.
pub fn read(format: &str, bytes: &[u8]) -> Corpus {
    keep_if(read_checked(bytes, &CONVENTIONS).is_some_and(|read| {
        let found = read.files.first().and_then(|file| file.format.as_deref());
        found.is_some_and(|found| found.starts_with(format))
    }))
}

/// Reads bytes that are compressed, in whole or in parts; others are not kept.
pub fn read_compressed(bytes: &[u8]) -> Corpus {
    keep_if(read_checked(bytes, &CONVENTIONS).is_some_and(|read| {
        read.files.first().is_some_and(|file| {
            let in_parts = file.format.as_deref().is_some_and(|format| format.ends_with("zstd"));
            in_parts || file.compression != Compression::None
        })
    }))
}

/// Reads a contract file, and judges a trace by it.
pub fn use_contract(bytes: &[u8]) -> Corpus {
    let Ok(text) = std::str::from_utf8(bytes) else { return Corpus::Reject };
    if let Ok(contracts) = Contract::parse_file("input", text) {
        let policy = Policy { contracts, ..Policy::default() };
        let read = ingest_stream("trace", TRACE, &*CONVENTIONS, &()).expect("a fixture");
        check_requests(&read, &policy);
    }
    Corpus::Keep
}

/// Reads a conventions file, and a trace by it.
pub fn use_conventions(bytes: &[u8]) -> Corpus {
    let Ok(text) = std::str::from_utf8(bytes) else { return Corpus::Reject };
    if let Ok(conventions) = CONVENTIONS.clone().with_file("input", text) {
        read_checked(TRACE, &conventions).expect("a fixture");
    }
    Corpus::Keep
}

/// Reads a table of requests, and sums it up.
pub fn read_tables(bytes: &[u8]) -> Corpus {
    static DIR: LazyLock<PathBuf> = LazyLock::new(|| {
        LazyLock::force(&CONVENTIONS);
        let dir = std::env::temp_dir().join(format!("dwindle-fuzz-{}", std::process::id()));
        fs::create_dir_all(&dir).expect("a temporary folder");
        dir
    });
    if let Ok(tables) = read_requests(&DIR, bytes) {
        Summary::default().add(&tables);
    }
    Corpus::Keep
}

/// What was read, if anything was: counts add up, and all requests are reconstructed.
fn read_checked(bytes: &[u8], conventions: &Conventions) -> Option<Ingested> {
    let read = ingest_stream("input", bytes, conventions, &()).ok()?;
    check_counts(&read);
    check_requests(&read, &Policy::default());
    Some(read)
}

const fn keep_if(is_wanted: bool) -> Corpus {
    if is_wanted { Corpus::Keep } else { Corpus::Reject }
}
