//! What goes on below a caller that has left, and what stops: from the root down, once it is known
//! when each span would end by itself.

use super::play::{Play, Played, Sure};
use super::range::{Range, less};
use super::reason::Reason;
use crate::units::Nanos;

/// What becomes of a span. Instants count from the request's origin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fate {
    /// Whether it is there.
    pub presence: Sure,
    /// When it ends.
    pub end: Range,
    /// From when on it may have been stopped, for whatever reason.
    pub may_stop: Option<Nanos>,
    /// From when on it may not be asked for any more, since an ancestor gave up.
    given_up: Option<Nanos>,
    /// From when on it may be stopped, since an ancestor left.
    may_be_stopped: Option<Nanos>,
    /// When it is stopped for that at the latest.
    stopped: Option<Nanos>,
    /// From when on an ancestor may have left.
    pub may_be_left: Option<Nanos>,
    /// When an ancestor has left at the latest.
    pub left: Option<Nanos>,
}

/// What becomes of each span.
pub(super) fn fates(play: &mut Play<'_>) -> Vec<Fate> {
    let mut fates: Vec<Fate> = Vec::with_capacity(play.spans.len());
    for i in 0..play.spans.len() {
        let fate = fate(play, &fates, i);
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
        given_up: None,
        may_be_stopped: None,
        stopped: None,
        may_be_left: None,
        left: None,
    };
    let Some(parent) = span.parent else { return fate };
    let above = &fates[parent];
    fate.presence = fate.presence.and(above.presence);
    let is_told = come_below(play, parent, above, &mut fate);
    let (span, played) = (&play.course.spans[i], &play.spans[i]);
    let reaches = |hi: Option<Nanos>, instant: Nanos| hi.is_none_or(|hi| hi > instant);
    let may_be_stopped = fate.may_be_stopped.filter(|_| span.may_be_residual);
    fate.may_stop = less(fate.given_up, may_be_stopped);
    if let Some(stop) = fate.may_stop {
        if reaches(played.start.hi, stop - Nanos::from_nanos(1)) {
            fate.presence = fate.presence.and(Sure::May);
        }
        fate.end.lo = fate.end.lo.min(stop.max(played.start.lo));
    }
    if let Some(stop) = fate.stopped.filter(|_| span.may_be_residual) {
        if played.start.lo >= stop {
            fate.presence = Sure::No;
        }
        fate.end.hi = less(fate.end.hi, Some(stop.max(played.start.lo)));
    }
    lag(play, fates, i, &mut fate);
    let is_open =
        fate.may_stop.is_some_and(|stop| reaches(played.start.plus(played.length).hi, stop));
    play.reasons.add_if(is_open && !is_told, Reason::UnknownStop);
    fate
}

/// What a span has from its parent. Says whether the policy tells if it stops.
fn come_below(play: &Play<'_>, parent: usize, above: &Fate, fate: &mut Fate) -> bool {
    let played = &play.spans[parent];
    (fate.may_be_stopped, fate.stopped) = (above.may_be_stopped, above.stopped);
    fate.given_up = above.given_up;
    (fate.may_be_left, fate.left) = (above.may_be_left, above.left);
    if let Some(gives_up) = played.gives_up {
        fate.given_up = less(fate.given_up, Some(played.start.lo + gives_up));
    }
    let is_told = play.policy.stop_on_cancel.is_some();
    if played.leaves == Sure::No {
        return is_told;
    }
    let is_sure = played.leaves == Sure::Must;
    fate.may_be_left = less(fate.may_be_left, Some(above.end.lo));
    fate.left = less(fate.left, above.end.hi.filter(|_| is_sure));
    let stops = play.policy.stop_on_cancel.unwrap_or_else(|| !goes_on_as_seen(play, parent));
    if stops {
        fate.may_be_stopped = less(fate.may_be_stopped, Some(above.end.lo));
    }
    if play.policy.stop_on_cancel == Some(true) {
        fate.stopped = less(fate.stopped, above.end.hi.filter(|_| is_sure));
    }
    is_told
}

/// Whether what a span asked for goes on after it has left, as was seen.
fn goes_on_as_seen(play: &Play<'_>, i: usize) -> bool {
    let spans = &play.course.spans;
    let outlasts = |&it: &usize| spans[it].end > spans[i].end && !play.seen.is_cut[it];
    spans[i].outcome.left()
        && (play.is_as_measured(i) || play.course.children(i).iter().any(outlasts))
}

/// What was cut by the end of an ancestor, and goes on now, ends as long after it as it did.
fn lag(play: &Play<'_>, fates: &[Fate], i: usize, fate: &mut Fate) {
    let spans = &play.course.spans;
    let Some(cut_by) = play.seen.cut_by[i] else { return };
    let Some(above) = fates.get(cut_by).filter(|_| spans[cut_by].outcome.left()) else { return };
    if play.is_same[cut_by] {
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
