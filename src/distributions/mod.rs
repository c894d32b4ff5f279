//! What reports tell of many requests: exact, mergeable, the same for any order of partitions.

mod by_trace;
mod class;
mod collection;
mod figures;
mod held;
mod histogram;
mod inferred;
mod measured;
mod merge;
mod names;
mod overview;
mod parcel;
mod runs;
mod sample;
mod subject;
mod varint;
mod waste;
mod weights;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

pub(crate) use by_trace::effective;
pub use by_trace::{Ordered, Values};
pub use class::{
    AllowanceSource, AttemptSummary, Call, ClassSummary, FindingSummary, HopSummary, Measure, Name,
    Place, Weighing,
};
pub use collection::{Collection, Distributions};
pub use held::Held;
pub use histogram::{Atom, Histogram};
pub use measured::Measured;
pub use merge::Merge;
pub(crate) use names::Names;
pub use overview::{Coverage, Overview};
pub use parcel::{Parcel, Precision};
pub use sample::{Estimate, Sample, Sorted};
pub use waste::WastedWork;

use crate::span::{Outcome, SpanId, TraceId};
use crate::stats::Weight;
use crate::tables::{AttemptRow, FindingRow, Funding, HopRow, RequestRow, SegmentRow, Tables};
use crate::units::{Nanos, UnixNanos};
use inferred::Inferred;
pub(crate) use merge::merged;
pub(crate) use weights::Weights;

merged! {
    /// What all partitions know together.
    pub struct Summary {
        /// What does not go by class.
        pub overview: Overview,
        /// By request class.
        pub classes: BTreeMap<Name, ClassSummary>,
        /// First starts and last ends of requests, for those that touch the window's edges.
        pub extents: Extents,
    }
}

/// When requests began and ended.
#[derive(Clone, Debug, Default)]
pub struct Extents(Vec<(UnixNanos, UnixNanos)>);

impl Extents {
    /// How many begin with `first` or end with `last`, or beyond: they may have been cut off.
    pub fn touching(&self, first: UnixNanos, last: UnixNanos) -> u64 {
        let touching = self.0.iter().filter(|(start, end)| *start <= first || *end >= last);
        touching.fold(0, |count, _| count + 1)
    }
}

impl Merge for Extents {
    fn merge_from(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

impl Summary {
    /// Now that all is known: percentiles are weighted where the weight of each request of a class is
    /// known, unless somebody chose traces by how they ended, which those weights do not tell.
    pub fn settle_weights(&mut self, are_chosen: bool) {
        self.classes.values_mut().for_each(|class| class.settle_weights(!are_chosen));
    }

    /// Takes in a partition of whole traces.
    pub fn add(&mut self, tables: &Tables) {
        self.overview.add(tables);
        let mut names = Names::of(&tables.strings);
        let weights = Weights::of(tables);
        for row in &tables.requests {
            self.add_request(row, &mut names);
        }
        self.add_segments(&tables.segments, &weights, &mut names);
        let inferred = Inferred::of(tables);
        for row in &tables.hops {
            self.add_hop(
                row,
                &inferred,
                weights.of_request(row.trace_id, row.root_span_id),
                &mut names,
            );
        }
        let of_request =
            |a: &HopRow, b: &HopRow| (a.trace_id, a.root_span_id) == (b.trace_id, b.root_span_id);
        for hops in tables.hops.chunk_by(of_request) {
            let Some(first) = hops.first() else { continue };
            let class = self.class(names.get(first.request_class));
            waste::add(hops, &mut names, &mut class.wasted);
        }
        for row in &tables.attempts {
            let weight = weights.of_request(row.trace_id, row.root_span_id);
            self.add_attempt(row, AllowanceSource::of(row, &tables.strings), weight, &mut names);
        }
        self.add_findings(tables);
    }

    fn class(&mut self, name: Name) -> &mut ClassSummary {
        self.classes.entry(name).or_default()
    }

    fn add_request(&mut self, row: &RequestRow, names: &mut Names<'_>) {
        self.extents.0.push((row.start_unix_ns, last_end(row)));

        let class = self.class(names.get(row.request_class));
        class.requests += 1;
        *class.deadline_sources.entry(row.deadline_source).or_default() += 1;
        *class.outcomes.entry(row.terminal_outcome).or_default() += 1;
        class.completed_in_time += u64::from(row.completed_before_deadline == Some(true));
        class.retries += count(row.retry_count);
        class.hedges += count(row.hedge_count);
        class.unfundable += count(row.unfundable_attempts);
        class.layered += u64::from(row.retry_layered);
        for spot in row.blind_spots.iter() {
            *class.blind_spots.entry(spot).or_default() += 1;
        }
        let weight = row.weight.and_then(Weight::new);
        class.weights.add(row);
        for (measure, value) in request_measures(row) {
            class.measures.entry(measure).or_default().push_some(value, weight);
        }
    }

    /// Operations of one service and category are told as one, request by request.
    fn add_segments(&mut self, rows: &[SegmentRow], weights: &Weights, names: &mut Names<'_>) {
        let of_request = |a: &SegmentRow, b: &SegmentRow| {
            (a.trace_id, a.root_span_id) == (b.trace_id, b.root_span_id)
        };
        for rows in rows.chunk_by(of_request) {
            let mut spent: BTreeMap<_, Nanos> = BTreeMap::new();
            for row in rows {
                *spent.entry((names.get(row.service), row.category)).or_default() +=
                    row.duration_ns;
            }
            let Some(first) = rows.first() else { continue };
            let weight = weights.of_request(first.trace_id, first.root_span_id);
            let class = self.class(names.get(first.request_class));
            for (key, duration) in spent {
                class.spent.entry(key).or_default().push_weighted(duration, weight);
            }
        }
    }

    fn add_hop(
        &mut self,
        row: &HopRow,
        inferred: &Inferred,
        weight: Option<Weight>,
        names: &mut Names<'_>,
    ) {
        let place = names.place(row);
        let hop = self.class(names.get(row.request_class)).hops.entry(place).or_default();
        hop.hops += 1;
        if let Some(kind) = row.grant_kind.filter(|_| row.granted_ns.is_some()) {
            *hop.grant_kinds.entry(kind).or_default() += 1;
        }
        *hop.verdicts.entry(row.verdict).or_default() += 1;
        let elapsed = row.elapsed_at_send_ns.or(row.elapsed_at_receive_ns);
        let remaining = row.remaining_at_send_ns.or(row.remaining_at_receive_ns);
        hop.elapsed_at_entry.push_some(elapsed, weight);
        hop.remaining_at_entry.push_some(remaining, weight);
        hop.left_by_inferred += u64::from(remaining.is_some() && inferred.bounds(row));
        hop.remaining_at_start.push_some(row.remaining_at_start_ns, weight);
        hop.queue.push_weighted(row.queue_ns, weight);
    }

    fn add_attempt(
        &mut self,
        row: &AttemptRow,
        allowance: Option<AllowanceSource>,
        weight: Option<Weight>,
        names: &mut Names<'_>,
    ) {
        let call = names.call(row.caller_service, row.callee_service, row.operation);
        let class = self.class(names.get(row.request_class));
        let attempt = class.attempts.entry((call, row.ordinal)).or_default();
        attempt.attempts += 1;
        attempt.failed += u64::from(row.outcome != Outcome::Ok);
        *attempt.kinds.entry(row.kind).or_default() += 1;
        *attempt.funding.entry(row.funding).or_default() += 1;
        if let Some(source) = allowance {
            *attempt.allowance_sources.entry(source).or_default() += 1;
            let is_by_measure = source == AllowanceSource::Measured;
            let is_unfundable = row.funding == Funding::Unfundable;
            attempt.unfundable_by_measure += u64::from(is_by_measure && is_unfundable);
        }
        attempt.remaining_at_start.push_some(row.remaining_at_start_ns, weight);
        attempt.allowance.push_some(row.allowance_ns, weight);
        attempt.backoff.push_some(row.backoff_ns, weight);
        attempt.duration.push_weighted(row.duration_ns, weight);
    }

    /// Adds the findings of some tables, and nothing else: each at the hop that it is about.
    pub fn add_findings(&mut self, tables: &Tables) {
        let mut names = Names::of(&tables.strings);
        let weights = Weights::of(tables);
        for (row, hop) in flagged(tables) {
            let place = hop.map(|hop| names.place(hop));
            let class = self.class(names.get(row.request_class));
            let finding = class.findings.entry((row.code, place)).or_default();
            finding.findings += 1;
            *finding.evidence.entry(row.evidence).or_default() += 1;
            let weight = weights.of_request(row.trace_id, row.root_span_id);
            finding.excess.push_weighted(row.excess_ns, weight);
            if let Some(wasted) = row.wasted_ns {
                finding.wasted_ns += i128::from(wasted.as_nanos());
                finding.wasted_known += 1;
            }
        }
    }
}

/// The findings of some tables, each with the hop that it is about, if it is about one.
pub(crate) fn flagged(tables: &Tables) -> impl Iterator<Item = (&FindingRow, Option<&HopRow>)> {
    tables.findings.iter().zip(hops_of_findings(&tables.findings, &tables.hops))
}

/// The hop that each finding is about; none where it is about a request, or a span that is no hop.
fn hops_of_findings<'t>(findings: &[FindingRow], hops: &'t [HopRow]) -> Vec<Option<&'t HopRow>> {
    let span = |row: &FindingRow| (row.trace_id, row.span_id);
    let mut places: FxHashMap<(TraceId, SpanId), Option<&HopRow>> =
        findings.iter().map(|row| (span(row), None)).collect();
    for hop in hops {
        // Whichever half a finding names, it is the same hop; its own id comes first.
        for id in [Some(hop.hop_id), hop.client_span_id, hop.server_span_id].into_iter().flatten() {
            if let Some(place) = places.get_mut(&(hop.trace_id, id)) {
                place.get_or_insert(hop);
            }
        }
    }
    findings.iter().map(|row| places.get(&span(row)).copied().flatten()).collect()
}

/// When the last span of a request ended, as far as its row tells: its root's end, or what lies
/// beyond the deadline.
fn last_end(row: &RequestRow) -> UnixNanos {
    let root_end = row.start_unix_ns + row.duration_ns;
    match (row.budget_at_origin_ns, row.late_wall_ns) {
        (Some(budget), Some(late)) if late > Nanos::ZERO => {
            root_end.max(root_end - row.elapsed_ns + budget + late)
        }
        _ => root_end,
    }
}

/// The measures of one request; `None` where nothing is known.
pub(crate) fn request_measures(row: &RequestRow) -> [(Measure, Option<Nanos>); 12] {
    [
        (Measure::Elapsed, Some(row.elapsed_ns)),
        (Measure::Queue, Some(row.queue_ns)),
        (Measure::LocalExecution, Some(row.local_execution_ns)),
        (Measure::ReturnReserveUsed, row.return_reserve_used_ns),
        (Measure::BudgetAtOrigin, row.budget_at_origin_ns),
        (Measure::BudgetAtAdmission, row.budget_at_admission_ns),
        (Measure::BudgetAtStart, row.budget_at_start_ns),
        (Measure::LateWork, row.late_work_ns),
        (Measure::LateWait, row.late_wait_ns),
        (Measure::LateWall, row.late_wall_ns),
        (Measure::ResidualWork, Some(row.residual_work_after_cancel_ns)),
        (Measure::ResidualWait, Some(row.residual_wait_ns)),
    ]
}

/// A count as written in a table; a negative one, which cannot be, is none.
fn count(number: i32) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
