//! All tests in one binary: it links once.

#![expect(clippy::expect_used, reason = "a test that cannot go on fails")]

mod report;
mod stats;
mod support;
