//! One request with all that the tables hold of it.

use rustc_hash::FxHashMap;

use crate::report::words;
use crate::span::{Interner, SpanId, Sym};
use crate::tables::{
    AttemptRow, DeadlineSource, FindingRow, HopRow, OutlineSpan, RequestRow, SegmentRow, Tables,
};

/// The rows of one request, each table's in its order.
pub(super) struct Request<'t> {
    pub(super) row: &'t RequestRow,
    pub(super) hops: Vec<&'t HopRow>,
    pub(super) attempts: Vec<&'t AttemptRow>,
    pub(super) segments: Vec<&'t SegmentRow>,
    pub(super) findings: Vec<&'t FindingRow>,
    /// Its spans by (start, id).
    pub(super) spans: Vec<&'t OutlineSpan>,
    pub(super) strings: &'t Interner,
}

impl<'t> Request<'t> {
    /// The requests of a trace.
    pub(super) fn all(tables: &'t Tables) -> Vec<Self> {
        let mut hops = by_root(&tables.hops, |row| row.root_span_id);
        let mut attempts = by_root(&tables.attempts, |row| row.root_span_id);
        let mut segments = by_root(&tables.segments, |row| row.root_span_id);
        let mut findings = by_root(&tables.findings, |row| row.root_span_id);
        let mut spans = by_root(&tables.outline, |span| span.root_span_id);
        let request = |row: &'t RequestRow| {
            let root = row.root_span_id;
            Self {
                row,
                hops: hops.remove(&root).unwrap_or_default(),
                attempts: attempts.remove(&root).unwrap_or_default(),
                segments: segments.remove(&root).unwrap_or_default(),
                findings: findings.remove(&root).unwrap_or_default(),
                spans: spans.remove(&root).unwrap_or_default(),
                strings: &tables.strings,
            }
        };
        tables.requests.iter().map(request).collect()
    }

    /// A name.
    pub(super) fn text(&self, name: Sym) -> &'t str {
        self.strings.get(name)
    }

    /// A mark beside a deadline that durations alone tell.
    pub(super) fn if_inferred(&self) -> &'static str {
        match self.row.deadline_source {
            DeadlineSource::Inferred => " (inferred)",
            _ => "",
        }
    }

    /// Where a part of its time was spent.
    pub(super) fn place(&self, segment: &SegmentRow) -> String {
        let name = |name| words::named(Some(self.text(name)));
        format!("{} · {}", name(segment.service), name(segment.operation))
    }

    /// Hops whose other end was not traced.
    pub(super) fn unseen(&self) -> Vec<&'t HopRow> {
        self.hops.iter().copied().filter(|hop| hop.server_span_id.is_none()).collect()
    }

    /// The hop that holds the root span.
    pub(super) fn root_hop(&self) -> Option<&'t HopRow> {
        let root = Some(self.row.root_span_id);
        let mut hops = self.hops.iter().copied();
        hops.find(|hop| hop.client_span_id == root || hop.server_span_id == root)
    }
}

fn by_root<T>(rows: &[T], root: impl Fn(&T) -> SpanId) -> FxHashMap<SpanId, Vec<&T>> {
    let mut all: FxHashMap<SpanId, Vec<&T>> = FxHashMap::default();
    for row in rows {
        all.entry(root(row)).or_default().push(row);
    }
    all
}
