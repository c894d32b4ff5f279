//! `manifest.json` of an analyze folder: what is known of a run besides its tables.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::run::Run;
use crate::distributions::{Name, Overview};
use crate::report::{Problem, RunFacts};
use crate::tables::SCHEMA_VERSION;
use crate::units::UnixNanos;

/// Version and commit.
pub(super) const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), " (", env!("DWINDLE_COMMIT"), ")");

/// The manifest.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// Of the tables.
    pub schema_version: u32,
    /// Of the program that wrote them.
    pub dwindle_version: String,
    /// The inputs as they were named.
    pub inputs: Vec<String>,
    /// A digest of what the contracts say that the tables depend on.
    pub contracts: String,
    /// The service whose calls stand in the place of requests; null where requests do.
    pub scope: Option<String>,
    /// The attributes by which classes are split.
    pub split_by: Vec<String>,
    /// Each file.
    pub files: Vec<File>,
    /// Span records found.
    pub spans_read: u64,
    /// Those kept.
    pub spans_admitted: u64,
    /// Those not kept.
    pub spans_rejected: u64,
    /// Distinct traces.
    pub traces: u64,
    /// Requests.
    pub requests: u64,
    /// First start and last end of all spans; null where there is none.
    pub observation_window: Option<Window>,
    /// Who calls whom.
    pub topology: Topology,
    /// How much of the evidence for deadlines was there.
    pub coverage: Coverage,
    /// What the requests stand for.
    pub sampling: Sampling,
}

/// What is known of how requests were kept.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Sampling {
    requests_of_known_weight: u64,
    requests_of_unknown_weight: u64,
    requests_of_no_weight: u64,
    /// Who chose traces once their outcome was known, and how often they say so.
    chosen_by: BTreeMap<String, u64>,
}

/// One file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct File {
    path: String,
    format: Option<String>,
    bytes: u64,
    spans_read: u64,
    spans_admitted: u64,
    spans_rejected: u64,
}

/// A stretch of wall-clock time.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Window {
    start_unix_ns: i64,
    end_unix_ns: i64,
}

/// Services and calls.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Topology {
    services: Vec<String>,
    edges: Vec<Edge>,
}

/// One service calling another.
#[derive(Debug, Serialize, Deserialize)]
struct Edge {
    caller: String,
    callee: String,
    calls: u64,
}

/// Counts behind the shares that reports state.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Coverage {
    hops: u64,
    hops_with_grant: u64,
    hops_with_inferred_timeout: u64,
    calls: u64,
    calls_with_callee: u64,
    attempts: u64,
    attempts_with_allowance: u64,
    attempts_with_measured_allowance: u64,
    clients: u64,
    wordless_clients: u64,
    span_links: u64,
}

impl Manifest {
    /// The manifest of a run.
    pub(super) fn new(inputs: &[String], run: &Run, overview: &Overview) -> Self {
        let (files, facts, coverage) = (&run.ingested.files, &run.facts, &overview.coverage);
        let edge = |((caller, callee), &calls): (&(Name, Name), &u64)| Edge {
            caller: caller.to_string(),
            callee: callee.to_string(),
            calls,
        };
        Self {
            schema_version: SCHEMA_VERSION,
            dwindle_version: VERSION.to_owned(),
            inputs: sorted(inputs),
            contracts: run.contracts.clone(),
            scope: run.scope.clone(),
            split_by: run.split_by.clone(),
            spans_read: files.iter().map(|file| file.spans_read).sum(),
            spans_admitted: files.iter().map(|file| file.spans_admitted).sum(),
            spans_rejected: files.iter().map(|file| file.spans_rejected).sum(),
            files: files.iter().map(File::new).collect(),
            traces: facts.traces,
            requests: overview.requests,
            observation_window: facts.window.map(|(start, end)| Window {
                start_unix_ns: start.as_nanos(),
                end_unix_ns: end.as_nanos(),
            }),
            topology: Topology {
                services: overview.services.iter().map(ToString::to_string).collect(),
                edges: overview.edges.iter().map(edge).collect(),
            },
            coverage: Coverage {
                hops: coverage.hops,
                hops_with_grant: coverage.hops_with_grant,
                hops_with_inferred_timeout: coverage.hops_with_inferred_timeout,
                calls: coverage.calls,
                calls_with_callee: coverage.calls_with_callee,
                attempts: coverage.attempts,
                attempts_with_allowance: coverage.attempts_with_allowance,
                attempts_with_measured_allowance: coverage.attempts_with_measured_allowance,
                clients: facts.clients,
                wordless_clients: facts.wordless_clients,
                span_links: facts.span_links,
            },
            sampling: Sampling {
                requests_of_known_weight: overview.weights.known,
                requests_of_unknown_weight: overview.weights.unknown,
                requests_of_no_weight: overview.weights.none,
                chosen_by: facts.chosen_by.clone(),
            },
        }
    }

    /// Whether somebody chose traces by how they ended.
    pub(super) fn are_chosen(&self) -> bool {
        !self.sampling.chosen_by.is_empty()
    }

    /// What a report tells of the run.
    pub(super) fn run_facts(self, problems: Vec<Problem>) -> RunFacts {
        let instant = UnixNanos::from_nanos;
        RunFacts {
            version: self.dwindle_version,
            inputs: self.inputs,
            contracts: self.contracts,
            files: self.files.len() as u64,
            files_read: self.files.iter().map(|file| file.path.clone()).collect(),
            spans_read: self.spans_read,
            spans_admitted: self.spans_admitted,
            spans_rejected: self.spans_rejected,
            traces: self.traces,
            window: self
                .observation_window
                .map(|window| (instant(window.start_unix_ns), instant(window.end_unix_ns))),
            wordless_clients: self.coverage.wordless_clients,
            clients: self.coverage.clients,
            span_links: self.coverage.span_links,
            chosen_by: self.sampling.chosen_by.into_keys().collect(),
            problems,
            calibrated: None,
            scope: self.scope,
            split_by: self.split_by,
            chosen: None,
        }
    }
}

impl File {
    fn new(facts: &crate::ingest::FileFacts) -> Self {
        Self {
            path: facts.path.clone(),
            format: facts.format.clone(),
            bytes: facts.bytes,
            spans_read: facts.spans_read,
            spans_admitted: facts.spans_admitted,
            spans_rejected: facts.spans_rejected,
        }
    }
}

/// In an order that does not depend on how they were given.
fn sorted(inputs: &[String]) -> Vec<String> {
    let mut inputs = inputs.to_vec();
    inputs.sort_unstable();
    inputs
}
