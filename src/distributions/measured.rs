//! The values of one partition, by whose they are. Gathered by the numbers of names, where the
//! partition was rebuilt, so that it costs little.

use rustc_hash::FxHashMap;

use super::hops_of_findings;
use super::subject::Subject;
use crate::span::{SpanId, Sym, TraceId};
use crate::stats::{Mass, Weight};
use crate::tables::{AttemptRow, FindingRow, HopRow, Row, Scope, SegmentRow, Tables};
use crate::units::Nanos;

/// The values of one partition.
#[derive(Debug, Default)]
pub struct Measured {
    /// Whose values there are, in the order in which they came, and where their slots begin: one for
    /// each of their measures.
    pub(super) subjects: Vec<(Subject<Sym>, usize)>,
    /// By slot how many zeros there are.
    pub(super) zeros: Vec<Mass>,
    /// The other values, each in a slot.
    pub(super) values: Vec<(u32, i64)>,
    /// Where among them those begin that weigh so much.
    weights: Vec<(usize, Option<Weight>)>,
    numbers: FxHashMap<Subject<Sym>, usize>,
    /// What the request that is being taken in weighs.
    weight: Option<Weight>,
}

impl Measured {
    /// The values in the tables of some whole traces. Requests that stand for none are left out.
    pub fn of(tables: &Tables) -> Self {
        let mut measured = Self::default();
        let mut rest = Rest {
            hops: &tables.hops,
            attempts: &tables.attempts,
            segments: &tables.segments,
            findings: &tables.findings,
        };
        for request in &tables.requests {
            let rows = rest.take((request.trace_id, request.root_span_id));
            let weight = request.weight.and_then(Weight::new);
            if weight.is_some_and(Weight::is_zero) {
                continue;
            }
            measured.begin(weight);
            measured.add(Subject::of_class(request.request_class, Scope::Request), request);
            measured.add_segments(rows.segments);
            rows.hops.iter().for_each(|row| measured.add(Subject::of_hop(row), row));
            rows.attempts.iter().for_each(|row| measured.add(Subject::of_attempt(row), row));
            measured.add_findings(rows.findings, rows.hops);
        }
        measured
    }

    /// The values of the findings that need several traces. Of each the tables hold the hop that it is
    /// about, and the stay, in the same order.
    pub fn of_late(tables: &Tables) -> Self {
        let mut measured = Self::default();
        for ((row, hop), stay) in tables.findings.iter().zip(&tables.hops).zip(&tables.stays) {
            if !stay.weight.is_some_and(Weight::is_zero) {
                measured.begin(stay.weight);
                measured.add(Subject::of_finding(row, Some(hop)), row);
            }
        }
        measured
    }

    /// The values that are not zero, those together that come from requests of one weight.
    pub(super) fn by_weight(&self) -> impl Iterator<Item = (&[(u32, i64)], Option<Weight>)> {
        let ends = self.weights.iter().skip(1).map(|(begin, _)| *begin);
        let stretches = self.weights.iter().zip(ends.chain([self.values.len()]));
        stretches.map(|(&(begin, weight), end)| {
            (self.values.get(begin..end).unwrap_or_default(), weight)
        })
    }

    /// What comes from here on weighs so much.
    fn begin(&mut self, weight: Option<Weight>) {
        self.weight = weight;
        if self.weights.last().is_none_or(|&(_, last)| last != weight) {
            self.weights.push((self.values.len(), weight));
        }
    }

    /// Adds the measures of one row.
    fn add<R: Row>(&mut self, subject: Subject<Sym>, row: &R) {
        let Self { subjects, numbers, zeros, values, weight, .. } = self;
        let first = *numbers.entry(subject).or_insert_with(|| {
            let first = zeros.len();
            subjects.push((subject, first));
            zeros.resize(first + R::MEASURES.len(), Mass::NOTHING);
            first
        });
        for (slot, measure) in (first..).zip(R::MEASURES) {
            match (measure.value)(row).map(Nanos::as_nanos) {
                None => {}
                Some(0) => {
                    if let Some(zeros) = zeros.get_mut(slot) {
                        zeros.add(*weight);
                    }
                }
                Some(value) => values.push((u32::try_from(slot).unwrap_or(u32::MAX), value)),
            }
        }
    }

    /// Operations of one service and category are one.
    fn add_segments(&mut self, rows: &[SegmentRow]) {
        let mut spent: Vec<SegmentRow> = Vec::new();
        for row in rows {
            let is_its = |known: &&mut SegmentRow| {
                (known.service, known.category) == (row.service, row.category)
            };
            match spent.iter_mut().find(is_its) {
                Some(known) => known.duration_ns += row.duration_ns,
                None => spent.push(row.clone()),
            }
        }
        for row in &spent {
            self.add(Subject::of_segment(row), row);
        }
    }

    /// Each finding at the hop that it is about.
    fn add_findings(&mut self, findings: &[FindingRow], hops: &[HopRow]) {
        if findings.is_empty() {
            return;
        }
        for (row, hop) in findings.iter().zip(hops_of_findings(findings, hops)) {
            self.add(Subject::of_finding(row, hop), row);
        }
    }
}

/// The rows of requests that were not taken yet; each table goes by request, in one order.
struct Rest<'t> {
    hops: &'t [HopRow],
    attempts: &'t [AttemptRow],
    segments: &'t [SegmentRow],
    findings: &'t [FindingRow],
}

impl Rest<'_> {
    /// Those of the next request.
    fn take(&mut self, request: (TraceId, SpanId)) -> Self {
        Self {
            hops: take_leading(&mut self.hops, |row| (row.trace_id, row.root_span_id) == request),
            attempts: take_leading(&mut self.attempts, |row| {
                (row.trace_id, row.root_span_id) == request
            }),
            segments: take_leading(&mut self.segments, |row| {
                (row.trace_id, row.root_span_id) == request
            }),
            findings: take_leading(&mut self.findings, |row| {
                (row.trace_id, row.root_span_id) == request
            }),
        }
    }
}

/// Cuts off the first rows, as long as they are wanted.
fn take_leading<'t, R>(rows: &mut &'t [R], is_wanted: impl Fn(&R) -> bool) -> &'t [R] {
    let count = rows.iter().take_while(|row| is_wanted(row)).count();
    let (leading, rest) = rows.split_at(count);
    *rows = rest;
    leading
}
