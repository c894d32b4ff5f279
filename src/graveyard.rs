//! Expired work that ran while work with time left waited for the same service (SEMANTICS §11,
//! `graveyard-first`): the one finding that needs several traces.
//!
//! Only hops of one clock are compared: there the instants of different traces are exact, and it
//! is that host's capacity which the expired work took.

use std::collections::{BTreeMap, BinaryHeap};

use crate::span::Interner;
use crate::tables::{Certainty, FindingCode, FindingRow, HopRow, Kept, Row, Stay, Tables};
use crate::units::{Nanos, UnixNanos};

/// What stood in queues, over the whole input. Memory grows with the number of hops that waited.
#[derive(Debug, Default)]
pub struct Graveyard {
    strings: Interner,
    /// By service and clock.
    queues: BTreeMap<(usize, usize), Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: Vec<Waiting>,
    expired: Vec<(Stay, HopRow)>,
}

/// A hop with time left that waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    arrived: UnixNanos,
    begun: UnixNanos,
    deadline: UnixNanos,
    deadline_earliest: Option<UnixNanos>,
}

impl Graveyard {
    /// Adds what a partition shows.
    pub fn add(&mut self, tables: &Tables) {
        for &stay in &tables.stays {
            let [service, clock] = [stay.service, stay.clock_domain]
                .map(|sym| self.strings.intern(tables.strings.get(sym)).index());
            let key = (service, clock);
            let queue = self.queues.entry(key).or_default();
            if let Some(hop) = tables.hops.get(stay.hop).filter(|_| stay.expired.is_some()) {
                let mut hop = hop.clone();
                hop.renumber(&mut |sym| self.strings.intern(tables.strings.get(sym)));
                queue.expired.push((stay, hop));
            }
            if stay.arrived < stay.begun && stay.arrived < stay.deadline {
                let Stay { arrived, begun, deadline, deadline_earliest, .. } = stay;
                queue.waiting.push(Waiting { arrived, begun, deadline, deadline_earliest });
            }
        }
    }

    /// The findings, in the order of the tables, and of each the hop that it is about, and its stay.
    pub fn findings(self) -> Tables {
        let mut found = Vec::new();
        for mut queue in self.queues.into_values().filter(|queue| !queue.expired.is_empty()) {
            // Whatever order partitions came in, the same.
            queue.waiting.sort_unstable();
            queue.expired.sort_by_key(|(stay, hop)| (stay.begun, hop.trace_id, hop.hop_id));
            queue.find(&mut found);
        }
        found
            .sort_by_key(|(stay, hop, _)| (hop.trace_id, hop.root_span_id, stay.begun, hop.hop_id));
        let mut tables = Tables { strings: self.strings, ..Tables::default() };
        for (stay, hop, finding) in found {
            tables.stays.push(Stay { hop: tables.hops.len(), ..stay });
            tables.hops.push(hop);
            tables.findings.push(finding);
        }
        tables
    }
}

/// Puts the findings of a [`Graveyard`] among all others: behind those of their request.
pub fn merge(mut kept: Kept<FindingRow>, found: Tables) -> Kept<FindingRow> {
    let request = |row: &FindingRow| (row.trace_id, row.root_span_id);
    let mut late = Kept { strings: kept.strings, rows: Vec::new() };
    late.extend(found.findings, &found.strings);
    let mut by_request: BTreeMap<_, Vec<FindingRow>> = BTreeMap::new();
    for row in late.rows {
        by_request.entry(request(&row)).or_default().push(row);
    }
    let mut rows = Vec::with_capacity(kept.rows.len());
    for of_request in std::mem::take(&mut kept.rows).chunk_by(|a, b| request(a) == request(b)) {
        rows.extend_from_slice(of_request);
        let key = of_request.first().map(request);
        rows.extend(key.and_then(|key| by_request.remove(&key)).unwrap_or_default());
    }
    Kept { strings: late.strings, rows }
}

impl Queue {
    /// For each expired hop the one that waited for it longest, by (begun).
    fn find(self, found: &mut Vec<(Stay, HopRow, FindingRow)>) {
        let Self { waiting, expired } = self;
        // Those that had come already, by when they began: expired ones come by their begin, so
        // what has run out of time, or has begun by then, is of no use to later ones either.
        let mut before: BinaryHeap<(UnixNanos, Waiting)> = BinaryHeap::new();
        let mut next = 0;
        for (stay, hop) in expired {
            let Some(work) = stay.expired else { continue };
            while let Some(&one) = waiting.get(next).filter(|one| one.arrived <= stay.begun) {
                before.push((one.begun, one));
                next += 1;
            }
            while before
                .peek()
                .is_some_and(|(begun, one)| *begun <= stay.begun || one.deadline <= stay.begun)
            {
                before.pop();
            }
            let mut longest: Option<Overlap> = None;
            let mut take = |one: Waiting| {
                let from = one.arrived.max(stay.begun);
                let length = one.begun.min(work.until) - from;
                if length > longest.as_ref().map_or(Nanos::ZERO, |longest| longest.length) {
                    let is_sure = one.deadline_earliest.is_some_and(|deadline| deadline > from);
                    longest = Some(Overlap { length, is_sure });
                }
                length
            };
            if let Some(&(_, one)) = before.peek() {
                take(one);
            }
            let mut at_most = Nanos::ZERO;
            for &one in waiting.get(next..).unwrap_or_default() {
                // One that came later cannot have waited beside it any longer.
                if work.until - one.arrived <= at_most {
                    break;
                }
                at_most = at_most.max(take(one));
            }
            let Some(Overlap { length, is_sure }) = longest else { continue };
            let certainty = if is_sure { work.certainty } else { Certainty::Possible };
            let finding = FindingRow {
                trace_id: hop.trace_id,
                request_class: hop.request_class,
                root_span_id: hop.root_span_id,
                code: FindingCode::GraveyardFirst,
                span_id: hop.hop_id,
                excess_ns: length,
                // Its first finding is that it began after its deadline, and tells it.
                wasted_ns: Some(Nanos::ZERO),
                evidence: work.evidence,
                certainty,
            };
            found.push((stay, hop, finding));
        }
    }
}

struct Overlap {
    length: Nanos,
    is_sure: bool,
}
