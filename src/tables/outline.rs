//! Traces told span by span, as they were judged: of all only those that are drawn or explained. The
//! table `exemplars` holds them in the order of the traces, of a trace in the order of (start, id).

use super::Category;
use super::schema::table;
use crate::span::{Kind, Outcome, SpanId, Sym, TraceId};
use crate::units::Nanos;

/// A span on the trace's one clock. Times count from the origin of its request.
#[derive(Clone, Debug)]
pub struct OutlineSpan {
    /// The trace.
    pub trace_id: TraceId,
    /// The root of its request.
    pub root_span_id: SpanId,
    /// The span.
    pub span_id: SpanId,
    /// The span above it in the request; the trace's root for one whose own parent is absent.
    pub parent_span_id: Option<SpanId>,
    /// Its own parent is absent.
    pub is_attached: bool,
    /// It waits, and does no work.
    pub is_wait: bool,
    /// What it says it is.
    pub kind: Kind,
    /// Its service.
    pub service: Sym,
    /// Its name.
    pub operation: Sym,
    /// How it ended.
    pub outcome: Outcome,
    /// When it started.
    pub start: Nanos,
    /// When it ended.
    pub end: Nanos,
    /// From when on its work is late.
    pub late_from: Option<Nanos>,
    /// From when on its work is residual: a caller above it had left.
    pub residual_from: Option<Nanos>,
    /// What its children do not cover, by time; of a root the wait before it too.
    pub own: Vec<OwnStretch>,
}

/// A stretch of own time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnStretch {
    /// When it begins.
    pub from: Nanos,
    /// When it ends; later.
    pub to: Nanos,
    /// What it was spent on.
    pub category: Category,
}

impl OutlineSpan {
    /// Whether a stretch of own time is work, or an open call, which can be late or residual
    /// (SEMANTICS §9): queues, backoffs, and what a call costs around its callee are not.
    pub fn counts(&self, stretch: &OwnStretch) -> bool {
        let counted = if self.kind.sends() { Category::Downstream } else { Category::Local };
        !self.is_wait && stretch.category == counted
    }
}

table! {
    /// One row a stretch of own time of a span in a trace that is drawn; one where it has none.
    "exemplars" => ExemplarRow {
        /// The trace, 32 hexadecimal digits.
        trace_id: TraceId;
        /// The request's root span.
        root_span_id: SpanId;
        /// The span.
        span_id: SpanId;
        /// The span above it in the request.
        parent_span_id: Option<SpanId>, null = "nothing is above it";
        /// Its own parent is absent, so that it stands below the trace's root.
        is_attached: bool;
        /// It waits, and does no work.
        is_wait: bool;
        /// What it says it is.
        kind: Kind;
        /// Its service.
        service: Sym;
        /// Its name.
        operation: Sym;
        /// How it ended.
        outcome: Outcome;
        /// When it started, from the origin of its request.
        start_ns: Nanos;
        /// When it ended.
        end_ns: Nanos;
        /// From when on its work is late.
        late_from_ns: Option<Nanos>, null = "none of it";
        /// From when on its work is residual: a caller above it had left.
        residual_from_ns: Option<Nanos>, null = "none of it";
        /// Where the stretch of its own time begins.
        own_from_ns: Option<Nanos>, null = "it has none";
        /// Where it ends.
        own_to_ns: Option<Nanos>, null = "it has none";
        /// What it was spent on.
        category: Option<Category>, null = "it has none";
    }
}

impl ExemplarRow {
    /// The rows of a span.
    pub fn of(span: &OutlineSpan) -> Vec<Self> {
        let row = |own: Option<&OwnStretch>| Self {
            trace_id: span.trace_id,
            root_span_id: span.root_span_id,
            span_id: span.span_id,
            parent_span_id: span.parent_span_id,
            is_attached: span.is_attached,
            is_wait: span.is_wait,
            kind: span.kind,
            service: span.service,
            operation: span.operation,
            outcome: span.outcome,
            start_ns: span.start,
            end_ns: span.end,
            late_from_ns: span.late_from,
            residual_from_ns: span.residual_from,
            own_from_ns: own.map(|own| own.from),
            own_to_ns: own.map(|own| own.to),
            category: own.map(|own| own.category),
        };
        if span.own.is_empty() {
            vec![row(None)]
        } else {
            span.own.iter().map(Some).map(row).collect()
        }
    }

    /// The spans of rows; those of one span stand together.
    pub fn spans(rows: &[Self]) -> Vec<OutlineSpan> {
        let one = |a: &Self, b: &Self| (a.trace_id, a.span_id) == (b.trace_id, b.span_id);
        rows.chunk_by(one).filter_map(|rows| Some(rows.first()?.span(rows))).collect()
    }

    fn span(&self, rows: &[Self]) -> OutlineSpan {
        let stretch = |row: &Self| {
            Some(OwnStretch { from: row.own_from_ns?, to: row.own_to_ns?, category: row.category? })
        };
        OutlineSpan {
            trace_id: self.trace_id,
            root_span_id: self.root_span_id,
            span_id: self.span_id,
            parent_span_id: self.parent_span_id,
            is_attached: self.is_attached,
            is_wait: self.is_wait,
            kind: self.kind,
            service: self.service,
            operation: self.operation,
            outcome: self.outcome,
            start: self.start_ns,
            end: self.end_ns,
            late_from: self.late_from_ns,
            residual_from: self.residual_from_ns,
            own: rows.iter().filter_map(stretch).collect(),
        }
    }
}

table! {
    /// One row a request that may be shown, for those who choose from all.
    "candidates" => CandidateRow {
        /// The trace, 32 hexadecimal digits.
        trace_id: TraceId;
        /// The request's class.
        request_class: Sym;
        /// The request's root span.
        root_span_id: SpanId;
        /// How long it took.
        elapsed_ns: Nanos;
        /// Late and residual work that its findings explain.
        wasted_ns: Nanos;
    }
}
