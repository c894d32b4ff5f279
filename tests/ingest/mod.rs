//! Reading: formats, encodings, trouble.

mod bombs;
mod clickhouse;
mod command;
mod compact;
pub mod corpus;
mod evidence;
mod foreign_files;
mod inspection;
mod jaeger;
mod json;
mod ledger;
mod losses;
pub mod parquet;
mod protobuf;
mod quirks;
mod random;
mod reference;
mod refusals;
mod regressions;
mod sampling;
mod sources;
mod span_json;
pub mod support;
mod zipkin;
