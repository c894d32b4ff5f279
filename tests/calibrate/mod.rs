//! What traces do not declare, told by durations and outcomes.

mod statistics;
