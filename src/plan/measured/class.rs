//! What was measured of the requests of one class.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use super::calls::Calls;
use super::depth::depth;
use crate::distributions::{Call, Names, Values};
use crate::span::{Outcome, SpanId};
use crate::tables::{AttemptRow, HopRow, RequestRow};
use crate::units::Nanos;

/// The requests of one class.
#[derive(Clone, Debug, Default)]
pub struct Class {
    /// Each of them.
    pub requests: Vec<Request>,
    /// From the origin to the deadline.
    pub deadline: Values,
    /// From the last child's end to that of the span that admitted it.
    pub reserve_used: Values,
    /// The admitting service's own time.
    pub own: Values,
    /// How long attempts took that succeeded and called nothing further.
    pub leaves: Values,
    /// The same of those that did not succeed.
    pub failed_leaves: Values,
    /// Whom the first service called, and how many requests did so.
    pub shapes: BTreeMap<Shape, usize>,
    /// Their calls.
    pub calls: BTreeMap<Call, Calls>,
}

/// Calls one after another, in arms beside one another.
pub type Shape = Vec<Vec<Call>>;

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The number of its trace.
    pub trace: u32,
    /// From its origin to its deadline; `None` without one.
    pub deadline: Option<Nanos>,
    /// The reserve of its contract; `None` where nothing tells it.
    pub reserve: Option<Nanos>,
    /// The admitting service's own time.
    pub own: Nanos,
    /// Whether it says how many it stands for.
    pub is_weighted: bool,
    /// How many of its calls follow one another.
    pub depth: u32,
}

impl Class {
    /// How many requests there are of each depth.
    pub fn depths(&self) -> BTreeMap<u32, usize> {
        let mut depths = BTreeMap::new();
        for request in &self.requests {
            *depths.entry(request.depth).or_default() += 1;
        }
        depths
    }

    pub(super) fn add(
        &mut self,
        trace: u32,
        row: &RequestRow,
        hops: &[HopRow],
        attempts: &[AttemptRow],
        names: &mut Names<'_>,
    ) {
        let reserve = hops.iter().find_map(reserve_of);
        self.requests.push(Request {
            trace,
            deadline: row.budget_at_origin_ns,
            reserve,
            own: row.local_execution_ns,
            is_weighted: row.weight.is_some(),
            depth: depth(hops, attempts),
        });
        self.own.push(trace, row.local_execution_ns);
        for (values, value) in [
            (&mut self.deadline, row.budget_at_origin_ns),
            (&mut self.reserve_used, row.return_reserve_used_ns),
        ] {
            if let Some(value) = value {
                values.push(trace, value);
            }
        }
        self.add_leaves(trace, hops, attempts);
        let calls_of = names.calls_of(attempts);
        *self.shapes.entry(shape(hops, attempts, &calls_of)).or_default() += 1;
        let mut lines: BTreeMap<Call, Vec<&AttemptRow>> = BTreeMap::new();
        for row in attempts {
            if let Some(call) = calls_of.get(&row.call_id) {
                lines.entry(call.clone()).or_default().push(row);
            }
        }
        for (call, rows) in lines {
            let calls = self.calls.entry(call).or_default();
            calls.add(trace, &rows, row.budget_at_origin_ns, reserve);
        }
        self.add_tries(trace, attempts, &calls_of);
    }

    /// What was tried, call by call.
    fn add_tries(
        &mut self,
        trace: u32,
        attempts: &[AttemptRow],
        calls_of: &FxHashMap<SpanId, Call>,
    ) {
        let mut calls: BTreeMap<SpanId, Vec<&AttemptRow>> = BTreeMap::new();
        for row in attempts {
            calls.entry(row.call_id).or_default().push(row);
        }
        for (id, rows) in &mut calls {
            rows.sort_unstable_by_key(|row| (row.elapsed_at_start_ns, row.ordinal, row.span_id));
            if let Some(call) = calls_of.get(id) {
                self.calls.entry(call.clone()).or_default().tries.add(trace, rows);
            }
        }
    }

    /// Attempts below which nothing was called.
    fn add_leaves(&mut self, trace: u32, hops: &[HopRow], attempts: &[AttemptRow]) {
        let callers: FxHashSet<SpanId> = hops.iter().filter_map(|hop| hop.caller_hop_id).collect();
        let inner = hops.iter().filter(|hop| callers.contains(&hop.hop_id));
        let inner: FxHashSet<SpanId> = inner.filter_map(|hop| hop.client_span_id).collect();
        for row in attempts.iter().filter(|row| !inner.contains(&row.span_id)) {
            let is_ok = row.outcome == Outcome::Ok;
            let durations = if is_ok { &mut self.leaves } else { &mut self.failed_leaves };
            durations.push(trace, row.duration_ns);
        }
    }
}

/// The return reserve, where a hop tells it: what was left less what of it was available.
fn reserve_of(hop: &HopRow) -> Option<Nanos> {
    let available = hop.available_ns.filter(|&available| available > Nanos::ZERO)?;
    let remaining = hop.remaining_at_send_ns.or(hop.remaining_at_receive_ns)?;
    Some(remaining - available)
}

/// The calls right below the root's hop, in arms that ran beside one another.
fn shape(hops: &[HopRow], attempts: &[AttemptRow], calls_of: &FxHashMap<SpanId, Call>) -> Shape {
    let first: FxHashSet<SpanId> =
        hops.iter().filter(|hop| hop.depth == 1).filter_map(|hop| hop.client_span_id).collect();
    let rows = || attempts.iter().filter(|row| first.contains(&row.span_id));
    let mut ends: FxHashMap<SpanId, Nanos> = FxHashMap::default();
    for row in rows() {
        let end = ends.entry(row.call_id).or_default();
        *end = (*end).max(row.elapsed_at_start_ns + row.duration_ns);
    }
    let mut arms: Vec<Vec<Call>> = Vec::new();
    // When each arm is free again, the first of them first.
    let mut free: BTreeSet<(Nanos, usize)> = BTreeSet::new();
    for row in rows().filter(|row| row.span_id == row.call_id) {
        let Some(call) = calls_of.get(&row.call_id).cloned() else { continue };
        // Of those that are free the one whose call ended last: this one follows that.
        let next = free.range(..=(row.elapsed_at_start_ns, usize::MAX)).next_back().copied();
        let number = next.map_or(arms.len(), |(_, number)| number);
        if let Some(arm) = &next {
            free.remove(arm);
        }
        match arms.get_mut(number) {
            Some(arm) => arm.push(call),
            None => arms.push(vec![call]),
        }
        free.insert((ends.get(&row.call_id).copied().unwrap_or_default(), number));
    }
    arms.sort_unstable();
    arms
}
