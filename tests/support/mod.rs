//! What tests share.

pub mod raw_span;
