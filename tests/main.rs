//! All tests, black box: one binary.

mod cases;
mod conventions;
mod ingest;
mod report;
mod stats;
mod support;
