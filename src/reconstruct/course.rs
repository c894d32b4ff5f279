//! The course of one request: its spans on one clock with what they were to each other, for those
//! who ask what would have been. Nothing here is computed anew.

use super::annotated::Annotated;
use super::class::Classes;
use super::late::for_each_gap;
use super::tree::Children;
use crate::span::{Interner, Kind, Outcome, SpanId, Sym, TraceId};
use crate::tables::AttemptKind;
use crate::units::{Nanos, UnixNanos};

/// One request as it was measured. Instants count from its origin.
#[derive(Debug)]
pub struct Course {
    /// The trace that it is in.
    pub trace_id: TraceId,
    /// Its class.
    pub class: Sym,
    /// The name of its contract.
    pub contract: Option<Sym>,
    /// When its root began, by the clock on the wall.
    pub began: UnixNanos,
    /// The deadline D.
    pub deadline: Option<Nanos>,
    /// Time kept back for the return.
    pub reserve: Nanos,
    /// Its spans: the root first, parents before children, each subtree in one piece.
    pub spans: Vec<CourseSpan>,
    /// How many attempts each call has.
    pub calls: Vec<usize>,
    /// Work of spans: stretches that belong to no child, wait or backoff, by span and time.
    pub pieces: Vec<(Nanos, Nanos)>,
    children: Children,
}

/// One span of a request.
#[derive(Clone, Debug)]
pub struct CourseSpan {
    /// Its id.
    pub span_id: SpanId,
    /// Its parent; the root for a span whose own parent was not traced.
    pub parent: Option<usize>,
    /// Its own parent was not traced.
    pub is_attached: bool,
    /// What it is.
    pub role: Role,
    /// When it began.
    pub start: Nanos,
    /// When it ended, not before.
    pub end: Nanos,
    /// How it ended.
    pub outcome: Outcome,
    /// Whose it is.
    pub service: Sym,
    /// Its name.
    pub operation: Sym,
    /// What a call calls, where that is known.
    pub callee: Option<Sym>,
    /// When the time ends that it was given itself.
    pub granted_until: Option<Nanos>,
    /// What it is as a try of a call.
    pub attempt: Option<Try>,
    /// Which pieces are its own.
    pub pieces: std::ops::Range<usize>,
    /// Its work counts as late after the deadline: nothing says that it rightly outlasts one.
    pub may_be_late: bool,
    /// Its work counts as residual after an ancestor left: nothing says that it is meant to go on.
    pub may_be_residual: bool,
}

/// What a span is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The half of a call that sends.
    Caller,
    /// The half of a call that receives, or what stands for it.
    Callee,
    /// What holds the attempts of one call.
    CallSpan,
    /// Time in a queue.
    Wait,
    /// Anything else.
    Internal,
}

/// One try of a call.
#[derive(Clone, Copy, Debug)]
pub struct Try {
    /// Which call, a place in [`Course::calls`].
    pub call: usize,
    /// What it is within it.
    pub kind: AttemptKind,
    /// What one attempt needs.
    pub allowance: Option<Nanos>,
}

impl Course {
    /// The real children of span `i`, by (start, id): none that is attached.
    pub fn children(&self, i: usize) -> &[usize] {
        self.children.of(i)
    }
}

/// Hands the course of each request of a trace to `take`.
pub(super) fn for_each(
    of: &Annotated<'_>,
    classes: &mut Classes,
    strings: &mut Interner,
    take: &mut impl FnMut(&Course, &Interner),
) {
    let trace = &of.trace;
    let request_of = |i: usize| trace.tree.request_of[i];
    let mut calls = vec![Vec::new(); trace.requests.len()];
    let mut tries: Vec<Option<Try>> = vec![None; trace.len()];
    for attempts in of.calls.calls() {
        let Some(first) = attempts.first() else { continue };
        let counts: &mut Vec<usize> = &mut calls[request_of(first.span)];
        for attempt in attempts {
            tries[attempt.span] =
                Some(Try { call: counts.len(), kind: attempt.kind, allowance: attempt.allowance });
        }
        counts.push(attempts.len());
    }
    let mut places = vec![0; trace.len()];
    let top_down = &trace.tree.top_down;
    for members in top_down.chunk_by(|&one, &other| request_of(one) == request_of(other)) {
        let Some(&root) = members.first() else { continue };
        for (place, &i) in members.iter().enumerate() {
            places[i] = place;
        }
        let request = trace.request(root);
        let class = classes.of(strings, request, trace.span(root));
        let contract = request.contract.map(|contract| strings.intern(&contract.name));
        let mut pieces = Vec::new();
        let spans = members.iter().map(|&i| span(of, i, &places, tries[i], strings, &mut pieces));
        let spans = spans.collect();
        // Those of one parent come by (start, id).
        let pairs = members.iter().flat_map(|&parent| {
            let place = places[parent];
            let of_parent = trace.children.of(parent).iter();
            let places = &places;
            of_parent.map(move |&child| (place, places[child]))
        });
        let mut children = Children::default();
        children.fill(members.len(), pairs);
        let course = Course {
            trace_id: of.trace_id(),
            class,
            contract,
            began: trace.start(root),
            deadline: request.budget_at_origin(),
            reserve: request.reserve(),
            spans,
            calls: std::mem::take(&mut calls[request_of(root)]),
            pieces,
            children,
        };
        take(&course, strings);
    }
}

fn span(
    of: &Annotated<'_>,
    i: usize,
    places: &[usize],
    attempt: Option<Try>,
    strings: &Interner,
    pieces: &mut Vec<(Nanos, Nanos)>,
) -> CourseSpan {
    let (trace, span) = (&of.trace, of.trace.span(i));
    let since = |instant: UnixNanos| instant - trace.request(i).origin;
    let own_from = pieces.len();
    if !span.kind.sends() && !span.flags.is_wait {
        for_each_gap(trace, i, |gap| {
            of.own_time.split(i, gap, |(from, to), mark| {
                if mark.is_none() {
                    pieces.push((since(from), since(to)));
                }
            });
        });
    }
    let callee = || {
        let server = trace.servers(i).next().and_then(|server| trace.service(server, strings));
        server.or(span.peer_service)
    };
    let parent = trace.link(i);
    CourseSpan {
        span_id: span.span_id,
        parent: parent.map(|parent| places[parent]),
        is_attached: parent.is_some() && trace.parent(i).is_none(),
        role: role(of, i),
        start: since(trace.start(i)),
        end: since(trace.end(i)),
        outcome: trace.outcome(i),
        service: span.service,
        operation: span.operation,
        callee: if span.kind == Kind::Client { callee() } else { None },
        granted_until: trace.grant(i).map(|(grant, anchor)| since(anchor + grant.value)),
        attempt,
        pieces: own_from..pieces.len(),
        may_be_late: !of.work.long_lived[i],
        may_be_residual: !of.work.long_lived[i] && !of.work.detached[i],
    }
}

fn role(of: &Annotated<'_>, i: usize) -> Role {
    let trace = &of.trace;
    if trace.span(i).flags.is_wait {
        Role::Wait
    } else if trace.is_call_span(i) {
        Role::CallSpan
    } else if trace.is_client(i) {
        Role::Caller
    } else if trace.is_server(i) {
        Role::Callee
    } else {
        Role::Internal
    }
}
