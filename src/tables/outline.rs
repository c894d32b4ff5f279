//! A trace told span by span, as it was judged. No table: it is kept for one trace that somebody
//! wants explained.

use super::Category;
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
