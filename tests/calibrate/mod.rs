//! What traces do not declare, told by durations and outcomes.

mod corpus;
mod fleet;
mod funding;
mod report;
mod statistics;
mod verb;
mod written;
