//! All tests, black box: one binary.

mod ingest;
mod shop;
