//! Reading: formats, encodings, trouble.

mod corpus;
mod json;
mod protobuf;
mod random;
mod reference;
mod sources;
mod support;
