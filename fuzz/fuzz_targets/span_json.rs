//! Our own plain format.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus { dwindle_fuzz::read("span JSON", bytes) });
