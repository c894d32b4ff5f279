//! dwindle: where a request's deadline went.

pub mod budget;
pub mod contract;
pub mod conventions;
pub mod distributions;
pub(crate) mod names;
pub mod reconstruct;
pub mod report;
pub mod span;
pub mod stats;
pub mod tables;
pub mod units;
