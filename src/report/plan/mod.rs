//! What `dwindle plan` says, for people and for programs: a file for each thing that is planned.

pub mod replay;
