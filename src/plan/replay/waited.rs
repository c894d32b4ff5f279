//! What a step of a span waited for. Nobody wrote it down: what had ended last tells it, and where other
//! things ran beside that, it may have been any of them.

use super::range::{Range, more};
use crate::units::Nanos;

/// What a span had asked for and had ended, in the order of the measured ends. Instants count from the
/// span's start.
#[derive(Debug, Default)]
pub(super) struct Waited {
    /// The last of them.
    last: Option<Ended>,
    /// The least by which those are moved that ended then or later: by end, and growing.
    least: Vec<(Nanos, Nanos)>,
    /// The most, falling.
    most: Vec<(Nanos, Option<Nanos>)>,
    /// When all have ended, at the latest.
    joined: Option<Nanos>,
}

/// Something that had ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    /// When it began, as measured.
    pub start: Nanos,
    /// When it ended, as measured.
    pub end: Nanos,
    /// When what follows it goes on now.
    pub after: Range,
}

impl Waited {
    /// Nothing yet.
    pub(super) fn new() -> Self {
        Self { joined: Some(Nanos::ZERO), ..Self::default() }
    }

    /// Adds what ended next.
    pub(super) fn add(&mut self, ended: Ended) {
        self.joined = more(self.joined, ended.after.hi);
        // What ended before the span began is no step of it.
        if ended.end < Nanos::ZERO {
            return;
        }
        let (lo, hi) = (ended.after.lo - ended.end, ended.after.hi.map(|hi| hi - ended.end));
        while self.least.last().is_some_and(|(_, moved)| *moved >= lo) {
            self.least.pop();
        }
        self.least.push((ended.end, lo));
        while self.most.last().is_some_and(|(_, moved)| more(*moved, hi) == hi) {
            self.most.pop();
        }
        self.most.push((ended.end, hi));
        self.last = Some(ended);
    }

    /// When what was measured at `instant` happens.
    pub(super) fn event(&self, instant: Nanos) -> Range {
        let Some(last) = self.last else {
            return Range { lo: instant, hi: self.joined.map(|joined| joined + instant) };
        };
        let joined = self.joined.map(|joined| joined + (instant - last.end));
        // What had ended before the last began is what that waited for.
        let from = last.end.min(last.start + Nanos::from_nanos(1));
        let least = self.least.get(self.least.partition_point(|(end, _)| *end < from));
        let most = self.most.get(self.most.partition_point(|(end, _)| *end < from));
        let lo = least.map_or(last.after.lo - last.end, |(_, moved)| *moved);
        let hi = most.and_then(|(_, moved)| *moved);
        Range { lo: instant + lo, hi: more(joined, hi.map(|moved| instant + moved)) }
    }

    /// Whether it is unknown which of those a step waits for, though it is known when the last ended.
    pub(super) fn is_open(&self) -> bool {
        self.last.is_some_and(|last| last.after.is_exact() && !self.event(last.end).is_exact())
    }
}
