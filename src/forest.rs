//! Who is whose parent in one trace (SEMANTICS §2, duplicates; §3, cycles).

use crate::span::{Span, SpanId};

/// What the parent id of a span leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parent {
    /// It names none.
    None,
    /// It names one that is not in the trace, or a cycle was cut here.
    Absent,
    /// That span.
    Of(usize),
}

/// The spans of one trace by (start, id) on their own clocks, each under its parent. A span is a
/// number here: its place in `spans`.
#[derive(Debug, Default)]
pub struct Forest<'a> {
    /// The spans, duplicates removed.
    pub spans: Vec<&'a Span>,
    /// What each parent id leads to.
    pub parents: Vec<Parent>,
    /// Whether several records had one id.
    pub has_duplicates: bool,
    /// The spans at which cycles were cut, ascending.
    pub cut: Vec<usize>,
    /// The place of each id, by id.
    ids: Vec<(SpanId, usize)>,
    /// By span the start of the walk that saw it.
    seen_from: Vec<usize>,
}

impl<'a> Forest<'a> {
    /// Fills in the spans of one trace, sorted by (start, id, content), in the place of those before.
    pub fn fill(&mut self, spans: impl ExactSizeIterator<Item = &'a Span>) {
        self.keep_distinct(spans);
        let ids = &self.ids;
        let find = |id: SpanId| {
            let found = ids.binary_search_by_key(&id, |&(id, _)| id);
            found.map_or(Parent::Absent, |found| Parent::Of(ids[found].1))
        };
        let parents = self.spans.iter().map(|span| span.parent_span_id.map_or(Parent::None, find));
        self.parents.clear();
        self.parents.extend(parents);
        self.cut_cycles();
    }

    /// Keeps the first of several records with one id, and gives each id its place. The spans come
    /// by (start, id, content), so the first is the smallest by (start, end, service, name).
    fn keep_distinct(&mut self, spans: impl ExactSizeIterator<Item = &'a Span>) {
        let Self { spans: kept, ids, .. } = self;
        kept.clear();
        kept.extend(spans);
        let number = |ids: &mut Vec<_>, kept: &[&Span]| {
            ids.clear();
            ids.extend(kept.iter().enumerate().map(|(place, span)| (span.span_id, place)));
            ids.sort_unstable();
        };
        number(ids, kept);
        ids.dedup_by_key(|&mut (id, _)| id);
        self.has_duplicates = ids.len() < kept.len();
        if self.has_duplicates {
            ids.sort_unstable_by_key(|&(_, place)| place);
            *kept = ids.iter().map(|&(_, place)| kept[place]).collect();
            number(ids, kept);
        }
    }

    /// Cuts each cycle at its earliest span.
    fn cut_cycles(&mut self) {
        const UNSEEN: usize = usize::MAX;
        let Self { parents, cut, seen_from, .. } = self;
        seen_from.clear();
        seen_from.resize(parents.len(), UNSEEN);
        cut.clear();
        for start in 0..parents.len() {
            let mut at = start;
            while seen_from[at] == UNSEEN {
                seen_from[at] = start;
                let Parent::Of(parent) = parents[at] else { break };
                at = parent;
                if seen_from[at] == start {
                    let earliest = earliest_of_cycle(parents, at);
                    parents[earliest] = Parent::Absent;
                    cut.push(earliest);
                    break;
                }
            }
        }
        cut.sort_unstable();
    }
}

fn earliest_of_cycle(parents: &[Parent], on_cycle: usize) -> usize {
    let mut earliest = on_cycle;
    let mut at = on_cycle;
    while let Parent::Of(parent) = parents[at] {
        earliest = earliest.min(parent);
        at = parent;
        if at == on_cycle {
            break;
        }
    }
    earliest
}
