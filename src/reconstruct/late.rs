//! Late and residual work, and open calls (SEMANTICS §9).

use super::memory::reset;
use super::moment::{Moment, Stretch};
use super::own_time::OwnTime;
use super::trace::Trace;
use crate::budget;
use crate::span::Interner;
use crate::tables::Category;
use crate::units::{Nanos, UnixNanos};

/// Sums over a subtree.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Amounts {
    /// Work after the request's deadline.
    pub late_work: Nanos,
    /// The least and the most that it is over all offsets that clocks may have.
    pub late_work_min: Nanos,
    pub late_work_max: Nanos,
    /// Open calls after the request's deadline.
    pub late_wait: Nanos,
    /// Work after an ancestor had left.
    pub residual_work: Nanos,
    /// Open calls after an ancestor had left.
    pub residual_wait: Nanos,
    /// The last instant at which it worked.
    pub last_work: Option<Moment>,
    /// The last end of a span.
    pub last_end: Option<Moment>,
}

impl Amounts {
    fn add(&mut self, other: Self) {
        self.late_work += other.late_work;
        self.late_work_min += other.late_work_min;
        self.late_work_max += other.late_work_max;
        self.late_wait += other.late_wait;
        self.residual_work += other.residual_work;
        self.residual_wait += other.residual_wait;
        self.last_work = self.last_work.max(other.last_work);
        self.last_end = self.last_end.max(other.last_end);
    }
}

/// Late and residual work of every span's subtree.
#[derive(Debug, Default)]
pub(super) struct Work {
    /// By span: its own and all below it, attached spans below the root.
    pub below: Vec<Amounts>,
    /// By span: the last instant at which it worked itself.
    pub own_last: Vec<Option<Moment>>,
    /// By span: whether it, or a span above it, rightly outlasts any budget.
    pub long_lived: Vec<bool>,
    /// By span: whether its service, or one above it, is meant to go on after its caller left.
    pub detached: Vec<bool>,
    /// By span: the earliest instant at which an ancestor left.
    pub left_above: Vec<Option<Moment>>,
}

impl Work {
    /// Nothing is known of a trace of so many spans.
    pub(super) fn forget(&mut self, spans: usize) {
        reset(&mut self.below, spans, Amounts::default());
        reset(&mut self.own_last, spans, None);
        reset(&mut self.long_lived, spans, false);
        reset(&mut self.detached, spans, false);
        reset(&mut self.left_above, spans, None);
    }

    /// Two passes: down for the instants that count, up for the sums.
    pub(super) fn fill(&mut self, trace: &Trace<'_>, own_time: &OwnTime, strings: &Interner) {
        self.forget(trace.len());
        for &i in &trace.tree.top_down {
            let Self { long_lived, detached, left_above, .. } = &mut *self;
            let request = trace.request(i);
            let span = trace.span(i);
            let mut names = [Some(span.operation), span.route_operation].into_iter().flatten();
            long_lived[i] = names.any(|name| request.is_long_lived(name, strings));
            detached[i] = request.is_detached(span.service, strings);
            if let Some(parent) = trace.link(i) {
                long_lived[i] |= long_lived[parent];
                detached[i] |= detached[parent];
                let parent_left = trace.left(parent).then(|| (trace.end(parent), parent));
                left_above[i] = budget::earlier(left_above[parent], parent_left);
            }
            let (late_from, residual_from) = self.wasted_from(trace, i);
            let late_from = late_from.map(|deadline| Late::of(trace, i, deadline));
            let residual_from = residual_from.map(|(left, _)| left);
            self.below[i] = own(trace, own_time, i, late_from, residual_from);
            self.own_last[i] = self.below[i].last_work;
        }
        for &i in trace.tree.top_down.iter().rev() {
            if let Some(parent) = trace.link(i) {
                let amounts = self.below[i];
                self.below[parent].add(amounts);
            }
        }
    }

    /// From when on what span `i` does is late, and from when on it is residual.
    pub(super) fn wasted_from(
        &self,
        trace: &Trace<'_>,
        i: usize,
    ) -> (Option<Moment>, Option<Moment>) {
        let ends = !self.long_lived[i];
        let residual_from = self.left_above[i].filter(|_| ends && !self.detached[i]);
        (trace.request(i).deadline.filter(|_| ends), residual_from)
    }
}

/// From when work of a span is late: its request's deadline on the one clock, and where that may
/// lie by the span's own.
#[derive(Clone, Copy)]
struct Late {
    chosen: UnixNanos,
    earliest: UnixNanos,
    latest: UnixNanos,
}

impl Late {
    fn of(trace: &Trace<'_>, i: usize, (deadline, told_by): Moment) -> Self {
        let earlier = trace.clock.may_shrink(i, told_by);
        let later = trace.clock.may_shrink(told_by, i);
        Self {
            chosen: deadline,
            earliest: earlier.map_or(UnixNanos::MIN, |earlier| deadline - earlier),
            latest: later.map_or(UnixNanos::MAX, |later| deadline + later),
        }
    }
}

/// What span `i` itself did.
fn own(
    trace: &Trace<'_>,
    own_time: &OwnTime,
    i: usize,
    late_from: Option<Late>,
    residual_from: Option<UnixNanos>,
) -> Amounts {
    let mut amounts = Amounts { last_end: Some((trace.end(i), i)), ..Amounts::default() };
    let sends = trace.span(i).kind.sends();
    // A call whose other end was not traced is open: somebody may be working there, unseen.
    let is_open = own_time.otherwise(i) == Category::Downstream;
    if trace.span(i).flags.is_wait || (sends && !is_open) {
        return amounts;
    }
    let (mut late, mut residual) = (Nanos::ZERO, Nanos::ZERO);
    let (mut least, mut most) = (Nanos::ZERO, Nanos::ZERO);
    let mut last = None;
    for_each_gap(trace, i, |gap| {
        own_time.split(i, gap, |part, mark| {
            if mark.is_none() {
                late += after(part, late_from.map(|late| late.chosen));
                least += after(part, late_from.map(|late| late.latest));
                most += after(part, late_from.map(|late| late.earliest));
                residual += after(part, residual_from);
                last = Some(part.1);
            }
        });
    });
    if sends {
        (amounts.late_wait, amounts.residual_wait) = (late, residual);
    } else {
        (amounts.late_work, amounts.residual_work) = (late, residual);
        (amounts.late_work_min, amounts.late_work_max) = (least, most);
        amounts.last_work = last.map(|last| (last, i));
    }
    amounts
}

/// The length of the part of a stretch that lies after `instant`.
fn after((from, to): Stretch, instant: Option<UnixNanos>) -> Nanos {
    instant.map_or(Nanos::ZERO, |instant| (to - from.max(instant)).at_least_zero())
}

/// Calls `tell` with the stretches of span `i` that its real children do not cover, by time.
pub(super) fn for_each_gap(trace: &Trace<'_>, i: usize, mut tell: impl FnMut(Stretch)) {
    let mut at = trace.start(i);
    let end = trace.end(i);
    for &child in trace.children.of(i) {
        let (from, to) = (trace.start(child).min(end), trace.end(child).min(end));
        if from > at {
            tell((at, from));
        }
        at = at.max(to);
    }
    if at < end {
        tell((at, end));
    }
}
