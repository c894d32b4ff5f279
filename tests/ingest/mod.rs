//! Reading: formats, encodings, trouble.

mod bombs;
mod clickhouse;
mod command;
mod corpus;
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
mod support;
mod zipkin;
