//! Reading: formats, encodings, trouble.

mod corpus;
mod json;
mod protobuf;
mod reference;
mod support;
