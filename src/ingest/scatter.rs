//! Spans by partition, as one worker puts them there. A partition holds whole traces, and one after
//! another they are in the order of [`TraceId::sort_key`]. Their number changes no output.

use std::sync::Arc;

use crate::span::{Grant, Interner, Span, Spans, Sym, TraceId};

/// How many partitions there are: enough for a big machine's cores, and for each to be a small part
/// of what memory does not hold.
pub(super) const PARTITIONS: usize = 1 << PARTITION_BITS;
const PARTITION_BITS: u32 = 8;

/// The traces whose sort keys begin with the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    bits: u32,
    prefix: u128,
}

impl Range {
    /// How far a partition is cut; further, most parts would be empty.
    const MAX_BITS: u32 = 24;

    /// Those of a partition.
    pub(super) const fn of_partition(partition: usize) -> Self {
        Self { bits: PARTITION_BITS, prefix: partition as u128 }
    }

    /// The range of those that begin with `bits` bits as the sort key of `trace` does.
    const fn around(trace: TraceId, bits: u32) -> Self {
        Self { bits, prefix: trace.sort_key() >> (u128::BITS - bits) }
    }

    /// Whether a trace is among them.
    pub(super) fn contains(self, trace: TraceId) -> bool {
        Self::around(trace, self.bits) == self
    }

    /// The range cut in at least so many equal parts, as far as that goes, in order.
    pub(super) fn cut(self, parts: u64) -> impl Iterator<Item = Self> {
        let wanted = parts.max(1).next_power_of_two().ilog2();
        let more = wanted.min(Self::MAX_BITS - self.bits);
        (0..1_u128 << more)
            .map(move |part| Self { bits: self.bits + more, prefix: self.prefix << more | part })
    }
}

/// Spans by partition.
#[derive(Debug, Default)]
pub(crate) struct Scattered {
    /// The strings behind the spans.
    pub strings: Interner,
    /// The spans of each partition; none where none has come yet.
    pub(super) partitions: Vec<Vec<Span>>,
}

impl Scattered {
    /// Puts a span into its partition; its strings are already here.
    pub(crate) fn push(&mut self, span: Span) {
        if self.partitions.is_empty() {
            self.partitions.resize_with(PARTITIONS, Vec::new);
        }
        let partition = Range::around(span.trace_id, PARTITION_BITS).prefix as usize;
        // Every number that the leading bits can be is that of a partition.
        if let Some(partition) = self.partitions.get_mut(partition) {
            partition.push(span);
        }
    }

    /// How much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        let spans: usize = self.partitions.iter().map(Vec::capacity).sum();
        spans * size_of::<Span>() + self.strings.bytes()
    }
}

/// The spans of one worker by partition, and what other numbers their strings have.
type Numbered = (Arc<[Sym]>, Vec<Vec<Span>>);

/// Gives all workers one interner. The numbers of the first hold there.
pub(super) fn with_one_interner(workers: Vec<Scattered>) -> (Interner, Vec<Numbered>) {
    let mut strings = Interner::default();
    let number = |Scattered { strings: theirs, partitions }| {
        if strings.is_empty() {
            strings = theirs;
            return (Arc::default(), partitions);
        }
        (strings.extend_by(&theirs).into(), partitions)
    };
    let numbered = workers.into_iter().map(number).collect();
    (strings, numbered)
}

/// Adds the spans of a worker, of which the strings have other numbers.
pub(super) fn add(rows: &mut Vec<Span>, mut more: Vec<Span>, numbers: &[Sym]) {
    if !numbers.is_empty() {
        for span in &mut more {
            renumber(span, numbers);
        }
    }
    if rows.is_empty() {
        *rows = more;
    } else {
        rows.append(&mut more);
    }
}

/// All spans, one worker's after another's.
pub(super) fn together(workers: Vec<Scattered>) -> Spans {
    let (strings, workers) = with_one_interner(workers);
    let mut rows = Vec::new();
    for (numbers, partitions) in workers {
        for partition in partitions {
            add(&mut rows, partition, &numbers);
        }
    }
    Spans { strings, rows }
}

/// Numbers the strings of a span as another interner does. All fields are listed, so that a new one
/// is not forgotten.
fn renumber(span: &mut Span, numbers: &[Sym]) {
    let new = |sym: Sym| sym.renumbered(numbers);
    *span = Span {
        trace_id: span.trace_id,
        span_id: span.span_id,
        parent_span_id: span.parent_span_id,
        service: new(span.service),
        clock_domain: new(span.clock_domain),
        operation: new(span.operation),
        route_operation: span.route_operation.map(new),
        kind: span.kind,
        start: span.start,
        end: span.end,
        outcome: span.outcome,
        http_status: span.http_status,
        grant: span.grant.map(|grant| Grant {
            key: new(grant.key),
            rule: new(grant.rule),
            ..grant
        }),
        allowance: span.allowance,
        allowance_key: span.allowance_key.map(new),
        attempt_ordinal: span.attempt_ordinal,
        ordinal_key: span.ordinal_key.map(new),
        queued_before: span.queued_before,
        queued_key: span.queued_key.map(new),
        waited_inside: span.waited_inside,
        target: span.target,
        peer_service: span.peer_service.map(new),
        split: span.split.map(new),
        stack: span.stack.map(new),
        tries_inside: span.tries_inside,
        links: span.links,
        weight: span.weight,
        flags: span.flags,
    };
}
