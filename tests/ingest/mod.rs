//! Reading: formats, encodings, trouble.

mod clickhouse;
mod command;
mod corpus;
mod inspection;
mod jaeger;
mod json;
mod parquet;
mod protobuf;
mod random;
mod reference;
mod regressions;
mod sources;
mod span_json;
mod support;
mod zipkin;
