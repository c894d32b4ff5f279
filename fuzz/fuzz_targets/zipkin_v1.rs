//! Zipkin's JSON, version 1.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus { dwindle_fuzz::read("Zipkin v1 JSON", bytes) });
