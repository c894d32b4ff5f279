//! All tests, as one binary.

mod support;
