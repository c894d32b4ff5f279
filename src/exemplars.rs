//! Which traces are shown: of each class the slowest, the most wasteful, and the first. Chosen from the
//! rows of the tables alone, so that any parts of the input in any order choose the same.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::names::names;
use crate::span::{SpanId, Sym, TraceId};
use crate::tables::{CandidateRow, FindingRow, OutlineSpan, RequestRow, Tables, of_trace};
use crate::units::Nanos;

/// Of so many classes, the first in the order of the traces, exemplars are kept: ids in span names
/// make a class of every request.
const MOST_CLASSES: usize = 1_000;

names! {
    /// Why a trace is shown.
    pub enum Why {
        /// Of all requests of its class it took longest.
        Slowest = "slowest",
        /// Its findings explain most late and residual work.
        MostWasted = "most_wasted",
        /// It has the lowest trace id, which is as good as one at random.
        First = "first",
    }
}

/// A request, and how well it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Best {
    score: Nanos,
    trace: TraceId,
    root: SpanId,
}

impl Best {
    /// Of equals the first in the order of the tables.
    fn beats(&self, other: &Self) -> bool {
        let rank = |best: &Self| (std::cmp::Reverse(best.score), best.trace, best.root);
        rank(self) < rank(other)
    }
}

/// How well a request does, by reason.
fn scored(row: &CandidateRow) -> impl Iterator<Item = (Why, Best)> {
    let scores = [
        (Why::Slowest, Some(row.elapsed_ns)),
        (Why::MostWasted, Some(row.wasted_ns).filter(|&wasted| wasted > Nanos::ZERO)),
        (Why::First, Some(Nanos::ZERO)),
    ];
    let best = |score| Best { score, trace: row.trace_id, root: row.root_span_id };
    scores.into_iter().filter_map(move |(why, score)| Some((why, best(score?))))
}

/// The requests of a trace, as they may be shown.
fn candidates(
    requests: &[RequestRow],
    findings: &[FindingRow],
) -> impl Iterator<Item = CandidateRow> {
    let mut wasted: FxHashMap<SpanId, Nanos> = FxHashMap::default();
    for finding in findings {
        *wasted.entry(finding.root_span_id).or_default() += finding.wasted_ns.unwrap_or_default();
    }
    requests.iter().map(move |row| CandidateRow {
        trace_id: row.trace_id,
        request_class: row.request_class,
        root_span_id: row.root_span_id,
        elapsed_ns: row.elapsed_ns,
        wasted_ns: wasted.get(&row.root_span_id).copied().unwrap_or_default(),
    })
}

/// The traces of some tables that may be shown, which have an outline, in their order: the requests of
/// each, and its spans.
pub fn outlined(
    tables: &Tables,
) -> impl Iterator<Item = (impl Iterator<Item = CandidateRow>, &[OutlineSpan])> {
    let traces = tables.outline.chunk_by(|a, b| a.trace_id == b.trace_id);
    traces.filter_map(|spans| {
        let trace = spans.first()?.trace_id;
        let requests = of_trace(&tables.requests, |row| row.trace_id, trace);
        let findings = of_trace(&tables.findings, |row| row.trace_id, trace);
        Some((candidates(requests, findings), spans))
    })
}

/// The best requests so far, by class and reason.
#[derive(Debug)]
pub struct Choice {
    classes: BTreeMap<String, BTreeMap<Why, Best>>,
    most_classes: usize,
}

impl Default for Choice {
    fn default() -> Self {
        Self { classes: BTreeMap::new(), most_classes: MOST_CLASSES }
    }
}

impl Choice {
    /// Of any number of classes: the choice among those of a part of the input, of whose classes others
    /// may come first.
    pub fn of_part() -> Self {
        Self { most_classes: usize::MAX, ..Self::default() }
    }

    /// Takes in a request; says whether it is the best so far of something. Traces come in their order,
    /// and the requests of one in that of the tables.
    pub fn take(&mut self, class: &str, request: &CandidateRow) -> bool {
        if !self.classes.contains_key(class) {
            if self.classes.len() >= self.most_classes {
                return false;
            }
            self.classes.insert(class.to_owned(), BTreeMap::new());
        }
        let Some(kept) = self.classes.get_mut(class) else { return false };
        let mut is_better = false;
        for (why, one) in scored(request) {
            if kept.get(&why).is_none_or(|best| one.beats(best)) {
                kept.insert(why, one);
                is_better = true;
            }
        }
        is_better
    }

    /// The traces that are the best of something.
    pub fn traces(&self) -> FxHashSet<TraceId> {
        self.classes.values().flat_map(BTreeMap::values).map(|best| best.trace).collect()
    }
}

/// The best request so far for each class and reason. `K` tells classes apart.
#[derive(Debug)]
pub struct Candidates<K> {
    best: FxHashMap<(K, Why), Best>,
}

impl<K> Default for Candidates<K> {
    fn default() -> Self {
        Self { best: FxHashMap::default() }
    }
}

impl Candidates<Sym> {
    /// Takes in the requests of a trace; says whether one of them is the best so far of something.
    pub fn offer(&mut self, requests: &[RequestRow], findings: &[FindingRow]) -> bool {
        let mut is_better = false;
        for row in candidates(requests, findings) {
            for (why, one) in scored(&row) {
                let best = self.best.entry((row.request_class, why)).or_insert(one);
                if one.beats(best) {
                    *best = one;
                }
                is_better |= *best == one;
            }
        }
        is_better
    }

    /// The traces that are the best of something.
    pub fn traces(&self) -> FxHashSet<TraceId> {
        self.best.values().map(|best| best.trace).collect()
    }
}

/// The exemplars of the whole input, each trace with all its rows.
#[derive(Debug, Default)]
pub struct Exemplars {
    choice: Choice,
    traces: BTreeMap<TraceId, Tables>,
}

impl Exemplars {
    /// Takes in a partition of whole traces, of which those that may be shown have an outline.
    /// Partitions come in the order of the traces.
    pub fn add(&mut self, tables: &Tables) {
        let mut better = Vec::new();
        for (requests, _) in outlined(tables) {
            for request in requests {
                if self.choice.take(tables.strings.get(request.request_class), &request) {
                    better.push(request.trace_id);
                }
            }
        }
        if better.is_empty() {
            return;
        }
        let wanted = self.choice.traces();
        self.traces.retain(|trace, _| wanted.contains(trace));
        for trace in better.into_iter().filter(|trace| wanted.contains(trace)) {
            self.traces.entry(trace).or_insert_with(|| tables.of_trace(trace));
        }
    }

    /// The traces in their order.
    pub fn traces(&self) -> impl Iterator<Item = &Tables> {
        self.traces.values()
    }

    /// The exemplars of a class, each once, with all reasons for it, and the request that is meant.
    pub fn of_class(&self, class: &str) -> Vec<(Vec<Why>, SpanId, &Tables)> {
        let mut chosen: Vec<(Vec<Why>, SpanId, &Tables)> = Vec::new();
        for (&why, best) in self.choice.classes.get(class).into_iter().flatten() {
            let Some(tables) = self.traces.get(&best.trace) else { continue };
            let is_same = |(_, root, other): &&mut (Vec<Why>, SpanId, &Tables)| {
                *root == best.root && std::ptr::eq(*other, tables)
            };
            match chosen.iter_mut().find(is_same) {
                Some((reasons, ..)) => reasons.push(why),
                None => chosen.push((vec![why], best.root, tables)),
            }
        }
        chosen
    }
}
