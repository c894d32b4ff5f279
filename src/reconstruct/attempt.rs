//! Calls and their attempts, and whether each attempt could be funded (SEMANTICS §7).

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::deadline::Deadlines;
use super::trace::{Trace, is_attempt};
use crate::budget;
use crate::span::{Outcome, Span, SpanId, Sym, Target};
use crate::tables::{AttemptKind, Funding};
use crate::units::{Nanos, UnixNanos};

/// One try of a call.
#[derive(Debug)]
pub(super) struct Attempt {
    /// Its CLIENT span.
    pub span: usize,
    /// What it is within its call.
    pub kind: AttemptKind,
    /// The declared number, else the position.
    pub ordinal: i32,
    /// From the end of the attempt before it; `None` for the first.
    pub backoff: Option<Nanos>,
    /// What its parent had left when it began.
    pub remaining: Option<Nanos>,
    /// What one attempt needs.
    pub allowance: Option<Nanos>,
    /// Whether that was left.
    pub funding: Funding,
}

/// One call: one or more attempts, in order.
#[derive(Debug)]
pub(super) struct Call {
    /// Never empty.
    pub attempts: Vec<Attempt>,
}

/// All calls of a trace, by parent from the roots down and in order below each.
#[derive(Debug)]
pub(super) struct Calls {
    /// The calls.
    pub calls: Vec<Call>,
    /// A retry says so whose first attempt is not there.
    pub attempts_missing: bool,
}

impl Calls {
    /// Finds the calls below every span.
    pub(super) fn of(trace: &Trace<'_>, deadlines: &Deadlines) -> Self {
        let mut found = Self { calls: Vec::new(), attempts_missing: false };
        for &parent in &trace.tree.top_down {
            let tries: Vec<usize> =
                trace.children.of(parent).iter().copied().filter(|&i| trace.is_try(i)).collect();
            if tries.is_empty() {
                continue;
            }
            let of_call_span = |i: usize| trace.is_call_span(parent) && is_attempt(trace.span(i));
            let grouped = tries.iter().copied().filter(|&i| !of_call_span(i));
            let mut below = Below::new(trace, deadlines, grouped);
            for &i in &tries {
                below.take(i, of_call_span(i));
            }
            found.attempts_missing |= below.attempts_missing;
            found.calls.append(&mut below.calls);
        }
        found
    }
}

/// What tells the calls below one parent apart.
type GroupKey = (Sym, Sym, Option<Target>);

fn group_key(span: &Span) -> GroupKey {
    (span.service, span.operation, span.target)
}

/// The calls below one parent, while its tries are taken in order.
struct Below<'t, 'a> {
    trace: &'t Trace<'a>,
    deadlines: &'t Deadlines,
    calls: Vec<Call>,
    attempts_missing: bool,
    /// Groups in which some span carries an ordinal.
    numbered: FxHashSet<GroupKey>,
    /// The last call of each group.
    last_of_group: FxHashMap<GroupKey, usize>,
    /// The one call of the attempts below a call span.
    of_call_span: Option<usize>,
    /// Calls whose last attempt ended as a redirect or challenge, by that end.
    redirected: BTreeMap<(UnixNanos, UnixNanos, SpanId), usize>,
}

impl<'t, 'a> Below<'t, 'a> {
    /// `grouped` are the tries that are told apart by what they call.
    fn new(
        trace: &'t Trace<'a>,
        deadlines: &'t Deadlines,
        grouped: impl Iterator<Item = usize>,
    ) -> Self {
        let numbered = grouped.map(|i| trace.span(i));
        Self {
            trace,
            deadlines,
            calls: Vec::new(),
            attempts_missing: false,
            numbered: numbered.filter(|s| s.attempt_ordinal.is_some()).map(group_key).collect(),
            last_of_group: FxHashMap::default(),
            of_call_span: None,
            redirected: BTreeMap::new(),
        }
    }

    fn take(&mut self, i: usize, under_call_span: bool) {
        let span = self.trace.span(i);
        let key = group_key(span);
        let last = self.last_of_group.get(&key).copied();
        let later = span.attempt_ordinal.is_some_and(|ordinal| ordinal > 1);
        let joins = if under_call_span {
            self.of_call_span
        } else if self.numbered.contains(&key) {
            if later { last.or_else(|| self.redirected_by(i)) } else { None }
        } else {
            last.filter(|&call| self.follows(call, i))
        };
        let call = joins.unwrap_or_else(|| {
            self.calls.push(Call { attempts: Vec::new() });
            self.calls.len() - 1
        });
        self.attempts_missing |= joins.is_none() && later;
        self.append(call, i);
        if under_call_span {
            self.of_call_span = Some(call);
        } else {
            self.last_of_group.insert(key, call);
        }
    }

    /// The call whose last attempt ended latest, by the start of `i`, as a redirect or challenge:
    /// a redirect changes the target.
    fn redirected_by(&self, i: usize) -> Option<usize> {
        let by = (self.trace.start(i), UnixNanos::MAX, SpanId(u64::MAX));
        self.redirected.range(..=by).next_back().map(|(_, &call)| call)
    }

    /// Without ordinals: whether `i` is a retry of `call`, or hedges its last attempt.
    fn follows(&self, call: usize, i: usize) -> bool {
        let Some(last) = self.calls[call].attempts.last().map(|attempt| attempt.span) else {
            return false;
        };
        let (trace, span) = (self.trace, self.trace.span(i));
        if span.target.is_none() && !span.flags.has_rpc {
            return false;
        }
        if trace.start(i) >= trace.end(last) {
            return failed_retryably(trace.outcome(last), trace.span(last));
        }
        let outcomes = (trace.outcome(last), trace.outcome(i));
        matches!(outcomes, (Outcome::Ok, Outcome::Cancelled) | (Outcome::Cancelled, Outcome::Ok))
    }

    fn append(&mut self, call: usize, i: usize) {
        let (trace, span) = (self.trace, self.trace.span(i));
        let attempts = &mut self.calls[call].attempts;
        let before = attempts.last().map(|attempt| attempt.span);
        let later = span.attempt_ordinal.is_some_and(|ordinal| ordinal > 1);
        let kind = match before {
            None if later => AttemptKind::Retry,
            None => AttemptKind::Initial,
            Some(before) if trace.start(i) < trace.end(before) => AttemptKind::Hedge,
            Some(before) if was_redirected(trace.span(before)) => AttemptKind::Resend,
            Some(_) => AttemptKind::Retry,
        };
        let position = i32::try_from(attempts.len() + 1).unwrap_or(i32::MAX);
        let allowance =
            span.allowance.or_else(|| trace.request(i).allowance(trace.text(span.service)));
        let deadline = trace.link(i).and_then(|parent| self.deadlines.effective[parent]);
        let remaining = budget::remaining(deadline, trace.start(i));
        attempts.push(Attempt {
            span: i,
            kind,
            ordinal: span.attempt_ordinal.unwrap_or(position),
            backoff: before.map(|before| (trace.start(i) - trace.end(before)).at_least_zero()),
            remaining,
            allowance,
            funding: funding(remaining, allowance, trace.request(i).reserve()),
        });
        let end_key = |i: usize| (trace.end(i), trace.start(i), trace.span(i).span_id);
        if let Some(before) = before {
            self.redirected.remove(&end_key(before));
        }
        if was_redirected(span) {
            self.redirected.insert(end_key(i), call);
        }
    }
}

/// A redirect or an authorization challenge: what follows is sent again, not retried.
fn was_redirected(span: &Span) -> bool {
    matches!(span.http_status, Some(301 | 302 | 303 | 307 | 308 | 401 | 407))
}

fn failed_retryably(outcome: Outcome, span: &Span) -> bool {
    match outcome {
        Outcome::Ok => false,
        Outcome::Error => !span.http_status.is_some_and(|status| (400..500).contains(&status)),
        Outcome::Rejected | Outcome::Cancelled | Outcome::DeadlineExceeded => true,
    }
}

fn funding(remaining: Option<Nanos>, allowance: Option<Nanos>, reserve: Nanos) -> Funding {
    match (remaining, allowance) {
        (Some(remaining), _) if remaining <= Nanos::ZERO => Funding::Expired,
        (None, _) | (_, None) => Funding::Unknown,
        (Some(remaining), Some(allowance)) => {
            if budget::available(remaining, reserve) >= allowance {
                Funding::Funded
            } else {
                Funding::Unfundable
            }
        }
    }
}
