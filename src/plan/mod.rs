//! The arithmetic behind a retry and timeout policy, and what another policy would have done: which
//! attempts fit into what is left, how the budget of a chain splits, what a policy does in a
//! slowdown on a logical clock, and measured requests run again.

pub mod amplification;
pub mod chain;
pub mod emit;
pub mod measured;
pub mod model;
pub mod policy;
pub mod replay;
pub mod retries;
pub mod sweep;
