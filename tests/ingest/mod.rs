//! Reading: formats, encodings, trouble.

mod clickhouse;
mod command;
mod corpus;
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
mod support;
mod zipkin;
