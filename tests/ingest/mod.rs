//! Reading: formats, encodings, trouble.

mod command;
mod corpus;
mod inspection;
mod jaeger;
mod json;
mod protobuf;
mod random;
mod reference;
mod sources;
mod support;
mod zipkin;
