//! What `dwindle plan` says, for people and for programs: a file for each thing that is planned.

pub mod chain;
pub mod measured;
pub mod model;
pub mod replay;
pub mod retries;

/// Version of the JSON forms (docs/output.md). It changes when a name or a meaning does.
pub const SCHEMA_VERSION: u32 = 1;
