//! Reading: formats, encodings, trouble.

mod bombs;
mod clickhouse;
mod command;
pub mod corpus;
mod foreign_files;
mod inspection;
mod jaeger;
mod json;
mod ledger;
mod parquet;
mod protobuf;
mod random;
mod reference;
mod sources;
mod span_json;
pub mod support;
mod zipkin;
