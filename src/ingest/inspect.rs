//! What a file holds, counted: the facts behind `dwindle inspect`.

use std::collections::BTreeSet;

use super::halved_ids::{Tie, whole_ids};
use super::scatter::{Scattered, together};
use super::{FileFacts, Ingested};
use crate::span::{Interner, Span, SpanId, Spans, TraceId};
use crate::tables::ProblemRow;
use crate::units::{Nanos, UnixNanos};

/// What some files hold.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// Each file by itself, by path.
    pub files: Vec<FileInspection>,
    /// All spans together, whatever file they lie in; `None` where there is one file.
    pub together: Option<Counts>,
}

/// One file, counted.
#[derive(Clone, Debug)]
pub struct FileInspection {
    /// What reading it showed.
    pub facts: FileFacts,
    /// What its spans show.
    pub counts: Counts,
    /// Trouble in it, by code.
    pub problems: Vec<ProblemRow>,
    /// The strings behind `problems`.
    pub problem_strings: Interner,
}

/// What some spans show together.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// The spans, but for those rejected.
    pub spans: u64,
    /// Distinct traces.
    pub traces: u64,
    /// Spans without a parent.
    pub roots: u64,
    /// Spans whose parent is not among them.
    pub orphans: u64,
    /// Ids that several records of one trace carry.
    pub duplicate_span_ids: u64,
    /// The services.
    pub services: BTreeSet<String>,
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

/// Files while they are counted, one after another.
#[derive(Default)]
pub(super) struct Inspecting {
    files: Vec<FileInspection>,
    all: Counter,
}

impl Inspecting {
    /// Counts the only file of `ingested`.
    pub(super) fn add(&mut self, ingested: Ingested<Vec<Scattered>>) {
        let Ok([facts]) = <[FileFacts; 1]>::try_from(ingested.files) else { return };
        let mut counter = Counter::default();
        counter.add(&together(ingested.partitions));
        let counts = counter.counts();
        self.all.merge(counter);
        let Ingested { problems, problem_strings, .. } = ingested;
        self.files.push(FileInspection { facts, counts, problems, problem_strings });
    }

    /// All that were counted.
    pub(super) fn finish(self) -> Inspection {
        let together = (self.files.len() > 1).then(|| self.all.counts());
        Inspection { files: self.files, together }
    }
}

/// Spans while they are counted.
#[derive(Default)]
struct Counter {
    /// What needs no look at other spans.
    sums: Counts,
    /// How each span is tied to others.
    ties: Vec<Tie>,
}

impl Counter {
    fn add(&mut self, partition: &Spans) {
        self.ties.extend(partition.rows.iter().map(Tie::from));
        for span in &partition.rows {
            self.sums.add(span, &partition.strings);
        }
    }

    fn merge(&mut self, other: Self) {
        self.sums.merge(other.sums);
        self.ties.extend(other.ties);
    }

    /// The counts of all that was added.
    fn counts(&self) -> Counts {
        let whole = whole_ids(&self.ties);
        let trace_of = |tie: &Tie| whole.get(&tie.trace_id).copied().unwrap_or(tie.trace_id);
        let mut ids: Vec<(TraceId, SpanId)> =
            self.ties.iter().map(|tie| (trace_of(tie), tie.span_id)).collect();
        ids.sort_unstable();
        let traces = ids.chunk_by(|one, next| one.0 == next.0).count() as u64;
        let of_one_id = ids.chunk_by(|one, next| one == next);
        let duplicates = of_one_id.filter(|records| records.len() > 1).count() as u64;
        let is_orphan = |tie: &&Tie| {
            let parent = tie.parent_span_id.map(|parent| (trace_of(tie), parent));
            parent.is_some_and(|parent| ids.binary_search(&parent).is_err())
        };
        let orphans = self.ties.iter().filter(is_orphan).count() as u64;
        Counts { traces, orphans, duplicate_span_ids: duplicates, ..self.sums.clone() }
    }
}

impl Counts {
    /// Adds what a span shows by itself.
    fn add(&mut self, span: &Span, strings: &Interner) {
        self.spans += 1;
        self.roots += u64::from(span.parent_span_id.is_none());
        match strings.get(span.service) {
            "" => self.no_service += 1,
            service if self.services.contains(service) => {}
            service => drop(self.services.insert(service.to_owned())),
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

    /// Adds what other spans show by themselves.
    fn merge(&mut self, other: Self) {
        self.spans += other.spans;
        self.roots += other.roots;
        self.services.extend(other.services);
        self.no_service += other.no_service;
        self.min_start = self.min_start.into_iter().chain(other.min_start).min();
        self.max_end = self.max_end.max(other.max_end);
        self.error_spans += other.error_spans;
        self.evidence.merge(other.evidence);
    }
}

impl Evidence {
    fn add(&mut self, span: &Span) {
        let is_root = span.parent_span_id.is_none();
        self.merge(Self {
            grants: u64::from(span.grant.is_some()),
            root_grants: u64::from(span.grant.is_some() && is_root),
            allowances: u64::from(span.allowance.is_some()),
            ordinals: u64::from(span.attempt_ordinal.is_some()),
            queued: u64::from(span.queued_before > Nanos::ZERO),
        });
    }

    fn merge(&mut self, other: Self) {
        self.grants += other.grants;
        self.root_grants += other.root_grants;
        self.allowances += other.allowances;
        self.ordinals += other.ordinals;
        self.queued += other.queued;
    }
}
