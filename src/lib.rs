//! dwindle: where a request's deadline went.

pub mod budget;
pub mod contract;
pub mod conventions;
pub mod ingest;
pub(crate) mod names;
pub mod otlp;
pub mod reconstruct;
pub mod span;
pub mod tables;
pub mod units;
