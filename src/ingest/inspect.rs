//! What a file holds, counted: the facts behind `dwindle inspect`.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{FileFacts, Ingested};
use crate::span::{Interner, Span, SpanId, Spans, TraceId};
use crate::tables::ProblemRow;
use crate::units::{Nanos, UnixNanos};

/// One file, counted.
#[derive(Clone, Debug)]
pub struct FileInspection {
    /// What reading it showed.
    pub facts: FileFacts,
    /// Distinct traces.
    pub traces: u64,
    /// Spans without a parent.
    pub roots: u64,
    /// Spans whose parent is not in the file.
    pub orphans: u64,
    /// Ids that several records of one trace carry.
    pub duplicate_span_ids: u64,
    /// The services, sorted.
    pub services: Vec<String>,
    /// Spans without a service.
    pub no_service: u64,
    /// The earliest start; `None` where there is no span.
    pub min_start: Option<UnixNanos>,
    /// The latest end; `None` where no span has one.
    pub max_end: Option<UnixNanos>,
    /// Spans whose status says ERROR.
    pub error_spans: u64,
    /// What the spans say about deadlines, attempts and queues.
    pub evidence: Evidence,
    /// Trouble in it, by code.
    pub problems: Vec<ProblemRow>,
    /// The strings behind `problems`.
    pub problem_strings: Interner,
}

/// How many spans say something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// How much time they, or their callees, were given.
    pub grants: u64,
    /// The same, of spans without a parent.
    pub root_grants: u64,
    /// How long one attempt may take.
    pub allowances: u64,
    /// Which attempt they are.
    pub ordinals: u64,
    /// How long they waited in a queue before they started.
    pub queued: u64,
}

impl FileInspection {
    /// Counts the only file of `ingested`; `None` where there is none, or several.
    pub fn new(ingested: Ingested) -> Option<Self> {
        let Ok([facts]) = <[FileFacts; 1]>::try_from(ingested.files) else { return None };
        let mut inspection = Self {
            facts,
            traces: 0,
            roots: 0,
            orphans: 0,
            duplicate_span_ids: 0,
            services: Vec::new(),
            no_service: 0,
            min_start: None,
            max_end: None,
            error_spans: 0,
            evidence: Evidence::default(),
            problems: ingested.problems,
            problem_strings: ingested.problem_strings,
        };
        let mut services = BTreeSet::new();
        for partition in &ingested.partitions {
            inspection.add(partition, &mut services);
        }
        inspection.services = services.into_iter().map(str::to_owned).collect();
        Some(inspection)
    }

    /// Adds a partition, which holds whole traces.
    fn add<'s>(&mut self, partition: &'s Spans, services: &mut BTreeSet<&'s str>) {
        let mut records: FxHashMap<(TraceId, SpanId), u64> = FxHashMap::default();
        let mut traces = FxHashSet::default();
        for span in &partition.rows {
            traces.insert(span.trace_id);
            *records.entry((span.trace_id, span.span_id)).or_default() += 1;
        }
        self.traces += traces.len() as u64;
        self.duplicate_span_ids += records.values().filter(|&&count| count > 1).count() as u64;
        for span in &partition.rows {
            match span.parent_span_id {
                None => self.roots += 1,
                Some(parent) => {
                    let is_here = records.contains_key(&(span.trace_id, parent));
                    self.orphans += u64::from(!is_here);
                }
            }
            match partition.strings.get(span.service) {
                "" => self.no_service += 1,
                service => drop(services.insert(service)),
            }
            // Where times count from zero, the first of them says nothing.
            if 0 < span.start.as_nanos() {
                self.min_start = self.min_start.into_iter().chain([span.start]).min();
            }
            // An end before the start was moved, and an absent one is none.
            if !span.flags.negative_duration {
                self.max_end = self.max_end.max(Some(span.end));
            }
            self.error_spans += u64::from(span.flags.has_error_status);
            self.evidence.add(span);
        }
    }
}

impl Evidence {
    fn add(&mut self, span: &Span) {
        let is_root = span.parent_span_id.is_none();
        self.grants += u64::from(span.grant.is_some());
        self.root_grants += u64::from(span.grant.is_some() && is_root);
        self.allowances += u64::from(span.allowance.is_some());
        self.ordinals += u64::from(span.attempt_ordinal.is_some());
        self.queued += u64::from(span.queued_before > Nanos::ZERO);
    }
}
