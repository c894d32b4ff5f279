//! Which traces are shown: of each class the slowest, the most wasteful, and the first. Chosen from the
//! rows of the tables alone, so that any parts of the input in any order choose the same.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::names::names;
use crate::span::{SpanId, Sym, TraceId};
use crate::tables::{FindingRow, RequestRow, Tables, of_trace};
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

/// The best request so far for each class and reason. `K` tells classes apart.
#[derive(Debug)]
pub struct Candidates<K> {
    best: FxHashMap<(K, Why), Best>,
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

impl<K> Default for Candidates<K> {
    fn default() -> Self {
        Self { best: FxHashMap::default() }
    }
}

impl Candidates<Sym> {
    /// Takes in the requests of a trace; says whether one of them is the best so far of something.
    pub fn offer(&mut self, requests: &[RequestRow], findings: &[FindingRow]) -> bool {
        let mut wasted: FxHashMap<SpanId, Nanos> = FxHashMap::default();
        for finding in findings {
            *wasted.entry(finding.root_span_id).or_default() +=
                finding.wasted_ns.unwrap_or_default();
        }
        let mut is_better = false;
        for row in requests {
            let wasted = wasted.get(&row.root_span_id).copied().unwrap_or_default();
            is_better |= self.offer_one(row, wasted);
        }
        is_better
    }

    fn offer_one(&mut self, row: &RequestRow, wasted: Nanos) -> bool {
        let scores = [
            (Why::Slowest, Some(row.elapsed_ns)),
            (Why::MostWasted, Some(wasted).filter(|&wasted| wasted > Nanos::ZERO)),
            (Why::First, Some(Nanos::ZERO)),
        ];
        let mut is_better = false;
        for (why, score) in scores {
            let Some(score) = score else { continue };
            let one = Best { score, trace: row.trace_id, root: row.root_span_id };
            let best = self.best.entry((row.request_class, why)).or_insert(one);
            if one.beats(best) {
                *best = one;
            }
            is_better |= *best == one;
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
    classes: BTreeMap<String, BTreeMap<Why, Best>>,
    traces: BTreeMap<TraceId, Tables>,
}

impl Exemplars {
    /// Takes in a partition of whole traces, of which those that may be shown have an outline.
    /// Partitions come in the order of the traces.
    pub fn add(&mut self, tables: &Tables) {
        let mut found = Candidates::default();
        let mut classes: Vec<Sym> = Vec::new();
        let mut known = FxHashSet::default();
        for spans in tables.outline.chunk_by(|a, b| a.trace_id == b.trace_id) {
            let Some(id) = spans.first().map(|span| span.trace_id) else { continue };
            let requests = of_trace(&tables.requests, |row| row.trace_id, id);
            found.offer(requests, of_trace(&tables.findings, |row| row.trace_id, id));
            let new = requests.iter().map(|row| row.request_class);
            classes.extend(new.filter(|class| known.insert(*class)));
        }
        for class in classes {
            self.merge(tables, class, &found);
        }
        let wanted: FxHashSet<TraceId> =
            self.classes.values().flat_map(BTreeMap::values).map(|best| best.trace).collect();
        self.traces.retain(|trace, _| wanted.contains(trace));
    }

    fn merge(&mut self, tables: &Tables, class: Sym, found: &Candidates<Sym>) {
        let name = tables.strings.get(class);
        if !self.classes.contains_key(name) && self.classes.len() >= MOST_CLASSES {
            return;
        }
        let kept = self.classes.entry(name.to_owned()).or_default();
        for &why in Why::ALL {
            let Some(&best) = found.best.get(&(class, why)) else { continue };
            if kept.get(&why).is_none_or(|kept| best.beats(kept)) {
                kept.insert(why, best);
                self.traces.entry(best.trace).or_insert_with(|| tables.of_trace(best.trace));
            }
        }
    }

    /// The traces in their order.
    pub fn traces(&self) -> impl Iterator<Item = &Tables> {
        self.traces.values()
    }

    /// The exemplars of a class, each once, with all reasons for it, and the request that is meant.
    pub fn of_class(&self, class: &str) -> Vec<(Vec<Why>, SpanId, &Tables)> {
        let mut chosen: Vec<(Vec<Why>, SpanId, &Tables)> = Vec::new();
        for (&why, best) in self.classes.get(class).into_iter().flatten() {
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
