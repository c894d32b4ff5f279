//! Offsets between clocks: what one call says of its callee's clock, and what all calls of an
//! input say together (SEMANTICS §4).

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::span::{Interner, Kind, Span, Sym};
use crate::units::Nanos;

/// Servers end their span a little after sending the answer.
const ANSWER_SLACK: Nanos = Nanos::from_millis(1);

/// Calls of so long a time are pooled as if clocks did not drift within it.
const WINDOW_NS: i64 = 10_000_000_000;

/// How far two clocks may drift apart in one window: 20 millionths, which a quartz keeps; clocks
/// that NTP disciplines keep a tenth of it.
const DRIFT: Nanos = Nanos::from_nanos(WINDOW_NS / 50_000);

/// Where an offset lies; open where nothing bounds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interval {
    /// The least that it may be.
    pub lo: Option<Nanos>,
    /// The greatest.
    pub hi: Option<Nanos>,
}

impl Interval {
    /// Only this.
    pub const fn exactly(offset: Nanos) -> Self {
        Self { lo: Some(offset), hi: Some(offset) }
    }

    /// What lies in both.
    #[must_use]
    pub fn meet(self, other: Self) -> Self {
        let hi = match (self.hi, other.hi) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Self { lo: self.lo.max(other.lo), hi }
    }

    /// From the least of both to the greatest.
    #[must_use]
    fn hull(self, other: Self) -> Self {
        Self {
            lo: self.lo.zip(other.lo).map(|(one, other)| one.min(other)),
            hi: self.hi.zip(other.hi).map(|(one, other)| one.max(other)),
        }
    }

    /// Whether nothing lies in it.
    pub fn is_empty(self) -> bool {
        self.lo.zip(self.hi).is_some_and(|(lo, hi)| lo > hi)
    }

    /// All of it later by `by`.
    #[must_use]
    pub fn shifted(self, by: Nanos) -> Self {
        Self { lo: self.lo.map(|lo| lo + by), hi: self.hi.map(|hi| hi + by) }
    }

    /// Larger by what clocks drift apart within the time that is pooled.
    #[must_use]
    pub fn with_drift(self) -> Self {
        self.widened(DRIFT)
    }

    /// Larger by `by` at both ends.
    #[must_use]
    fn widened(self, by: Nanos) -> Self {
        Self { lo: self.lo.map(|lo| lo - by), hi: self.hi.map(|hi| hi + by) }
    }

    /// The same, seen from the other clock.
    #[must_use]
    fn mirrored(self) -> Self {
        Self { lo: self.hi.map(|hi| -hi), hi: self.lo.map(|lo| -lo) }
    }

    /// The offset to go by: none where that may be, else the middle, else the end that is known.
    pub fn chosen(self) -> Nanos {
        let zero = Self::exactly(Nanos::ZERO);
        match (self.lo, self.hi) {
            _ if !self.meet(zero).is_empty() => Nanos::ZERO,
            (Some(lo), Some(hi)) => lo + (hi - lo).div_floor(2),
            (lo, hi) => lo.or(hi).unwrap_or(Nanos::ZERO),
        }
    }
}

/// What calls say of the offset of a callee's clock against its caller's, by how far the answer is
/// believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// The answer had to get back before the caller's end.
    answered: Interval,
    /// The same, but for HTTP clients, whose span ends at the response's head.
    begun_to_answer: Interval,
    /// Nothing starts before it was sent.
    sent: Interval,
}

impl Bounds {
    /// What the call of `child` by `parent` says.
    pub fn of_call(parent: &Span, child: &Span) -> Self {
        let sent = Interval { lo: None, hi: Some(child.start - parent.start) };
        let synchronous = parent.kind != Kind::Producer && child.kind != Kind::Consumer;
        let came_back = synchronous
            && !parent.outcome.left()
            && !parent.flags.is_wordless
            && child.duration() <= parent.duration();
        let from = |lo: Nanos| Interval { lo: came_back.then_some(lo), ..sent };
        let answered = from(child.end - parent.end - ANSWER_SLACK);
        let begun_to_answer =
            if parent.flags.has_http_method { from(child.start - parent.end) } else { answered };
        Self { answered, begun_to_answer, sent }
    }

    /// What both say.
    #[must_use]
    pub fn meet(self, other: Self) -> Self {
        Self {
            answered: self.answered.meet(other.answered),
            begun_to_answer: self.begun_to_answer.meet(other.begun_to_answer),
            sent: self.sent.meet(other.sent),
        }
    }

    /// The same of an offset that is larger by `by`.
    #[must_use]
    pub fn shifted(self, by: Nanos) -> Self {
        self.map(|interval| interval.shifted(by))
    }

    fn map(self, change: impl Fn(Interval) -> Interval) -> Self {
        Self {
            answered: change(self.answered),
            begun_to_answer: change(self.begun_to_answer),
            sent: change(self.sent),
        }
    }

    /// Where the offset lies if answers are believed as far as that goes; `None` where they
    /// contradict what was sent.
    pub fn interval(self) -> Option<Interval> {
        [self.answered, self.begun_to_answer].into_iter().find(|interval| !interval.is_empty())
    }

    /// Where it lies by what was sent alone.
    pub const fn by_sending(self) -> Interval {
        self.sent
    }
}

/// What the calls of one partition say, by caller's and callee's clock and window.
#[derive(Clone, Debug, Default)]
pub struct CallBounds(FxHashMap<(Sym, Sym, i64), Bounds>);

impl CallBounds {
    /// Adds the call of `child` by `parent`, spans of two clocks.
    pub fn add(&mut self, parent: &Span, child: &Span) {
        let key = (parent.clock_domain, child.clock_domain, window(parent));
        let bounds = Bounds::of_call(parent, child);
        self.0.entry(key).and_modify(|known| *known = known.meet(bounds)).or_insert(bounds);
    }
}

/// The window of a call by `parent`.
const fn window(parent: &Span) -> i64 {
    parent.start.as_nanos().div_euclid(WINDOW_NS)
}

/// What all calls of an input say; the same in whatever order they come.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Pool {
    domains: Interner,
    /// By caller's and callee's clock, places among `domains`, and window.
    calls: BTreeMap<(usize, usize, i64), Bounds>,
}

impl Pool {
    /// Adds what a partition says whose strings are these.
    pub fn add(&mut self, strings: &Interner, calls: CallBounds) {
        calls.0.into_iter().for_each(|((caller, callee, window), bounds)| {
            let mut place = |domain: Sym| self.domains.intern(strings.get(domain)).index();
            let key = (place(caller), place(callee), window);
            meet_at(&mut self.calls, key, bounds);
        });
    }

    /// Adds what another part of the input says.
    pub fn merge(&mut self, other: &Self) {
        let numbers = self.domains.extend_by(&other.domains);
        let place = |domain: usize| numbers.get(domain).map_or(domain, |domain| domain.index());
        for (&(caller, callee, window), &bounds) in &other.calls {
            meet_at(&mut self.calls, (place(caller), place(callee), window), bounds);
        }
    }

    /// The offsets that satisfy all of it.
    pub fn offsets(self) -> Offsets {
        let Self { domains, calls } = self;
        let mut pairs: BTreeMap<(usize, usize), BTreeMap<i64, Bounds>> = BTreeMap::new();
        for ((caller, callee, window), bounds) in calls {
            let (pair, bounds) = if caller < callee {
                ((caller, callee), bounds)
            } else {
                ((callee, caller), bounds.map(Interval::mirrored))
            };
            meet_at(pairs.entry(pair).or_default(), window, bounds);
        }
        let pairs = pairs.into_iter().map(|(pair, windows)| (pair, settle(windows))).collect();
        Offsets { domains, pairs }
    }
}

fn meet_at<K: Ord>(known: &mut BTreeMap<K, Bounds>, key: K, bounds: Bounds) {
    known.entry(key).and_modify(|known| *known = known.meet(bounds)).or_insert(bounds);
}

/// Tightens each window by those before and after it, as far as clocks drift in between. Both sides
/// are needed: where a clock was set, or slewed, in between, the offset is that of one side, or lies
/// between the two. Of a window that contradicts itself nothing is known.
fn settle(windows: BTreeMap<i64, Bounds>) -> Vec<(i64, Interval)> {
    let told = |(window, bounds): (i64, Bounds)| Some((window, bounds.interval()?));
    let own: Vec<(i64, Interval)> = windows.into_iter().filter_map(told).collect();
    let before = carried(own.iter());
    let mut after = carried(own.iter().rev());
    after.reverse();
    let around = before.into_iter().zip(after).map(|(before, after)| before.hull(after));
    let tightened = own.iter().zip(around).map(|(&(window, own), around)| {
        let both = own.meet(around);
        (window, if both.is_empty() { own } else { both })
    });
    tightened.collect()
}

/// What the windows that came earlier in this order say at each; nothing at the first.
fn carried<'w>(windows: impl Iterator<Item = &'w (i64, Interval)>) -> Vec<Interval> {
    let mut last: Option<(i64, Interval)> = None;
    let carry = |&(window, own): &(i64, Interval)| {
        let before = last.map_or(Interval::default(), |(known_window, known)| {
            let distance = i64::try_from(window.abs_diff(known_window)).unwrap_or(i64::MAX);
            known.widened(Nanos::from_nanos(distance.saturating_mul(DRIFT.as_nanos())))
        });
        let both = own.meet(before);
        last = Some((window, if both.is_empty() { own } else { both }));
        before
    };
    windows.map(carry).collect()
}

/// What an input knows of the offsets between clocks; nothing by default: each trace is then on its
/// own.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Offsets {
    domains: Interner,
    /// By pair, places among `domains`, the smaller first: the offset of the second against the
    /// first, by window.
    pairs: BTreeMap<(usize, usize), Vec<(i64, Interval)>>,
}

impl Offsets {
    /// Where the offset of `child`'s clock against `parent`'s lies at the time of that call.
    pub fn of_call(&self, strings: &Interner, parent: &Span, child: &Span) -> Option<Interval> {
        if self.pairs.is_empty() {
            return None;
        }
        let place = |span: &Span| Some(self.domains.find(strings.get(span.clock_domain))?.index());
        let (caller, callee) = (place(parent)?, place(child)?);
        let windows = self.pairs.get(&(caller.min(callee), caller.max(callee)))?;
        let window = window(parent);
        let found = windows.binary_search_by_key(&window, |&(window, _)| window).ok()?;
        let (_, interval) = *windows.get(found)?;
        Some(if caller < callee { interval } else { interval.mirrored() })
    }
}
