//! Gzip and Zstandard, of whole files and of single frames.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus { dwindle_fuzz::read_compressed(bytes) });
