//! Findings by what is wrong where, those that cost most first (SEMANTICS §11): what people act on.
//!
//! Fed partition by partition. What is kept grows with the places at which something is wrong, not
//! with how often it is, and is the same for every order of the input.

mod reached;
mod seen;
mod tree;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::conventions::default_timeout;
use crate::distributions::{Call, Name, Names};
use crate::finding_id::FindingId;
use crate::span::{GrantKind, SpanId, TraceId};
use crate::tables::{Certainty, Evidence, FindingCode, FindingRow, HopRow, Tables, Verdict};
use crate::units::Nanos;
pub use reached::Reached;
pub use seen::Seen;
use tree::Tree;

/// How many traces are kept as examples of a group.
const EXEMPLARS: usize = 3;

/// All findings, by what is wrong where.
#[derive(Clone, Debug, Default)]
pub struct Ranking {
    /// By request class what there was to judge by.
    pub classes: BTreeMap<Name, Seen>,
    /// The findings.
    pub groups: BTreeMap<Subject, Group>,
}

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subject {
    /// The request class.
    pub class: Name,
    /// What is wrong.
    pub code: FindingCode,
    /// The hop; `None` where nothing is known of it.
    pub call: Option<Call>,
}

/// Findings of one code at one hop, in requests of one class.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// How many.
    pub findings: u64,
    /// How many of them hold for some clock offsets only.
    pub possible: u64,
    /// What they rest on.
    pub evidence: BTreeMap<Evidence, u64>,
    /// In how many requests.
    pub requests: u64,
    /// Late and residual work that they explain; `None` where they are not about hops.
    pub wasted_ns: Option<i128>,
    /// By how much, from the least to the largest.
    pub excess: Option<Range>,
    /// The services that were called downstream of the hop.
    pub reached: Reached,
    /// Traces that show it, those that wasted most first.
    pub exemplars: Vec<Exemplar>,
    /// The last hop above that still saw a deadline, and for how many findings below the origin;
    /// `None` for those above whose hop none did.
    pub deadline_seen_at: BTreeMap<Option<Call>, u64>,
    /// What the hop was granted, from the least to the largest.
    pub granted: Option<Range>,
    /// The attributes that said so.
    pub grant_keys: BTreeSet<Name>,
    /// How many of the grants are instants, which move with a clock.
    pub instants: u64,
    /// Well-known defaults among what was granted, by length and whose they are, and how often:
    /// nobody chose those.
    pub defaults: BTreeMap<(Nanos, &'static str), u64>,
}

/// The least and the largest of some lengths of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The least.
    pub least: Nanos,
    /// The largest.
    pub largest: Nanos,
}

/// A trace that shows a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Exemplar {
    /// What it wasted there.
    pub wasted: Reverse<Nanos>,
    /// The trace.
    pub trace_id: TraceId,
}

/// What one trace adds to a group.
#[derive(Default)]
struct Shown {
    wasted: Nanos,
    requests: FxHashSet<SpanId>,
}

impl Subject {
    /// Its id, stable from run to run.
    pub fn id(&self) -> FindingId {
        let call = self.call.as_ref();
        FindingId::of(&[
            Some(&self.class),
            Some(self.code.name()),
            call.and_then(|call| call.caller.as_deref()),
            call.and_then(|call| call.callee.as_deref()),
            call.map(|call| &*call.operation),
        ])
    }
}

impl Range {
    fn extend(range: &mut Option<Self>, value: Nanos) {
        let Self { least, largest } = range.unwrap_or(Self { least: value, largest: value });
        *range = Some(Self { least: least.min(value), largest: largest.max(value) });
    }
}

impl Ranking {
    /// Takes in a partition of whole traces.
    pub fn add(&mut self, tables: &Tables) {
        self.see(tables);
        self.add_findings(tables);
    }

    /// Takes in the findings of some tables, and nothing else: each at the hop that it is about.
    pub fn add_findings(&mut self, tables: &Tables) {
        let mut names = Names::of(&tables.strings);
        let flagged = tables.findings.iter().map(|row| (row.trace_id, Vec::new()));
        let mut hops: FxHashMap<TraceId, Vec<&HopRow>> = flagged.collect();
        for hop in &tables.hops {
            if let Some(of_trace) = hops.get_mut(&hop.trace_id) {
                of_trace.push(hop);
            }
        }
        let same_trace = |one: &FindingRow, other: &FindingRow| one.trace_id == other.trace_id;
        for findings in tables.findings.chunk_by(same_trace) {
            let trace = findings.first().and_then(|first| hops.remove(&first.trace_id));
            let tree = Tree::new(trace.unwrap_or_default(), &mut names);
            self.add_trace(findings, &tree, &mut names);
        }
    }

    /// The findings and the groups they are in, those that waste most first, then the most frequent.
    pub fn ranked(&self) -> Vec<(&Subject, &Group)> {
        let mut ranked: Vec<_> = self.groups.iter().collect();
        ranked.sort_by_key(|(_, group)| {
            Reverse((group.wasted_ns.unwrap_or_default(), group.findings))
        });
        ranked
    }

    fn add_trace(&mut self, findings: &[FindingRow], tree: &Tree<'_>, names: &mut Names<'_>) {
        let mut shown: BTreeMap<Subject, Shown> = BTreeMap::new();
        for row in findings {
            let place = tree.place(row.span_id);
            let hop = place.and_then(|place| tree.hop(place));
            let subject = Subject {
                class: names.get(row.request_class),
                code: row.code,
                call: hop.map(|hop| names.call_of(hop)),
            };
            let group = self.groups.entry(subject.clone()).or_default();
            group.count(row);
            let shown = shown.entry(subject).or_default();
            shown.wasted += row.wasted_ns.unwrap_or_default();
            shown.requests.insert(row.root_span_id);
            if let (Some(place), Some(hop)) = (place, hop) {
                group.grant(hop, names);
                // Findings across traces come without the hops above and below.
                if row.code == FindingCode::GraveyardFirst {
                    continue;
                }
                if hop.verdict != Verdict::Origin {
                    let seen_at = tree.deadline_seen_above(place).map(|hop| names.call_of(hop));
                    *group.deadline_seen_at.entry(seen_at).or_default() += 1;
                }
                if let Some(reached) = tree.reached(place) {
                    group.reached.extend(reached.names.iter().cloned(), reached.has_more);
                }
            }
        }
        let trace_id = findings.first().map(|row| row.trace_id);
        for (subject, shown) in shown {
            let group = self.groups.entry(subject).or_default();
            group.requests += shown.requests.len() as u64;
            let exemplar = |trace_id| Exemplar { wasted: Reverse(shown.wasted), trace_id };
            group.exemplars.extend(trace_id.map(exemplar));
            group.exemplars.sort_unstable();
            group.exemplars.truncate(EXEMPLARS);
        }
    }
}

impl Group {
    /// How many hold for every clock offset that the traces allow.
    pub fn certain(&self) -> u64 {
        self.findings - self.possible
    }

    /// The hop above that most often was the last that still saw a deadline; `None` where that was
    /// none.
    pub fn deadline_last_seen_at(&self) -> Option<&Call> {
        let most = self.deadline_seen_at.iter().max_by_key(|(call, n)| (**n, Reverse(*call)));
        most.and_then(|(call, _)| call.as_ref())
    }

    fn count(&mut self, row: &FindingRow) {
        self.findings += 1;
        self.possible += u64::from(row.certainty == Certainty::Possible);
        *self.evidence.entry(row.evidence).or_default() += 1;
        if let Some(wasted) = row.wasted_ns {
            *self.wasted_ns.get_or_insert_default() += i128::from(wasted.as_nanos());
        }
        Range::extend(&mut self.excess, row.excess_ns);
    }

    fn grant(&mut self, hop: &HopRow, names: &mut Names<'_>) {
        let Some(granted) = hop.granted_ns else { return };
        Range::extend(&mut self.granted, granted);
        self.instants += u64::from(hop.grant_kind == Some(GrantKind::Absolute));
        let Some(key) = hop.grant_key.map(|key| names.get(key)) else { return };
        if let Some(default) = default_timeout(granted, &key) {
            *self.defaults.entry((default.timeout, default.whose)).or_default() += 1;
        }
        self.grant_keys.insert(key);
    }
}
