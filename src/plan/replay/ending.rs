//! When a span ends that was cut short when it was measured, and what cuts it now.

use super::play::{Play, Sure};
use super::range::{Range, more};
use super::reason::Reason;
use super::seen::server;
use crate::reconstruct::Role;
use crate::span::Outcome;
use crate::units::Nanos;

/// How a span ends, while that is found out.
pub(super) struct Ending {
    pub length: Range,
    pub ok: bool,
    pub fails: bool,
    pub leaves: Sure,
    /// It would have gone on for longer than its length says.
    pub is_longer: bool,
}

impl Play<'_> {
    /// The end of a span that was cut short when it was measured.
    pub(super) fn cut(&mut self, i: usize, ending: &mut Ending) {
        let span = &self.course.spans[i];
        let cut_by = self.seen.cut_by[i];
        // What outlasted it may end before it now.
        let outlasting = self.course.children(i).iter().map(|&it| (it, &self.course.spans[it]));
        let outlasting = outlasting.filter(|(_, child)| child.end > span.end);
        let earliest = outlasting.map(|(it, _)| self.spans[it].after.lo).min();
        ending.length.lo = earliest.map_or(ending.length.lo, |at| at.min(ending.length.lo));
        // One that was cut between two tries may not try again now.
        let last = self.seen.last_ended(self.course, i).filter(|&it| {
            let rule = self.rules[it];
            let is_new = rule.is_some_and(|it| it.max_attempts.is_some() || it.backoff.is_some());
            is_new && self.course.spans[it].outcome != Outcome::Ok
        });
        let gives_up = last.map_or(ending.length.lo, |last| self.spans[last].after.lo);
        ending.length.lo = ending.length.lo.min(gives_up);
        let is_same = cut_by.is_none_or(|it| self.is_same[it]);
        // What had no time may have more now; what stopped with its caller may go on now.
        let had_no_time = span.outcome == Outcome::DeadlineExceeded;
        let has_more = had_no_time && (self.spans[i].has_new_limit || self.passes_on_anew());
        let goes_on = cut_by.is_some() && self.policy.stop_on_cancel == Some(false);
        let is_replaced = has_more || goes_on;
        if is_same && !is_replaced {
            self.cut_as_measured(i, ending);
            return;
        }
        self.reasons.add(Reason::Censored);
        // One that lost to another try may lose earlier; a limit that is not stated may be there still.
        let call_of = |it: usize| self.course.spans[it].attempt.map(|attempt| attempt.call);
        let has_lost = cut_by.is_some_and(|it| call_of(it).is_some() && call_of(it) == call_of(i));
        let is_told = self.timeout(i).is_some() || span.outcome == Outcome::Cancelled;
        let may_be_cut = has_lost || !is_told;
        let lo = match (has_lost, may_be_cut) {
            (true, _) => Nanos::ZERO,
            (false, true) => ending.length.lo.min(self.measured_limit(i).lo),
            (false, false) => ending.length.lo,
        };
        let Some(answer) = self.answer(i) else {
            ending.length = Range::from(lo);
            (ending.ok, ending.fails, ending.is_longer) = (true, true, true);
            return;
        };
        let server = &self.spans[answer];
        let way_in = self.course.spans[answer].start - span.start;
        let back = Range { lo: Nanos::ZERO, hi: Some(way_in.at_least_zero()) };
        let natural = server.after.plus(back);
        let lo = if may_be_cut { lo.min(natural.lo) } else { natural.lo };
        ending.length = Range { lo, ..natural };
        (ending.ok, ending.fails) = (server.ok, server.fails || may_be_cut);
        self.reasons.add_if(!back.is_exact(), Reason::WayBack);
    }

    /// When a span is cut by what cut it: a length, or an instant.
    fn measured_limit(&self, i: usize) -> Range {
        let span = &self.course.spans[i];
        let by_instant = Range::exactly(span.end).since(self.spans[i].start).at_least_zero();
        Range::exactly(span.end - span.start).or(by_instant)
    }

    /// The end of a span that is cut by what cut it: a length or an instant.
    fn cut_as_measured(&mut self, i: usize, ending: &mut Ending) {
        let span = &self.course.spans[i];
        let limit = self.measured_limit(i);
        // With more time than it had it may end otherwise; only calls are sure to end by then.
        let has_more = limit.hi.is_none_or(|hi| hi > ending.length.lo);
        let hi = limit.hi.filter(|_| !has_more || span.attempt.is_some());
        // What failed after an ancestor had left may have failed by itself.
        let by_itself = self.seen.cut_by[i].is_some() && span.outcome != Outcome::Cancelled;
        let hi = if by_itself { more(hi, ending.length.hi) } else { hi };
        ending.ok |= has_more;
        ending.is_longer |= has_more;
        ending.fails = true;
        ending.length = Range { lo: ending.length.lo.min(limit.lo), hi };
        self.reasons.add_if(has_more || !limit.is_exact(), Reason::UnknownLimit);
    }

    /// Whether what callers pass on of their time may be other than it was.
    fn passes_on_anew(&self) -> bool {
        let policy = self.policy;
        let is_other = match policy.propagate {
            None => false,
            Some(false) => true,
            Some(true) => policy.deadline.is_some() || policy.return_reserve.is_some(),
        };
        // What was refused for a timeout is not for a shorter one.
        let has_timeouts = policy.call.iter().any(|call| call.timeout.is_some());
        is_other || policy.reject_unfundable.is_some_and(|rejects| !rejects || has_timeouts)
    }

    /// The server of a call that was cut short, where it went on to an end of its own.
    fn answer(&self, i: usize) -> Option<usize> {
        let spans = &self.course.spans;
        let server = server(self.course, i).filter(|_| spans[i].role == Role::Caller)?;
        (spans[server].end > spans[i].end && !self.seen.is_cut[server]).then_some(server)
    }

    /// The end of an attempt that runs into a limit.
    pub(super) fn limit(&mut self, i: usize, ending: &mut Ending) {
        let span = &self.course.spans[i];
        let start = self.spans[i].start;
        let by_caller = (self.policy.propagate == Some(true))
            .then(|| self.available(span.parent?, start))
            .flatten();
        let by_caller = by_caller.map(Range::at_least_zero);
        let is_open = by_caller.is_some_and(|left| !left.is_exact());
        self.reasons.add_if(is_open, Reason::UnknownLimit);
        let limit = match (self.timeout(i).map(Range::exactly), by_caller) {
            (Some(timeout), Some(left)) => Some(timeout.least(left)),
            (timeout, left) => timeout.or(left),
        };
        let Some(limit) = limit else {
            if !self.seen.is_cut[i] {
                self.unknown_limit(i, ending);
            }
            return;
        };
        let lo = ending.length.lo;
        // What is passed on may end what it waits for at the very instant of its own limit.
        let is_beyond = ending.is_longer && self.policy.propagate != Some(true);
        let is_sure = limit.hi.is_some_and(|hi| hi < lo || (hi == lo && is_beyond));
        let is_never = !is_sure && ending.length.hi.is_some_and(|hi| hi <= limit.lo);
        if !is_never {
            ending.length = ending.length.least(limit);
            ending.fails = true;
            ending.ok &= !is_sure;
            ending.leaves = ending.leaves.max(if is_sure { Sure::Must } else { Sure::May });
        }
    }

    /// An attempt that takes longer than it was seen to may run into a limit that nobody stated.
    fn unknown_limit(&mut self, i: usize, ending: &mut Ending) {
        let span = &self.course.spans[i];
        let measured = span.end - span.start;
        let granted = span.granted_until.filter(|&until| until >= span.end);
        let granted = granted.filter(|_| self.policy.propagate.is_none());
        let from = granted.map_or(measured, |until| {
            let start = self.spans[i].start;
            let until = Range::exactly(until).or(start.later(until - span.start));
            until.since(start).lo.at_least_zero()
        });
        if ending.length.hi.is_none_or(|hi| hi > from) {
            ending.length.lo = ending.length.lo.min(from);
            ending.fails = true;
            ending.leaves = ending.leaves.max(Sure::May);
            self.reasons.add(Reason::UnknownLimit);
        }
    }
}
