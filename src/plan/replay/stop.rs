//! What goes on below a caller that has left, and what stops: from the root down, once it is known
//! when each span would end by itself.

use super::play::{Play, Played, Sure};
use super::range::{Range, less};
use super::reason::Reason;
use crate::span::Outcome;
use crate::units::Nanos;

/// What becomes of a span. Instants count from the request's origin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fate {
    /// Whether it is there.
    pub presence: Sure,
    /// When it ends.
    pub end: Range,
    /// From when on it may have been stopped.
    pub may_stop: Option<Nanos>,
    /// The same of what stops when its caller leaves.
    may_be_stopped: Option<Nanos>,
    /// When that is stopped at the latest.
    stopped: Option<Nanos>,
    /// An ancestor may leave, and nobody knows what stops then.
    is_open: bool,
    /// An ancestor left when it was measured, and something below it was seen to go on, or all is the same.
    left_as_seen: Option<LeftAsSeen>,
    /// The same of the span itself.
    leaves_as_seen: Option<LeftAsSeen>,
    /// From when on an ancestor may have left.
    pub may_be_left: Option<Nanos>,
    /// When an ancestor has left at the latest.
    pub left: Option<Nanos>,
}

/// A span that leaves now and left when it was measured.
#[derive(Clone, Copy, Debug)]
struct LeftAsSeen {
    /// When, as it was measured.
    measured: Nanos,
    /// When now, at the earliest.
    at: Nanos,
    /// It does so at the same instant.
    is_same: bool,
}

/// What becomes of each span.
pub(super) fn fates(play: &mut Play<'_>) -> Vec<Fate> {
    let mut fates: Vec<Fate> = Vec::with_capacity(play.spans.len());
    for i in 0..play.spans.len() {
        let mut fate = fate(play, &fates, i);
        fate.leaves_as_seen = leaves_as_seen(play, i, &fate);
        fates.push(fate);
    }
    fates
}

fn fate(play: &mut Play<'_>, fates: &[Fate], i: usize) -> Fate {
    let (span, played) = (&play.course.spans[i], &play.spans[i]);
    let mut fate = Fate {
        presence: played.presence,
        end: played.start.plus(played.length),
        may_stop: None,
        may_be_stopped: None,
        stopped: None,
        is_open: false,
        left_as_seen: None,
        leaves_as_seen: None,
        may_be_left: None,
        left: None,
    };
    let Some(parent) = span.parent else { return fate };
    let (above, caller) = (&fates[parent], &play.spans[parent]);
    fate.presence = fate.presence.and(above.presence);
    come_below(play, parent, above, &mut fate);
    if let Some(left) = fate.left_as_seen.filter(|left| !goes_on_as_seen(play, i, *left)) {
        fate.may_be_stopped = less(fate.may_be_stopped, Some(left.at));
        fate.is_open = true;
    }
    let ends = |hi: Option<Nanos>, by: Nanos| hi.is_some_and(|hi| hi < by);
    // What a caller asks for after it may have given up may not be asked for.
    let given_up = caller.gives_up.map(|gives_up| caller.start.lo + gives_up);
    fate.may_stop = fate.may_be_stopped.filter(|_| span.may_be_residual);
    let is_asked = [given_up, fate.may_stop].into_iter().flatten();
    if is_asked.into_iter().any(|stop| !ends(played.start.hi, stop)) {
        fate.presence = fate.presence.and(Sure::May);
    }
    if let Some(stop) = fate.may_stop {
        fate.end.lo = fate.end.lo.min(stop.max(played.start.lo));
    }
    if let Some(stop) = fate.stopped.filter(|_| span.may_be_residual) {
        if played.start.lo >= stop {
            fate.presence = Sure::No;
        }
        fate.end.hi = less(fate.end.hi, Some(stop.max(played.start.lo)));
    }
    lag(play, fates, i, &mut fate);
    let natural = played.start.plus(played.length);
    let is_cut = fate.may_stop.is_some_and(|stop| natural.hi.is_none_or(|hi| hi > stop));
    play.reasons.add_if(fate.is_open && is_cut, Reason::UnknownStop);
    fate
}

/// What a span has from its parent.
fn come_below(play: &Play<'_>, parent: usize, above: &Fate, fate: &mut Fate) {
    let played = &play.spans[parent];
    (fate.may_be_stopped, fate.stopped) = (above.may_be_stopped, above.stopped);
    (fate.may_be_left, fate.left) = (above.may_be_left, above.left);
    (fate.is_open, fate.left_as_seen) = (above.is_open, above.left_as_seen);
    if played.leaves == Sure::No {
        return;
    }
    let is_sure = played.leaves == Sure::Must;
    fate.may_be_left = less(fate.may_be_left, Some(above.end.lo));
    fate.left = less(fate.left, above.end.hi.filter(|_| is_sure));
    let left_as_seen = above.leaves_as_seen;
    let stops = play.policy.stop_on_cancel.unwrap_or(left_as_seen.is_none());
    if play.policy.stop_on_cancel.is_none() {
        let earlier = |left: &LeftAsSeen| above.left_as_seen.is_none_or(|it| left.at < it.at);
        fate.left_as_seen = left_as_seen.filter(earlier).or(above.left_as_seen);
    }
    if stops {
        fate.may_be_stopped = less(fate.may_be_stopped, Some(above.end.lo));
    }
    if play.policy.stop_on_cancel == Some(true) {
        fate.stopped = less(fate.stopped, above.end.hi.filter(|_| is_sure));
    }
    let is_told = play.policy.stop_on_cancel.is_some() || played.gives_up.is_some();
    fate.is_open |= stops && !is_told;
}

/// A span that left when it was measured, where that tells what goes on below it.
fn leaves_as_seen(play: &Play<'_>, i: usize, fate: &Fate) -> Option<LeftAsSeen> {
    let span = &play.course.spans[i];
    if play.spans[i].leaves == Sure::No || !span.outcome.left() {
        return None;
    }
    let is_same = play.is_as_measured(i);
    let mut below = play.course.children(i).iter();
    let is_told = is_same || below.any(|&child| outlasts(play, child, span.end));
    is_told.then_some(LeftAsSeen { measured: span.end, at: fate.end.lo, is_same })
}

/// Whether a span goes on below another that left: it was seen to, or nothing is other than it was.
fn goes_on_as_seen(play: &Play<'_>, i: usize, left: LeftAsSeen) -> bool {
    (left.is_same && play.is_as_measured(i)) || outlasts(play, i, left.measured)
}

/// Whether a span was seen to go on after an instant, to an end of its own.
fn outlasts(play: &Play<'_>, i: usize, instant: Nanos) -> bool {
    play.course.spans[i].end > instant && !play.seen.is_cut[i]
}

/// What was cut by the end of an ancestor, and goes on now, ends as long after it as it did.
fn lag(play: &Play<'_>, fates: &[Fate], i: usize, fate: &mut Fate) {
    let spans = &play.course.spans;
    let Some(cut_by) = play.seen.cut_by[i] else { return };
    let Some(above) = fates.get(cut_by).filter(|_| spans[cut_by].outcome.left()) else { return };
    // One that failed in another way may have done so by itself.
    let is_told = spans[i].outcome == Outcome::Cancelled && play.policy.stop_on_cancel.is_none();
    if play.is_same[cut_by] || !is_told {
        return;
    }
    let lag = spans[i].end - spans[cut_by].end;
    let leaves = play.spans[cut_by].leaves;
    if leaves != Sure::No {
        fate.end.lo = fate.end.lo.min(above.end.lo + lag);
    }
    if leaves == Sure::Must {
        fate.end.hi = less(fate.end.hi, above.end.hi.map(|end| end + lag));
        fate.end.lo = fate.end.hi.map_or(fate.end.lo, |hi| fate.end.lo.min(hi));
    }
}

impl Fate {
    /// Whether the span may do what nobody saw after an instant.
    pub(super) fn does_unseen(&self, played: &Played, instant: Nanos) -> bool {
        let from = played.unseen.map(|unseen| instant.max(played.start.lo + unseen));
        let is_reached = |from: Nanos| self.end.hi.is_none_or(|end| end > from);
        self.presence != Sure::No && from.is_some_and(is_reached)
    }

    /// How long the span is there.
    pub(super) fn duration(&self, played: &Played) -> Range {
        let Range { lo, hi } = played.length;
        let hi = less(hi, self.end.hi.map(|end| end - played.start.lo));
        let stopped = self.may_stop.zip(played.start.hi);
        let stopped = stopped.map(|(stop, start)| stop - start);
        let least = match (self.may_stop, stopped) {
            (Some(_), None) => Nanos::ZERO,
            (_, stopped) => stopped.map_or(lo, |stopped| stopped.min(lo)),
        };
        let lo = match self.presence {
            Sure::Must => least.min(self.end.lo - played.start.lo),
            Sure::May | Sure::No => Nanos::ZERO,
        };
        let is_there = self.presence != Sure::No;
        let hi = if is_there { hi } else { Some(Nanos::ZERO) };
        Range { lo, hi }.at_least_zero()
    }
}
