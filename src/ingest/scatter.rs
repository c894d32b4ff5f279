//! Partitions: each holds whole traces, and one after another they are in the order of
//! [`TraceId::sort_key`]. Their number changes no output.

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use rustc_hash::FxHashMap;

use crate::span::{Grant, Interner, Span, Spans, Sym, TraceId};

/// How many partitions there are: enough to keep the cores of a big machine busy.
const PARTITIONS: usize = 1 << PARTITION_BITS;
const PARTITION_BITS: u32 = 6;

/// The partition of a trace: the leading bits of its sort key.
const fn partition_of(trace: TraceId) -> usize {
    (trace.sort_key() >> (u128::BITS - PARTITION_BITS)) as usize
}

/// Spans by partition, as one worker puts them there.
#[derive(Debug)]
pub(crate) struct Scattered {
    /// The strings behind the spans.
    pub strings: Interner,
    /// The spans of each partition.
    partitions: Vec<Vec<Span>>,
}

impl Default for Scattered {
    fn default() -> Self {
        let partitions = std::iter::repeat_with(Vec::new).take(PARTITIONS).collect();
        Self { strings: Interner::default(), partitions }
    }
}

impl Scattered {
    /// Puts a span into its partition; its strings are already here.
    pub(crate) fn push(&mut self, span: Span) {
        // Every number that the leading bits can be is that of a partition.
        if let Some(partition) = self.partitions.get_mut(partition_of(span.trace_id)) {
            partition.push(span);
        }
    }
}

/// Puts together what the workers have scattered.
pub(crate) fn gather(workers: Vec<Scattered>) -> Vec<Spans> {
    let mut strings = Vec::with_capacity(workers.len());
    let mut partitions: Vec<Vec<Vec<Span>>> =
        std::iter::repeat_with(Vec::new).take(PARTITIONS).collect();
    for worker in workers {
        strings.push(worker.strings);
        for (partition, rows) in partitions.iter_mut().zip(worker.partitions) {
            partition.push(rows);
        }
    }
    partitions.into_par_iter().map(|partition| merge(&strings, partition)).collect()
}

/// One partition, from each worker's strings and rows.
fn merge(strings: &[Interner], workers: Vec<Vec<Span>>) -> Spans {
    let mut spans = Spans::default();
    spans.rows.reserve_exact(workers.iter().map(Vec::len).sum());
    for (theirs, rows) in strings.iter().zip(workers) {
        let mut known = FxHashMap::default();
        let mut translate =
            |sym: Sym| *known.entry(sym).or_insert_with(|| spans.strings.intern(theirs.get(sym)));
        spans.rows.extend(rows.iter().map(|span| translated(span, &mut translate)));
    }
    spans
}

/// The span with every symbol translated. All fields are listed, so that a new one is not forgotten.
fn translated(span: &Span, translate: &mut impl FnMut(Sym) -> Sym) -> Span {
    Span {
        trace_id: span.trace_id,
        span_id: span.span_id,
        parent_span_id: span.parent_span_id,
        service: translate(span.service),
        clock_domain: translate(span.clock_domain),
        operation: translate(span.operation),
        route_operation: span.route_operation.map(&mut *translate),
        kind: span.kind,
        start: span.start,
        end: span.end,
        outcome: span.outcome,
        http_status: span.http_status,
        grant: span.grant.map(|grant| Grant {
            key: translate(grant.key),
            rule: translate(grant.rule),
            ..grant
        }),
        allowance: span.allowance,
        allowance_key: span.allowance_key.map(&mut *translate),
        attempt_ordinal: span.attempt_ordinal,
        ordinal_key: span.ordinal_key.map(&mut *translate),
        queued_before: span.queued_before,
        queued_key: span.queued_key.map(&mut *translate),
        waited_inside: span.waited_inside,
        target: span.target,
        peer_service: span.peer_service.map(&mut *translate),
        links: span.links,
        flags: span.flags,
    }
}
