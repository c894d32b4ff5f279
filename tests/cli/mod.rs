//! The command as its users meet it.

mod definitions;
mod determinism;
mod errors;
mod folder;
mod help;
mod in_parts;
mod killed;
mod memory;
mod secrets;
