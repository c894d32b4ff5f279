//! Reading: formats, encodings, trouble.

mod clickhouse;
mod command;
pub mod corpus;
mod inspection;
mod jaeger;
mod json;
mod parquet;
mod protobuf;
mod random;
mod reference;
mod sources;
mod span_json;
pub mod support;
mod zipkin;
