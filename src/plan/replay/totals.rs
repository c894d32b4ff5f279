//! What a request comes to, as it was measured or as it is played.

use std::collections::BTreeMap;

use super::play::{Play, Played, Sure};
use super::range::{Range, less};
use super::stop::Fate;
use crate::reconstruct::{Course, CourseSpan, Role};
use crate::span::{Outcome, Sym};
use crate::units::Nanos;

/// A sum, in nanoseconds or of things: what was seen of it is known within bounds, and there may be more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// The least.
    pub lo: i64,
    /// The most of what was seen, or is added by the policy to what was.
    pub seen: i64,
    /// There may be any amount more that nobody saw.
    pub is_open: bool,
}

/// Whether something is so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Truth {
    /// It is so whatever the bounds leave open.
    pub must: bool,
    /// It may be so.
    pub may: bool,
}

/// What a callee has to do for a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Attempts that call it.
    pub attempts: Amount,
    /// How long its servers ran for them; where none was traced how long the attempts took.
    pub busy: Amount,
}

/// What a request comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totals {
    /// From its origin to the end of its root.
    pub latency: Range,
    /// It ended well.
    pub completed: Truth,
    /// It ended well before its deadline; `None` without one.
    pub in_time: Option<Truth>,
    /// Attempts of calls.
    pub attempts: Amount,
    /// Work after the deadline; `None` without one.
    pub late_work: Option<Amount>,
    /// Work after an ancestor had left.
    pub residual_work: Amount,
    /// By callee, where it is known, the load.
    pub loads: BTreeMap<usize, (Sym, Load)>,
}

impl Truth {
    fn of(is_so: bool) -> Self {
        Self { must: is_so, may: is_so }
    }
}

impl Amount {
    fn of(range: Range) -> Self {
        let lo = range.lo.as_nanos();
        Self { lo, seen: range.hi.map_or(lo, Nanos::as_nanos), is_open: range.hi.is_none() }
    }

    fn count(lo: bool, hi: bool) -> Self {
        Self { lo: lo.into(), seen: hi.into(), is_open: false }
    }

    /// Whether it is known.
    pub const fn is_exact(self) -> bool {
        self.lo == self.seen && !self.is_open
    }

    /// The sum.
    fn plus(self, other: Self) -> Self {
        Self {
            lo: self.lo.saturating_add(other.lo),
            seen: self.seen.saturating_add(other.seen),
            is_open: self.is_open || other.is_open,
        }
    }

    /// The same, and more that nobody saw.
    fn and_more(self, is_open: bool) -> Self {
        Self { is_open: self.is_open || is_open, ..self }
    }
}

impl Totals {
    /// Of the request as it was measured.
    pub(super) fn measured(course: &Course) -> Self {
        let mut totals = Self::begin(course, course.deadline);
        let root = course.spans.first();
        let end = root.map_or(Nanos::ZERO, |root| root.end);
        let is_ok = root.is_some_and(|root| root.outcome == Outcome::Ok);
        totals.latency = Range::exactly(end);
        totals.completed = Truth::of(is_ok);
        totals.in_time = course.deadline.map(|deadline| Truth::of(is_ok && end <= deadline));
        let mut left: Vec<Option<Nanos>> = Vec::with_capacity(course.spans.len());
        for (i, span) in course.spans.iter().enumerate() {
            let above = span.parent.and_then(|parent| {
                let parent_left = &course.spans[parent];
                less(left[parent], parent_left.outcome.left().then_some(parent_left.end))
            });
            left.push(above);
            let late_from = course.deadline.filter(|_| span.may_be_late);
            let residual_from = above.filter(|_| span.may_be_residual);
            for &(from, to) in course.pieces.get(span.pieces.clone()).unwrap_or_default() {
                let after = |instant: Nanos| {
                    Amount::of(Range::exactly((to - from.max(instant)).at_least_zero()))
                };
                totals.add_work(late_from.map(after), residual_from.map(after));
            }
            if span.attempt.is_some() {
                let durations = served_by(course, i)
                    .map(|it| Range::exactly(course.spans[it].end - course.spans[it].start));
                totals.add_attempt(span, Amount::count(true, true), durations.collect());
            }
        }
        totals
    }

    /// Of the request as it is played.
    pub(super) fn played(play: &Play<'_>, fates: &[Fate]) -> Self {
        let course = play.course;
        let deadline = play.policy.deadline.or(course.deadline);
        let mut totals = Self::begin(course, deadline);
        if let (Some(root), Some(fate)) = (play.spans.first(), fates.first()) {
            totals.latency = fate.end;
            totals.completed = Truth { must: !root.fails, may: root.ok };
            totals.in_time = deadline.map(|deadline| Truth {
                must: !root.fails && fate.end.hi.is_some_and(|end| end <= deadline),
                may: root.ok && fate.end.lo <= deadline,
            });
        }
        for (i, span) in course.spans.iter().enumerate() {
            let fate = &fates[i];
            let late = deadline.map(Range::exactly).filter(|_| span.may_be_late);
            let left = fate.may_be_left.map(|lo| Range { lo, hi: fate.left });
            // What stops when its caller leaves does nothing after that.
            let stops = play.policy.stop_on_cancel == Some(true);
            let left = left.filter(|_| span.may_be_residual && !stops);
            let work = |from: Range| work_after(play, fate, i, from);
            totals.add_work(late.map(work), left.map(work));
            if span.attempt.is_some() {
                let is_there = fate.presence;
                let attempts = Amount::count(is_there == Sure::Must, is_there != Sure::No);
                let durations = served_by(course, i).map(|it| fates[it].duration(&play.spans[it]));
                totals.add_attempt(span, attempts, durations.collect());
            }
        }
        totals.add_unseen(play, fates, deadline);
        totals
    }

    fn begin(course: &Course, deadline: Option<Nanos>) -> Self {
        let loads = course.spans.iter().filter(|span| span.attempt.is_some());
        let loads = loads.filter_map(|span| span.callee);
        Self {
            latency: Range::ZERO,
            completed: Truth::default(),
            in_time: None,
            attempts: Amount::default(),
            late_work: deadline.map(|_| Amount::default()),
            residual_work: Amount::default(),
            loads: loads.map(|callee| (callee.index(), (callee, Load::default()))).collect(),
        }
    }

    fn add_work(&mut self, late: Option<Amount>, residual: Option<Amount>) {
        if let (Some(sum), Some(late)) = (&mut self.late_work, late) {
            *sum = sum.plus(late);
        }
        if let Some(residual) = residual {
            self.residual_work = self.residual_work.plus(residual);
        }
    }

    fn add_attempt(&mut self, span: &CourseSpan, attempts: Amount, durations: Vec<Range>) {
        self.attempts = self.attempts.plus(attempts);
        let load = span.callee.and_then(|callee| self.loads.get_mut(&callee.index()));
        if let Some((_, load)) = load {
            load.attempts = load.attempts.plus(attempts);
            let durations = durations.into_iter().map(Amount::of);
            load.busy = durations.fold(load.busy, Amount::plus);
        }
    }

    /// Attempts that nobody measured: there may be none, and what they lead to is unknown.
    fn add_unseen(&mut self, play: &Play<'_>, fates: &[Fate], deadline: Option<Nanos>) {
        let stops = play.policy.stop_on_cancel == Some(true);
        for added in &play.added {
            let count = i64::from(added.count);
            let attempts = Amount { lo: 0, seen: count, is_open: false };
            let timeout = play.timeout(added.like).filter(|_| stops);
            let busy = timeout.map(|timeout| timeout.as_nanos().saturating_mul(count));
            let busy = Range { lo: Nanos::ZERO, hi: busy.map(Nanos::from_nanos) };
            self.add_attempt(&play.course.spans[added.like], attempts, vec![busy]);
            let is_late = |deadline: Nanos| added.until.is_none_or(|until| until > deadline);
            let late = deadline.is_some_and(|deadline| !stops || is_late(deadline));
            let unknown = |is_open: bool| Amount { is_open, ..Amount::default() };
            self.add_work(Some(unknown(late)), Some(unknown(!stops)));
        }
        // What nobody saw may call whatever it likes, and leave it.
        let does_unseen = |(played, fate): (&Played, &Fate)| fate.does_unseen(played, -Nanos::MAX);
        let is_open = !play.added.is_empty() || play.spans.iter().zip(fates).any(does_unseen);
        let unknown = Amount { is_open: is_open && !stops, ..Amount::default() };
        self.add_work(Some(unknown), Some(unknown));
        self.attempts = self.attempts.and_more(is_open);
        for (_, load) in self.loads.values_mut() {
            load.attempts = load.attempts.and_more(is_open);
            load.busy = load.busy.and_more(is_open);
        }
    }

    /// Whether nothing of it is open.
    pub(super) fn is_exact(&self) -> bool {
        let is_told = |truth: Truth| truth.must == truth.may;
        let mut loads = self.loads.values().map(|(_, load)| load);
        self.latency.is_exact()
            && is_told(self.completed)
            && self.in_time.is_none_or(is_told)
            && self.attempts.is_exact()
            && self.late_work.is_none_or(Amount::is_exact)
            && self.residual_work.is_exact()
            && loads.all(|load| load.attempts.is_exact() && load.busy.is_exact())
    }
}

/// The servers of a call, else the call itself.
fn served_by(course: &Course, i: usize) -> impl Iterator<Item = usize> + '_ {
    let is_server = |it: &usize| course.spans[*it].role == Role::Callee;
    let mut servers = course.children(i).iter().copied().filter(is_server).peekable();
    let itself = servers.peek().is_none().then_some(i);
    itself.into_iter().chain(servers)
}

/// How much span `i` works after an instant.
fn work_after(play: &Play<'_>, fate: &Fate, i: usize, instant: Range) -> Amount {
    let (span, played) = (&play.course.spans[i], &play.spans[i]);
    if fate.presence == Sure::No {
        return Amount::default();
    }
    let end = |from: Option<Nanos>| from.map(|from| played.start.lo + from);
    let is_cut = play.seen.is_cut[i];
    let stop = less(fate.may_stop, end(played.gives_up));
    let stop = less(stop, is_cut.then_some(fate.end.lo));
    let mut sum = Range::ZERO;
    for place in span.pieces.clone() {
        let (Some(&(from, to)), Some(&since)) =
            (play.course.pieces.get(place), play.pieces.get(place))
        else {
            continue;
        };
        let piece = Piece { start: played.start.plus(since), length: to - from };
        let least = match (fate.presence, instant.hi) {
            (Sure::Must, Some(latest)) => {
                // A span that ends earlier than it did does not do all of its work.
                let room = since.hi.map_or(Nanos::ZERO, |since| played.length.lo - since);
                let length = piece.length.min(room.at_least_zero());
                Piece { length, ..piece }.least_after(latest, stop)
            }
            _ => Nanos::ZERO,
        };
        sum = sum.plus(Range { lo: least, hi: Some(piece.most_after(instant.lo, fate.end.hi)) });
    }
    let does_unseen = fate.does_unseen(played, instant.lo);
    Amount::of(sum).and_more(does_unseen)
}

/// A stretch of work.
struct Piece {
    start: Range,
    length: Nanos,
}

impl Piece {
    /// The least of it after `instant`, where it may be stopped at `stop`.
    fn least_after(&self, instant: Nanos, stop: Option<Nanos>) -> Nanos {
        let from = |start: Nanos| {
            let end = start + self.length;
            (stop.map_or(end, |stop| stop.min(end)) - start.max(instant)).at_least_zero()
        };
        // It grows with the start until the work is stopped, and shrinks then.
        match (self.start.hi, stop) {
            (Some(hi), _) => from(self.start.lo).min(from(hi)),
            (None, None) => from(self.start.lo),
            (None, Some(_)) => Nanos::ZERO,
        }
    }

    /// The most of it after `instant`, where its span ends at `end` at the latest.
    fn most_after(&self, instant: Nanos, end: Option<Nanos>) -> Nanos {
        let latest = self.start.hi.map(|start| start + self.length);
        let latest = less(latest, end);
        let whole = self.length;
        latest
            .map_or(whole, |latest| whole.min(latest - self.start.lo.max(instant)))
            .at_least_zero()
    }
}
