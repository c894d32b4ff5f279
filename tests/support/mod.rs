//! What several tests need.

pub mod tables;
