//! Measured requests run again under another policy (docs/planning.md, Replay): interval arithmetic
//! over their courses. What nobody saw is bounds and never a guess; where nothing is unknown bounds
//! are points, and a policy that says nothing gives back what was measured, to the nanosecond.

mod call;
mod ending;
mod play;
mod range;
mod reason;
mod seen;
mod stop;
mod summary;
mod totals;
mod waited;

use std::collections::BTreeSet;
use std::ptr;

use rustc_hash::FxHashMap;

pub use range::Range;
pub use reason::{Reason, Reasons};
pub use summary::{CalleeLoad, Change, ClassReplay, Gathering, Percentiles, Summary};
pub use totals::{Amount, Load, Totals, Truth};

use super::policy::{CallPolicy, Policy};
use crate::reconstruct::Course;
use crate::span::{Interner, SpanId, Sym};
use play::{Play, Sure};
use seen::Seen;

/// Runs requests again by one policy.
#[derive(Debug)]
pub struct Replay<'p> {
    policy: &'p Policy,
    /// Which of its calls holds, by the names of a call.
    rules: FxHashMap<(Sym, Option<Sym>, Sym), Option<&'p CallPolicy>>,
}

/// A request that was run again.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// What it came to.
    pub measured: Totals,
    /// What it would have come to.
    pub replayed: Totals,
    /// Why that is known within bounds only, where it is.
    pub reasons: Reasons,
}

/// A span of a request that was run again. Instants count from the request's origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanReplayed {
    /// Its id.
    pub span_id: SpanId,
    /// Whether it is there.
    pub is_there: Truth,
    /// When it begins.
    pub start: Range,
    /// When it ends.
    pub end: Range,
    /// Whether it ends well.
    pub is_ok: Truth,
}

impl Replayed {
    /// Whether nothing of what it would have come to is open.
    pub fn is_exact(&self) -> bool {
        self.replayed.is_exact()
    }
}

impl<'p> Replay<'p> {
    /// By this policy.
    pub fn new(policy: &'p Policy) -> Self {
        Self { policy, rules: FxHashMap::default() }
    }

    /// Runs a request again; `strings` are those of its names.
    pub fn run(&mut self, course: &Course, strings: &Interner) -> Replayed {
        let (seen, rules) = (Seen::of(course), self.rules(course, strings));
        let mut play = Play::new(course, self.policy, &rules, &seen);
        let fates = stop::fates(&mut play);
        let replayed = Totals::played(&play, &fates);
        Replayed { measured: Totals::measured(course), replayed, reasons: play.reasons }
    }

    /// The same, span by span, in the order of the course.
    pub fn spans(&mut self, course: &Course, strings: &Interner) -> Vec<SpanReplayed> {
        let (seen, rules) = (Seen::of(course), self.rules(course, strings));
        let mut play = Play::new(course, self.policy, &rules, &seen);
        let fates = stop::fates(&mut play);
        let spans = course.spans.iter().zip(&play.spans).zip(&fates);
        let span = spans.map(|((span, played), fate)| SpanReplayed {
            span_id: span.span_id,
            is_there: Truth { must: fate.presence == Sure::Must, may: fate.presence != Sure::No },
            start: played.start,
            end: fate.end,
            is_ok: Truth { must: !played.fails, may: played.ok },
        });
        span.collect()
    }

    /// Which of the policy's calls, from 0, held for any that were run again.
    pub fn matched(&self) -> BTreeSet<usize> {
        let is_held =
            |call: &CallPolicy| self.rules.values().flatten().any(|it| ptr::eq(*it, call));
        let calls = self.policy.call.iter().enumerate();
        calls.filter(|(_, call)| is_held(call)).map(|(number, _)| number).collect()
    }

    /// By span what the policy says of the call that it is a try of.
    fn rules(&mut self, course: &Course, strings: &Interner) -> Vec<Option<&'p CallPolicy>> {
        let Self { policy, rules } = self;
        let text = |sym: Option<Sym>| sym.map_or("", |sym| strings.get(sym));
        let spans = course.spans.iter().map(|span| {
            span.attempt?;
            let (service, operation) = (span.service, span.operation);
            *rules.entry((service, span.callee, operation)).or_insert_with(|| {
                policy.of_call(strings.get(service), text(span.callee), strings.get(operation))
            })
        });
        spans.collect()
    }
}
