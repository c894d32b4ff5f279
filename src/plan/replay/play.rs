//! One request run again: when each span begins and ends, and how, from the root down and back.

use super::call::{Added, Call};
use super::ending::Ending;
use super::range::Range;
use super::reason::{Reason, Reasons};
use super::seen::{Seen, server};
use super::waited::{Ended, Waited};
use crate::plan::policy::{CallPolicy, Policy};
use crate::reconstruct::{Course, CourseSpan, Role};
use crate::span::Outcome;
use crate::units::Nanos;

/// So often the play begins again where a span that cut others does not end as measured.
const ROUNDS: usize = 3;

/// Whether something is so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sure {
    No,
    May,
    Must,
}

/// How a span goes in the play. Its start counts from the request's origin.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact of the span")]
pub(super) struct Played {
    /// Whether it is there.
    pub presence: Sure,
    /// When it begins.
    pub start: Range,
    /// The same since its parent's start.
    pub since: Range,
    /// How long it is.
    pub length: Range,
    /// When what follows it goes on, since its parent's start.
    pub after: Range,
    /// It may end well.
    pub ok: bool,
    /// It may fail.
    pub fails: bool,
    /// Whether it leaves while what it asked for may still run.
    pub leaves: Sure,
    /// Until when there is time.
    pub deadline: Option<Range>,
    /// It, or a call above it, has a limit by the policy that may be another than it had.
    pub has_new_limit: bool,
    /// Since its start, from when on it may have given up.
    pub gives_up: Option<Nanos>,
    /// Since its start, from when on it may do what nobody saw.
    pub unseen: Option<Nanos>,
    is_done: bool,
}

/// A request that is run again.
#[derive(Debug)]
pub(super) struct Play<'c> {
    pub course: &'c Course,
    pub policy: &'c Policy,
    /// By span what its call gets.
    pub rules: &'c [Option<&'c CallPolicy>],
    pub seen: &'c Seen,
    /// By span, that what it cut is cut by it as it was measured.
    pub is_same: Vec<bool>,
    pub spans: Vec<Played>,
    /// When each piece of work begins, since the start of its span.
    pub pieces: Vec<Range>,
    pub calls: Vec<Call>,
    /// Attempts that were never measured.
    pub added: Vec<Added>,
    pub reasons: Reasons,
}

/// A span whose children are being played.
#[derive(Debug)]
struct Frame {
    span: usize,
    next_child: usize,
    next_piece: usize,
    /// How many children had ended by the instant that was reached.
    ended: usize,
    /// The same children.
    waited: Waited,
    /// The span's length, once all that ended before it is known.
    length: Option<Range>,
}

impl<'c> Play<'c> {
    /// Runs a request again.
    pub(super) fn new(
        course: &'c Course,
        policy: &'c Policy,
        rules: &'c [Option<&'c CallPolicy>],
        seen: &'c Seen,
    ) -> Self {
        let mut play = Self {
            course,
            policy,
            rules,
            seen,
            is_same: vec![true; course.spans.len()],
            spans: Vec::new(),
            pieces: Vec::new(),
            calls: Vec::new(),
            added: Vec::new(),
            reasons: Reasons::default(),
        };
        // What ends as measured cuts as measured: taken for granted first, then looked at.
        for _ in 0..ROUNDS {
            play.run();
            let cutting = seen.cut_by.iter().flatten().copied();
            let wrong: Vec<usize> =
                cutting.filter(|&it| play.is_same[it] && !play.is_as_measured(it)).collect();
            if wrong.is_empty() {
                return play;
            }
            for it in wrong {
                play.is_same[it] = false;
            }
        }
        play.is_same.fill(false);
        play.run();
        play
    }

    /// Whether a span begins and ends as it did.
    pub(super) fn is_as_measured(&self, i: usize) -> bool {
        let (span, played) = (&self.course.spans[i], &self.spans[i]);
        let is_ok = span.outcome == Outcome::Ok;
        played.presence == Sure::Must
            && played.start == Range::exactly(span.start)
            && played.length == Range::exactly(span.end - span.start)
            && (played.ok, played.fails) == (is_ok, !is_ok)
            && (played.leaves == Sure::Must) == span.outcome.left()
    }

    fn run(&mut self) {
        let course = self.course;
        self.spans = course.spans.iter().map(unplayed).collect();
        self.pieces = vec![Range::ZERO; course.pieces.len()];
        self.calls = course.calls.iter().map(|&attempts| Call::of(attempts)).collect();
        self.added.clear();
        self.reasons = Reasons::default();
        let attached = (1..course.spans.len()).filter(|&i| course.spans[i].is_attached);
        for top in std::iter::once(0).chain(attached) {
            let span = &course.spans[top];
            let since = match span.parent {
                Some(parent) => Range::exactly(span.start - course.spans[parent].start),
                None => Range::exactly(span.start),
            };
            self.run_below(top, since);
        }
    }

    /// Plays a span and all below it.
    fn run_below(&mut self, top: usize, since: Range) {
        let mut open = vec![self.enter(top, since, Sure::Must)];
        while let Some(frame) = open.last_mut() {
            if let Some(&child) = self.course.children(frame.span).get(frame.next_child) {
                frame.next_child += 1;
                let parent = frame.span;
                match self.begin(frame, child) {
                    Some(below) => open.push(below),
                    None => self.tell(parent, child),
                }
            } else if let Some(frame) = open.pop() {
                let done = frame.span;
                self.end(frame);
                if let Some(parent) = open.last() {
                    self.tell(parent.span, done);
                }
            }
        }
    }

    fn enter(&mut self, i: usize, since: Range, presence: Sure) -> Frame {
        let span = &self.course.spans[i];
        let parent = span.parent.map(|parent| &self.spans[parent]);
        let start = parent.map_or(since, |parent| parent.start.plus(since));
        let above = match parent {
            Some(parent) => parent.deadline,
            None => self.policy.deadline.or(self.course.deadline).map(Range::exactly),
        };
        // A call is given what is left less the reserve, and its callee knows no more.
        let is_given = self.policy.propagate == Some(true) && span.attempt.is_some();
        let above = above.map(|above| if is_given { above.later(-self.reserve()) } else { above });
        let deadline = match (above, self.own_deadline(i, start)) {
            (Some(above), Some(own)) => Some(above.least(own)),
            (above, own) => above.or(own),
        };
        let is_ok = span.outcome == Outcome::Ok;
        let has_new_limit =
            self.timeout(i).is_some() || parent.is_some_and(|parent| parent.has_new_limit);
        self.spans[i] = Played {
            presence,
            start,
            since,
            ok: is_ok,
            fails: !is_ok,
            deadline,
            has_new_limit,
            ..unplayed(span)
        };
        Frame {
            span: i,
            next_child: 0,
            next_piece: span.pieces.start,
            ended: 0,
            waited: Waited::new(),
            length: None,
        }
    }

    /// Until when a span has time of its own: its timeout, else what it was given.
    fn own_deadline(&self, i: usize, start: Range) -> Option<Range> {
        let span = &self.course.spans[i];
        if let Some(timeout) = self.timeout(i) {
            return Some(start.later(timeout));
        }
        // What a callee was told came from a timeout that is another now.
        let is_told = span.parent.is_some_and(|parent| self.timeout(parent).is_some());
        let until = span.granted_until.filter(|_| !is_told)?;
        // A length, or an instant: both may move it.
        Some(Range::exactly(until).or(start.later(until - span.start)))
    }

    pub(super) fn timeout(&self, i: usize) -> Option<Nanos> {
        self.rules[i]?.timeout
    }

    /// What is left to a call that `parent` makes at `start`, less the reserve.
    pub(super) fn available(&self, parent: usize, start: Range) -> Option<Range> {
        Some(self.spans[parent].deadline?.later(-self.reserve()).since(start))
    }

    fn reserve(&self) -> Nanos {
        self.policy.return_reserve.unwrap_or(self.course.reserve)
    }

    /// Goes on to a measured instant: what had ended by then is waited for.
    fn advance(&mut self, frame: &mut Frame, instant: Nanos) {
        let ended = &self.seen.by_end[frame.span];
        while let Some(&child) = ended.get(frame.ended) {
            let (span, played) = (&self.course.spans[child], &self.spans[child]);
            if span.end > instant || !played.is_done {
                break;
            }
            frame.ended += 1;
            let since = |instant: Nanos| instant - self.course.spans[frame.span].start;
            let (start, end) = (since(span.start), since(span.end));
            frame.waited.add(Ended { start, end, after: played.after });
            self.reasons.add_if(frame.waited.is_open(), Reason::Order);
        }
    }

    /// When what was measured at `instant` happens, since the span's start.
    fn event(&self, frame: &Frame, instant: Nanos) -> Range {
        frame.waited.event(instant - self.course.spans[frame.span].start)
    }

    /// Places the work that a span did up to a measured instant.
    fn place_pieces(&mut self, frame: &mut Frame, until: Nanos) {
        let pieces = &self.course.pieces;
        let end = self.course.spans[frame.span].pieces.end;
        while frame.next_piece < end && pieces[frame.next_piece].0 <= until {
            let from = pieces[frame.next_piece].0;
            self.advance(frame, from);
            self.pieces[frame.next_piece] = self.event(frame, from);
            frame.next_piece += 1;
        }
    }

    /// Begins a child; `None` where it is not there.
    fn begin(&mut self, frame: &mut Frame, child: usize) -> Option<Frame> {
        let span = &self.course.spans[child];
        if span.start > self.course.spans[frame.span].end {
            self.length(frame);
        }
        self.place_pieces(frame, span.start);
        self.advance(frame, span.start);
        let by_anchor = self.event(frame, span.start);
        let (since, presence) = match span.attempt {
            Some(_) => self.attempt(frame.span, child, by_anchor),
            None => (by_anchor, Sure::Must),
        };
        if presence == Sure::No {
            let played = &mut self.spans[child];
            (played.presence, played.since, played.is_done) = (Sure::No, since, true);
            return None;
        }
        Some(self.enter(child, since, presence))
    }

    /// How long a span is if nothing cuts it, once all children that ended before it have.
    fn length(&mut self, frame: &mut Frame) -> Range {
        if let Some(length) = frame.length {
            return length;
        }
        let end = self.course.spans[frame.span].end;
        self.place_pieces(frame, end);
        self.advance(frame, end);
        let length = self.event(frame, end);
        frame.length = Some(length);
        length
    }

    /// Ends a span whose children have.
    fn end(&mut self, mut frame: Frame) {
        let i = frame.span;
        let span = &self.course.spans[i];
        let course = self.length(&mut frame);
        let played = &self.spans[i];
        let mut ending = Ending {
            length: Range {
                lo: played.gives_up.map_or(course.lo, |gives_up| gives_up.min(course.lo)),
                hi: course.hi.filter(|_| played.unseen.is_none()),
            },
            ok: played.ok,
            fails: played.fails,
            leaves: if played.gives_up.is_some() { Sure::May } else { Sure::No },
            is_longer: false,
        };
        if self.seen.is_cut[i] {
            self.cut(i, &mut ending);
        }
        if span.attempt.is_some() {
            self.limit(i, &mut ending);
        }
        let played = &mut self.spans[i];
        if span.outcome.left() {
            let leaves = if ending.ok { Sure::May } else { Sure::Must };
            ending.leaves = ending.leaves.max(leaves);
        }
        if ending.is_longer && ending.length.hi != Some(ending.length.lo) {
            let from = ending.length.lo;
            played.unseen = Some(played.unseen.map_or(from, |unseen| unseen.min(from)));
        }
        // Nobody saw what was asked for and stopped before it began.
        let is_silent = span.role == Role::Caller && server(self.course, i).is_none();
        if self.policy.stop_on_cancel == Some(false) && span.outcome.left() && is_silent {
            played.unseen = Some(played.unseen.unwrap_or_default());
            self.reasons.add(Reason::Censored);
        }
        let Ending { length, ok, fails, leaves, .. } = ending;
        (played.length, played.ok, played.fails, played.leaves) = (length, ok, fails, leaves);
        played.after = played.since.plus(length);
        played.is_done = true;
    }

    /// Tells a span what became of its child.
    fn tell(&mut self, parent: usize, child: usize) {
        let span = &self.course.spans[child];
        let is_heard = span.end <= self.course.spans[parent].end;
        let Some(attempt) = span.attempt else {
            let played = &self.spans[child];
            let answer = Answer {
                was_ok: span.outcome == Outcome::Ok,
                ok: played.ok,
                fails: played.fails,
                at: played.after.lo,
            };
            if is_heard {
                self.answered(parent, answer);
            }
            return;
        };
        let is_last = self.end_attempt(child, is_heard);
        if is_last {
            self.add_attempts(parent, child);
            let call = &self.calls[attempt.call];
            let answer = Answer {
                was_ok: call.was_ok,
                ok: call.ok,
                fails: call.fails,
                at: self.spans[child].after.lo,
            };
            if call.is_heard {
                self.answered(parent, answer);
            }
        }
    }

    /// What a span makes of the answer to something that it asked for.
    fn answered(&mut self, parent: usize, answer: Answer) {
        let fails_anew = answer.was_ok && answer.fails;
        let succeeds_anew = !answer.was_ok && answer.ok;
        let was_ok = self.course.spans[parent].outcome == Outcome::Ok;
        let played = &mut self.spans[parent];
        if self.seen.passes_on[parent] {
            if fails_anew {
                played.fails = true;
                played.ok &= answer.ok;
            }
            if succeeds_anew && !was_ok {
                played.ok = true;
                played.fails &= answer.fails;
            }
            return;
        }
        if fails_anew || succeeds_anew {
            let at = answer.at;
            played.gives_up = Some(played.gives_up.map_or(at, |earlier| earlier.min(at)));
            played.fails |= fails_anew;
            if succeeds_anew && !was_ok {
                played.ok = true;
                played.unseen = Some(played.unseen.map_or(at, |earlier| earlier.min(at)));
            }
            self.reasons.add(Reason::UnseenReaction);
        }
    }

    /// Whether what `parent` has left at `since` after its start is enough for an attempt.
    pub(super) fn funding(&mut self, parent: usize, attempt: usize, since: Range) -> Sure {
        let rejects = self.policy.reject_unfundable == Some(true);
        if !rejects && self.policy.propagate != Some(true) {
            return Sure::Must;
        }
        let start = self.spans[parent].start.plus(since);
        let Some(available) = self.available(parent, start) else { return Sure::Must };
        let declared = self.course.spans[attempt].attempt.and_then(|attempt| attempt.allowance);
        let whole = self.timeout(attempt).or(declared).filter(|_| rejects);
        // With nothing left there is no call, however long it would take.
        let is_enough = |left: Nanos| left > Nanos::ZERO && whole.is_none_or(|whole| left >= whole);
        // What a caller was given may have been a length or an instant.
        self.reasons.add_if(!available.is_exact(), Reason::UnknownLimit);
        if is_enough(available.lo) {
            Sure::Must
        } else if available.hi.is_none_or(is_enough) {
            Sure::May
        } else {
            Sure::No
        }
    }

    /// The latest instant, since the start of `parent`, at which a call that it makes ends.
    pub(super) fn latest_end(&self, parent: usize) -> Option<Nanos> {
        if self.policy.propagate != Some(true) {
            return None;
        }
        self.available(parent, self.spans[parent].start)?.hi
    }
}

/// What became of a call or of anything else that a span holds.
#[derive(Clone, Copy)]
struct Answer {
    was_ok: bool,
    ok: bool,
    fails: bool,
    /// When, at the earliest, since the span's start.
    at: Nanos,
}

fn unplayed(span: &CourseSpan) -> Played {
    Played {
        presence: Sure::No,
        start: Range::exactly(span.start),
        since: Range::ZERO,
        length: Range::ZERO,
        after: Range::ZERO,
        ok: false,
        fails: false,
        leaves: Sure::No,
        deadline: None,
        has_new_limit: false,
        gives_up: None,
        unseen: None,
        is_done: false,
    }
}

impl Sure {
    /// The same where something else has to be so too.
    pub(super) fn and(self, other: Self) -> Self {
        self.min(other)
    }
}
