//! What attributes mean (SEMANTICS §2): tests of the resolver and of the data it reads.

mod any_input;
mod attempts;
mod cases;
mod files;
mod grants;
mod identity;
mod neutral;
mod outcomes;
mod queues;
mod sampling;
mod values;
