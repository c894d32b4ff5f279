//! What several tests need.

pub(crate) mod case_tables;
pub(crate) mod made_tables;
