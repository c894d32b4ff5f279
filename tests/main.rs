//! All tests, black box: one binary.

mod cases;
mod conventions;
mod ingest;
mod layers;
mod report;
mod shop;
mod stats;
mod support;
