//! The wire formats of OTLP: one table of fields, and the protobuf encoding.

pub mod fields;
pub mod shape;
pub mod wire;
