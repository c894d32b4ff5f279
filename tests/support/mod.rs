//! What several tests need.

pub mod case_tables;
pub mod made_tables;
