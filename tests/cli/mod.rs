//! The command as its users meet it.

mod definitions;
mod determinism;
mod errors;
mod folder;
mod help;
mod killed;
mod memory;
mod secrets;
