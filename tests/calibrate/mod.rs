//! What traces do not declare, told by durations and outcomes.

mod corpus;
mod fleet;
mod funding;
mod instrumentation;
mod observed;
mod report;
mod retrying;
mod statistics;
mod told;
mod verb;
mod written;
