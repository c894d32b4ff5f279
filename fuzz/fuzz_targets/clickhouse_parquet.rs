//! Rows of ClickHouse in Parquet.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    dwindle_fuzz::read("ClickHouse otel_traces Parquet", bytes)
});
