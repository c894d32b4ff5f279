//! Reading: formats, encodings, trouble.

mod corpus;
mod json;
mod support;
