//! Fleets whose limits are known, because they were planted: what is inferred of them can be counted as
//! right or wrong. Used by the tests and by the bench that prints error rates.

pub mod dice;
pub mod hop;
pub mod rates;
pub mod traces;
