//! x
pub mod raw;
