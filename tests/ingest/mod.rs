//! Reading: formats, encodings, trouble.

mod clickhouse;
mod command;
pub mod corpus;
mod evidence;
mod inspection;
mod jaeger;
mod json;
mod losses;
mod parquet;
mod protobuf;
mod quirks;
mod random;
mod reference;
mod refusals;
mod sources;
mod span_json;
pub mod support;
mod zipkin;
