//! All tests, black box: one binary.

mod cases;
mod conventions;
mod ingest;
mod properties;
mod support;
