//! Tables of an analyze folder, in all their formats.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus { dwindle_fuzz::read_tables(bytes) });
