//! What tests share.

pub mod arrow_stream;
pub mod case_tables;
pub mod command;
pub mod harmless;
pub mod invariants;
pub mod made_spans;
pub mod made_tables;
pub mod naive;
pub mod planted;
pub mod random;
pub mod raw_span;
pub mod shapes;
pub mod tables;
