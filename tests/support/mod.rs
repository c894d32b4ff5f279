//! What several tests need.

pub mod naive;
pub mod tables;
