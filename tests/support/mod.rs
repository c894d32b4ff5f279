//! What several tests need.

pub mod naive;
pub mod random;
pub mod raw_span;
pub mod tables;
