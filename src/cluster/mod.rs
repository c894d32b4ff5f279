//! The same analysis on many machines, by an engine that its owners run: what one task does with its
//! part, from Arrow streams to Arrow streams. The engine brings the spans of a trace together and sorts;
//! all that numbers depend on is done by the functions that `analyze` uses.
//!
//! ```text
//!  files ──► ingest ──► spans ══ by trace ══► survey ──► settle ──► what all spans know together
//!                                   │                                  │
//!                                   ├──► observe ──► calibrate ──► contract
//!                                   └──► reconstruct ──► tables, a part of each that is made of all:
//!                                          stays ══ by queue ══► graveyard
//!                                          values ══ by class ══► distributions
//!                                          candidates ══ one task ══► exemplars
//!                                          overview ──► manifest
//! ```
//!
//! `══` is the engine's shuffle. A task that ends with exit code 0 has given its whole answer; nothing
//! else proves that, since a stream that is cut off between two batches looks whole.

mod exemplars;
mod failure;
mod graveyard;
mod ingest;
mod list;
mod observe;
mod part;
mod problems;
mod reconstruct;
mod schema;
mod settle;
mod spans;
mod stream;
mod survey;
mod values;
mod wide;

pub use exemplars::choose;
pub use failure::Failure;
pub use graveyard::find_late;
pub use ingest::{ingest, ingest_rows};
pub use list::list;
pub use observe::{calibrate, observe};
pub use problems::problems;
pub use reconstruct::{Rebuilding, Rebuilt, rebuild};
pub use schema::schema;
pub use settle::{Surveyed, settle};
pub use stream::tell;
pub use survey::survey;
pub use values::distribute;
