//! dwindle: where a request's deadline went.
//!
//! ```text
//!  files, stdin        spans in partitions              tables               rows             text
//!  ──────────► ingest ──────────► survey ──► facts
//!              sniff → read →        │
//!              admit → scatter       └──► reconstruct ──► tables ──► distributions ──► report
//!                                    contract ──► Policy ───┘
//! ```
//!
//! The modules in reading order: [`units`] and [`budget`] hold the arithmetic, [`span`] what a
//! span is once [`conventions`] have said what its attributes mean, [`ingest`] how it gets in,
//! [`reconstruct`] what a trace says of its requests, [`tables`] every row and column that comes
//! out, [`distributions`] and [`report`] what people read of it, [`exemplars`] which
//! traces are shown, [`rules`] what each
//! finding means, [`diff`] two inputs compared, [`extract`] one trace by itself, [`calibrate`] what traces do not declare,
//! [`retrying`] who tries calls again, [`instrumentation`] what to record next, [`plan`] what a policy would do, [`cli`] the command.

pub mod units;

pub mod budget;
pub mod date;
pub mod finding_id;
pub(crate) mod names;
pub mod stats;
pub(crate) mod visible;

pub mod span;

pub mod clocks;
pub mod config_error;
pub(crate) mod config_text;
pub(crate) mod config_values;
pub mod contract;
pub mod conventions;
pub(crate) mod counts;
pub mod forest;
pub mod otlp;
pub mod tables;

pub mod ingest;

pub mod survey;

pub mod exemplars;
pub mod reconstruct;

pub mod rules;

pub mod distributions;
pub mod graveyard;
pub mod instrumentation;
pub mod ranking;
pub mod retrying;
pub mod selection;
pub mod timeline;

pub mod calibrate;
pub mod check;
pub mod cluster;
pub mod diff;
pub mod extract;
pub mod plan;
pub mod query;
pub mod report;

pub mod cli;
