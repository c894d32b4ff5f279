//! All tests, black box: one binary.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    unreachable_pub,
    reason = "a test that cannot go on fails, and nothing outside uses a test"
)]

mod cases;
mod conventions;
mod ingest;
mod report;
mod stats;
mod support;
