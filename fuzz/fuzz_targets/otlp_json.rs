//! OTLP in JSON, Tempo's and Jaeger's answers among it.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus { dwindle_fuzz::read("OTLP JSON", bytes) });
