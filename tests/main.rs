//! All tests in one binary: it links once.

mod report;
mod stats;
mod support;
