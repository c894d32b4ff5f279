//! Attempts of a call in the play: whether each is there and when it begins, and those that the
//! policy adds.

use super::play::{Play, Sure};
use super::range::{Range, less, more};
use super::reason::Reason;
use crate::span::Outcome;
use crate::tables::AttemptKind;
use crate::units::Nanos;

/// A call, as far as its attempts were played.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact of the call")]
pub(super) struct Call {
    /// The attempts that are still to come.
    left: usize,
    /// Those that were measured, but for what was sent again for other reasons.
    tries: u32,
    last: Option<usize>,
    /// Its attempts, so far.
    members: Vec<usize>,
    /// One of them is a hedge.
    is_hedged: bool,
    /// Hedges that may not be sent, so that a retry may come in their place.
    unsent: u32,
    /// When what follows the last goes on, since the parent's start.
    after: Option<Range>,
    /// The last may have been refused.
    may_be_refused: bool,
    /// It may have ended well.
    pub ok: bool,
    /// It may have failed, so far.
    pub fails: bool,
    /// It had ended well when it was measured.
    pub was_ok: bool,
    /// Some attempt ended before its caller did.
    pub is_heard: bool,
}

/// Attempts that the policy adds and nobody measured.
#[derive(Debug)]
pub(super) struct Added {
    /// The attempt that they follow.
    pub like: usize,
    /// How many, at most.
    pub count: u32,
    /// When the last of them ends, at the latest.
    pub until: Option<Nanos>,
}

impl Call {
    pub(super) fn of(attempts: usize) -> Self {
        Self {
            left: attempts,
            tries: 0,
            last: None,
            members: Vec::new(),
            is_hedged: false,
            unsent: 0,
            after: None,
            may_be_refused: false,
            ok: false,
            fails: true,
            was_ok: false,
            is_heard: false,
        }
    }
}

impl Play<'_> {
    /// When an attempt begins, since its parent's start, and whether it does. `by_anchor` is when it
    /// would as any child.
    pub(super) fn attempt(&mut self, parent: usize, i: usize, by_anchor: Range) -> (Range, Sure) {
        let span = &self.course.spans[i];
        let Some(attempt) = span.attempt else { return (by_anchor, Sure::Must) };
        let call = &mut self.calls[attempt.call];
        let before = call.last.replace(i);
        call.members.push(i);
        call.is_hedged |= attempt.kind == AttemptKind::Hedge;
        call.tries += u32::from(attempt.kind != AttemptKind::Resend);
        let tries = call.tries;
        let (since, presence) = match (before, attempt.kind) {
            (Some(before), AttemptKind::Retry) => self.retry(before, i, tries),
            (Some(before), AttemptKind::Resend) => {
                let gap = span.start - self.course.spans[before].end;
                (self.spans[before].after.later(gap), self.spans[before].presence)
            }
            (Some(before), AttemptKind::Hedge) => (by_anchor, self.hedge(before, by_anchor)),
            _ => (by_anchor, Sure::Must),
        };
        let rule = self.rules[i];
        if rule.and_then(|rule| rule.max_attempts).is_some_and(|most| tries > most) {
            return (since, Sure::No);
        }
        let funding = self.funding(parent, i, since);
        self.calls[attempt.call].may_be_refused = funding != Sure::Must;
        (since, presence.and(funding))
    }

    fn retry(&self, before: usize, i: usize, tries: u32) -> (Range, Sure) {
        let (measured, played) = (&self.course.spans[before], &self.spans[before]);
        let backoff = self.backoff(i, tries.saturating_sub(2));
        let backoff = backoff.unwrap_or(self.course.spans[i].start - measured.end);
        let ended = if played.presence == Sure::No {
            played.after
        } else {
            played.since.plus(played.length)
        };
        let presence = if measured.outcome == Outcome::Ok {
            played.presence
        } else if !played.fails {
            Sure::No
        } else if played.ok {
            played.presence.and(Sure::May)
        } else {
            played.presence
        };
        (ended.later(backoff), presence)
    }

    /// A hedge is not sent where the attempt before it has answered by then.
    fn hedge(&self, before: usize, since: Range) -> Sure {
        let played = &self.spans[before];
        let end = played.since.plus(played.length);
        let is_before = |end: Option<Nanos>, start: Option<Nanos>| match (end, start) {
            (Some(end), Some(start)) => end <= start,
            (_, start) => start.is_none(),
        };
        let presence = if !played.ok {
            Sure::Must
        } else if !played.fails && is_before(end.hi, Some(since.lo)) {
            Sure::No
        } else if is_before(Some(end.lo), since.hi) {
            Sure::May
        } else {
            Sure::Must
        };
        presence.and(played.presence)
    }

    /// The wait that the policy sets before a retry, from 0.
    fn backoff(&self, i: usize, retry: u32) -> Option<Nanos> {
        let waits = self.rules[i]?.backoff.as_deref()?;
        let place = usize::try_from(retry).unwrap_or(usize::MAX);
        waits.get(place).or(waits.last()).copied()
    }

    /// Takes in an attempt that has ended, or was not there. Says whether it was the last.
    pub(super) fn end_attempt(&mut self, i: usize, is_heard: bool) -> bool {
        let span = &self.course.spans[i];
        let Some(attempt) = span.attempt else { return false };
        let call = &mut self.calls[attempt.call];
        let played = &mut self.spans[i];
        // Where an attempt is not there, the call goes on as after the one before it.
        let without = call.after.unwrap_or(played.since);
        match played.presence {
            Sure::No => played.after = without,
            Sure::May => played.after = played.since.plus(played.length).or(without),
            Sure::Must => {}
        }
        if played.presence != Sure::No {
            let may_be_absent = attempt.kind == AttemptKind::Hedge || call.may_be_refused;
            call.ok |= call.fails && played.ok;
            call.fails &= played.fails || (played.presence == Sure::May && may_be_absent);
        }
        let is_unsent = attempt.kind == AttemptKind::Hedge && played.presence != Sure::Must;
        call.unsent += u32::from(is_unsent);
        call.after = Some(played.after);
        call.was_ok |= span.outcome == Outcome::Ok;
        call.is_heard |= is_heard;
        call.left = call.left.saturating_sub(1);
        let is_last = call.left == 0;
        if is_last && call.is_hedged {
            self.settle_hedged(attempt.call);
        }
        is_last
    }

    /// Of attempts beside one another the first that answers ends the others. Where they do not end as
    /// they did, which one that is, and when, may be other than it was.
    fn settle_hedged(&mut self, call: usize) {
        let members = std::mem::take(&mut self.calls[call].members);
        if members.iter().all(|&it| self.is_as_measured(it)) {
            return;
        }
        self.reasons.add(Reason::Order);
        let answered = |it: usize| {
            let played = &self.spans[it];
            (played.presence != Sure::No && played.ok).then_some(played.since.lo + played.length.lo)
        };
        let answers: Vec<Option<Nanos>> = members.iter().map(|&it| answered(it)).collect();
        let first = answers.iter().flatten().min().copied();
        for (place, &it) in members.iter().enumerate() {
            let others = answers.iter().enumerate().filter(|(other, _)| *other != place);
            let other = others.filter_map(|(_, answer)| *answer).min();
            let played = &mut self.spans[it];
            let end = played.since.plus(played.length);
            if let Some(other) = other.filter(|other| end.hi.is_none_or(|end| end > *other)) {
                let least = played.since.hi.map_or(Nanos::ZERO, |since| other - since);
                played.length.lo = played.length.lo.min(least.at_least_zero());
                played.fails = true;
                played.leaves = played.leaves.max(Sure::May);
            }
            if let Some(first) = first {
                played.after.lo = played.after.lo.min(first);
            }
        }
    }

    /// Adds the attempts that the policy allows beyond those that were measured.
    pub(super) fn add_attempts(&mut self, parent: usize, last: usize) {
        let Some(attempt) = self.course.spans[last].attempt else { return };
        let call = &self.calls[attempt.call];
        let most = self.rules[last].and_then(|rule| rule.max_attempts).unwrap_or(0);
        let tries = call.tries.saturating_sub(call.unsent);
        let count = most.saturating_sub(tries);
        let played = &self.spans[last];
        let is_unsent = attempt.kind == AttemptKind::Hedge;
        if count == 0 || !call.fails || (played.presence == Sure::No && !is_unsent) {
            return;
        }
        let first = self.backoff(last, tries.saturating_sub(1)).unwrap_or_default();
        let after = played.after;
        if self.funding(parent, last, after.later(first)) == Sure::No {
            return;
        }
        let whole = self.whole_of(last, tries, count);
        let unlimited = after.hi.zip(whole).map(|(after, whole)| after + whole);
        let latest = less(unlimited, self.latest_end(parent));
        let hi = more(latest, after.hi);
        self.spans[last].after.hi = hi;
        let until = hi.zip(self.spans[parent].start.hi).map(|(hi, start)| start + hi);
        self.added.push(Added { like: last, count, until });
        self.calls[attempt.call].ok = true;
        self.reasons.add(Reason::UnseenAttempts);
    }

    /// The longest that so many further attempts take; `None` where nothing bounds it.
    fn whole_of(&self, last: usize, tries: u32, count: u32) -> Option<Nanos> {
        let rule = self.rules[last]?;
        let (timeout, waits) = (rule.timeout?, rule.backoff.as_deref()?);
        let times = |length: Nanos, count: u32| {
            Nanos::from_nanos(length.as_nanos().saturating_mul(i64::from(count)))
        };
        let skipped = usize::try_from(tries.saturating_sub(1)).unwrap_or(usize::MAX);
        let listed: Vec<Nanos> = waits
            .iter()
            .skip(skipped)
            .take(usize::try_from(count).unwrap_or(usize::MAX))
            .copied()
            .collect();
        let rest = count.saturating_sub(u32::try_from(listed.len()).unwrap_or(u32::MAX));
        let last_wait = waits.last().copied().unwrap_or_default();
        Some(listed.into_iter().sum::<Nanos>() + times(last_wait, rest) + times(timeout, count))
    }
}
