//! One binary for all tests.

mod conventions;
mod support;
