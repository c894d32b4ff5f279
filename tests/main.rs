//! All tests, black box: one binary.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    unreachable_pub,
    reason = "a test fails by panicking, and its helpers are nobody's interface"
)]

mod calibrate;
mod call_terms;
mod cases;
mod certainty;
mod check;
mod cli;
mod cluster_verb;
mod cluster_worker;
mod contracts;
mod conventions;
mod diff;
mod distributions;
mod explain;
mod extract;
mod findings;
mod fleet;
mod getting_traces;
mod graveyard;
mod hostile;
mod html;
mod ingest;
mod layers;
mod matrix;
mod output;
mod pictures;
mod plan;
mod properties;
#[cfg(feature = "query")]
mod query;
mod readme;
mod report;
mod rules;
mod scale;
mod scope;
mod selection;
mod shop;
mod split;
mod stats;
mod support;
mod tables;
