//! What traces do not declare, told by durations and outcomes.

mod corpus;
mod fleet;
mod funding;
mod report;
mod verb;
mod written;
