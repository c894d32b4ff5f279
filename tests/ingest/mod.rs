//! Reading: formats, encodings, trouble.

mod corpus;
