//! Zipkin's JSON, version 2.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus { dwindle_fuzz::read("Zipkin JSON", bytes) });
